"""Settings that are changed while the agent runs, and those nobody may change."""

from __future__ import annotations

import pytest

from flybridge.model import events as ev
from flybridge.model.commands import SetMode, SetModel, SetThinking
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §2c", "stream-json §2d")
async def test_settings_change_while_it_runs(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("turn-before", {"say": "one"})
        model = await talk.submit(SetModel(model="claude-haiku-4-5-20251001"))
        assert await talk.outcome(model) == "done"
        mode = await talk.submit(SetMode(mode="acceptEdits"))
        assert await talk.outcome(mode) == "done"
        await talk.turn("turn-after", {"say": "two"})
        assert [one.mode for one in talk.all(ev.ModeChanged)] == ["acceptEdits"]
        assert [one.model for one in talk.all(ev.ModelChanged)] == ["claude-haiku-4-5-20251001"]
        assert talk.unknown() == []
    assert bridge.api.turns[-1].body["model"] == "claude-haiku-4-5-20251001"


@pytest.mark.conforms("stream-json §14")
async def test_thinking_tokens_reach_the_model(bridge: Bridge) -> None:
    async with await Talk.open(bridge, model="claude-sonnet-4-5-20250929") as talk:
        await talk.turn("think-before", {"say": "one"})
        assert await talk.settle(SetThinking(tokens=4321)) == "done"
        await talk.turn("think-after", {"say": "two"})
        assert talk.unknown() == []
    assert bridge.api.turns[-1].body["thinking"]["budget_tokens"] == 4321


@pytest.mark.conforms("audit: permission modes", "rule 17")
async def test_nobody_bypasses_permissions_that_were_not_opened_for_it(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("bypass", {"say": "one"})
        assert await talk.settle(SetMode(mode="bypassPermissions")) == "refused"
        await talk.say("bypass-after", bash("touch bypassed"), {"say": "two"})
        await talk.decide(await talk.get(ev.PermissionRequested), "deny")
        await talk.get(ev.TurnEnded, 2)
        assert talk.all(ev.ModeChanged) == []
    assert not (bridge.claude.cwd / "bypassed").exists()
