"""Signing control messages for a gateway that a relay reaches. Needs ``flybridge[signed]``."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from flybridge.client.control.sender import Between, Channel
from flybridge.errors import GatewayError, InvalidRequestError
from flybridge.wire.control import signed
from flybridge.wire.control.times import format_time, parse_time

LIFE_MS = 120_000


class SignedChannel:
    """Signs whatever goes through it, for one gateway."""

    def __init__(self, channel: Channel, *, name: str, key: bytes, audience: str) -> None:
        self._channel = channel
        self._name = name
        self._key = key
        self._audience = audience

    async def exchange(self, message: bytes, between: Between = lambda data: False) -> bytes:
        """Hand over one message, signed.

        Raises:
            GatewayError: it cannot be signed here.
            FlybridgeError: it was not taken.
        """
        body = json.loads(message)
        expires_at = format_time(parse_time(body["sent_at"]) + LIFE_MS)
        data = signed.to_sign(body, kid=self._name, audience=self._audience, expires_at=expires_at)
        message = signed.put_together(data, sign(self._key, data))
        return await self._channel.exchange(message, between)


def new_key(path: Path) -> str:
    """Make a key, keep it in a file that nobody else can read, and return its public half.

    Raises:
        GatewayError: the file is there already, or keys cannot be made here.
    """
    raw = os.urandom(32)
    public = public_of(raw)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(signed.encode_key(raw) + "\n")
    except OSError as error:
        raise GatewayError(f"cannot write the key to {path}: {error.strerror}") from error
    return public


def read_key(path: Path) -> bytes:
    """The key in a file of this user's that nobody else can read.

    Raises:
        GatewayError: it cannot be read, others can read it, or it holds no key.
    """
    try:
        found = path.stat()
        text = path.read_text() if stat.S_ISREG(found.st_mode) and found.st_size < 1024 else ""
    except OSError as error:
        raise GatewayError(f"cannot read the key in {path}: {error.strerror}") from error
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise GatewayError(f"others can read the key in {path}; run: chmod 600 {path}")
    try:
        return signed.decode_key(text)
    except InvalidRequestError as error:
        raise GatewayError(f"{path}: {error}") from None


def public_of(key: bytes) -> str:
    """The half that may be shown.

    Raises:
        GatewayError: keys cannot be used here.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise _missing() from None
    return signed.encode_key(
        Ed25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()
    )


def sign(key: bytes, data: bytes) -> bytes:
    """Sign something.

    Raises:
        GatewayError: keys cannot be used here.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise _missing() from None
    return Ed25519PrivateKey.from_private_bytes(key).sign(data)


def _missing() -> GatewayError:
    return GatewayError("signing needs more: pip install 'flybridge[signed]'")
