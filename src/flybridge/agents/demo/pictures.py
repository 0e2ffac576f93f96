"""How large a picture is: read off the first bytes of PNG, GIF and JPEG."""

from __future__ import annotations

import base64
import binascii

from flybridge.agents.demo.stream import Json

MAX_SEGMENTS = 1000


def described(block: Json) -> str:
    """An image block in words. What cannot be read is said so, and never raises."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    try:
        data = base64.b64decode(str(source.get("data", "")), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    kind = str(source.get("media_type", "a picture"))[:60]
    if not data:
        return f"{kind}, but nothing in it that I can read"
    size = dimensions(data)
    pixels = f"{size[0]} x {size[1]} pixels" if size else "of a size I cannot tell"
    return f"{kind}, {pixels}, {len(data):,} bytes"


def dimensions(data: bytes) -> tuple[int, int] | None:
    """Width and height, or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    return _jpeg(data) if data.startswith(b"\xff\xd8") else None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Step over the segments up to the one that begins the frame."""
    at = 2
    for _ in range(MAX_SEGMENTS):
        if len(data) < at + 9 or data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = data[at + 5 : at + 7], data[at + 7 : at + 9]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
