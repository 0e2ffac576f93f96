"""How far an input has come, by what is heard of it, and what that lets go."""

from __future__ import annotations

from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import InputKey, TurnId
from flybridge.session.effects import Decision
from flybridge.session.lives import options_with
from flybridge.session.state import State
from flybridge.session.waiting import release


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
    options = options_with(state.options, one.choice)
    if options != state.options:
        seen.append(e.SessionChanged(options=options))
    return [*seen, e.InputOutcome(key=key, outcome="done")]


def rejected(state: State, fact: f.InputRejected) -> Decision:
    """It will not run; whatever waited behind it may leave now."""
    if fact.key not in state.inputs:
        return Decision([], [])
    if fact.reason == "cancelled":  # somebody took it back
        events: list[e.Event] = [e.InputOutcome(key=fact.key, outcome="cancelled")]
    else:
        events = [
            e.InputRefused(key=fact.key, reason=fact.reason),
            e.InputOutcome(key=fact.key, outcome="refused", reason=fact.reason),
        ]
    if state.turn or state.phase != "live":
        return Decision(events, [])
    released = release(without(state, [fact.key]))
    return Decision([*events, *released.events], released.effects)


def unanswered(state: State, fact: f.InputUnanswered) -> list[e.Event]:
    if fact.key not in state.inputs:
        return []
    return [e.InputOutcome(key=fact.key, outcome="unknown", reason=fact.reason)]


def over_with(state: State, kind: str, key: InputKey) -> bool:
    """Whether the end of the turn is the end of this input too."""
    one = state.inputs[key]
    if kind == "message":
        return one.stage == "observed" and one.turn in ("", state.turn)
    return kind in ("answer", "interrupt") and one.stage in ("written", "observed")


def without(state: State, done: list[InputKey]) -> State:
    """The state as it will be once the turn is over: what ``release`` must look at."""
    left = {key: one for key, one in state.inputs.items() if key not in done}
    return State(
        session=state.session, incarnation=state.incarnation, phase=state.phase, inputs=left
    )
