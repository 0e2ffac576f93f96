"""Logging in to an MCP server: the agent says where, a person goes there, the server is there."""

from __future__ import annotations

import asyncio
import time

import pytest

from flybridge.model import events as ev
from flybridge.model.commands import Mcp
from tests.agents.harbour import visiting, wants_log_in
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash
from tests.harness.waiting import WAIT_S

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


async def state_is(talk: Talk, wanted: str) -> None:
    """Connect to the server until it is in this state."""
    deadline = time.monotonic() + WAIT_S
    while True:
        answer = await talk.client.query(talk.session, "mcp")
        states = {one["name"]: one["status"] for one in answer["mcpServers"]}
        if states["harbour"] == wanted:
            return
        assert time.monotonic() < deadline, states
        if states["harbour"] == "failed":  # it was asked before it listened
            await talk.settle(Mcp(server="harbour", action="reconnect"))
        await asyncio.sleep(0.05)


async def test_a_person_logs_in_where_the_agent_says(bridge: Bridge) -> None:
    login = Mcp(server="harbour", action="login")
    async with await Talk.open(bridge, cwd=bridge.repository("login", wants_log_in())) as talk:
        await talk.get(ev.AgentReady)
        await state_is(talk, "needs-auth")
        if bridge.claude.version == "2.1.38":
            assert await talk.settle(login) == "refused"
            assert "only in its own terminal" in talk.all(ev.InputRefused)[-1].reason
            return
        assert await talk.settle(login) == "done"
        notice = await talk.get(ev.Notice, where=lambda one: "log in to harbour" in one.text)
        visit = visiting(notice.text.rpartition(" ")[2])
        request = await talk.say("login-visit", bash(visit), {"say": "There."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        assert await talk.outcome(request) == "done"
        await state_is(talk, "connected")
        assert talk.unknown() == []
