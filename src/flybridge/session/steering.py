"""What a command of somebody who steers a live session from outside makes happen.

It differs from a person's command in three ways. It never starts an agent: whoever steers, steers
something that runs. It says at once whether it can be taken. And an interrupt that finds nothing
to stop still claims its key, so that the same interrupt, sent again, does not stop the next turn.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.errors import BusyError, NotLiveError, SessionClosedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.session.decide import Context, decide, nothing_to_do
from flybridge.session.effects import Decision
from flybridge.session.state import State

IN_DOUBT_MS = 2_000  # a line that the agent has not taken for so long blocks those behind it
How: TypeAlias = Literal["started", "steered", "queued", "idle"]


def steer(state: State, command: c.Command, context: Context) -> Decision:
    """Decide a message or an interrupt from outside; a message goes at once, or waits its turn.

    Raises:
        RefusedError: it cannot be taken; nothing happened.
    """
    return _steer(state, command, context, waits=True)


def steer_now(state: State, command: c.Command, context: Context) -> Decision:
    """The same, but a message that cannot leave at once is refused.

    Raises:
        RefusedError: it cannot be taken; nothing happened.
    """
    return _steer(state, command, context, waits=False)


def _steer(state: State, command: c.Command, context: Context, *, waits: bool) -> Decision:
    if state.closed:
        raise SessionClosedError(state.session)
    if state.phase == "none":
        raise NotLiveError("no agent runs in this session")
    if isinstance(command, c.SendInput):
        return _message(state, command, context, waits=waits)
    if isinstance(command, c.Interrupt) and not command.turn and _is_idle(state):
        return _taken(nothing_to_do(state, command, context), "idle")
    return decide(state, command, context)


def _is_idle(state: State) -> bool:
    return not (state.turn or state.on_the_way())


def _message(state: State, command: c.SendInput, context: Context, *, waits: bool) -> Decision:
    if _is_stuck(state, context.now_ms):
        raise BusyError("the agent has not taken the message before this one")
    why = _cannot_leave(state, command, context)
    if why and not waits:
        raise BusyError(why)
    if why:
        command = msgspec.structs.replace(command, mode="queue")
    decision = decide(state, command, context)
    held = not any(isinstance(one, e.InputDispatched) for one in decision.events)
    if held:
        return _taken(decision, "queued")
    return _taken(decision, "started" if _is_idle(state) else "steered")


def _cannot_leave(state: State, command: c.SendInput, context: Context) -> str:
    if state.phase == "starting" or not state.accepts_input:
        return "the agent is starting"
    if any(one.kind == "interrupt" for one in state.inputs.values()):
        return "the turn is being interrupted"
    agent = context.capabilities
    steers = agent is None or agent.steers
    if not steers and not _is_idle(state):
        return "the agent takes nothing while a turn runs"
    return "" if command.mode != "queue" or _is_idle(state) else "a turn runs"


def _is_stuck(state: State, now_ms: int) -> bool:
    return any(
        one.stage == "dispatching" and now_ms - one.since_ms > IN_DOUBT_MS
        for one in state.inputs.values()
    )


def _taken(decision: Decision, how: How) -> Decision:
    """The same, and how it was taken is kept with its key."""
    accepted = decision.events[0]
    assert isinstance(accepted, e.InputAccepted)
    told = msgspec.structs.replace(accepted, choice=how)
    return Decision([told, *decision.events[1:]], decision.effects)
