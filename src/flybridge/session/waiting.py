"""What waits in a session, and when it leaves, is taken back, or is over."""

from __future__ import annotations

from collections.abc import Collection

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.ids import InputKey
from flybridge.session.effects import Decision, Send
from flybridge.session.state import State

NOT_ACCEPTING = "the agent has not said that it takes messages"  # how its notice begins
NEVER_MS = 2**63 - 1
NOTICE_PART = 8  # a notice comes after this part of the time that a message may wait


def dispatch(state: State, command: c.Command, key: InputKey) -> Decision:
    """Let a held or fresh input leave for the agent that lives now."""
    return Decision(
        [e.InputDispatched(key=key, incarnation=state.incarnation)], [Send(command, key)]
    )


def release(state: State) -> Decision:
    """Let the messages leave that waited for an agent which takes input now: every plain one, or
    one queued one."""
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


def expire(state: State, now_ms: int, accept_ms: int) -> Decision:
    """Return what the clock alone makes happen to messages that have not left.

    One whose deadline has passed is expired. One that has waited ``accept_ms`` for an agent that is
    connected and has not said that it takes messages was not delivered, and may be sent again;
    long before that a notice says what it waits for.
    """
    late = [key for key in state.held() if 0 < state.inputs[key].deadline_ms <= now_ms]
    events: list[e.Event] = [e.InputOutcome(key=key, outcome="expired") for key in late]
    if not _is_silent(state):
        return Decision(events, [])
    since = {key: _waits_since(state, key) for key in state.held() if key not in late}
    if _notice_due(state, accept_ms, since.values()) <= now_ms:
        text = f"{NOT_ACCEPTING}; a message waits at most {accept_ms // 1000} s for it"
        events.append(e.Notice(text=text, level="warning"))
    events += [
        e.InputOutcome(key=key, outcome="not_delivered", reason=NOT_ACCEPTING)
        for key, begun_ms in since.items()
        if begun_ms + accept_ms <= now_ms
    ]
    return Decision(events, [])


def deadline_ms(state: State, accept_ms: int) -> int | None:
    """Return when ``expire`` is next worth calling."""
    times = [due for key in state.held() if (due := state.inputs[key].deadline_ms)]
    if _is_silent(state):
        since = [_waits_since(state, key) for key in state.held()]
        times += [begun_ms + accept_ms for begun_ms in since]
        times.append(_notice_due(state, accept_ms, since))
    due_ms = min(times, default=NEVER_MS)
    return due_ms if due_ms < NEVER_MS else None


def _is_silent(state: State) -> bool:
    return state.phase == "live" and not state.accepts_input


def _waits_since(state: State, key: InputKey) -> int:
    """Return since when a message waits for the agent that is connected now."""
    return max(state.inputs[key].since_ms, state.silent_since_ms)


def _notice_due(state: State, accept_ms: int, since: Collection[int]) -> int:
    if state.silence_noted or not since:
        return NEVER_MS
    return min(since) + accept_ms // NOTICE_PART
