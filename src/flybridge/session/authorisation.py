"""Who is asking, and what they may do. One authoriser for every door and every route."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw

from flybridge.errors import NotAllowedError
from flybridge.model import commands as c
from flybridge.model.capabilities import Options
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


# Modes in which an agent asks for all that it would ask for by default, or does less. Anybody who
# may open a session may choose them; every other mode, known or not, can grant something.
ASKING_MODES = frozenset({"default", "manual", "plan", "dontAsk"})
_GRANTING = (  # options by which an agent may do more than it would have to ask for
    "skip_permissions",
    "allow_bypass",
    "allowed_tools",
    "add_dirs",
    "mcp_config",
    "plugin_dirs",
    "settings",
    "setting_sources",
    "agents",
)


_WITHIN_MODE = frozenset(  # kinds of suggestions that leave the permission mode as it is
    {
        "addRules",
        "replaceRules",
        "removeRules",
        "addDirectories",
        "removeDirectories",
    }
)


class _Offer(msgspec.Struct):
    type: str = ""


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
    """Whether an answer changes more than this agent's life: a file of rules, or the mode."""
    if not isinstance(command, c.AnswerPermission) or not command.remember:
        return False
    prompt = state.prompts.get(command.prompt)
    offers = prompt.offers if prompt else ()
    chosen = [offers[one] for one in command.remember if 0 <= one < len(offers)]
    return command.place != "session" or any(_changes_mode(offer) for offer in chosen)


def _changes_mode(offer: Raw) -> bool:
    """Return whether a suggestion does more than to add or remove rules and folders.

    A suggestion that cannot be read, or is of an unknown kind, counts as one that does.
    """
    try:
        return msgspec.json.decode(offer, type=_Offer).type not in _WITHIN_MODE
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return True


def grants(mode: str, options: Options) -> str:
    """Return the first thing wanted of a new session that grants something, or ""."""
    if mode and mode not in ASKING_MODES:
        return "permission_mode"
    return next((name for name in _GRANTING if getattr(options, name)), "")


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
