"""What a person hands to an agent: text, pictures, documents, files."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class Text(msgspec.Struct, frozen=True, tag="text"):
    text: str


class Image(msgspec.Struct, frozen=True, tag="image"):
    """A picture, as base64 in ``data`` or by its digest in the blob store."""

    media_type: str
    data: str = ""
    blob: str = ""


class Document(msgspec.Struct, frozen=True, tag="document"):
    media_type: str
    data: str = ""
    blob: str = ""
    title: str = ""


Content: TypeAlias = Text | Image | Document
