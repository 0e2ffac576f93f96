"""What is asked of a running agent beside the conversation, of each version what it has."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from flybridge.errors import (
    AgentStartError,
    InvalidRequestError,
    NotSupportedError,
    QueryFailedError,
)
from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from flybridge.model.commands import SetEffort, SetFast, SetModel, StopTask
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash
from tests.harness.waiting import WAIT_S

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

NEWER = {
    "context": "totalTokens",
    "usage": "session",
    "cost": "text",
    "models": "models",
    "settings": "applied",
    "plan": "exists",
    "status": "sections",
    "permission_rules": "state",
    "hooks": "eventCatalog",
    "memory": "files",
    "workspace_diff": "diff",
    "files": "suggestions",
}
NEWEST = {"status", "permission_rules", "hooks", "memory"}


def is_old(bridge: Bridge) -> bool:
    return bridge.claude.version == "2.1.38"


def asked_of_the_model(bridge: Bridge, words: str) -> dict[str, Any]:
    """The newest request of a turn in which these words were said."""
    about = [one for one in bridge.api.turns if any(words in text for text in one.given())]
    return about[-1].body


# ---- effort --------------------------------------------------------------------------------------


async def test_another_effort_reaches_the_model(bridge: Bridge) -> None:
    """A newer CLI changes it as it runs; an older one ends, and is started anew with it."""
    async with await Talk.open(bridge, model="opus") as talk:
        await talk.turn("effort-before", {"say": "one"})
        await bridge.saved("effort-before")
        assert await talk.settle(SetEffort(effort="low")) == "done"
        await talk.turn("effort-after", {"say": "two"})
        assert len(talk.all(ev.AgentStarted)) == (2 if is_old(bridge) else 1)
        assert talk.unknown() == []
        sent = asked_of_the_model(bridge, "effort-after")
        assert sent["output_config"]["effort"] == "low"
        assert "effort-before" in json.dumps(sent["messages"])
        if is_old(bridge):
            with pytest.raises(NotSupportedError):
                await talk.settle(SetEffort(effort="enormous"))
        else:
            assert await talk.settle(SetEffort(effort="enormous")) == "refused"


# ---- fast mode -----------------------------------------------------------------------------------


async def test_fast_mode_is_switched_on_and_off(bridge: Bridge) -> None:
    async with await Talk.open(bridge, model="opus") as talk:
        await talk.get(ev.AgentReady)
        if is_old(bridge):
            with pytest.raises(NotSupportedError):
                await talk.settle(SetFast(on=True))
            return
        assert await talk.settle(SetFast(on=True)) == "done"
        await talk.turn("fast-on", {"say": "one"})
        assert asked_of_the_model(bridge, "fast-on")["speed"] == "fast"
        assert await talk.settle(SetFast(on=False)) == "done"
        await talk.turn("fast-off", {"say": "two"})
        assert "speed" not in asked_of_the_model(bridge, "fast-off")
        assert talk.unknown() == []


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_a_model_without_a_fast_mode_is_not_said_to_be_fast(bridge: Bridge) -> None:
    async with await Talk.open(bridge, model="sonnet") as talk:
        await talk.get(ev.AgentReady)
        assert await talk.settle(SetFast(on=True)) == "refused"
        assert talk.all(ev.InputRefused)[0].reason == "fast mode is off: not with this model"
        assert await talk.settle(SetModel(model="opus")) == "done"
        await talk.turn("fast-not", {"say": "one"})
        assert "speed" not in asked_of_the_model(bridge, "fast-not")
        assert talk.unknown() == []


async def test_a_session_is_fast_from_its_first_word(bridge: Bridge) -> None:
    if is_old(bridge):
        with pytest.raises(AgentStartError, match="only in its own terminal"):
            await Talk.open(bridge, options=Options(fast=True))
        return
    async with await Talk.open(bridge, options=Options(fast=True)) as talk:
        await talk.turn("fast-first", {"say": "one"})
        assert asked_of_the_model(bridge, "fast-first")["speed"] == "fast"
        assert talk.all(ev.Notice) == []


# ---- queries -------------------------------------------------------------------------------------


async def test_an_agent_answers_what_it_can_and_the_rest_is_refused_at_once(
    bridge: Bridge,
) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("query", {"say": "one"})
        assert "mcpServers" in await talk.client.query(talk.session, "mcp")
        for name, part in NEWER.items():
            if is_old(bridge) or (bridge.claude.version == "2.1.200" and name in NEWEST):
                with pytest.raises(NotSupportedError):
                    await talk.client.query(talk.session, name)
            else:
                assert part in await talk.client.query(talk.session, name), name
        with pytest.raises(NotSupportedError):
            await talk.client.query(talk.session, "weather")
        with pytest.raises(InvalidRequestError, match="unknown field"):
            await talk.client.query(talk.session, "mcp", {"server": "x"})
        assert talk.unknown() == []


async def test_files_would_be_rewound_only_where_they_were_kept(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("query-rewind", {"say": "one"})
        key = talk.all(ev.InputAccepted)[0].key
        answer = await talk.client.query(talk.session, "rewind", {"key": key})
        assert answer == {"canRewind": False, "error": "File rewinding is not enabled."}


def tracked(bridge: Bridge) -> Path:
    """A repository with one file that git knows of."""
    folder = bridge.repository("query-files", {"deck/mast.txt": "tall"})
    git = ["git", "-C", str(folder), "add", "-A"]
    subprocess.run(git, check=True, env=bridge.claude.env, timeout=20)
    return folder


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_files_of_the_project_are_suggested(bridge: Bridge) -> None:
    async with await Talk.open(bridge, cwd=tracked(bridge)) as talk:
        await talk.get(ev.AgentReady)
        found: list[str] = []
        deadline = time.monotonic() + WAIT_S
        while "deck/mast.txt" not in found:  # it looks for files only once it is asked
            assert time.monotonic() < deadline, found
            answer = await talk.client.query(talk.session, "files", {"query": "deck/"})
            found = [one["path"] for one in answer["suggestions"]]
            await asyncio.sleep(0.02)
        with pytest.raises(InvalidRequestError, match="only those of the project"):
            await talk.client.query(talk.session, "files", {"query": "/etc/"})


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_what_runs_in_the_background_can_be_looked_at_and_stopped(
    bridge: Bridge, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    call = bash(f"echo aye; echo x >>{mark}; sleep 60", run_in_background=True)
    async with await Talk.open(bridge) as talk:
        request = await talk.say("query-task", call, {"say": "one"})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        assert await talk.outcome(request) == "done"
        detail = json.loads(bytes(talk.all(ev.ToolResult)[0].detail))  # type: ignore[arg-type]
        task = detail["backgroundTaskId"]
        answer = await talk.client.query(talk.session, "task_output", {"task": task})
        assert answer["output"] in ("", "aye\n")  # it may not have come so far
        assert await talk.settle(StopTask(task=task)) == "done"
        with pytest.raises(QueryFailedError, match="no shell or Monitor task"):
            await talk.client.query(talk.session, "task_output", {"task": "none"})


# ---- what it has ---------------------------------------------------------------------------------


async def test_commands_models_and_agents_come_with_their_descriptions(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("told", {"say": "one"})
        told: dict[str, Any] = {}
        for ready in talk.all(ev.AgentReady):
            told |= json.loads(bytes(ready.detail))  # type: ignore[arg-type]
        assert {"name", "description", "argumentHint"} <= told["commands"][0].keys()
        assert {"value", "displayName", "description"} <= told["models"][0].keys()
        assert {"default"} <= set(told["available_output_styles"])
        assert {"tools", "mcp_servers", "skills", "plugins", "agents"} <= told.keys()
        assert "account" not in told
        if not is_old(bridge):
            assert "low" in told["models"][0]["supportedEffortLevels"]
            assert "description" in told["initialize"]["agents"][0]
