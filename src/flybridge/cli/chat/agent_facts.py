"""What an agent says of itself that a person may want to know: its commands, models, servers.

It is whatever the agent sends: nothing here trusts its shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.cli.rendering.columns import cut
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.tool_text import parsed
from flybridge.model.events import AgentReady

MAX_NAMES = 500
HINT, ABOUT, HEAD = 40, 200, 24


class Named(msgspec.Struct, frozen=True):
    """A command or a model: its name, what follows it, what it is."""

    name: str
    hint: str = ""
    about: str = ""


class AgentFacts:
    """The newest of everything the agent said; it says some of it in several ways."""

    def __init__(self) -> None:
        self.commands: dict[str, Named] = {}
        self.models: list[Named] = []
        self.terminal_only: set[str] = set()  # commands that do nothing here

    def apply(self, event: AgentReady) -> None:
        told = parsed(bytes(event.detail)) if isinstance(event.detail, Raw) else {}
        told = told if isinstance(told, dict) else {}
        if "commands" in told:  # the whole list: what is not in it any more is gone
            self.commands = {}
        for one in _objects(told.get("commands")):
            self._command(_named(one, "name", "argumentHint"))
        for name in _strings(told.get("slash_commands")):
            if name not in self.commands:
                self._command(Named(name))
        for name, kind in event.commands.items():
            if kind == "ui":
                self.terminal_only.add(one_line(name))
            elif one_line(name) not in self.commands:
                self._command(Named(one_line(name)))
        models = [_named(one, "value", "") for one in _objects(told.get("models"))]
        self.models = [one for one in models if one.name] or self.models

    def _command(self, command: Named) -> None:
        if command.name and len(self.commands) < MAX_NAMES:
            self.commands[command.name] = command

    def command_lines(self, is_ours: Callable[[str], bool], width: int) -> list[str]:
        """The agent's own commands, one per line; one that is named like ours has two slashes."""
        shown = [one for one in self.commands.values() if one.name not in self.terminal_only]
        heads = [f"{'//' if is_ours(one.name) else '/'}{one.name} {one.hint}" for one in shown]
        return _lines([(head, one.about) for head, one in zip(heads, shown, strict=True)], width)

    def model_lines(self, width: int) -> list[str]:
        return _lines([(one.name, one.about) for one in self.models], width)


def _lines(rows: list[tuple[str, str]], width: int) -> list[str]:
    first = min(max((len(head.rstrip()) for head, _ in rows), default=0), HEAD)
    return [cut(f"{head.rstrip():<{first}}  {about}".rstrip(), width) for head, about in rows]


def _named(one: dict[str, Any], name: str, hint: str) -> Named:
    about = _word(one.get("displayName")), _word(one.get("description"))
    said = ": ".join(part for part in about if part)
    return Named(_word(one.get(name)), _word(one.get(hint))[:HINT], said[:ABOUT])


def _word(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else []
    return [one for one in found[:MAX_NAMES] if isinstance(one, dict)]


def _strings(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    return [one_line(one) for one in found[:MAX_NAMES] if isinstance(one, str)]
