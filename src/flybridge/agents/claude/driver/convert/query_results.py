"""Translate what Claude Code answers to a query into the structs of :mod:`flybridge.model.queries`.

What cannot be read is left out: a newer version may say more, and none may make a query fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import UNSET, Raw

from flybridge.agents.claude.wire.decode import blocks, fields, number, text
from flybridge.agents.claude.wire.messages import MaybeRaw
from flybridge.model.queries import (
    ContextPart,
    ContextUsage,
    McpServer,
    McpServers,
    ModelInfo,
    Models,
    QueryResult,
    RewindPreview,
)

MAX_ENTRIES = 1000
Status = Literal["connected", "connecting", "failed", "needs_login", "disabled", "unknown"]
_STATUS: Mapping[str, Status] = {
    "connected": "connected",
    "pending": "connecting",
    "failed": "failed",
    "needs-auth": "needs_login",
    "disabled": "disabled",
}


def to_models(answer: Raw) -> Models:
    """Return the models; one without an id cannot be chosen and is left out.

    The CLI names them in its answer to ``list_models`` and, under the same key, when it starts. A
    version that tells at all what its models can do tells it only for those that can.
    """
    models = [fields(entry) for entry in _list(answer, "models")]
    tells_effort = any("supportsEffort" in model for model in models)
    tells_fast = any("supportsFastMode" in model for model in models)
    return Models(
        models=tuple(
            ModelInfo(
                id=text(model["value"]),
                name=_text(model, "displayName"),
                about=_text(model, "description"),
                resolved=_text(model, "resolvedModel"),
                efforts=_efforts(model) if tells_effort else None,
                fast=_is_true(model, "supportsFastMode") if tells_fast else None,
            )
            for model in models
            if _text(model, "value")
        )
    )


def _efforts(model: dict[str, Raw]) -> tuple[str, ...] | None:
    if not _is_true(model, "supportsEffort"):
        return ()
    levels = (blocks(model.get("supportedEffortLevels", Raw(b"[]"))) or [])[:MAX_ENTRIES]
    return tuple(level for raw in levels if (level := text(raw))) or None


def to_context(answer: Raw) -> ContextUsage:
    """Return how full the context is; free room and what is loaded only later take up none."""
    told = fields(answer)
    parts = (fields(entry) for entry in _list(answer, "categories"))
    return ContextUsage(
        used=_count(told, "totalTokens"),
        window=_count(told, "maxTokens"),
        parts=tuple(
            ContextPart(name=_text(part, "name"), tokens=_count(part, "tokens"))
            for part in parts
            if _text(part, "kind") in ("", "used") and _text(part, "name")
        ),
    )


def to_servers(answer: Raw) -> McpServers:
    servers = (fields(entry) for entry in _list(answer, "mcpServers"))
    return McpServers(servers=tuple(_server(server) for server in servers if _text(server, "name")))


def to_rewind(answer: Raw) -> RewindPreview:
    told = fields(answer)
    return RewindPreview(
        possible=_is_true(told, "canRewind"),
        reason=_text(told, "error"),
        files=tuple(text(path) for path in _list(answer, "filesChanged")),
        insertions=_count(told, "insertions"),
        deletions=_count(told, "deletions"),
    )


# typed name → the query of ours that is put to the CLI, and how its answer is read
TYPED: Mapping[str, tuple[str, Callable[[Raw], QueryResult]]] = {
    "models": ("models", to_models),
    "context": ("context", to_context),
    "mcp_servers": ("mcp", to_servers),
    "rewind_preview": ("rewind", to_rewind),
}


def _server(server: dict[str, Raw]) -> McpServer:
    about = fields(server.get("serverInfo", Raw(b"{}")))
    tools = blocks(server.get("tools", Raw(b"[]"))) or []
    return McpServer(
        name=text(server["name"]),
        status=_STATUS.get(_text(server, "status"), "unknown"),
        error=_text(server, "error"),
        version=_text(about, "version"),
        scope=_text(server, "scope"),
        tools=tuple(name for tool in tools[:MAX_ENTRIES] if (name := _text(fields(tool), "name"))),
    )


def _list(answer: Raw, name: str) -> list[Raw]:
    return (blocks(fields(answer).get(name, Raw(b"[]"))) or [])[:MAX_ENTRIES]


def _text(told: dict[str, Raw], name: str) -> str:
    raw: MaybeRaw = told.get(name, UNSET)
    return text(raw)


def _is_true(told: dict[str, Raw], name: str) -> bool:
    return bytes(told.get(name, Raw(b"false"))) == b"true"


def _count(told: dict[str, Raw], name: str) -> int:
    value = number(told.get(name, UNSET))
    return max(0, int(value)) if value is not None else 0
