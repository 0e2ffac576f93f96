"""Secrets are hidden in everything that is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.agents.claude.driver.convert.tools import describe
from flybridge.agents.claude.driver.sink import HEAD_BYTES, Sink
from flybridge.errors import BusyError
from flybridge.model import events as e
from flybridge.model.commands import Close, SendInput
from flybridge.model.content import Text
from flybridge.model.ids import IncarnationId, ItemId, PromptId, SessionId, TurnId
from flybridge.model.offers import Offer, OfferRule
from flybridge.model.tasks import TEXT_CHARS
from flybridge.model.tools import COMMAND_CHARS, CUT, DIFF_CHARS, TITLE_CHARS, URL_CHARS
from flybridge.session.decide import Context, decide
from flybridge.session.effects import Send
from flybridge.session.ledger import fingerprint
from flybridge.session.ports import BLOB_BYTES
from flybridge.session.secrets import HIDDEN, SHORTEST, Secrets
from flybridge.session.state import State
from tests.harness.claude_cli import assistant, hear, only, tool_result, tool_use
from tests.harness.claude_recordings import attached

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


def test_a_prompt_is_kept_when_a_secret_looks_like_the_reach_of_an_offer() -> None:
    rule = OfferRule("Bash", "login session")
    offer = Offer(label="Always allow", scope="session", durable=False, place="user", rules=(rule,))
    event = e.PermissionRequested(
        prompt=PromptId("p"),
        tool="Bash",
        input=Raw(b'{"scope":"session"}'),
        digest="d",
        offers=(offer,),
    )
    cleaned = secrets("session", "user", "hunter2").clean(event)
    assert isinstance(cleaned, e.PermissionRequested)
    (kept,) = cleaned.offers
    assert (kept.scope, kept.place, kept.durable) == ("session", "user", False)
    assert kept.rules == (OfferRule("Bash", f"login {HIDDEN}"),)


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


KEY = "sk-" + "0123456789" * 4 + "!"  # 44 characters


def _parts_of_key(text: str) -> list[str]:
    """Return the parts of the key that stand in a text; what is shorter tells nothing."""
    return [
        KEY[at : at + SHORTEST] for at in range(len(KEY) - 3) if KEY[at : at + SHORTEST] in text
    ]


def _called(name: str, given: Mapping[str, object]) -> e.ToolStarted:
    raw = Raw(json.dumps(given).encode())
    kind, subject = describe(name, raw)
    return e.ToolStarted(item=ITEM, name=name, input=raw, kind=kind, subject=subject)


@pytest.mark.parametrize(
    ("name", "field", "limit"),
    [
        ("Bash", "command", COMMAND_CHARS),
        ("Bash", "description", TITLE_CHARS),
        ("Write", "content", DIFF_CHARS),
        ("Edit", "old_string", DIFF_CHARS),
        ("NotebookEdit", "new_source", DIFF_CHARS),
        ("WebFetch", "url", URL_CHARS),
        ("Grep", "pattern", TITLE_CHARS),
        ("Task", "prompt", TITLE_CHARS),
        ("ExitPlanMode", "plan", TITLE_CHARS),
        ("mcp__x__y", "prompt", TITLE_CHARS),
        ("mcp__x__y", "unknown", TITLE_CHARS),
    ],
)
def test_a_subject_that_is_cut_inside_a_secret_holds_no_part_of_it(
    name: str, field: str, limit: int
) -> None:
    kept = secrets(KEY)
    for before in range(limit - 64, limit + 2):
        given: dict[str, object] = {field: "x" * before + KEY + " y" * 4096}
        if name == "Edit":
            given["new_string"] = "z"
        cleaned = kept.clean(_called(name, given))
        assert isinstance(cleaned, e.ToolStarted)
        assert not _parts_of_key(str(cleaned.subject)), before
        assert CUT in str(cleaned.subject)


@given(st.text("abc", max_size=12), st.text("abc", min_size=SHORTEST, max_size=8))
def test_a_cut_text_ends_with_no_beginning_of_a_secret(text: str, secret: str) -> None:
    cleaned = secrets(secret).clean(e.Notice(text=f"{text}{CUT}"))
    assert isinstance(cleaned, e.Notice)
    sizes = [size for size in range(1, len(secret) + 1) if text.endswith(secret[:size])]
    if sizes:
        kept, longest = cleaned.text.removesuffix(CUT), max(sizes)
        assert kept.endswith(HIDDEN) or longest < SHORTEST
        assert len(kept.replace(HIDDEN, "")) <= len(text) - longest
    elif secret not in text:
        assert cleaned.text == f"{text}{CUT}"


def test_the_first_characters_of_a_secret_are_no_end_of_a_cut_text() -> None:
    given = {"command": "y" * (COMMAND_CHARS - len(CUT) - 2) + KEY}
    cleaned = secrets(KEY).clean(_called("Bash", given))
    assert isinstance(cleaned, e.ToolStarted)
    assert cleaned.subject.command == "y" * (COMMAND_CHARS - len(CUT) - 2) + CUT


def test_of_two_secrets_that_begin_alike_none_is_left_at_a_cut() -> None:
    kept = secrets("hunter2", "hunter2-and-more", f"odd{CUT}rest")
    cleaned = kept.clean(e.Notice(text=f"a hunter2-and{CUT}\nodd{CUT}rest"))
    assert cleaned == e.Notice(text=f"a {HIDDEN}{CUT}\n{HIDDEN}")


def test_a_text_on_one_line_is_searched_for_secrets_with_wide_gaps() -> None:
    cleaned = secrets("correct  horse").clean(_called("Task", {"prompt": "use correct  horse"}))
    assert isinstance(cleaned, e.ToolStarted)
    assert cleaned.subject.title == f"use {HIDDEN}"


def test_the_head_of_a_blob_holds_no_part_of_a_secret() -> None:
    sink = Sink()
    text, blob = sink.text("x" * (HEAD_BYTES - 20) + KEY + "y" * BLOB_BYTES)
    cleaned = secrets(KEY).clean(e.TextDone(item=ITEM, text=text, blob=blob))
    assert cleaned == e.TextDone(item=ITEM, text="x" * (HEAD_BYTES - 20) + HIDDEN, blob=blob)


def test_a_task_that_is_cut_inside_a_secret_holds_no_part_of_it() -> None:
    said = "x" * (TEXT_CHARS - 20) + KEY
    driver = attached()
    call = {"todos": [{"content": said, "status": "pending", "activeForm": said}]}
    hear(driver, assistant(tool_use("t", "TodoWrite", **call)))
    tasks = only(
        hear(driver, tool_result("t", tool_use_result={"newTodos": call["todos"]})), e.Tasks
    )
    (task,) = tasks.items
    assert task.text.endswith(CUT)
    cleaned = secrets(KEY).clean(tasks)
    assert isinstance(cleaned, e.Tasks)
    assert not _parts_of_key(str(cleaned))


def test_a_cut_text_without_a_secret_stays_the_same_event() -> None:
    event = _called("Bash", {"command": "y" * 4096, "number": 1.0})
    assert event.subject.command.endswith(CUT)
    assert secrets(KEY).clean(event) is event


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
