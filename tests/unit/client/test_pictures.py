from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from flybridge.client.pictures import media_type, to_image
from flybridge.errors import InvalidRequestError
from flybridge.model.content import Image
from flybridge.session.attachments import PICTURE_BYTES

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", ""),
        (b"", ""),
    ],
)
def test_a_picture_is_known_by_its_first_bytes(data: bytes, kind: str) -> None:
    assert media_type(data) == kind


def test_bytes_files_and_pictures_are_all_pictures(tmp_path: Path) -> None:
    path = tmp_path / "boat.txt"
    path.write_bytes(PNG)
    wanted = Image("image/png", data=base64.b64encode(PNG).decode())
    assert to_image(PNG) == to_image(path) == to_image(str(path)) == to_image(wanted) == wanted


def test_anything_else_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.png"
    path.write_text("hello")
    with pytest.raises(InvalidRequestError, match=r"notes\.png is neither"):
        to_image(path)
    with pytest.raises(InvalidRequestError, match="no file"):
        to_image(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidRequestError, match="no file"):
        to_image(tmp_path / "pipe")
    with pytest.raises(InvalidRequestError, match="larger than 5 MB"):
        to_image(PNG + b"\0" * PICTURE_BYTES)
