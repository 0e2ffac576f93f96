"""A gateway behind a URL: reached over TCP, encrypted, or on this machine.

Redirects are not followed, proxies are not asked, and a token goes in the clear only to this
machine itself, and there only to somebody who proved to know it.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from urllib.parse import SplitResult, urlsplit

import msgspec

from flybridge.client.transport.connection import Connection
from flybridge.client.transport.link import PING_S, Link
from flybridge.client.transport.tokens import Token
from flybridge.errors import GatewayError, GatewayUnreachableError
from flybridge.model.loopback import is_loopback

CONNECT_S = 10.0
PATH = "/api/v1/ws"
_SCHEMES = {"http": False, "ws": False, "https": True, "wss": True}
_FORM = re.compile(r"[!-~]{1,2000}")


class Url(msgspec.Struct, frozen=True, kw_only=True):
    """The address of a gateway, in its parts."""

    host: str
    port: int
    secure: bool
    base_path: str = ""

    @property
    def authority(self) -> str:
        """Host and port as a header names them."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.secure else 80) else f"{name}:{self.port}"

    @property
    def websocket(self) -> str:
        scheme = "wss" if self.secure else "ws"
        return f"{scheme}://{self.authority}{self.base_path}{PATH}"

    def __str__(self) -> str:
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{self.authority}{self.base_path}"


def parse_url(text: str) -> Url:
    """Read an address.

    Raises:
        GatewayError: it is none, it brings secrets, or it leads over the network unencrypted.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _wrong() from None
    if not _FORM.fullmatch(text) or not parts.hostname or not _is_plain(parts) or port == 0:
        raise _wrong()
    secure = _SCHEMES[parts.scheme]
    url = Url(
        host=parts.hostname,
        port=port or (443 if secure else 80),
        secure=secure,
        base_path=parts.path.rstrip("/"),
    )
    if not secure and not is_loopback(url.host):
        raise GatewayError(f"{url} would send your token in the clear: say https")
    return url


def _wrong() -> GatewayError:
    """Without the address: there may be a secret in it."""
    return GatewayError(
        "a gateway's address looks like https://host/path or http://127.0.0.1:8420, with no user, "
        "password, query or fragment"
    )


def _is_plain(parts: SplitResult) -> bool:
    given = (parts.username, parts.password, parts.query, parts.fragment)
    return parts.scheme in _SCHEMES and not any(given)


class UrlAddress:
    """``cafile``: whom to trust instead of the system's authorities. ``direct``: the gateway
    itself listens there, with no tunnel or proxy in between, and has to prove it."""

    def __init__(
        self,
        url: str,
        token: Token,
        *,
        cafile: str | os.PathLike[str] | None = None,
        ping_s: float = PING_S,
        direct: bool = False,
    ) -> None:
        self.url = parse_url(url)
        self.direct = direct
        self.token = token
        self._ping_s = ping_s
        self.tls = _context(cafile) if self.url.secure else None

    def __str__(self) -> str:
        return str(self.url)

    async def connect(self, name: str) -> Connection:
        """A greeted connection.

        Raises:
            GatewayUnreachableError: nobody answers there now.
            GatewayError: somebody does whom we should not talk to.
            NotAuthenticatedError: they do not want us.
        """
        return await Connection.open(self, client=name)

    async def dial(self) -> Link:
        from flybridge.client.transport.proof import Challenge
        from flybridge.client.transport.websocket import (
            Frames,  # only who needs it waits for the import
        )

        url, challenge = self.url, None
        if not url.secure:
            challenge = Challenge(
                self.token, host=url.authority, base_path=url.base_path, direct=self.direct
            )
        frames = Frames(url.websocket, self.token, challenge)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_S):
                _, link = await loop.create_connection(
                    lambda: Link(frames, ping_s=self._ping_s), url.host, url.port, ssl=self.tls
                )
        except (OSError, TimeoutError) as error:
            raise to_error(self.url, error) from error
        return link


def _context(cafile: str | os.PathLike[str] | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=cafile)
    except (OSError, ssl.SSLError) as error:
        raise GatewayError(f"the certificates in {cafile} cannot be used: {error}") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def to_error(url: Url, error: Exception) -> GatewayError:
    """What went wrong on the way there: to be tried again, or not."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return GatewayError(f"{url} is not who it says it is: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        return GatewayError(f"{url} cannot be talked to: {error.reason}")
    return GatewayUnreachableError(f"no gateway answers at {url}")
