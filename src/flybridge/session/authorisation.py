"""Who is asking, and what they may do. One authoriser for every door and every route."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from flybridge.errors import NotAllowedError
from flybridge.model import commands as c
from flybridge.model.capabilities import Mode
from flybridge.model.options import OptionSchema
from flybridge.session import modes as session_modes
from flybridge.session.state import State

Scope: TypeAlias = Literal["view", "input", "interrupt", "approve", "spawn", "admin", "control"]
Verdict: TypeAlias = Literal["agent", "person", "forwarded", "remote", "refused"]  # on a TCP peer
OPENER = "flybridge.opener"  # the label that names the process which opened a session
KEY = "flybridge.key"  # the label with the digest of the key by which its opener comes back
OURS = frozenset({OPENER, KEY})
AGENT = "an agent cannot grant itself anything"
FORWARDED = (
    "This connection is forwarded (SSH or a proxy). To approve from here, sign in with your "
    "password or run `flybridge open --remote`."
)

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
    c.SetFast: "input",
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
    credential: str = ""  # the token or login it came in with; none at the Unix door
    sessions: frozenset[str] = frozenset()  # the only ones it may know of; empty: all
    door: str = "unix"
    source: str = ""  # where it comes from, as far as the door can tell
    peer: Verdict | Literal[""] = ""  # how its connection was judged; nothing at the Unix door
    forwarding: bool = False  # its login was made to be used through SSH or a proxy
    withheld: frozenset[Scope] = frozenset()  # scopes of its login that do not hold here


def knows(caller: Caller, session: str) -> bool:
    """Whether there is such a session as far as this caller is concerned."""
    return not caller.sessions or session in caller.sessions


def who(caller: Caller) -> dict[str, str]:
    """A caller, as the audit log names one."""
    return {
        "principal": caller.principal,
        "credential": caller.credential,
        "door": caller.door,
        "source": caller.source or caller.process,
    }


def scope_of(command: c.Command) -> Scope:
    """What a command needs."""
    return _NEEDS[type(command)]


def stops_the_turn(command: c.Command) -> bool:
    """Return whether an answer also interrupts, which needs that right as well."""
    return isinstance(command, c.AnswerPermission) and command.stop


def outlives_the_prompt(command: c.Command, state: State) -> bool:
    """Return whether an answer changes more than the rules of this agent process.

    It does if it accepts an offer that is durable or widens what the agent may do, or if it
    names another place than the session. A denial that is kept only narrows what the agent may do,
    so it does not count. Offers that the log does not describe, because it was
    written before there were any, count as such.
    """
    if not isinstance(command, c.AnswerPermission) or not command.remember:
        return False
    prompt = state.prompts.get(command.prompt)
    if command.place != "session":
        return True
    offers = prompt.known_offers if prompt else ()  # an index beyond them is refused later
    chosen = [offers[index] for index in command.remember if 0 <= index < len(offers)]
    return any(offer.outlives_session and not offer.narrows for offer in chosen)


def grants(
    mode: str, modes: Iterable[Mode], schema: OptionSchema, values: Mapping[str, object]
) -> str:
    """Return the first thing wanted of a new session that grants something, or "".

    ``modes`` are the permission modes that the agent publishes. Its schema says which options
    grant something; an option that the schema does not name counts as one.
    """
    if mode and session_modes.grants(modes, mode):
        return "permission_mode"
    return schema.granting(values)


def authorise(
    caller: Caller, scope: Scope, labels: dict[str, str], *, claimed: bool = False
) -> None:
    """Let the caller do that in a session with these labels, or refuse.

    The process that opened a session may approve in it for as long as it lives, because
    nobody else knows of the session yet; anyone who joins needs the scope itself, or must have
    ``claimed`` the session with the key that its opener was given.

    Raises:
        NotAllowedError: the scope is missing.
    """
    if scope in caller.scopes:
        return
    opened = bool(caller.process) and (claimed or labels.get(OPENER) == caller.process)
    if scope in ("approve", "admin") and opened and not caller.of_agent:
        return
    raise NotAllowedError(scope, why=why_not(caller, scope))


def why_not(caller: Caller, scope: str) -> str:
    """Return why a caller does not hold a scope, if there is more to say than that."""
    if caller.of_agent:
        return AGENT
    return FORWARDED if scope in caller.withheld else ""
