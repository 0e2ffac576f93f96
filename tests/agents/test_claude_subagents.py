"""Agents below the agent, and what runs in the background."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flybridge.errors import NotSupportedError
from flybridge.model import events as ev
from flybridge.model.commands import StopTask
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, scripted, waiting

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §15", "PN-8", "rule 10")
async def test_a_subagents_calls_are_shown_under_its_own(bridge: Bridge) -> None:
    """The old one waits for its sub-agent; the new one ends its turn, and begins another."""
    old = bridge.claude.version == "2.1.38"
    made = bridge.claude.cwd / "made-below"
    task = scripted("tool-subagent-inner", bash(f"touch {made}"), {"say": "Below."})
    given = {"description": "look below", "prompt": task, "subagent_type": "general-purpose"}
    call = {"tool": "Task" if old else "Agent", "input": given}
    async with await Talk.open(bridge) as talk:
        answers = [{"say": "Sent."}, {"say": "Came back."}]
        request = await talk.say("tool-subagent", call, *answers)
        asked = await talk.get(ev.PermissionRequested)
        outer = talk.all(ev.ToolStarted)[0]
        assert (outer.parent, asked.parent) == ("", outer.item)
        if not old:
            assert await talk.outcome(request) == "done"
        await talk.decide(asked, "allow")
        inner = await talk.get(ev.ToolResult, where=lambda one: one.item == asked.item)
        assert (inner.status, inner.parent) == ("ok", outer.item)
        assert await talk.outcome(request) == "done"
        await talk.get(ev.TurnEnded, 1 if old else 2)
        mine = [one.text for one in talk.all(ev.TextDone) if not one.parent]
        assert mine == (["Sent."] if old else ["Sent.", "Came back."])
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert made.exists()


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
@pytest.mark.conforms("stream-json §2e")
async def test_a_task_in_the_background_is_stopped(bridge: Bridge, tmp_path: Path) -> None:
    call = waiting(bridge.claude.cwd / "task", tmp_path / "never")
    given = {"tool": "Bash", "input": {**call["input"], "run_in_background": True}}  # type: ignore[dict-item]
    async with await Talk.open(bridge) as talk:
        request = await talk.say("task", given, {"say": "Runs."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        assert await talk.outcome(request) == "done"
        detail = json.loads(bytes(talk.all(ev.ToolResult)[0].detail))  # type: ignore[arg-type]
        assert await talk.settle(StopTask(task=detail["backgroundTaskId"])) == "done"
        await talk.get(ev.Notice, where=lambda one: one.text.startswith("stopped"))
        assert talk.unknown() == []


@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
@pytest.mark.conforms("stream-json §2e", "rule 2")
async def test_an_old_one_is_not_asked_to_stop_a_task(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("no-task", {"say": "one"})
        with pytest.raises(NotSupportedError):
            await talk.settle(StopTask(task="x"))


# ---- below, at the same time and by themselves -----------------------------------------------


@pytest.mark.conforms("stream-json §15")
async def test_two_agents_below_are_told_apart(bridge: Bridge) -> None:
    old = bridge.claude.version == "2.1.38"
    calls = []
    for name in ("port", "starboard"):
        (bridge.claude.cwd / name).write_text(f"the words of {name}\n")
        read = {"tool": "Read", "input": {"file_path": str(bridge.claude.cwd / name)}}
        task = scripted(f"below-{name}", read, {"say": f"Seen {name}."})
        given = {"description": name, "prompt": task, "subagent_type": "general-purpose"}
        calls.append({"tool": "Task" if old else "Agent", "input": given})
    async with await Talk.open(bridge) as talk:
        request = await talk.say("below-both", calls, *[{"say": "Sent."}] * 4)
        assert await talk.outcome(request) == "done"
        await talk.get(ev.ToolResult, 4)
        outer = {
            json.loads(bytes(one.input))["description"]: one.item  # type: ignore[arg-type]
            for one in talk.all(ev.ToolStarted)
            if not one.parent
        }
        inner = {
            one.parent: one.text for one in talk.all(ev.ToolResult) if one.parent in outer.values()
        }
        for name in ("port", "starboard"):
            assert f"the words of {name}" in inner[outer[name]]
        assert talk.unknown() == []


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
@pytest.mark.conforms("rule 10")
async def test_a_turn_the_agent_begins_by_itself_belongs_to_no_input(bridge: Bridge) -> None:
    task = scripted("by-itself-below", {"say": "Below."})
    given = {"description": "look", "prompt": task, "subagent_type": "general-purpose"}
    async with await Talk.open(bridge) as talk:
        call = {"tool": "Agent", "input": given}
        request = await talk.say("by-itself", call, {"say": "Sent."}, {"say": "Came back."})
        assert await talk.outcome(request) == "done"
        await talk.get(ev.TurnEnded, 2)
        assert [one.turn for one in talk.all(ev.TurnStarted)] == ["trn_1", "trn_2"]
        assert [one.turn for one in talk.all(ev.InputConsumed)] == ["trn_1"]
        assert talk.without_outcome() == set()
        later = await talk.say("by-itself-after", {"say": "Here."})
        assert await talk.outcome(later) == "done"
        assert talk.all(ev.InputConsumed)[-1].turn == "trn_3"
        assert talk.unknown() == []
