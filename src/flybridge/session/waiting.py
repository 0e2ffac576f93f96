"""What waits in a session, and when it leaves, is taken back, or is over."""

from __future__ import annotations

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.ids import InputKey
from flybridge.session.effects import Decision, Send
from flybridge.session.state import State


def dispatch(state: State, command: c.Command, key: InputKey) -> Decision:
    """Let a held or fresh input leave for the agent that lives now."""
    return Decision(
        [e.InputDispatched(key=key, incarnation=state.incarnation)], [Send(command, key)]
    )


def release(state: State) -> Decision:
    """What may leave now that the agent takes input: every plain message, or one queued one."""
    out = Decision([], [])
    busy = bool(state.turn) or state.on_the_way()
    for key in state.held():
        one = state.inputs[key]
        if one.mode == "queue" and (busy or out.events):
            break
        sent = dispatch(state, c.SendInput(content=one.content), key)
        out.events += sent.events
        out.effects += sent.effects
        if one.mode == "queue":
            break
    return out


def withdraw(state: State, principal: str) -> Decision:
    """Somebody may not come in any more: what they said and what has not left yet stays here."""
    return Decision(
        [
            e.InputOutcome(key=key, outcome="cancelled", reason="not allowed any more")
            for key in state.held()
            if state.inputs[key].by == principal
        ],
        [],
    )


def expire(state: State, now_ms: int) -> Decision:
    """What the clock alone makes happen: held inputs whose deadline has passed."""
    return Decision(
        [
            e.InputOutcome(key=key, outcome="expired")
            for key in state.held()
            if 0 < state.inputs[key].deadline_ms <= now_ms
        ],
        [],
    )


def deadline_ms(state: State) -> int | None:
    """When ``expire`` is next worth calling."""
    times = [state.inputs[key].deadline_ms for key in state.held()]
    return min((one for one in times if one), default=None)
