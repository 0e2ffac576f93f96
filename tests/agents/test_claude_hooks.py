"""Hooks of a project: what they decide, block and prolong, as a front end sees it."""

from __future__ import annotations

import json

import pytest

from flybridge.model import events as ev
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, results

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


def hooks(**commands: str) -> dict[str, object]:
    """Settings of a project in which each of these events runs a command."""
    made = {
        event: [{"matcher": "", "hooks": [{"type": "command", "command": command}]}]
        for event, command in commands.items()
    }
    return {".claude/settings.json": {"hooks": made}}


def says(event: str, **decided: str) -> str:
    """A command that prints a hook's decision."""
    told = {"hookSpecificOutput": {"hookEventName": event, **decided}}
    return f"echo '{json.dumps(told)}'"


@pytest.mark.conforms("stream-json §22a", "stream-json §22c", "PN-21")
async def test_a_tool_that_a_hook_allows_runs_and_nobody_is_asked(bridge: Bridge) -> None:
    allow = says("PreToolUse", permissionDecision="allow", permissionDecisionReason="fine")
    folder = bridge.repository("hook-allow", hooks(PreToolUse=allow))
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("hook-allow", bash("touch made"), {"say": "Made."})
        assert talk.all(ev.PermissionRequested) == []
        (result,) = talk.all(ev.ToolResult)
        assert result.status == "ok"
        assert talk.unknown() == []
    assert (folder / "made").exists()


@pytest.mark.conforms("stream-json §22a")
async def test_a_tool_that_a_hook_denies_does_not_run(bridge: Bridge) -> None:
    deny = says("PreToolUse", permissionDecision="deny", permissionDecisionReason="not on board")
    folder = bridge.repository("hook-deny", hooks(PreToolUse=deny))
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("hook-deny", bash("touch made"), {"say": "Pity."})
        assert talk.all(ev.PermissionRequested) == []
        (result,) = talk.all(ev.ToolResult)
        assert result.status in ("denied", "error")
        assert "not on board" in result.text
        assert talk.unknown() == []
    assert not (folder / "made").exists()


@pytest.mark.conforms("stream-json §22a", "PN-21")
async def test_a_permission_that_a_hook_grants_is_asked_of_nobody(bridge: Bridge) -> None:
    told = {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "allow"},
        }
    }
    folder = bridge.repository("hook-grant", hooks(PermissionRequest=f"echo '{json.dumps(told)}'"))
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("hook-grant", bash("touch made"), {"say": "Made."})
        assert talk.without_outcome() == set()
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert talk.unknown() == []
    assert (folder / "made").exists()


@pytest.mark.conforms("stream-json §22a")
async def test_what_a_hook_says_after_a_tool_reaches_the_model(bridge: Bridge) -> None:
    after = says("PostToolUse", additionalContext="mind the reef")
    folder = bridge.repository("hook-after", hooks(PostToolUse=after))
    (folder / "chart").write_text("x\n")
    read = {"tool": "Read", "input": {"file_path": str(folder / "chart")}}
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("hook-after", read, {"say": "Read."})
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert talk.unknown() == []
    assert "mind the reef" in "\n".join(bridge.api.turns[-1].given())
    assert results(bridge, "hook-after")


@pytest.mark.conforms("stream-json §22a")
async def test_a_prompt_that_a_hook_blocks_is_over_and_never_reaches_the_model(
    bridge: Bridge,
) -> None:
    block = "echo 'no swearing' >&2; exit 2"
    folder = bridge.repository("hook-block", hooks(UserPromptSubmit=block))
    async with await Talk.open(bridge, cwd=folder) as talk:
        request = await talk.say("hook-block", {"say": "never said"})
        assert await talk.outcome(request) in ("done", "refused")
        assert talk.all(ev.TextDone) == []
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert bridge.api.count("hook-block") == 0


@pytest.mark.conforms("stream-json §22a", "PN-21")
async def test_a_turn_that_a_hook_prolongs_ends_once(bridge: Bridge) -> None:
    again = (
        "if [ -e stopped ]; then exit 0; fi; touch stopped; "
        """echo '{"decision": "block", "reason": "one more wave"}'"""
    )
    folder = bridge.repository("hook-stop", hooks(Stop=again))
    async with await Talk.open(bridge, cwd=folder) as talk:
        request = await talk.say("hook-stop", {"say": "First."}, {"say": "Second."})
        assert await talk.outcome(request) == "done"
        assert [one.text for one in talk.all(ev.TextDone)] == ["First.", "Second."]
        assert len(talk.all(ev.TurnEnded)) == 1
        assert talk.unknown() == []
    assert "one more wave" in "\n".join(bridge.api.turns[-1].given())


@pytest.mark.conforms("stream-json §22a")
async def test_a_hook_at_the_start_runs_before_anything_is_said(bridge: Bridge) -> None:
    start = "echo 'the tide is high'; touch started"
    folder = bridge.repository("hook-start", hooks(SessionStart=start))
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("hook-start", {"say": "Hello."})
        assert (folder / "started").exists()
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert "the tide is high" in "\n".join(bridge.api.turns[-1].given())


@pytest.mark.conforms("stream-json §22c")
async def test_a_hook_that_fails_is_told_and_stops_nothing(bridge: Bridge) -> None:
    folder = bridge.repository("hook-fails", hooks(SessionStart="echo broken >&2; exit 1"))
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("hook-fails", {"say": "Hello."})
        assert talk.transcript.text == "Hello."
        assert [one for one in talk.all(ev.Notice) if "broken" in one.text]
        assert talk.unknown() == []
