"""Pictures that go with a message: known by their first bytes, not by their name."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import TypeAlias

from flybridge.errors import InvalidRequestError
from flybridge.model.content import Image
from flybridge.session.attachments import PICTURE_BYTES as MAX_BYTES

Picture: TypeAlias = Image | bytes | str | os.PathLike[str]


def to_image(picture: Picture) -> Image:
    """A picture as a message holds it: from its bytes, or from the file of that name.

    Raises:
        InvalidRequestError: it cannot be read, is none, or is too large.
    """
    if isinstance(picture, Image):
        return picture
    name, data = ("the picture", picture) if isinstance(picture, bytes) else _read(Path(picture))
    kind = media_type(data)
    if not kind:
        raise InvalidRequestError(f"{name} is neither a PNG, a JPEG, a GIF nor a WebP")
    if len(data) > MAX_BYTES:
        raise InvalidRequestError(f"{name} is larger than {MAX_BYTES >> 20} MB")
    return Image(kind, data=base64.b64encode(data).decode())


def _read(path: Path) -> tuple[str, bytes]:
    try:
        if not path.is_file():  # a pipe would keep us waiting
            raise InvalidRequestError(f"{path} is no file")
        with path.open("rb") as file:
            return path.name, file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"cannot read {path}: {error.strerror}") from error


def media_type(data: bytes) -> str:
    """What the first bytes say it is; empty: no picture that agents take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else ""
