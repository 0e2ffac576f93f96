"""How far an input has come, by what is heard of it, and what that lets go."""

from __future__ import annotations

from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import InputKey, TurnId
from flybridge.session.effects import Decision
from flybridge.session.incarnations import change_event, options_with
from flybridge.session.state import OpenInput, State
from flybridge.session.waiting import release

CANCELLED, INTERRUPTED = "cancelled", "interrupted"
TURN_ENDED = "turn_ended"  # the turn that an interrupt names is over
_BY_ITSELF = ("done", "limit")  # how a turn ends that nothing stopped


def wrote(state: State, key: InputKey) -> list[e.Event]:
    one = state.inputs.get(key)
    if one is None or one.stage != "dispatching":
        return []
    return [e.InputWritten(key=key)]


def echoed(state: State, key: InputKey) -> list[e.Event]:
    one = state.inputs.get(key)
    if one is None or one.stage in ("accepted", "observed"):
        return []
    # The agent's echo may overtake the keeper's report: whoever read it was written to.
    turn = state.turn if one.kind == "message" else TurnId("")
    seen: list[e.Event] = [*wrote(state, key), e.InputConsumed(key=key, turn=turn)]
    if one.kind == "answer":  # an answer that was read has done all it can do
        seen.append(e.InputOutcome(key=key, outcome="done"))
    return seen


def confirmed(state: State, key: InputKey) -> list[e.Event]:
    one = state.inputs.get(key)
    if one is None or one.stage == "accepted":
        return []
    seen: list[e.Event] = []
    if one.stage != "observed":
        seen = [*wrote(state, key), e.InputConsumed(key=key)]
    if is_late(state, one):
        return [*seen, *late(state, key, one)]
    after = options_with(state.start, one.choice)
    if after != state.start:
        seen.append(change_event(state.start, after))
    return [*seen, e.InputOutcome(key=key, outcome="done")]


def rejected(state: State, fact: f.InputRejected) -> Decision:
    """It will not run; whatever waited behind it may leave now."""
    if fact.key not in state.inputs:
        return Decision([], [])
    events: list[e.Event]
    if fact.reason in (CANCELLED, TURN_ENDED):
        why = fact.reason if fact.reason == TURN_ENDED else _why_cancelled(state)
        events = [e.InputOutcome(key=fact.key, outcome="cancelled", reason=why)]
    else:
        events = [
            e.InputRefused(key=fact.key, reason=fact.reason),
            e.InputOutcome(key=fact.key, outcome="refused", reason=fact.reason),
        ]
    if state.turn or state.phase != "live" or not state.accepts_input:
        return Decision(events, [])
    released = release(without(state, [fact.key]))
    return Decision([*events, *released.events], released.effects)


def unanswered(state: State, fact: f.InputUnanswered) -> list[e.Event]:
    waiting = state.inputs.get(fact.key)
    if waiting is None:
        return []
    if is_late(state, waiting):
        return late(state, fact.key, waiting)
    return [e.InputOutcome(key=fact.key, outcome="unknown", reason=fact.reason)]


def _why_cancelled(state: State) -> str:
    """Return what made the agent give a message back, as far as the state tells."""
    kinds = {waiting.kind for waiting in state.inputs.values()}
    if "session" in kinds:  # somebody took it back
        return ""
    return INTERRUPTED if "interrupt" in kinds or state.ended == INTERRUPTED else ""


# ---- interrupts that name a turn -------------------------------------------------------------


def is_late(state: State, waiting: OpenInput) -> bool:
    """Return whether an interrupt names a turn that ended by itself before it was stopped."""
    return bool(waiting.target) and waiting.target != state.turn and not waiting.stopped


def late(state: State, key: InputKey, waiting: OpenInput) -> list[e.Event]:
    """Close an interrupt that reached the agent after its turn had ended."""
    events: list[e.Event] = []
    if state.turn:
        words = (
            f"an interrupt of turn {waiting.target} came after its end; it may stop {state.turn}"
        )
        events.append(e.Notice(text=words, level="warning"))
    return [*events, e.InputOutcome(key=key, outcome="cancelled", reason=TURN_ENDED)]


def late_with(state: State, fact: f.TurnOver) -> list[e.Event]:
    """Close the late interrupts that left the gateway, now that another turn has ended."""
    events: list[e.Event] = []
    for key, waiting in state.inputs.items():
        if not is_late(state, waiting) or waiting.stage == "dispatching":
            continue
        if fact.reason == INTERRUPTED:
            words = f"turn {state.turn} was stopped by an interrupt that named turn"
            events.append(e.Notice(text=f"{words} {waiting.target}", level="warning"))
        events.append(e.InputOutcome(key=key, outcome="cancelled", reason=TURN_ENDED))
    return events


def over_with(state: State, kind: str, key: InputKey, reason: str) -> bool:
    """Return whether the end of the turn, for this reason, is the end of this input too."""
    one = state.inputs[key]
    if kind == "message":
        return one.stage == "observed" and one.turn in ("", state.turn)
    if one.target and (one.target != state.turn or reason in _BY_ITSELF):
        return False  # it did not stop this turn
    return kind in ("answer", "interrupt") and one.stage in ("written", "observed")


def without(state: State, done: list[InputKey]) -> State:
    """The state as it will be once the turn is over: what ``release`` must look at."""
    left = {key: one for key, one in state.inputs.items() if key not in done}
    return State(
        session=state.session, incarnation=state.incarnation, phase=state.phase, inputs=left
    )
