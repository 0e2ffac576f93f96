"""MCP servers: their tools, their state, and what can be done about them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from flybridge.model import events as ev
from flybridge.model.commands import Mcp
from tests.agents.rig import HERE, Bridge
from tests.agents.talk import Talk, results

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]
SERVERS = {
    "sums": {"command": sys.executable, "args": ["-I", "-S", str(HERE / "mcp_server.py")]},
    "broken": {"command": "/nowhere/at/all"},
}


def project(bridge: Bridge, name: str) -> Path:
    """A repository with servers of its own, which its user has agreed to."""
    files = {
        ".mcp.json": {"mcpServers": SERVERS},
        ".claude/settings.local.json": {"enableAllProjectMcpServers": True},
    }
    return bridge.repository(name, files)


def told(talk: Talk) -> dict[str, str]:
    """What the agent last said of its servers."""
    detail = json.loads(bytes(talk.all(ev.AgentReady)[-1].detail))  # type: ignore[arg-type]
    return {one["name"]: one["status"] for one in detail["mcp_servers"]}


async def asked(talk: Talk) -> dict[str, str]:
    """What the agent says of its servers when it is asked."""
    answer = await talk.client.query(talk.session, "mcp")
    return {one["name"]: one["status"] for one in answer["mcpServers"]}


@pytest.mark.conforms(
    "stream-json §9i", "stream-json §21a", "stream-json §21b", "stream-json §21c", "PN-15"
)
async def test_a_tool_of_a_server_is_asked_about_by_its_full_name_and_runs(bridge: Bridge) -> None:
    add = {"tool": "mcp__sums__add", "input": {"a": 19, "b": 23}}
    async with await Talk.open(bridge, cwd=project(bridge, "mcp-tool")) as talk:
        await talk.turn("mcp-hello", {"say": "Hello."})
        assert told(talk) == {"sums": "connected", "broken": "failed"}
        request = await talk.say("mcp-tool", add, {"say": "Forty-two."})
        prompt = await talk.get(ev.PermissionRequested)
        assert prompt.tool == "mcp__sums__add"
        assert json.loads(bytes(prompt.input)) == {"a": 19, "b": 23}
        await talk.decide(prompt, "allow")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolStarted)[0].name == "mcp__sums__add"
        assert "the sum is 42" in talk.all(ev.ToolResult)[0].text
        assert talk.unknown() == []
    assert "the sum is 42" in str(results(bridge, "mcp-tool")[0]["content"])


async def test_a_server_is_switched_off_and_on_and_connected_again(bridge: Bridge) -> None:
    async with await Talk.open(bridge, cwd=project(bridge, "mcp-switch")) as talk:
        await talk.turn("mcp-switch-1", {"say": "one"})
        assert await talk.settle(Mcp(server="sums", action="disable")) == "done"
        assert (await asked(talk))["sums"] == "disabled"
        assert await talk.settle(Mcp(server="sums", action="enable")) == "done"
        assert await talk.settle(Mcp(server="sums", action="reconnect")) == "done"
        assert (await asked(talk))["sums"] == "connected"
        await talk.turn("mcp-switch-2", {"say": "two"})
        assert told(talk)["sums"] == "connected"
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §21a")
async def test_a_server_that_cannot_start_is_not_reconnected(bridge: Bridge) -> None:
    async with await Talk.open(bridge, cwd=project(bridge, "mcp-broken")) as talk:
        await talk.turn("mcp-broken", {"say": "one"})
        assert told(talk)["broken"] == "failed"
        assert await talk.settle(Mcp(server="broken", action="reconnect")) == "refused"
        assert talk.all(ev.InputRefused)[0].reason
        assert talk.unknown() == []


async def test_a_server_that_dies_in_a_call_is_an_error_of_the_tool(bridge: Bridge) -> None:
    die = {"tool": "mcp__sums__die", "input": {}}
    async with await Talk.open(bridge, cwd=project(bridge, "mcp-dies")) as talk:
        await talk.turn("mcp-dies-before", {"say": "one"})
        request = await talk.say("mcp-dies", die, {"say": "Gone."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "error"
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §21e")
async def test_a_resource_is_read_by_the_models_tool_and_not_by_its_name_in_the_words(
    bridge: Bridge,
) -> None:
    name, words = "chart://harbour", "two fathoms at the quay"
    read = {"tool": "ReadMcpResourceTool", "input": {"server": "sums", "uri": name}}
    async with await Talk.open(bridge, cwd=project(bridge, "mcp-resource")) as talk:
        await talk.turn("mcp-resource-before", {"say": "one"})
        await talk.turn(f"@sums:{name} mcp-resource", {"say": "Not seen."})
        assert words not in "\n".join(bridge.api.turns[-1].given())
        await talk.turn("mcp-resource-tool", read, {"say": "Read."})
        assert words in talk.all(ev.ToolResult)[0].text
        assert talk.unknown() == []
    assert words in str(results(bridge, "mcp-resource-tool"))


async def test_a_server_that_is_not_there_is_not_reconnected(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        for action in ("reconnect", "enable", "disable", "login"):
            assert await talk.settle(Mcp(server="nobody", action=action)) == "refused"
        reasons = [one.reason for one in talk.all(ev.InputRefused)]
        assert reasons[:3] == ["Server not found: nobody"] * 3
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §21d")
async def test_the_slash_command_for_servers_is_text_at_most(bridge: Bridge) -> None:
    async with await Talk.open(bridge, cwd=project(bridge, "mcp-slash")) as talk:
        ended = await talk.turn("/mcp")
        if bridge.claude.version == "2.1.38":
            assert "Unknown skill: mcp" in ended.message
        else:
            assert talk.all(ev.Notice) or ended.message
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
