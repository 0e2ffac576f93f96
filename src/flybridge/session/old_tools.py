"""Name the kinds of tool calls in journals that were written before calls had one.

Only one agent was driven then, so the names are that agent's. The table is part of the journal's
format and does not grow: since then every driver says itself of what kind a call is. It is the
only one: the page's is generated from it, and the driver of that agent adds its newer tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from flybridge.model.tools import ToolKind

OLD_KINDS: Mapping[str, ToolKind] = {
    "Agent": "agent",
    "Bash": "execute",
    "BashOutput": "execute",
    "Edit": "edit",
    "ExitPlanMode": "plan",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "Monitor": "execute",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "NotebookRead": "read",
    "PowerShell": "execute",
    "REPL": "execute",
    "Read": "read",
    "Task": "agent",
    "TaskCreate": "task",
    "TaskGet": "task",
    "TaskList": "task",
    "TaskOutput": "execute",
    "TaskUpdate": "task",
    "TodoWrite": "task",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Write": "edit",
}


def kind_of(kind: ToolKind | Literal[""], name: str) -> ToolKind:
    """Return the kind of a call: the recorded one, or that of its name in an old journal."""
    if kind:
        return kind
    return "mcp" if name.startswith("mcp__") else OLD_KINDS.get(name, "other")
