"""Views: the data of every component, gathered from what has happened."""

from __future__ import annotations

from typing import Any

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.ipc.panels import Panels
from flybridge.model import events as ev
from flybridge.model.ids import ItemId, PromptId
from tests.unit.frontends.ipc.session_kit import Json, Kit, raw, ready


def view(kit: Kit, name: str, **more: Any) -> Json:
    kit.lines()
    kit.adapter.show(name, **more)
    (shown,) = kit.lines()
    assert (shown["type"], shown["name"]) == ("view", name)
    data: Json = shown["data"]
    return data


@pytest.fixture
def kit() -> Kit:
    kit = Kit()
    offered = raw(
        {"models": [{"value": "m"}], "commands": [{"name": "review", "description": "r"}]}
    )
    kit.apply(ev.AgentReady(agent_session="conv-1", detail=offered))
    turn = kit.begin(kit.message())
    detail = {"filePath": "/a", "structuredPatch": [1], "originalFile": "x", "type": "update"}
    kit.apply(
        ev.ToolResult(item=ItemId("e"), detail=raw(detail)),
        ev.Diff(item=ItemId("e"), path="/a", patch=raw([1])),
        ev.Tasks(tasks=raw([{"id": "1", "status": "done"}, {"id": "2", "status": "in_progress"}])),
    )
    kit.end(turn, cost_usd=0.25, gauges={"context": raw({"tokens": 5, "window": 10})})
    return kit


@pytest.mark.conforms("ipc: component data")
def test_every_component_has_its_data(kit: Kit) -> None:
    settings = view(kit, "settings", modes=["plan"])
    assert (settings["model"], settings["availableModes"]) == ("m", ["plan"])
    assert settings["availableModels"] == [{"value": "m"}]
    assert view(kit, "help")["tools"] == ["Read", "Bash"]
    assert any(one["action"] == "interrupt" for one in view(kit, "keybindings")["bindings"])
    gauge = view(kit, "context")
    assert (gauge["usedTokens"], gauge["totalTokens"], gauge["percentage"]) == (5, 10, 50.0)
    cost = view(kit, "cost")
    assert (cost["totalCostUsd"], cost["perTurnDelta"], cost["durationMs"]) == (0.5, 0.25, 20)
    diff = view(kit, "diff")
    assert (diff["filePath"], diff["structuredPatch"], diff["editType"]) == ("/a", [1], "update")
    assert (diff["originalFile"], diff["edits"]) == ("x", ["/a"])
    assert view(kit, "tasks")["activeTaskId"] == "2"
    assert view(kit, "mcp")["servers"] == [{"name": "sea", "status": "connected"}]
    commands = view(kit, "slash_commands")["commands"]
    assert commands[1] == {"name": "review", "category": "skill", "description": "r"}
    state = view(kit, "session_state")
    assert (state["sessionId"], state["cumulativeCost"]) == ("conv-1", 0.5)


def test_open_prompts_are_shown_as_dialogs_and_forms(kit: Kit) -> None:
    kit.apply(
        ev.PermissionRequested(prompt=PromptId("p"), tool="Bash", input=raw({}), digest="d"),
        ev.QuestionRequested(prompt=PromptId("q"), questions=raw([{"question": "?"}]), digest="d"),
    )
    assert [one["requestId"] for one in view(kit, "permissions")["pending"]] == ["p"]
    assert view(kit, "questions")["pending"][0]["questions"] == [{"question": "?"}]
    assert view(kit, "session_state")["pendingControlRequests"] == ["p", "q"]


def test_sessions_are_listed_newest_first_and_each_conversation_once(kit: Kit) -> None:
    rows = [
        {"conversation": "a", "title": "old", "changed_ms": 1, "status": "off"},
        {"conversation": "b", "title": "mid", "changed_ms": 2, "status": "idle"},
        {"conversation": "a", "title": "new", "changed_ms": 3, "status": "off"},
        {"conversation": "", "title": "none", "changed_ms": 4, "status": "off"},
    ]
    shown = view(kit, "sessions", sessions=rows)
    assert [(one["sessionId"], one["title"]) for one in shown["sessions"]] == [
        ("a", "new"),
        ("b", "mid"),
    ]
    assert shown["currentSessionId"] == "conv-1"


def test_the_gauge_follows_what_the_agent_says_meanwhile(kit: Kit) -> None:
    kit.adapter.gauge("context", b'{"tokens":null,"window":20}')
    assert view(kit, "context")["usedTokens"] is None
    kit.apply(ready("conv-2"))
    assert view(kit, "session_state")["sessionId"] == "conv-2"


def test_the_context_is_broken_down_by_what_the_agent_says_or_printed(kit: Kit) -> None:
    assert view(kit, "context")["categories"] == []
    rows = "| Category | Tokens | Percentage |\n|---|---|---|\n| Messages | 4 | 40.0% |\n"
    table = f"## Context Usage\n\n{rows}"
    kit.apply(ev.Notice(text=table, command=True))
    part = {"name": "Messages", "tokens": 4, "kind": "used", "percentage": 40.0}
    assert view(kit, "context")["categories"] == [part]
    counted = {"categories": [{"name": "Tools", "tokens": 6}], "totalTokens": 6, "maxTokens": 12}
    asked = view(kit, "context", counted=counted)
    assert [one["name"] for one in asked["categories"]] == ["Tools"]
    assert (asked["usedTokens"], asked["totalTokens"]) == (5, 10)  # what a model was given
    fresh = view(Kit(), "context", counted=counted)
    assert (fresh["usedTokens"], fresh["totalTokens"], fresh["percentage"]) == (6, 12, 50.0)


def test_a_view_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequestError, match="nothing"):
        Panels(Kit().adapter.events).check("nothing")
