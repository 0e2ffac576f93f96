"""Inputs and their outcomes: one machine for messages, answers, interrupts and settings.

    (none) → accepted → dispatching → written → observed → done
                 │           │           │          └────→ observed   the agent died in the turn
                 │           │           ├──→ lost     proven unread
                 │           │           └──→ unknown  no evidence
                 │           └──→ not_delivered, unknown
                 └──→ cancelled, expired, not_delivered

A key is claimed once. The same key with the same body gets its recorded outcome; only
``not_delivered``, which is proof that nothing happened, may be tried again under it.
A permission answer is an input whose key is the prompt: the claim is the compare-and-set.
"""

from __future__ import annotations

import hashlib

import msgspec

from flybridge.errors import PromptDecidedError, RequestReusedError
from flybridge.model import events as e
from flybridge.model.commands import (
    AnswerPermission,
    AnswerQuestion,
    Archive,
    CancelQueued,
    Close,
    Command,
    Delete,
    EditQueued,
    Interrupt,
    Rename,
    SendInput,
    SetEffort,
    SetFast,
    SetMode,
)
from flybridge.model.deliveries import Stage
from flybridge.model.facts import Fate
from flybridge.model.ids import InputKey
from flybridge.model.kinds import InputKind, Outcome
from flybridge.session.ports import InputRow
from flybridge.session.state import State

TERMINAL = frozenset(
    {"done", "refused", "cancelled", "expired", "not_delivered", "lost", "unknown", "ended"}
)
_STAGES = {
    "accepted": Stage.ACCEPTED,
    "dispatching": Stage.ACCEPTED,
    "written": Stage.WRITTEN,
    "observed": Stage.OBSERVED,
    "ended": Stage.OBSERVED,  # the agent had it, and died before its turn was over
    "done": Stage.DONE,
}
_ERRORS = {
    "refused": "refused_by_agent",
    "cancelled": "cancelled",
    "expired": "expired",
    "not_delivered": "not_delivered",
    "lost": "lost",
    "unknown": "outcome_unknown",
}
PROMPT = "prompt:"


def key_of(command: Command, principal: str, request: str) -> InputKey:
    """The ledger key: whose request it is, or which prompt it answers."""
    if isinstance(command, AnswerPermission | AnswerQuestion):
        return InputKey(PROMPT + command.prompt)
    return InputKey(f"{principal}:{request}")


def kind_of(command: Command) -> InputKind:
    match command:
        case SendInput():
            return "message"
        case AnswerPermission() | AnswerQuestion():
            return "answer"
        case Interrupt():
            return "interrupt"
        case Rename() | Archive() | Close() | Delete() | EditQueued() | CancelQueued():
            return "session"
        case _:
            return "setting"


def fingerprint(command: Command, principal: str, request: str) -> str:
    """What makes two requests the same one: who, under which id, with which body.

    A secret's own words do not count: nobody may guess them from here.
    """
    if isinstance(command, SendInput) and command.secret:
        command = msgspec.structs.replace(command, content=())
    body = msgspec.json.encode(command, order="deterministic")
    head = msgspec.json.encode([principal, request])
    return hashlib.sha256(head + b"\n" + body).hexdigest()


def choice_of(command: Command) -> str:
    """What was chosen: for an answer, and for a setting that is to hold in later lives."""
    match command:
        case AnswerPermission(decision=decision):
            return decision
        case AnswerQuestion(declined=declined):
            return "decline" if declined else "answer"
        case SetMode(mode=mode):
            return f"mode {mode}"
        case SetEffort(effort=effort):
            return f"effort {effort}"
        case SetFast(on=on):
            return "fast on" if on else "fast off"
        case _:
            return ""


def grants_nothing(command: Command) -> bool:
    """Whether it only ever stops something: an interrupt or a denial."""
    if isinstance(command, AnswerPermission):
        return command.decision == "deny"
    return isinstance(command, Interrupt)


def stage_of(stage: str) -> Stage | None:
    """How far that is, or None where it ended without getting anywhere."""
    return _STAGES.get(stage)


def stage_after(outcome: Outcome) -> str:
    """The ledger's word for an outcome: "observed" alone is a stage on the way, too."""
    return "ended" if outcome == "observed" else outcome


def error_of(stage: str) -> str:
    """The stable code of an outcome that is not a success, or the empty string."""
    return _ERRORS.get(stage, "")


def is_repeat(row: InputRow, print_: str) -> bool:
    """Whether a known key is asked for again by the same request.

    True: give the recorded outcome. False: it provably never happened; try again.

    Raises:
        RequestReusedError: another body under a taken key.
        PromptDecidedError: somebody else answered this prompt first.
    """
    if row.fingerprint != print_:
        if row.key.startswith(PROMPT):
            prompt = row.key.removeprefix(PROMPT)
            raise PromptDecidedError(prompt, choice=row.choice, by=row.by)
        raise RequestReusedError(row.key)
    return row.stage != "not_delivered"


def outcome_after_death(stage: str, fate: Fate) -> Outcome:
    """What became of an input whose agent is gone, by the evidence."""
    if stage == "observed":
        return "observed"
    if stage == "accepted" or fate == "not_taken":
        return "not_delivered"
    if fate == "unread":
        return "lost" if stage == "written" else "not_delivered"
    return "unknown"


def fate(number: int, *, took: int, read_upto: int) -> Fate:
    """Return what a keeper's exit report says of the line with that number.

    The number 0 is that of an input which no line carries: its driver has kept it back.
    """
    if number == 0 or number > took:
        return "not_taken"
    return "unread" if number > read_upto else "read"


_OF_INPUTS = frozenset(
    (e.InputAccepted, e.InputDispatched, e.InputWritten, e.InputConsumed, e.InputOutcome)
)


def rows_of(
    state: State, event: e.Event, known: dict[InputKey, InputRow]
) -> tuple[InputRow | None, bool]:
    """The ledger row that this event changes, and whether it claims a new key.

    ``known`` holds the rows of open inputs and is kept up to date here; ``state`` is the
    state after the event. Inputs of the past were never ours to carry out: no row.
    """
    if type(event) not in _OF_INPUTS or state.past:
        return None, False
    match event:
        case e.InputAccepted(key=key):
            claim = event.attempt == 1
            row = InputRow(
                session=state.session,
                key=key,
                kind=event.kind,
                by=event.by,
                fingerprint=event.fingerprint,
                stage="accepted",
                attempt=event.attempt,
                choice=event.choice,
                seq=state.seq,
            )
            known[key] = row
            return row, claim
        case e.InputDispatched(key=key):
            return _moved(known[key], "dispatching", state, event.incarnation), False
        case e.InputWritten(key=key):
            return _moved(known[key], "written", state), False
        case e.InputConsumed(key=key):
            return _moved(known[key], "observed", state), False
        case e.InputOutcome(key=key, outcome=outcome):
            row = known.pop(key)
            return _moved(row, stage_after(outcome), state), False
        case _:
            return None, False


def _moved(row: InputRow, stage: str, state: State, incarnation: str = "") -> InputRow:
    row.stage, row.seq = stage, state.seq
    row.incarnation = incarnation or row.incarnation
    return row
