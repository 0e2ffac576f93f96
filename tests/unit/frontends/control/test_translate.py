"""What is said of everything the ledger may know."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from flybridge.frontends.control import translate
from flybridge.frontends.control.refusals import rejected
from flybridge.model.kinds import Outcome
from flybridge.session.ledger import stage_after
from flybridge.wire.control import messages as w

HEAD = w.Head("control.stdin.request", "r", "t", "s", "a:1")


@pytest.mark.conforms("S2-4a", "S2-5c")
@pytest.mark.parametrize(
    ("stage", "choice", "result", "reached", "outcome", "code"),
    [
        ("accepted", "queued", "ok", "accepted", UNSET, ""),
        ("accepted", "started", "timeout", "accepted", UNSET, "in_progress"),
        ("dispatching", "started", "timeout", "accepted", UNSET, "in_progress"),
        ("dispatching", "queued", "timeout", "accepted", UNSET, "in_progress"),
        ("written", "started", "ok", "written", UNSET, ""),
        ("written", "queued", "ok", "written", UNSET, ""),
        ("observed", "steered", "ok", "observed", UNSET, ""),
        ("done", "started", "ok", "observed", "done", ""),
        ("ended", "started", "ok", "observed", "observed", ""),
        ("lost", "started", "ok", "written", "lost", ""),
        ("not_delivered", "started", "not_live", UNSET, "not_delivered", "not_delivered"),
        ("unknown", "started", "internal_error", UNSET, "unknown", "outcome_unknown"),
        ("expired", "queued", "rejected", UNSET, "expired", "expired"),
        ("cancelled", "queued", "rejected", UNSET, "cancelled", "cancelled"),
        ("refused", "started", "rejected", UNSET, "refused", "refused_by_agent"),
    ],
)
def test_every_state_has_an_honest_acknowledgement(
    stage: str, choice: str, result: str, reached: object, outcome: object, code: str
) -> None:
    found = translate.judge(stage, choice, duplicate=True)
    assert (found.result, found.stage, found.outcome) == (result, reached, outcome)
    assert (found.error.code if isinstance(found.error, w.Failure) else "") == code
    assert found.duplicate


def test_ok_is_said_only_of_what_was_written_or_waits_for_sure() -> None:
    stages = {"accepted", "dispatching", "written", "observed"}
    stages |= {stage_after(one) for one in Outcome.__args__}  # type: ignore[attr-defined]
    ok = {one for one in stages if translate.judge(one, "started", duplicate=False).result == "ok"}
    assert ok == {"written", "observed", "done", "ended", "lost"}


def test_c05_an_interrupt_that_came_too_late_found_no_turn() -> None:
    ending = translate.Ending(interrupt=True, left=True, reason="turn_ended")
    found = translate.judge("cancelled", "", duplicate=False, ending=ending)
    assert (found.result, found.outcome) == ("not_live", "cancelled")
    assert isinstance(found.error, w.Failure)
    assert found.error.code == "turn_ended"


def test_c06_what_was_written_and_then_dropped_stays_ok_and_says_so() -> None:
    ending = translate.Ending(left=True, reason="interrupted")
    found = translate.judge("cancelled", "steered", duplicate=True, ending=ending)
    assert (found.result, found.stage, found.outcome) == ("ok", "written", "cancelled")
    assert found.detail == "Cancelled by an interrupt before the agent read it."
    assert found.error is UNSET
    other = translate.judge("cancelled", "", duplicate=True, ending=translate.Ending(left=True))
    assert (other.result, other.detail) == ("ok", "Cancelled before the agent read it.")
    held = translate.judge("cancelled", "queued", duplicate=True, ending=translate.Ending())
    assert held.result == "rejected"


def test_an_interrupt_that_found_nothing_says_so() -> None:
    found = translate.judge("done", "idle", duplicate=False)
    assert (found.result, found.detail, found.stage) == ("ok", "idle", UNSET)


def test_a_refusal_says_why_twice() -> None:
    ack = translate.to_ack(HEAD, translate.refusal(rejected("c", "words")), 0)
    assert isinstance(ack, w.StdinAck)
    assert (ack.result, ack.detail, ack.duplicate) == ("rejected", "words", False)
    assert ack.error == w.Failure(code="c", message="words")
    assert ack.acked_at == "1970-01-01T00:00:00.000Z"


def test_a_message_becomes_a_command() -> None:
    assert translate.to_input("hi", "queue").mode == "queue"
    assert translate.to_input("hi", UNSET).mode == translate.to_input("hi", "now").mode == "auto"


@pytest.mark.parametrize(
    ("kind", "ack"), [(kind, ack) for kind, ack in w.ACKS.items()], ids=list(w.ACKS)
)
def test_each_request_has_its_own_acknowledgement(kind: str, ack: type) -> None:
    head = w.Head(kind, "r", "t", "s", "a:1")
    assert type(translate.to_ack(head, translate.Verdict(result="ok"), 0)) is ack
