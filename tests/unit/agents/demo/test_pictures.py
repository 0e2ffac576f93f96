from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.agents.demo.pictures import described, dimensions

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480)
GIF = b"GIF89a" + struct.pack("<HH", 32, 16)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 7, 9) + b"\x01"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (640, 480)),
        (GIF, (32, 16)),
        (JPEG, (9, 7)),
        (PNG[:20], None),
        (GIF[:8], None),
        (JPEG[:9], None),
        (b"\xff\xd8" + b"\xff\xe0\x00\x00" * 5000, None),
        (b"", None),
    ],
)
def test_the_size_is_read_off_the_first_bytes(data: bytes, size: tuple[int, int] | None) -> None:
    assert dimensions(data) == size


@given(st.binary(max_size=60), st.sampled_from([b"\xff\xd8", b"GIF89a", b"\x89PNG\r\n\x1a\n", b""]))
def test_any_bytes_have_a_size_or_none(data: bytes, start: bytes) -> None:
    size = dimensions(start + data)
    assert size is None or len(size) == 2


def block(data: object) -> dict[str, object]:
    return {"type": "image", "source": {"media_type": "image/png", "data": data}}


def test_a_picture_is_described_in_words() -> None:
    said = described(block(base64.b64encode(PNG).decode()))
    assert said == "image/png, 640 x 480 pixels, 24 bytes"
    assert "cannot tell" in described(block("eHh4"))


@pytest.mark.parametrize("odd", [{}, {"source": 3}, block("not base64!"), block(7), block("")])
def test_what_cannot_be_read_is_said_so(odd: dict[str, object]) -> None:
    assert "nothing in it that I can read" in described(odd)
