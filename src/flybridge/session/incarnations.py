"""How a session's agent is to be started, in its first life and in every later one."""

from __future__ import annotations

import msgspec

from flybridge.errors import NotSupportedError
from flybridge.model import commands as c
from flybridge.model.capabilities import OpenSpec, Options, Transport
from flybridge.session.state import State

BYPASS = "bypassPermissions"


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
        options=state.options,
    )


def transport_of(state: State) -> Transport:
    """How the life that begins now is reached. A person starts only what is all new."""
    chosen, spec = state.options.transport, start_spec(state)
    goes_on = spec.resume or spec.fork or spec.continue_latest or spec.from_pr
    return "socket" if chosen == "by_hand" and goes_on else chosen


def options_of(spec: OpenSpec) -> Options:
    """What is kept of a session's options when it is opened.

    Whoever may open it in a mode that asks nobody may switch back to that in a later life.
    """
    if spec.mode != BYPASS:
        return spec.options
    return msgspec.structs.replace(spec.options, allow_bypass=True)


def options_with(options: Options, choice: str) -> Options:
    """The options once the agent has taken a setting that is to hold in its later lives too."""
    what, _, value = choice.partition(" ")
    if what == "effort":
        return msgspec.structs.replace(options, effort=value)
    if what == "fast":
        return msgspec.structs.replace(options, fast=value == "on")
    return options


def options_after(options: Options, command: c.Command, efforts: frozenset[str]) -> Options:
    """The options of the next life, once a setting was changed that a living agent cannot take.

    Raises:
        NotSupportedError: it cannot be started with that.
    """
    match command:
        case c.SetEffort(effort=effort) if effort in efforts:
            return msgspec.structs.replace(options, effort=effort)
        case c.SetFast(on=on):
            return msgspec.structs.replace(options, fast=on)
        case c.SetEffort(effort=effort):
            raise NotSupportedError(f"this version has no effort {effort[:64]!r}")
        case _:
            raise NotSupportedError("the agent cannot be started with that")
