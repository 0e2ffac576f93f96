"""How a session's agent is to be started, in its first life and in every later one."""

from __future__ import annotations

import msgspec

from flybridge.errors import NotSupportedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec, StartOptions, Transport
from flybridge.model.legacy_options import start_fields, to_legacy
from flybridge.model.options import FAST, Value
from flybridge.session.state import State


def start_spec(state: State) -> OpenSpec:
    """How to start this session's agent (again)."""
    forks = bool(state.forks) and not state.spoke  # nothing was said in the copy: copy again
    goes_on = not state.spoke and (state.continues or bool(state.from_pr))
    return OpenSpec(
        agent=state.agent,
        cwd=state.cwd,
        title=state.title,
        labels=state.labels,
        model=state.model,
        mode=state.mode,
        agent_session=state.forks if forks else state.agent_session,
        resume=state.spoke or forks,
        fork=forks or (goes_on and state.copies),
        continue_latest=goes_on and state.continues,
        from_pr=state.from_pr if goes_on else "",
        **start_fields(state.start),
    )


def transport_of(state: State) -> Transport:
    """How the life that begins now is reached. A person starts only what is all new."""
    chosen, spec = state.start.transport, start_spec(state)
    goes_on = spec.resume or spec.fork or spec.continue_latest or spec.from_pr
    return "socket" if chosen == "by_hand" and goes_on else chosen


def options_with(start: StartOptions, choice: str) -> StartOptions:
    """Return the options once the agent has taken a setting that holds in its later lives too."""
    what, _, value = choice.partition(" ")
    if what == "effort":
        return msgspec.structs.replace(start, effort=value)
    if what == "fast":
        return _with_flag(start, FAST, on=value == "on")
    return start


def options_after(start: StartOptions, command: c.Command, efforts: frozenset[str]) -> StartOptions:
    """Return the options of the next life, after a setting that a living agent cannot take.

    Raises:
        NotSupportedError: the agent cannot be started with that.
    """
    match command:
        case c.SetEffort(effort=effort) if effort in efforts:
            return msgspec.structs.replace(start, effort=effort)
        case c.SetFast(on=on):
            return _with_flag(start, FAST, on=on)
        case c.SetEffort(effort=effort):
            raise NotSupportedError(f"this version has no effort {effort[:64]!r}")
        case _:
            raise NotSupportedError("the agent cannot be started with that")


def change_event(before: StartOptions, after: StartOptions) -> e.SessionChanged:
    """Return the event that records other options for the next life of the agent."""
    return e.SessionChanged(
        effort=after.effort,
        agent_options=after.agent_options if after.agent_options != before.agent_options else None,
        options=to_legacy(after),
    )


def _with_flag(start: StartOptions, name: str, *, on: bool) -> StartOptions:
    rest: dict[str, Value] = {key: v for key, v in start.agent_options.items() if key != name}
    return msgspec.structs.replace(start, agent_options=rest | ({name: True} if on else {}))
