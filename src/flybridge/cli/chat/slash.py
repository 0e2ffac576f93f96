"""Lines that begin with a slash: those that are ours; all others are the agent's."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast, get_args

import msgspec

from flybridge.model.commands import (
    Close,
    Command,
    Mcp,
    Rename,
    SetEffort,
    SetFast,
    SetMode,
    SetModel,
    SetThinking,
)

OURS = (
    ("/quit", "leave; the agent goes on"),
    ("/close", "end the agent and close the session"),
    ("/interrupt", "stop the turn (also: Esc, or Ctrl-C once)"),
    ("/model NAME", "use another model; without a name: which there are"),
    ("/mode NAME", "use another permission mode"),
    ("/effort LEVEL", "try harder, or less hard: low, medium, high …"),
    ("/fast on|off", "quicker answers for more money"),
    ("/thinking N|off|auto", "how many tokens it may think with"),
    ("/context", "how full the context is, and of what"),
    ("/cost", "what it has cost so far"),
    ("/tasks", "the agent's list of tasks"),
    ("/mcp", "MCP servers; /mcp reconnect|enable|disable NAME"),
    ("/attach FILE", "send a picture or PDF along; @FILE in a message too"),
    ("/detach", "attach nothing after all"),
    ("/queue TEXT", "say it after this turn; without a text: what waits"),
    ("/queue edit N TEXT", "say that instead; /queue cancel N: say nothing"),
    ("/edit", "write the message in your editor (also: Ctrl-X Ctrl-E)"),
    ("/export FILE", "write the conversation to a file: .md, .json or .jsonl"),
    ("/rename TITLE", "give the session a title"),
    ("/sessions", "list all sessions"),
    ("/help", "this list"),
)
REST = """\
Other lines with a slash go to the agent; with two slashes, ours go there too.
Alt-Enter, or a backslash at the end, begins a new line. Ctrl-C twice leaves,
Ctrl-D on an empty line too."""

Local: TypeAlias = Literal[
    "quit",
    "help",
    "interrupt",
    "sessions",
    "models",
    "modes",
    "context",
    "cost",
    "tasks",
    "mcp",
    "attach",
    "detach",
    "queue",
    "edit",
    "export",
]
_ALIASES = {"/exit": "/quit", "/?": "/help", "/title": "/rename"}
_BARE = {
    "/model": "models",
    "/mode": "modes",
    **{f"/{name}": name for name in get_args(Local) if name not in ("models", "modes")},
}
_ACTIONS = ("reconnect", "enable", "disable", "login")


class Do(msgspec.Struct, frozen=True):
    """Something this program does itself, or asks about."""

    what: Local
    rest: str = ""


class Say(msgspec.Struct, frozen=True):
    """A line of the agent's that looks like one of ours."""

    text: str


class Usage(msgspec.Struct, frozen=True):
    """Ours, but said wrongly."""

    text: str


def help_lines() -> list[str]:
    width = max(len(usage) for usage, _ in OURS)
    return [f"{usage:<{width}}  {about}" for usage, about in OURS]


def parse(line: str) -> Do | Say | Usage | Command | None:
    """What a line asks of us; None: it is for the agent."""
    said = line.strip()
    if said.startswith("//"):
        return Say(said[1:])
    name, _, rest = said.partition(" ")
    name, rest = _ALIASES.get(name, name), rest.strip()
    match name:
        case "/close":
            return Close()
        case "/rename":
            return Rename(title=rest) if rest else Usage("/rename TITLE")
        case "/mcp" if rest:
            return _mcp(rest)
        case "/attach" if not rest:
            return Usage("/attach FILE")
        case "/model" | "/mode" | "/effort" | "/fast" | "/thinking" if rest or name not in _BARE:
            return _setting(name, rest)
        case _ if name in _BARE:
            return Do(cast(Local, _BARE[name]), rest)
        case _:
            return None


def _setting(name: str, rest: str) -> Command | Usage:
    match name, rest:
        case "/model", _:
            return SetModel(model=rest)
        case "/mode", _:
            return SetMode(mode=rest)
        case "/effort", str(level) if level:
            return SetEffort(effort=level)
        case "/fast", "on" | "off":
            return SetFast(on=rest == "on")
        case "/thinking", "off":
            return SetThinking(tokens=0)
        case "/thinking", "auto":
            return SetThinking(tokens=-1)
        case "/thinking", str(tokens) if tokens.isdecimal() and len(tokens) < 10:
            return SetThinking(tokens=int(tokens))
        case _:
            return Usage(next(usage for usage, _ in OURS if usage.startswith(name)))


def _mcp(rest: str) -> Command | Usage:
    action, _, server = rest.partition(" ")
    if action not in _ACTIONS or not server.strip():
        return Usage("/mcp, or /mcp reconnect|enable|disable NAME")
    known = cast(Literal["reconnect", "enable", "disable", "login"], action)
    return Mcp(server=server.strip(), action=known)


def settled(command: Command) -> str:
    """What is so once the agent has confirmed a setting; empty where an event says it."""
    match command:
        case SetEffort(effort=effort):
            return f"effort: {effort}"
        case SetFast(on=on):
            return f"fast: {'on' if on else 'off'}"
        case SetThinking(tokens=tokens):
            said = {0: "off", -1: "as the agent likes"}.get(tokens, f"{tokens} tokens")
            return f"thinking: {said}"
        case Mcp(server=server, action=action):
            done = {"reconnect": "connected again", "enable": "enabled", "disable": "disabled"}
            return f"{server}: {done.get(action, action)}"
        case _:
            return ""
