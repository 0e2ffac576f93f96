"""What a user message holds: text first, pictures within bounds, everything else as text."""

from __future__ import annotations

import base64

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.ipc.content import to_content
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model.content import Image, Text


def attached(size: int, media_type: str = "image/png") -> w.Attachment:
    return w.Attachment(content=base64.b64encode(b"x" * size).decode(), media_type=media_type)


@pytest.mark.conforms("ipc: attachments")
def test_the_text_comes_first_unless_it_is_empty() -> None:
    note = w.Attachment(filename="n.txt", content="note", media_type="text/plain")
    picture = attached(3, "image/webp")
    message = w.UserMessage(text="look", attachments=(picture, note))
    assert to_content(message) == (
        Text("look"),
        Image("image/webp", data=picture.content),
        Text("note"),
    )
    assert to_content(w.UserMessage(text="", attachments=(note,))) == (Text("note"),)
    assert to_content(w.UserMessage(text="")) == (Text(""),)


@pytest.mark.conforms("ipc: image limits")
def test_a_picture_has_a_known_type_and_at_most_five_mebibytes() -> None:
    assert to_content(w.UserMessage(text="", attachments=(attached(5 * 2**20),)))
    for wrong in (
        attached(5 * 2**20 + 1),
        attached(1, "image/bmp"),
        w.Attachment(content="no base64!", media_type="image/png"),
    ):
        with pytest.raises(InvalidRequestError):
            to_content(w.UserMessage(text="x", attachments=(wrong,)))
