"""Claude Code as it really is: both pinned versions, through gateway, keeper, journal and client.

The model is a script; what it was asked is the ground truth of what the CLI was told, and how
often.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.errors import NotSupportedError
from flybridge.model import events as ev
from flybridge.model.commands import (
    Command,
    Interrupt,
    Mcp,
    SetEffort,
    SetMode,
    SetModel,
    SetThinking,
    StopTask,
)
from flybridge.model.deliveries import Stage
from tests.agents.rig import VERSIONS, Bridge
from tests.agents.talk import Talk, scripted

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.fixture(scope="module", params=VERSIONS)
def bridge(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    """One gateway for all tests of a version: sessions do not know of each other."""
    bridge = Bridge(request.param, tmp_path_factory.mktemp("c"))
    bridge.start()
    yield bridge
    bridge.close()


@pytest.fixture(params=VERSIONS)
def own_bridge(request: pytest.FixtureRequest, short_tmp: Path) -> Iterator[Bridge]:
    """A gateway that a test may kill."""
    bridge = Bridge(request.param, short_tmp)
    bridge.start()
    yield bridge
    bridge.close()


def bash(command: str) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a test"}}


def waiting(mark: Path, go: Path) -> dict[str, object]:
    """A tool that has to ask first, says that it runs, and runs until it is let go."""
    return bash(f"echo x >>{mark}; while [ ! -e {go} ]; do sleep 0.05; done")


def results(bridge: Bridge, needle: str) -> list[dict[str, Any]]:
    """The tool results in the newest request of the conversation that holds these words."""
    about = [one for one in bridge.api.turns if any(needle in text for text in one.given())]
    return about[-1].blocks("tool_result")


async def settled(talk: Talk, command: Command) -> str:
    """Ask the agent for a setting; what became of that."""
    await talk.get(ev.AgentConnected)
    request = str(uuid.uuid4())
    await talk.reply_to(command, request=request, until=Stage.DONE)
    return await talk.outcome(request)


def unknown(talk: Talk) -> list[str]:
    return [one.text[:300] for one in talk.all(ev.Unrecognised)]


# ---- turns -----------------------------------------------------------------------------------


async def test_a_text_is_streamed_and_then_exact(bridge: Bridge) -> None:
    text = "Ahoy! " + "a wave and another wave, " * 40 + "⚓🚢 end"
    async with await Talk.open(bridge) as talk:
        ended = await talk.turn("turn-text", {"say": text, "deltas": 50})
        assert [one.text for one in talk.all(ev.TextDone)] == [text]
        assert talk.all(ev.TextDone)[0].status == "complete"
        assert talk.transcript.text == text
        assert (ended.reason, ended.message) == ("done", "")
        assert ended.cost_usd > 0
        assert talk.all(ev.AgentReady)[-1].version == bridge.claude.version
        assert len(talk.all(ev.InputConsumed)) == 1
        assert unknown(talk) == []
    assert bridge.api.count("turn-text") == 1


async def test_a_second_turn_knows_the_first(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("turn-first", {"say": "The first answer."})
        await talk.turn("turn-second", {"say": "The second answer."})
        assert [one.text for one in talk.all(ev.TextDone)] == [
            "The first answer.",
            "The second answer.",
        ]
        assert [one.turn for one in talk.all(ev.TurnStarted)] == ["trn_1", "trn_2"]
        assert unknown(talk) == []
    last = bridge.api.turns[-1]
    assert "The first answer." in last.said()
    assert (bridge.api.count("turn-first"), bridge.api.count("turn-second")) == (1, 1)


async def test_thoughts_are_told_from_texts(bridge: Bridge) -> None:
    blocks = [{"think": "Let me see, ", "repeat": 3, "deltas": 9}, {"redacted": "c2VjcmV0"}]
    async with await Talk.open(bridge) as talk:
        await talk.turn("turn-thinking", [*blocks, {"say": "Seen."}])
        thoughts = [(one.text, one.redacted) for one in talk.all(ev.ThinkingDone)]
        assert thoughts == [("Let me see, " * 3, False), ("", True)]
        assert [one.text for one in talk.all(ev.TextDone)] == ["Seen."]
        assert unknown(talk) == []


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
        assert unknown(talk) == []
    assert bridge.api.turns[-1].body["model"] == "claude-haiku-4-5-20251001"


async def test_thinking_tokens_reach_the_model(bridge: Bridge) -> None:
    async with await Talk.open(bridge, model="claude-sonnet-4-5-20250929") as talk:
        await talk.turn("think-before", {"say": "one"})
        assert await settled(talk, SetThinking(tokens=4321)) == "done"
        await talk.turn("think-after", {"say": "two"})
        assert unknown(talk) == []
    assert bridge.api.turns[-1].body["thinking"]["budget_tokens"] == 4321


async def test_effort_reaches_the_model_where_it_can_be_changed(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("effort-before", {"say": "one"})
        if bridge.claude.version == "2.1.38":
            with pytest.raises(NotSupportedError):
                await settled(talk, SetEffort(effort="low"))
            return
        assert await settled(talk, SetEffort(effort="low")) == "done"
        await talk.turn("effort-after", {"say": "two"})
        assert await settled(talk, SetEffort(effort="enormous")) == "refused"
        assert unknown(talk) == []
    assert bridge.api.turns[-1].body["output_config"]["effort"] == "low"


async def test_nobody_bypasses_permissions_that_were_not_opened_for_it(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("bypass", {"say": "one"})
        assert await settled(talk, SetMode(mode="bypassPermissions")) == "refused"
        await talk.say("bypass-after", bash("touch bypassed"), {"say": "two"})
        await talk.decide(await talk.get(ev.PermissionRequested), "deny")
        await talk.get(ev.TurnEnded, 2)
        assert talk.all(ev.ModeChanged) == []
    assert not (bridge.claude.cwd / "bypassed").exists()


async def test_a_server_that_is_not_there_is_not_reconnected(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        for action in ("reconnect", "enable", "disable", "login"):
            assert await settled(talk, Mcp(server="nobody", action=action)) == "refused"
        reasons = [one.reason for one in talk.all(ev.InputRefused)]
        assert reasons[:3] == ["Server not found: nobody"] * 3
        assert unknown(talk) == []


# ---- slash commands --------------------------------------------------------------------------


async def test_what_a_slash_command_prints_is_a_notice(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("slash-before", {"say": "one"})
        ended = await talk.turn("/context")
        (said,) = [one.text for one in talk.all(ev.Notice)]
        assert said.startswith("## Context Usage")
        assert ended.message == ""
        assert unknown(talk) == []


async def test_an_unknown_slash_command_is_said_to_be_unknown_or_is_a_prompt(
    bridge: Bridge,
) -> None:
    async with await Talk.open(bridge) as talk:
        ended = await talk.turn("/no-such-command")
        if bridge.claude.version == "2.1.38":
            assert "Unknown skill" in ended.message
            assert talk.all(ev.TextDone) == []
        else:
            assert len(talk.all(ev.TextDone)) == 1
        assert unknown(talk) == []


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_a_cleared_conversation_is_the_one_that_is_resumed(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("clear-before", {"say": "Before the mast."})
        await talk.turn("/clear")
        assert talk.all(ev.Notice)
        await talk.turn("clear-after", {"say": "After the mast."})
        before, after = dict.fromkeys(
            one.agent_session for one in talk.all(ev.AgentReady) if one.agent_session
        )
        assert before != after
        await bridge.saved("After the mast.")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        await talk.turn("clear-resumed", {"say": "Still here."})
        assert talk.all(ev.AgentReady)[-1].agent_session == after
        assert unknown(talk) == []
    last = bridge.api.turns[-1].said()
    assert "After the mast." in last
    assert "Before the mast." not in last


# ---- tools and permissions -----------------------------------------------------------------------


async def test_an_allowed_tool_runs(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "allowed"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-allow", bash(f"touch {made}"), {"say": "Made it."})
        asked = await talk.get(ev.PermissionRequested)
        assert (asked.tool, json.loads(bytes(asked.input))["command"]) == ("Bash", f"touch {made}")
        assert not made.exists()
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        started, result = talk.all(ev.ToolStarted)[0], talk.all(ev.ToolResult)[0]
        assert (started.item, asked.item, result.item) == (asked.item,) * 3
        assert result.status == "ok"
        closed = talk.all(ev.PermissionClosed)[0]
        assert (closed.how, closed.edited) == ("allowed", False)
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert made.exists()
    assert results(bridge, "tool-allow")[0]["is_error"] is False


async def test_a_denied_tool_does_not_run_and_the_model_hears_why(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "denied"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-deny", bash(f"touch {made}"), {"say": "Pity."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "deny", message="not on my boat")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "denied"
        assert talk.all(ev.TurnEnded)[0].reason == "done"
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert not made.exists()
    told = results(bridge, "tool-deny")[0]
    assert told["is_error"] is True
    assert "not on my boat" in str(told["content"])


async def test_deny_and_stop_ends_the_turn(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "stopped"
    async with await Talk.open(bridge) as talk:
        await talk.say("tool-stop", bash(f"touch {made}"), {"say": "never said"})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "deny", message="stop that", stop=True)
        ended = await talk.get(ev.TurnEnded)
        assert ended.reason == "interrupted"
        await talk.turn("tool-go-on", {"say": "Going on."})
        assert talk.transcript.text == "Going on."
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert not made.exists()


async def test_an_edited_input_is_what_runs(bridge: Bridge) -> None:
    theirs, ours = bridge.claude.cwd / "theirs", bridge.claude.cwd / "ours"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-edit", bash(f"touch {theirs}"), {"say": "Well."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "allow", updated={"command": f"touch {ours}"})
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.PermissionClosed)[0].edited
        assert unknown(talk) == []
    assert (theirs.exists(), ours.exists()) == (False, True)


async def test_several_prompts_are_open_at_once_and_answered_in_any_order(
    bridge: Bridge, tmp_path: Path
) -> None:
    words = {name: f"the words of {name}" for name in ("one", "two", "three")}
    for name, text in words.items():
        (tmp_path / name).write_text(text)
    reads = [{"tool": "Read", "input": {"file_path": str(tmp_path / name)}} for name in words]
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-parallel", reads, {"say": "Read."})
        await talk.get(ev.PermissionRequested, 3)
        asked = {
            Path(json.loads(bytes(one.input))["file_path"]).name: one
            for one in talk.all(ev.PermissionRequested)
        }
        assert talk.all(ev.PermissionClosed) == []
        await talk.decide(asked["three"], "allow")
        await talk.decide(asked["one"], "deny", message="not that one")
        await talk.decide(asked["two"], "allow")
        assert await talk.outcome(request) == "done"
        status = {one.item: one.status for one in talk.all(ev.ToolResult)}
        assert {name: status[one.item] for name, one in asked.items()} == {
            "one": "denied",
            "two": "ok",
            "three": "ok",
        }
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    told = {one["tool_use_id"]: str(one["content"]) for one in results(bridge, "tool-parallel")}
    assert {name for name, one in asked.items() if words[name] in told[one.item]} == {
        "two",
        "three",
    }


async def test_a_question_is_answered(bridge: Bridge) -> None:
    questions = [
        {
            "question": "Which colour?",
            "header": "Colour",
            "multiSelect": False,
            "options": [{"label": x, "description": x} for x in ("Red", "Blue")],
        },
        {
            "question": "Which fruits?",
            "header": "Fruits",
            "multiSelect": True,
            "options": [{"label": x, "description": x} for x in ("Apple", "Pear", "Plum")],
        },
    ]
    ask = {"tool": "AskUserQuestion", "input": {"questions": questions}}
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-question", ask, {"say": "Thanks."})
        asked = await talk.get(ev.QuestionRequested)
        assert [one["question"] for one in json.loads(bytes(asked.questions))] == [
            "Which colour?",
            "Which fruits?",
        ]
        await talk.answer(asked, {"Which colour?": ("Blue",), "Which fruits?": ("Apple", "Plum")})
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.QuestionClosed)[0].how == "answered"
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    told = str(results(bridge, "tool-question")[0]["content"])
    assert '"Which colour?"="Blue"' in told
    separator = "," if bridge.claude.version == "2.1.38" else ", "
    assert f'"Which fruits?"="Apple{separator}Plum"' in told


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
        assert unknown(talk) == []
    assert made.exists()


async def test_an_edit_shows_what_it_changed(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "sails.txt"
    write = {"tool": "Write", "input": {"file_path": str(made), "content": "one\ntwo\n"}}
    given = {"file_path": str(made), "old_string": "two", "new_string": "three"}
    edit = {"tool": "Edit", "input": given}
    async with await Talk.open(bridge) as talk:
        assert await settled(talk, SetMode(mode="acceptEdits")) == "done"
        await talk.turn("diff", write, edit, {"say": "Changed."})
        assert [one.status for one in talk.all(ev.ToolResult)] == ["ok", "ok"]
        diffs = talk.all(ev.Diff)
        assert [one.path for one in diffs] == [str(made)] * 2
        assert [one.item for one in diffs] == [one.item for one in talk.all(ev.ToolResult)]
        lines = [json.loads(bytes(one.patch))[0]["lines"] for one in diffs]
        assert lines == [["+one", "+two"], [" one", "-two", "+three"]]
        assert unknown(talk) == []


@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
async def test_todos_are_tasks(bridge: Bridge) -> None:
    todos = [
        {"content": "Hoist", "status": "in_progress", "activeForm": "Hoisting"},
        {"content": "Sail", "status": "pending", "activeForm": "Sailing"},
    ]
    async with await Talk.open(bridge) as talk:
        await talk.turn("todos", {"tool": "TodoWrite", "input": {"todos": todos}}, {"say": "Ok."})
        (tasks,) = talk.all(ev.Tasks)
        assert json.loads(bytes(tasks.tasks)) == todos
        assert unknown(talk) == []


async def test_a_plan_is_shown_and_approved(bridge: Bridge) -> None:
    plan = {"tool": "ExitPlanMode", "input": {"plan": "# Sail\n1. Hoist"}}
    async with await Talk.open(bridge) as talk:
        assert await settled(talk, SetMode(mode="plan")) == "done"
        request = await talk.say("plan", plan, {"say": "Going."})
        asked = await talk.get(ev.PermissionRequested)
        assert asked.tool == "ExitPlanMode"
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        assert [one.text for one in talk.all(ev.Plan)] == ["# Sail\n1. Hoist"]
        await talk.turn("plan-after", {"say": "Gone."})
        assert [one.mode for one in talk.all(ev.ModeChanged)] == ["plan", "default"]
        assert unknown(talk) == []


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_a_task_in_the_background_is_stopped(bridge: Bridge, tmp_path: Path) -> None:
    call = waiting(bridge.claude.cwd / "task", tmp_path / "never")
    given = {"tool": "Bash", "input": {**call["input"], "run_in_background": True}}  # type: ignore[dict-item]
    async with await Talk.open(bridge) as talk:
        request = await talk.say("task", given, {"say": "Runs."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        assert await talk.outcome(request) == "done"
        detail = json.loads(bytes(talk.all(ev.ToolResult)[0].detail))  # type: ignore[arg-type]
        assert await settled(talk, StopTask(task=detail["backgroundTaskId"])) == "done"
        await talk.get(ev.Notice, where=lambda one: one.text.startswith("stopped"))
        assert unknown(talk) == []


@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
async def test_an_old_one_is_not_asked_to_stop_a_task(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("no-task", {"say": "one"})
        with pytest.raises(NotSupportedError):
            await settled(talk, StopTask(task="x"))


# ---- interrupts, and messages meanwhile ----------------------------------------------------------


async def test_an_interrupt_stops_a_text_and_keeps_what_was_said(
    bridge: Bridge, tmp_path: Path
) -> None:
    never = str(tmp_path / "never")
    async with await Talk.open(bridge) as talk:
        said = {"say": "half of it and the rest", "deltas": 4, "hold": never, "hold_after": 2}
        request = await talk.say("stop-text", said)
        await talk.streamed("half of it ")
        stop = await talk.submit(Interrupt())
        assert await talk.outcome(stop) == "done"
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        assert await talk.outcome(request) == "done"
        done = talk.all(ev.TextDone)[0]
        assert (done.text, done.status) == ("half of it ", "partial")
        await talk.turn("stop-text-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert unknown(talk) == []


async def test_an_interrupt_stops_a_tool(bridge: Bridge, tmp_path: Path) -> None:
    mark, never = bridge.claude.cwd / "stop", tmp_path / "never"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("stop-tool", waiting(mark, never), {"say": "never said"})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.get(ev.InputOutcome, where=lambda one: one.key.startswith("prompt:"))
        stop = await talk.submit(Interrupt())
        assert await talk.outcome(stop) == "done"
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status in ("error", "partial")
        await talk.turn("stop-tool-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert unknown(talk) == []


async def test_an_interrupt_takes_an_open_prompt_back(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "withdrawn"
    async with await Talk.open(bridge) as talk:
        await talk.say("stop-prompt", bash(f"touch {made}"), {"say": "never said"})
        asked = await talk.get(ev.PermissionRequested)
        stop = await talk.submit(Interrupt())
        assert await talk.outcome(stop) == "done"
        closed = await talk.get(ev.PermissionClosed)
        assert (closed.prompt, closed.how) == (asked.prompt, "cancelled")
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        await talk.turn("stop-prompt-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert not made.exists()


async def test_an_interrupt_takes_back_what_waits_where_the_version_can(
    bridge: Bridge, tmp_path: Path
) -> None:
    never = str(tmp_path / "never")
    async with await Talk.open(bridge) as talk:
        await talk.say("stop-queue", {"say": "slow words", "hold": never, "hold_after": 0})
        await talk.get(ev.ItemStarted)
        waits = await talk.say("stop-queue-waits", {"say": "after all"})
        await talk.written(waits)
        assert await settled(talk, Interrupt()) == "done"
        old = bridge.claude.version == "2.1.38"
        assert await talk.outcome(waits) == ("done" if old else "refused")
        await talk.turn("stop-queue-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert bridge.api.count("stop-queue-waits") == (1 if old else 0)


async def test_a_message_during_a_tool_is_taken_into_the_turn(
    bridge: Bridge, tmp_path: Path
) -> None:
    mark, go = bridge.claude.cwd / "busy", tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        answers = ({"say": "Waited."}, {"say": "More."})
        first = await talk.say("busy-tool", waiting(mark, go), *answers)
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.get(ev.InputOutcome, where=lambda one: one.key.startswith("prompt:"))
        second = await talk.say("busy-tool-steer: and hurry")
        await talk.written(second)
        go.touch()
        assert await talk.outcome(first) == "done"
        assert await talk.outcome(second) == "done"
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert bridge.api.count("busy-tool-steer: and hurry") == 1


async def test_messages_during_a_text_are_all_answered(bridge: Bridge, tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        held = {"say": "slow words", "hold": str(go), "hold_after": 0}
        first = await talk.say("busy-text-1", held)
        await talk.get(ev.ItemStarted)
        rest = [await talk.say(f"busy-text-{n}", {"say": f"answer {n}"}) for n in (2, 3)]
        for request in rest:
            await talk.written(request)
        go.touch()
        for request in (first, *rest):
            assert await talk.outcome(request) == "done"
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert [bridge.api.count(f"busy-text-{n}") for n in (1, 2, 3)] == [1, 1, 1]


async def test_a_queued_message_waits_for_the_end_of_the_turn(
    bridge: Bridge, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        held = {"say": "slow words", "hold": str(go), "hold_after": 0}
        first = await talk.say("queue-1", held)
        await talk.get(ev.ItemStarted)
        second = await talk.say("queue-2", {"say": "then this"}, mode="queue")
        go.touch()
        assert [await talk.outcome(one) for one in (first, second)] == ["done", "done"]
        kinds = [type(one) for one in talk.events]
        sent = next(
            at
            for at, one in enumerate(talk.events)
            if isinstance(one, ev.InputDispatched) and one.key.endswith(second)
        )
        assert kinds.index(ev.TurnEnded) < sent
        assert [one.text for one in talk.all(ev.TextDone)] == ["slow words", "then this"]


# ---- trouble with the API ----------------------------------------------------------------------


async def test_a_bad_key_is_an_error_that_ends_the_turn(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        refused = {"status": 401, "message": "invalid x-api-key"}
        ended = await talk.turn("api-401", refused)
        assert ended.reason == "error"
        assert talk.all(ev.Error)[0].code == "authentication_failed"
        await talk.turn("api-401-after", {"say": "Here again."})
        assert talk.transcript.text == "Here again."
        assert talk.without_outcome() == set()
        assert unknown(talk) == []


async def test_a_rate_limit_is_retried_and_then_answered(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        limited = {"status": 429, "times": 1, "headers": {"retry-after": "0"}}
        ended = await talk.turn("api-429-once", {**limited, "blocks": [{"say": "At last."}]})
        assert ended.reason == "done"
        assert talk.transcript.text == "At last."
        shown = [] if bridge.claude.version == "2.1.38" else [1]  # the old one retries silently
        assert [one.attempt for one in talk.all(ev.Retry)] == shown
        assert unknown(talk) == []
    assert bridge.api.count("api-429-once") == 2


async def test_a_rate_limit_that_stays_ends_the_turn(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        limited = {"status": 429, "headers": {"retry-after": "0"}, "message": "slow down"}
        ended = await talk.turn("api-429", limited)
        assert ended.reason == "error"
        assert len(talk.all(ev.Error)) == 1
        assert talk.without_outcome() == set()
        assert unknown(talk) == []


# ---- parts die -----------------------------------------------------------------------------------


async def test_a_text_survives_the_gateway(own_bridge: Bridge, tmp_path: Path) -> None:
    go = tmp_path / "go"
    text = "".join(f"wave {n}, " for n in range(500))
    half = text[: len(text) // 2]
    async with await Talk.open(own_bridge) as talk:
        said = {"say": text, "deltas": 100, "hold": str(go), "hold_after": 50}
        request = await talk.say("kill-text", said)
        await talk.streamed(half[-20:])
        own_bridge.kill()
        go.touch()  # the CLI goes on while nobody is there
        own_bridge.start()
        assert await talk.outcome(request) == "done"
        assert [one.text for one in talk.all(ev.TextDone)] == [text]
        assert [one.adopted for one in talk.all(ev.AgentConnected)] == [False, True]
        assert talk.transcript.missing == []
        assert talk.without_outcome() == set()
        await talk.turn("kill-text-after", {"say": "Here again."})
        assert unknown(talk) == []
    assert own_bridge.api.count("kill-text\n") == 1
    assert own_bridge.api.count("kill-text-after") == 1


async def test_an_open_prompt_survives_the_gateway(own_bridge: Bridge) -> None:
    made = own_bridge.claude.cwd / "made"
    async with await Talk.open(own_bridge) as talk:
        request = await talk.say("kill-prompt", bash(f"echo x >>{made}"), {"say": "Made it."})
        asked = await talk.get(ev.PermissionRequested)
        own_bridge.kill()
        own_bridge.start()
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert len(talk.all(ev.PermissionRequested)) == 1
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert made.read_text() == "x\n"
    assert own_bridge.api.count("kill-prompt") == 1


async def test_a_running_tool_survives_the_gateway(own_bridge: Bridge, tmp_path: Path) -> None:
    go, made = tmp_path / "go", own_bridge.claude.cwd / "made"
    async with await Talk.open(own_bridge) as talk:
        request = await talk.say("kill-tool", waiting(made, go), {"say": "Done."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.get(ev.InputOutcome, where=lambda one: one.key.startswith("prompt:"))
        own_bridge.kill()
        go.touch()
        own_bridge.start()
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert talk.transcript.text == "Done."
        assert unknown(talk) == []
    assert made.read_text() == "x\n"


async def test_after_the_agents_death_the_conversation_goes_on(bridge: Bridge) -> None:
    anchor = "Remember the first anchor."
    async with await Talk.open(bridge) as talk:
        await talk.turn("death-before", {"say": anchor})
        await bridge.saved(anchor)
        bridge.kill_agent(talk.session)
        assert (await talk.get(ev.AgentExited)).why == "exit"
        await talk.turn("death-after", {"say": "I remember."})
        first, second = talk.all(ev.AgentStarted)
        assert (first.resumed, second.resumed) == (False, True)
        assert len({one.agent_session for one in talk.all(ev.AgentReady) if one.agent_session}) == 1
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    last = bridge.api.turns[-1]
    assert anchor in last.said()
    assert (bridge.api.count("death-before"), bridge.api.count("death-after")) == (1, 1)


async def test_an_agent_that_dies_in_a_turn_leaves_nothing_open(
    bridge: Bridge, tmp_path: Path
) -> None:
    anchor, never = "Remember the second anchor.", str(tmp_path / "never")
    async with await Talk.open(bridge) as talk:
        await talk.turn("death-in-turn-before", {"say": anchor})
        await bridge.saved(anchor)
        said = {"say": "half of it and the rest", "deltas": 4, "hold": never, "hold_after": 2}
        request = await talk.say("death-in-turn", said)
        await talk.streamed("half of it ")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        assert (await talk.get(ev.TurnEnded, 2)).reason == "agent_exited"
        assert talk.all(ev.TextDone)[1].status == "partial"
        assert await talk.outcome(request) in ("observed", "unknown")
        await talk.turn("death-in-turn-after", {"say": "I remember."})
        assert talk.without_outcome() == set()
        assert unknown(talk) == []
    assert anchor in bridge.api.turns[-1].said()


@pytest.mark.parametrize("own_bridge", ["2.1.38"], indirect=True)
async def test_a_session_outlives_a_conversation_that_was_never_saved(
    own_bridge: Bridge, tmp_path: Path
) -> None:
    """The message that finds out is lost, and said to be; the next one begins anew."""
    async with await Talk.open(own_bridge) as talk:
        await talk.say("unsaved", {"say": "half", "hold": str(tmp_path / "never")})
        await talk.streamed("half")
        own_bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        finds_out = await talk.say("unsaved-after", {"say": "never said"})
        assert await talk.outcome(finds_out) in ("lost", "not_delivered")
        await talk.get(ev.ConversationLost)
        again = await talk.say("unsaved-again", {"say": "Here again."})
        assert await talk.outcome(again) == "done"


# ---- the ledger ----------------------------------------------------------------------------------


async def test_every_input_gets_its_own_outcome_whatever_the_results(
    bridge: Bridge, tmp_path: Path
) -> None:
    """Absorbed, merged, failed, local and plain inputs: results never tell which is which."""
    go = tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        held = {"say": "slow", "hold": str(go), "hold_after": 0}
        requests = [await talk.say("ledger-1", held)]
        await talk.get(ev.ItemStarted)
        requests.append(await talk.say("ledger-2", {"say": "two"}))
        requests.append(await talk.say("/context"))
        requests.append(await talk.say("ledger-3", {"status": 401}))
        requests.append(await talk.say("ledger-4", {"say": "four"}, mode="queue"))
        go.touch()
        assert [await talk.outcome(one) for one in requests] == ["done"] * 5
        keys = [one.key for one in talk.all(ev.InputOutcome)]
        assert len(keys) == len(set(keys)) == 5
        assert talk.without_outcome() == set()
    assert [bridge.api.count(f"ledger-{n}") for n in (1, 2, 4)] == [1, 1, 1]


# ---- the rig itself ------------------------------------------------------------------------------


@pytest.mark.needs("netns")
async def test_the_cli_runs_where_there_is_no_network(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("rig-network", {"say": "Nobody out there."})
        assert bridge.networks_of(talk.session) == ["lo"]
