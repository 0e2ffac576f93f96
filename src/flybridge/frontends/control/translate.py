"""Control messages in our words, and our words in acknowledgements."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from flybridge.frontends.control.refusals import ControlRefused
from flybridge.model import commands as c
from flybridge.model.content import Text
from flybridge.model.ids import TurnId
from flybridge.wire.control.messages import (
    ACKS,
    VERSION,
    Ack,
    Capabilities,
    CapabilitiesAck,
    Failure,
    Head,
    InterruptRequest,
    Mode,
    Request,
    Result,
    StageName,
    given,
    type_of,
)
from flybridge.wire.control.times import format_time

STARTED, STEERED, QUEUED, IDLE = "started", "steered", "queued", "idle"
_REACHED: dict[str, StageName] = {
    "accepted": "accepted",
    "dispatching": "accepted",
    "written": "written",
    "observed": "observed",
    "ended": "observed",
    "done": "observed",
}
_OUTCOMES = {"done": "done", "ended": "observed", "lost": "lost"}
_LOST = "lost: the agent ended before it read it; send it anew, with retry_of"
# an end that is no success → result, code, words
_ENDS: dict[str, tuple[Result, str, str]] = {
    "refused": ("rejected", "refused_by_agent", "the agent refused it"),
    "cancelled": ("rejected", "cancelled", "Cancelled before it was sent to the agent."),
    "expired": ("rejected", "expired", "its time ran out before it left"),
    "not_delivered": (
        "not_live",
        "not_delivered",
        "the agent never got it; the same request may be sent again",
    ),
    "unknown": (
        "internal_error",
        "outcome_unknown",
        "nobody can tell whether the agent got it; look, then send anew with retry_of",
    ),
}
_TURN_ENDED = (
    "The turn had ended before the interrupt reached the agent.",
    "turn_ended",
)
_CANCELLED = "Cancelled before the agent read it."
_INTERRUPTED = "Cancelled by an interrupt before the agent read it."
_SLOW = "not written yet; the same request tells what became of it"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What an acknowledgement says beside whose it is."""

    result: Result
    duplicate: bool = False
    detail: str = ""
    stage: StageName | UnsetType = UNSET
    outcome: str | UnsetType = UNSET
    error: Failure | UnsetType = UNSET


def to_input(text: str, mode: Mode | UnsetType) -> c.SendInput:
    wanted: Literal["auto", "queue"] = "queue" if mode == "queue" else "auto"
    return c.SendInput(content=(Text(text),), mode=wanted)


def to_interrupt(request: InterruptRequest) -> c.Interrupt:
    return c.Interrupt(turn=TurnId(given(request.turn_id, "")))


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What else the ledger and the log know of a request that was cancelled."""

    interrupt: bool = False  # it was an interrupt, and its turn had ended
    left: bool = False  # it had been sent to the agent
    reason: str = ""


def judge(stage: str, choice: str, *, duplicate: bool, ending: Ending | None = None) -> Verdict:
    """What to say of something the ledger knows: ``stage`` is how far it got, in the ledger's
    words, and ``choice`` how it was taken. Nothing is called ok that may not have happened."""
    if stage == "cancelled" and ending is not None and (ending.interrupt or ending.left):
        return _cancelled(ending, duplicate=duplicate)
    reached = _REACHED.get(stage, UNSET)
    if stage in _ENDS:
        result, code, words = _ENDS[stage]
        failure = Failure(code=code, message=words)
        return Verdict(result=result, duplicate=duplicate, outcome=stage, error=failure)
    outcome = _OUTCOMES.get(stage, UNSET)
    if stage == "lost":
        return Verdict(
            result="ok", duplicate=duplicate, detail=_LOST, stage="written", outcome=outcome
        )
    if reached == "accepted" and not (stage == "accepted" and choice == QUEUED):
        return Verdict(
            result="timeout",
            duplicate=duplicate,
            stage=reached,
            error=Failure(code="in_progress", message=_SLOW),
        )
    if choice == IDLE:
        return Verdict(result="ok", duplicate=duplicate, detail=IDLE)
    return Verdict(result="ok", duplicate=duplicate, detail=choice, stage=reached, outcome=outcome)


def _cancelled(ending: Ending, *, duplicate: bool) -> Verdict:
    """An interrupt that came too late did nothing; a message that was sent and then dropped by
    the agent was ``ok`` before, and stays so, with the outcome."""
    if ending.interrupt:
        words, code = _TURN_ENDED
        failure = Failure(code=code, message=words)
        return Verdict(result="not_live", duplicate=duplicate, outcome="cancelled", error=failure)
    words = _INTERRUPTED if ending.reason == "interrupted" else _CANCELLED
    return Verdict(
        result="ok", duplicate=duplicate, detail=words, stage="written", outcome="cancelled"
    )


def refusal(refused: ControlRefused) -> Verdict:
    message = str(refused)
    return Verdict(
        result=refused.result, detail=message, error=Failure(code=refused.code, message=message)
    )


def to_ack(
    asked: Request | Head,
    verdict: Verdict,
    now_ms: int,
    capabilities: Capabilities | UnsetType = UNSET,
) -> Ack:
    """The acknowledgement of a message, or of as much of it as could be read."""
    kind = ACKS[asked.type if isinstance(asked, Head) else type_of(asked)]
    more = {"capabilities": capabilities} if kind is CapabilitiesAck else {}
    return kind(
        v=VERSION,
        request_id=asked.request_id,
        team=asked.team,
        session_id=asked.session_id,
        agent_id=asked.agent_id,
        acked_at=format_time(now_ms),
        result=verdict.result,
        duplicate=verdict.duplicate,
        detail=verdict.detail or UNSET,
        stage=verdict.stage,
        outcome=verdict.outcome,
        error=verdict.error,
        **more,
    )
