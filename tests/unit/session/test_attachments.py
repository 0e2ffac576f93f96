from __future__ import annotations

from base64 import b64encode

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.model import commands as c
from flybridge.model.content import Content, Document, Image, Text
from flybridge.session.attachments import (
    DOCUMENT_BYTES,
    MAX_PARTS,
    PICTURE_BYTES,
    PICTURES,
    check_content,
)
from tests.harness.session_sim import Sim


def base64(size: int) -> str:
    return "A" * (size * 4 // 3)


@pytest.mark.parametrize("kind", sorted(PICTURES))
def test_pictures_that_models_look_at_are_taken(kind: str) -> None:
    check_content([Text("look"), Image(kind, data=base64(PICTURE_BYTES))])


@pytest.mark.parametrize("less", [0, 1, 2])
def test_d06_a_picture_of_exactly_the_limit_is_taken_however_it_is_padded(less: int) -> None:
    whole = b64encode(bytes(PICTURE_BYTES - less)).decode()
    check_content([Image("image/png", data=whole)])
    over = b64encode(bytes(PICTURE_BYTES + 1 + less)).decode()
    with pytest.raises(InvalidRequestError, match="larger than 5 MiB"):
        check_content([Image("image/png", data=over)])


def test_documents_are_taken() -> None:
    check_content([Document("application/pdf", data=base64(DOCUMENT_BYTES))])
    check_content([Document("text/plain", data="QQ==", title="a")])


@pytest.mark.parametrize(
    "one",
    [
        Image("image/bmp", data="AA=="),
        Image("image/svg+xml", data="AA=="),
        Image("IMAGE/PNG", data="AA=="),
        Image("", data="AA=="),
        Image("image/png", data=base64(PICTURE_BYTES + 8)),
        Document("text/html", data="AA=="),
        Document("application/pdf", data=base64(DOCUMENT_BYTES + 8)),
    ],
)
def test_what_nobody_can_look_at_is_refused_and_leaves_no_trace(one: Content) -> None:
    with pytest.raises(InvalidRequestError):
        check_content([Text("look"), one])
    sim = Sim().up()
    head = len(sim.log)
    with pytest.raises(InvalidRequestError):
        sim.do(c.SendInput(content=(one,)))
    assert len(sim.log) == head


def test_there_is_something_and_not_too_much() -> None:
    for content in ([], [Text("x")] * (MAX_PARTS + 1)):
        with pytest.raises(InvalidRequestError):
            check_content(content)
