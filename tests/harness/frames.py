"""WebSocket frames and the request for an upgrade, byte by byte, and wrong on purpose if asked."""

from __future__ import annotations

import base64
import os
import struct
from collections.abc import Mapping

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def upgrade_request(
    host: str, target: str, headers: Mapping[str, str | None], *, method: str = "GET"
) -> bytes:
    """Return the request for a WebSocket; a header given as None is left out."""
    wanted: dict[str, str | None] = {
        "host": host,
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-key": base64.b64encode(os.urandom(16)).decode(),
        "sec-websocket-version": "13",
    }
    wanted.update({name.lower(): value for name, value in headers.items()})
    lines = [f"{name}: {value}" for name, value in wanted.items() if value is not None]
    return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode("latin-1")


def frame(
    payload: bytes = b"",
    opcode: int = TEXT,
    *,
    fin: bool = True,
    rsv: int = 0,
    mask: bytes | None = b"\x37\xfa\x21\x3d",
    size: int | None = None,
) -> bytes:
    """A frame as a client sends it; ``size`` lies about its length."""
    length = len(payload) if size is None else size
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    bit = 0 if mask is None else 0x80
    if length < 126:
        head += bytes([bit | length])
    elif length < 65536:
        head += bytes([bit | 126]) + struct.pack("!H", length)
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", length)
    return head + (payload if mask is None else mask + masked(payload, mask))


def masked(data: bytes, mask: bytes) -> bytes:
    whole = (mask * (len(data) // 4 + 1))[: len(data)]
    number = int.from_bytes(data, "big") ^ int.from_bytes(whole, "big")
    return number.to_bytes(len(data), "big")


def closing(code: int | None = 1000, reason: bytes = b"") -> bytes:
    return frame(b"" if code is None else struct.pack("!H", code) + reason, CLOSE)
