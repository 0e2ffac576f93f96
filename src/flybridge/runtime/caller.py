"""Who is asking, and what they may do. One authoriser for every door and every route."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.errors import NotAllowedError
from flybridge.model import commands as c

Scope: TypeAlias = Literal["view", "input", "interrupt", "approve", "spawn", "admin"]
OPENER = "flybridge.opener"  # the label that names the process which opened a session

_NEEDS: dict[type, Scope] = {
    c.SendInput: "input",
    c.EditQueued: "input",
    c.CancelQueued: "input",
    c.AnswerPermission: "approve",
    c.AnswerQuestion: "approve",
    c.Interrupt: "interrupt",
    c.SetModel: "input",
    c.SetMode: "admin",  # a mode can switch permissions off
    c.SetEffort: "input",
    c.SetThinking: "input",
    c.StopTask: "interrupt",
    c.Mcp: "admin",
    c.Rename: "input",
    c.Archive: "input",
    c.Close: "spawn",
    c.Delete: "spawn",
}


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """One connected client. Identity comes from the connection, never from a message."""

    principal: str
    scopes: frozenset[Scope]
    process: str = ""  # pid:start:boot, where the door can tell
    of_agent: bool = False  # it descends from an agent: an agent can never approve


def scope_of(command: c.Command) -> Scope:
    """What a command needs."""
    return _NEEDS[type(command)]


def authorise(caller: Caller, scope: Scope, labels: dict[str, str]) -> None:
    """Let the caller do that in a session with these labels, or refuse.

    The process that opened a session may approve in it for as long as it lives, because
    nobody else knows of the session yet; anyone who joins needs the scope itself.

    Raises:
        NotAllowedError: the scope is missing.
    """
    if scope in caller.scopes:
        return
    opened = bool(caller.process) and labels.get(OPENER) == caller.process
    if scope in ("approve", "admin") and opened and not caller.of_agent:
        return
    why = "an agent cannot grant itself anything" if caller.of_agent else ""
    raise NotAllowedError(scope, why=why)
