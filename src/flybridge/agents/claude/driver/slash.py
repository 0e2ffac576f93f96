"""Slash commands: which there are, who does them, and what is printed by those of the CLI.

A command is an ordinary input. What becomes of it differs:

- ``local``: the CLI does it itself and prints something; the model is not asked;
- ``prompt``: it stands for a longer prompt, and the model answers;
- ``ui``: it belongs to the CLI's own terminal and does nothing from here.

The CLI lists what it has and not what it does with it, so that is written down here, as it
was measured. A name that is not listed here is a skill or a command of the user's: a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import UNSET, Raw

from flybridge.agents.claude.wire.decode import blocks, fields, text

Category: TypeAlias = Literal["local", "prompt", "ui"]

MAX_COMMANDS = 256
_NAME = 64
_LOCAL = frozenset(
    {
        "agents",
        "autocompact",
        "clear",
        "compact",
        "config",
        "context",
        "cost",
        "effort",
        "fast",
        "goal",
        "heapdump",
        "list-agents",
        "mcp",
        "model",
        "output-style",
        "recap",
        "release-notes",  # older: printed; newer: in the terminal only, and not listed
        "reload-skills",
        "rename",
        "usage",
    }
)
# Never listed: typed anyway, an older CLI calls it an unknown skill, a newer one says that
# it is not available.
_UI = frozenset({"exit", "export", "help", "login", "permissions", "resume", "status"})
_HIDDEN = "__"  # between the CLI and its own front ends
_STDOUT = "<local-command-stdout>"
_STDERR = "<local-command-stderr>"
LOCAL_OUTPUT = (_STDOUT, _STDERR)
_TAGS = re.compile(r"</?local-command-std(?:out|err)>")
_TOKENS = re.compile(r"\*\*Tokens:\*\*\s*([\d.,]+)\s*([km]?)\s*/\s*([\d.,]+)\s*([km]?)\b", re.I)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_MOST = 10_000_000_000


def category(name: str) -> Category:
    """Who does this command; the name is without its slash."""
    if name in _UI or name.startswith(_HIDDEN):
        return "ui"
    return "local" if name in _LOCAL else "prompt"


def categories(told: dict[str, Raw]) -> dict[str, str]:
    """The commands that the CLI lists in init, in its answer to initialize, or when they change."""
    found = {name: str(category(name)) for name in _names(told, "slash_commands")}
    found |= {name: str(category(name)) for name in _named(told, "commands")}
    found |= dict.fromkeys(_names(told, "terminal_slash_commands"), "ui")
    return dict(list(found.items())[:MAX_COMMANDS])


def terminal_only(told: dict[str, Raw]) -> list[str]:
    """Return the commands that the CLI lists for its own terminal only."""
    return list(_names(told, "terminal_slash_commands"))[:MAX_COMMANDS]


def _names(told: dict[str, Raw], field: str) -> Iterable[str]:
    parts = (blocks(told[field]) if field in told else None) or []
    return [one for raw in parts if 0 < len(one := text(raw)) <= _NAME]


def _named(told: dict[str, Raw], field: str) -> Iterable[str]:
    parts = (blocks(told[field]) if field in told else None) or []
    found = [text(fields(raw).get("name", UNSET)) for raw in parts]
    return [one for one in found if 0 < len(one) <= _NAME]


# ---- what is printed -----------------------------------------------------------------------------


def untagged(said: str) -> str:
    return _TAGS.sub("", said).strip()


def failed(said: str) -> bool:
    """Whether what a command printed is an error of it."""
    return said.startswith(_STDERR)


def context_in(said: str) -> tuple[int, int] | None:
    """The tokens in use and the window, out of what /context printed; None: not to be found.

    Older versions say it nowhere else.
    """
    found = _TOKENS.search(said)
    if found is None:
        return None
    used, window = _count(found[1], found[2]), _count(found[3], found[4])
    return None if used is None or not window else (used, window)


def _count(digits: str, unit: str) -> int | None:
    try:
        value = float(digits.replace(",", "")) * _UNITS[unit.lower()]
    except ValueError:
        return None
    return round(value) if value <= _MOST else None
