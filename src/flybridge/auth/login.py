"""The two halves of a login: the cookie, and the login key that the page keeps in IndexedDB.

Browsers send a cookie to every port of a host, whoever listens there. IndexedDB belongs to one
scheme, host and port, so the key reaches nobody but us: in a header, or in the first message of a
WebSocket, where a browser cannot set one. It never stands in an address.
"""

from __future__ import annotations

import msgspec

from flybridge.auth.gate import Head

LOGIN_KEY = b"flybridge-login-key"  # the header


class Login(msgspec.Struct, frozen=True):
    """Both halves of a new login. Only their hashes are kept."""

    cookie: str
    key: str


class HalfLogin(msgspec.Struct, frozen=True):
    """The cookies of a WebSocket upgrade: the first message brings the key."""

    cookies: tuple[bytes, ...]


def cookies_of(head: Head, name: bytes) -> list[bytes]:
    """Return the values of all cookies of that name, in the order in which they came."""
    parts = [part for line in head.all(b"cookie") for part in line.split(b";")]
    pairs = [part.strip().partition(b"=") for part in parts]
    return [value for key, _, value in pairs if key == name]
