"""Secrets are hidden in everything that is written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.errors import BusyError
from flybridge.model import events as e
from flybridge.model.commands import Close, SendInput
from flybridge.model.content import Text
from flybridge.model.ids import IncarnationId, ItemId, SessionId, TurnId
from flybridge.session.decide import Context, decide
from flybridge.session.effects import Send
from flybridge.session.ledger import fingerprint
from flybridge.session.secrets import HIDDEN, SHORTEST, Secrets
from flybridge.session.state import State

ITEM = ItemId("itm_1")


def secrets(*values: str) -> Secrets:
    kept = Secrets()
    for one in values:
        kept.add(one)
    return kept


def test_an_event_is_kept_without_the_secret() -> None:
    kept = secrets("hunter2")
    event = e.TextDone(item=ITEM, text="it is hunter2!")
    assert kept.clean(event) == e.TextDone(item=ITEM, text=f"it is {HIDDEN}!")
    other = e.TextDone(item=ITEM, text="nothing")
    assert kept.clean(other) is other


@given(st.text(st.characters(codec="utf-8"), min_size=SHORTEST).map(str.strip))
def test_no_spelling_of_a_secret_is_kept(secret: str) -> None:
    if len(secret) < SHORTEST or "\n" in secret or secret in HIDDEN:
        return
    inner = json.dumps({"command": f"login {secret}"})
    event = e.ToolStarted(item=ITEM, name="Bash", input=Raw(inner.encode()))
    kept = secrets(secret)
    cleaned = kept.clean(event)
    if isinstance(cleaned, e.ToolStarted) and isinstance(cleaned.input, Raw):
        assert secret not in json.loads(bytes(cleaned.input)).get("command", "").replace(HIDDEN, "")
    assert not kept.holds(kept.hide(inner.encode()).replace(HIDDEN.encode(), b""))


def test_a_secret_that_looks_like_our_own_words_does_no_harm() -> None:
    event = e.TextDone(item=ITEM, text="complete text.done", status="partial")
    cleaned = secrets("text.done", "partial").clean(event)
    assert isinstance(cleaned, e.TextDone)
    assert (cleaned.status, cleaned.text) == ("partial", f"complete {HIDDEN}")


def test_what_cannot_be_cleaned_is_left_out() -> None:
    event = e.Retry(attempt=123456, reason="x")
    kept = secrets("123456")
    assert "123456" not in str(secrets("attempt").clean(event)) or kept.holds(b"123456")
    assert isinstance(secrets("attempt").clean(event), e.Notice)


def test_a_blob_is_called_by_what_is_kept_of_it() -> None:
    kept = secrets("hunter2")
    assert kept.renamed(b"fine", "d1") == (b"fine", "d1")
    clean, name = kept.renamed(b"is hunter2", "d2")
    assert clean == b"is [secret]"
    event = kept.clean(e.TextDone(item=ITEM, text="head", blob="d2"))
    assert isinstance(event, e.TextDone)
    assert event.blob == name


def test_short_values_and_too_many_are_not_looked_for() -> None:
    assert not secrets("abc")
    assert secrets("a\nlonger line\nb").holds(b"a longer line")
    many = secrets(*[f"secret {n}" for n in range(1000)])
    assert many.holds(b"secret 5")


# ---- an input that is one --------------------------------------------------------------------


def live() -> State:
    return State(session=SessionId("ses_1"), phase="live", incarnation=IncarnationId("inc_1"))


def context() -> Context:
    return Context(now_ms=1, principal="uid:0", request="r")


def test_a_secret_input_leaves_at_once_and_is_written_down_without_its_words() -> None:
    command = SendInput(content=(Text("hunter2"),), secret=True)
    decision = decide(live(), command, context())
    accepted = decision.events[0]
    assert isinstance(accepted, e.InputAccepted)
    assert accepted.content == (Text(HIDDEN),)
    assert "hunter2" not in str(decision.events)
    (effect,) = decision.effects
    assert isinstance(effect, Send)
    assert effect.command == command


def test_a_secret_input_is_never_held() -> None:
    off = State(session=SessionId("ses_1"))
    with pytest.raises(BusyError):
        decide(off, SendInput(content=(Text("hunter2"),), secret=True), context())
    busy = live()
    busy.turn = TurnId("trn_1")
    with pytest.raises(BusyError):
        decide(busy, SendInput(content=(Text("x"),), secret=True, mode="queue"), context())


def test_nobody_can_guess_a_secret_from_its_fingerprint() -> None:
    one, two = (SendInput(content=(Text(word),), secret=True) for word in ("a", "b"))
    assert fingerprint(one, "p", "r") == fingerprint(two, "p", "r")
    assert fingerprint(one, "p", "r") != fingerprint(one, "p", "s")


def test_a_session_is_closed_with_a_reason() -> None:
    decision = decide(live(), Close(reason="enough"), context())
    assert e.SessionClosed(by="uid:0", reason="enough") in decision.events


def test_what_is_kept_is_known_again() -> None:
    kept = secrets("hunter2", "line one\nline two")
    data, name = kept.renamed(b"it is hunter2", "d" * 64)
    again = Secrets()
    again.recall(kept.kept().decode())
    assert again.holds(b"x hunter2 x")
    assert again.holds(b"line two")
    assert again.hide(b"hunter2") == HIDDEN.encode()
    assert not again.holds(name.encode())
    assert data == b"it is [secret]"


@pytest.mark.parametrize("kept", ["", "{", "[1]", '{"a": 1}'])
def test_what_nobody_kept_is_nothing(kept: str) -> None:
    again = Secrets()
    again.recall(kept)
    assert not again
