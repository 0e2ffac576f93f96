"""What the product asks about an agent beside the conversation, and the form of each answer.

A driver translates its agent's own objects into these structs. Anything else can be asked under
``RAW`` and the agent's own name for it: the answer is then passed through as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from flybridge.model.capabilities import Mode

RAW = "raw:"  # before a name: the agent's own query, answered with the agent's own object

QueryName: TypeAlias = Literal[
    "models", "modes", "context", "mcp_servers", "commands", "rewind_preview"
]


class _Result(msgspec.Struct, frozen=True, kw_only=True):
    pass


class ModelInfo(_Result, frozen=True, kw_only=True):
    id: str  # what set_model takes
    name: str = ""
    about: str = ""
    resolved: str = ""  # the id that the agent reports while it is in use; "": not known
    efforts: tuple[str, ...] | None = None  # levels of effort that it takes; None: not known
    fast: bool | None = None  # whether it has a fast mode; None: not known


class Models(_Result, frozen=True, kw_only=True):
    models: tuple[ModelInfo, ...] = ()


class Modes(_Result, frozen=True, kw_only=True):
    """The permission modes that can be chosen."""

    modes: tuple[Mode, ...] = ()


class ContextPart(_Result, frozen=True, kw_only=True):
    name: str
    tokens: int


class ContextUsage(_Result, frozen=True, kw_only=True):
    used: int = 0  # tokens
    window: int = 0  # 0: not known
    parts: tuple[ContextPart, ...] = ()  # what takes up room; not what is free


class McpServer(_Result, frozen=True, kw_only=True):
    name: str
    status: Literal["connected", "connecting", "failed", "needs_login", "disabled", "unknown"]
    error: str = ""
    version: str = ""
    scope: str = ""  # where it is configured, in the agent's words
    tools: tuple[str, ...] = ()


class McpServers(_Result, frozen=True, kw_only=True):
    servers: tuple[McpServer, ...] = ()


class CommandInfo(_Result, frozen=True, kw_only=True):
    name: str  # without its slash
    runs: str = ""  # local, prompt or ui


class Commands(_Result, frozen=True, kw_only=True):
    commands: tuple[CommandInfo, ...] = ()


class RewindPreview(_Result, frozen=True, kw_only=True):
    """Which files would change if they were put back to what they were before an input."""

    possible: bool
    reason: str = ""  # why it is not
    files: tuple[str, ...] = ()
    insertions: int = 0
    deletions: int = 0


QueryResult: TypeAlias = Models | Modes | ContextUsage | McpServers | Commands | RewindPreview
RESULTS: Mapping[QueryName, type[QueryResult]] = {
    "models": Models,
    "modes": Modes,
    "context": ContextUsage,
    "mcp_servers": McpServers,
    "commands": Commands,
    "rewind_preview": RewindPreview,
}
