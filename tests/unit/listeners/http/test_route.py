from __future__ import annotations

from typing import Any

import msgspec
import pytest

from flybridge.auth.gate import Head
from flybridge.errors import InvalidRequestError
from flybridge.listeners.http.route import Call, Route
from flybridge.session.authorisation import Verdict


async def unjudged() -> Verdict:
    return "remote"


def call(**headers: str) -> Call:
    given = [(name.replace("_", "-").encode(), one.encode()) for name, one in headers.items()]
    head = Head(method="POST", target="/", headers=given)
    nobody: Any = None
    return Call(nobody, head, caller=None, source="", judge=unjudged)


def test_a_request_is_named_in_its_header_or_in_its_body() -> None:
    assert call(idempotency_key="a").request_id() == "a"
    assert call(idempotency_key='"a"').request_id() == "a"  # as the draft of the header wants it
    assert call().request_id("b") == "b"
    assert call(idempotency_key="b").request_id("b") == "b"
    assert call().request_id(otherwise="c") == "c"


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 201, "a\x7f", "a\n"])
def test_a_name_is_short_and_plain(name: str) -> None:
    with pytest.raises(InvalidRequestError):
        call().request_id(name)


def test_two_names_are_one_too_many() -> None:
    with pytest.raises(InvalidRequestError, match="differently"):
        call(idempotency_key="a").request_id("b")


def test_a_route_without_a_rule_cannot_be_written() -> None:
    field = {one.name: one for one in msgspec.structs.fields(Route)}["scope"]
    assert field.required
