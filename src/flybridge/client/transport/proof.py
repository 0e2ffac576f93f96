"""Before a token is sent in the clear, whoever listens has to show that they know it.

Any program of this machine may take a port while our gateway is not there. A gateway keeps the
hash of each token's secret, and only who has it can sign what we just made up. What is asked is
the token's name, which is no secret.

Such a program could pass the question on to the real gateway. A gateway therefore also signs the
address at which it was asked. A client that found the address by itself compares it with the one
it is connected to; a client that was given a URL does not, because a tunnel (``ssh -L``) or a
proxy may be in between.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from ipaddress import ip_address

import msgspec

from flybridge.client.transport.http import Answer, request, to_error
from flybridge.client.transport.tokens import Token
from flybridge.errors import GatewayError, GatewayUnreachableError
from flybridge.model.loopback import is_loopback

PATH = "/api/v1/proof"
ADDRESS_KEY = b"flybridge: proof of an address\0"  # as the gateway has it


class _Proof(msgspec.Struct):
    proof: str
    address: str = ""
    address_proof: str = ""


class Challenge:
    """One question to whoever listens: send :attr:`request`, pass the answer to :meth:`check`.

    ``direct``: the gateway itself has to listen at that host and port.
    """

    def __init__(
        self, token: Token, *, host: str, base_path: str = "", direct: bool = False
    ) -> None:
        self._nonce = secrets.token_hex(32)
        self._token = token
        self._direct_to = host if direct else ""
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
            given = msgspec.json.decode(answer.body, type=_Proof)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise _stranger() from error
        key = hashlib.sha256(self._token.secret.encode()).digest()
        if not _is_signed(given.proof, key, self._nonce):
            raise _stranger()
        if self._direct_to:
            self._check_address(given, hashlib.sha256(ADDRESS_KEY + key).digest())

    def _check_address(self, given: _Proof, key: bytes) -> None:
        if not given.address:
            raise GatewayError(
                "the gateway does not sign its address, so the token was not sent: upgrade the "
                "gateway, or connect by its URL without direct=True"
            )
        signed = _is_signed(given.address_proof, key, f"{self._nonce}\0{given.address}")
        if not signed or not _is_same(given.address, self._direct_to):
            raise GatewayError(
                f"{self._direct_to} passes on what a gateway elsewhere answers, so the token was "
                "not sent: another program may have taken the port. If a tunnel or a proxy of "
                "yours listens there, connect by its URL without direct=True"
            )


def _is_signed(given: str, key: bytes, text: str) -> bool:
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(given.encode(), expected.encode())


def _is_same(signed: str, wanted: str) -> bool:
    """Return whether two addresses are the same; ``localhost`` is any loopback address."""
    host, _, port = signed.rpartition(":")
    wanted_host, _, wanted_port = (
        wanted.rpartition(":") if _has_port(wanted) else (wanted, "", "80")
    )
    if port != wanted_port:
        return False
    if wanted_host == "localhost":
        return is_loopback(host.strip("[]"))
    try:
        return ip_address(host.strip("[]")) == ip_address(wanted_host.strip("[]"))
    except ValueError:
        return False


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]


def _stranger() -> GatewayError:
    return GatewayError(
        "whoever answers there does not know this token, so it was not sent: another program may "
        "have taken the port, or the token was revoked"
    )
