"""Before a token is sent in the clear, whoever listens has to show that they know it.

Any program of this machine may take a port while our gateway is not there. A gateway keeps the
hash of each token's secret, and only who has it can sign what we just made up. What is asked is
the token's name, which is no secret.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import msgspec

from flybridge.client.http import Answer, request, to_error
from flybridge.client.tokens import Token
from flybridge.errors import GatewayError, GatewayUnreachableError

PATH = "/api/v1/proof"


class _Proof(msgspec.Struct):
    proof: str


class Challenge:
    """One question to whoever listens: send :attr:`request`, pass the answer to :meth:`check`."""

    def __init__(self, token: Token, *, host: str, base_path: str = "") -> None:
        self._nonce = secrets.token_hex(32)
        self._token = token
        query = f"token_id={token.id}&nonce={self._nonce}"
        self.request = request("GET", f"{base_path}{PATH}?{query}", host)

    def check(self, answer: Answer) -> None:
        """Make sure that it came from somebody who knows the token.

        Raises:
            GatewayError: it did not. The token must not be sent.
        """
        if answer.status != 200:
            error = to_error(answer.status, answer.body)
            if isinstance(error, GatewayUnreachableError):
                raise error
            raise _stranger() from error
        try:
            given = msgspec.json.decode(answer.body, type=_Proof).proof
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise _stranger() from error
        if not hmac.compare_digest(given.encode(), self._expected().encode()):
            raise _stranger()

    def _expected(self) -> str:
        key = hashlib.sha256(self._token.secret.encode()).digest()
        return hmac.new(key, self._nonce.encode(), hashlib.sha256).hexdigest()


def _stranger() -> GatewayError:
    return GatewayError(
        "whoever answers there does not know this token, so it was not sent: another program may "
        "have taken the port, or the token was revoked"
    )
