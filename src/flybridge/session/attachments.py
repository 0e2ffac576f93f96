"""What may go with a message: pictures and documents that models can look at, of a bounded size."""

from __future__ import annotations

from collections.abc import Sequence

from flybridge.errors import InvalidRequestError
from flybridge.model.content import Content, Document, Image, Text

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
DOCUMENTS = frozenset({"application/pdf", "text/plain"})
PICTURE_BYTES = 5 * 2**20
DOCUMENT_BYTES = 20 * 2**20
MAX_PARTS = 100


def check_content(content: Sequence[Content]) -> None:
    """Refuse what no model takes, before it is written into the log and lost on an agent.

    Raises:
        InvalidRequestError: there is nothing, too much, or something nobody can look at.
    """
    if not content:
        raise InvalidRequestError("an input needs content")
    if len(content) > MAX_PARTS:
        raise InvalidRequestError(f"an input has at most {MAX_PARTS} parts")
    for one in content:
        if not isinstance(one, Text):
            _check(one)


def _check(one: Image | Document) -> None:
    is_picture = isinstance(one, Image)
    if one.media_type not in (PICTURES if is_picture else DOCUMENTS):
        taken = ", ".join(sorted(PICTURES if is_picture else DOCUMENTS))
        raise InvalidRequestError(f"{one.media_type[:64]!r} is not taken: {taken}")
    limit = PICTURE_BYTES if is_picture else DOCUMENT_BYTES
    if _decoded_size(one.data) > limit:
        raise InvalidRequestError(f"larger than {limit >> 20} MiB: {one.media_type}")


def _decoded_size(data: str) -> int:
    """Return how many bytes base64 text stands for; padding stands for none."""
    digits = len(data) - len(data[-2:]) + len(data[-2:].rstrip("="))
    return digits * 3 // 4
