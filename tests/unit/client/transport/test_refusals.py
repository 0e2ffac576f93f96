"""A refusal keeps its class, its text and its data across the wire."""

from __future__ import annotations

import pytest
from msgspec import Raw

from flybridge import errors
from flybridge.client.transport.refusals import is_recorded, to_error
from flybridge.wire.native.messages import ReplyLine

CLASSES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.FlybridgeError)
]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_code_comes_back_as_its_class(kind: type[errors.FlybridgeError]) -> None:
    error = to_error(ReplyLine(ref="1", error=kind.code, message="the gateway's words"))
    assert type(error) is kind
    assert str(error) == "the gateway's words"
    assert error.code == kind.code


def test_an_unknown_code_is_a_refusal_that_carries_it() -> None:
    error = to_error(ReplyLine(ref="1", error="too_late"))
    assert type(error) is errors.RefusedError
    assert (error.code, str(error)) == ("too_late", "too late")
    assert errors.RefusedError.code == "refused"


def test_the_data_comes_from_the_value_then_from_what_was_asked() -> None:
    value = Raw(b'{"choice":"allow","by":"uid:7"}')
    decided = to_error(ReplyLine(ref="1", error="already_decided", value=value))
    assert isinstance(decided, errors.PromptDecidedError)
    assert (decided.choice, decided.by, decided.prompt) == ("allow", "uid:7", "")
    lost = to_error(ReplyLine(ref="1", error="session_not_found"), {"session": "ses_9"})
    assert isinstance(lost, errors.SessionNotFoundError)
    assert lost.session == "ses_9"


@pytest.mark.parametrize("value", [b"[]", b'"\xff"', b"7"])
def test_a_value_that_is_no_object_does_no_harm(value: bytes) -> None:
    error = to_error(ReplyLine(ref="1", error="session_closed", value=Raw(value)))
    assert isinstance(error, errors.SessionClosedError)
    assert error.session == ""


def test_an_outcome_is_not_a_refusal() -> None:
    outcome = Raw(b'{"key":"k","outcome":"unknown"}')
    assert is_recorded(ReplyLine(ref="1", error="unknown", value=outcome))
    assert is_recorded(ReplyLine(ref="1", error="in_progress", stage="accepted"))
    assert not is_recorded(ReplyLine(ref="1", error="busy"))
    assert not is_recorded(ReplyLine(ref="1", error="already_decided", value=Raw(b'{"by":"x"}')))
