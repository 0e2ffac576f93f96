"""What docs/explanation/hooks.md says, each with the real CLI and hooks of a project, as a script
sees it that drives a run. What a session shows of hooks is in test_claude_hooks.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.rig import TALK
from tests.agents.rig import Bridge
from tests.agents.talk import bash, scripted
from tests.agents.test_claude_hooks import hooks, says
from tests.agents.test_runs_claude import shape, with_claude

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]
Frames = list[dict[str, Any]]


def repository(bridge: Bridge, name: str, **commands: str) -> Path:
    return bridge.repository(f"run-{name}", hooks(**commands))


def texts(frames: Frames, kind: str) -> list[str]:
    said = [one["payload"] for one in frames if one["type"] == "run.progress"]
    return [one.get("content", "") for one in said if one["kind"] == kind]


def types(frames: Frames) -> list[str]:
    return [one["type"] for one in frames]


def test_a_hook_that_allows_leaves_no_question(bridge: Bridge) -> None:
    folder = repository(bridge, "allow", PreToolUse=says("PreToolUse", permissionDecision="allow"))
    asked = scripted("run-hook-allow", bash("touch made"), {"say": "Made."})
    frames = with_claude(bridge, asked, cwd=folder)
    assert "run.question" not in types(frames)
    assert frames[-1]["type"] == "run.completed"
    assert (folder / "made").exists()


def test_a_hook_that_denies_is_a_result_with_its_reason_and_no_question(bridge: Bridge) -> None:
    deny = says("PreToolUse", permissionDecision="deny", permissionDecisionReason="not on board")
    folder = repository(bridge, "deny", PreToolUse=deny)
    asked = scripted("run-hook-deny", bash("touch made"), {"say": "Pity."})
    frames = with_claude(bridge, asked, cwd=folder)
    assert "run.question" not in types(frames)
    assert "not on board" in texts(frames, "tool_result")[0]
    assert frames[-1]["type"] == "run.completed"
    assert not (folder / "made").exists()


def test_a_prompt_shows_the_input_that_a_hook_made_of_the_call(bridge: Bridge) -> None:
    changed = {"command": "touch changed", "description": "a test"}
    told = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "updatedInput": changed,
        }
    }
    folder = repository(bridge, "change", PreToolUse=f"echo '{json.dumps(told)}'")
    asked = scripted("run-hook-change", bash("touch said"), {"say": "Done."})
    frames = with_claude(bridge, asked, cwd=folder)
    (question,) = [one["payload"] for one in frames if one["type"] == "run.question"]
    assert "touch said" in texts(frames, "tool_use")[0]  # the call, as it was told
    assert "command: touch changed" in question["text"]
    assert (folder / "changed").exists()
    assert not (folder / "said").exists()


def test_a_turn_that_a_hook_prolongs_is_one_run_with_its_real_end(bridge: Bridge) -> None:
    again = (
        "if [ -e stopped ]; then exit 0; fi; touch stopped; "
        """echo '{"decision": "block", "reason": "one more wave"}'"""
    )
    folder = repository(bridge, "stop", Stop=again)
    frames = with_claude(
        bridge, scripted("run-hook-stop", {"say": "First."}, {"say": "Second."}), cwd=folder
    )
    assert texts(frames, "text") == ["First.", "Second."]
    assert types(frames).count("run.completed") == 1
    assert frames[-1]["payload"]["summary"] == "Second."


@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse", "PostToolUse"])
def test_a_hook_that_fails_and_prints_leaves_frames_as_they_are(bridge: Bridge, event: str) -> None:
    fails = 'echo \'{"type": "run.failed"}\'; echo Traceback; echo broken >&2; exit 1'
    folder = repository(bridge, f"fails-{event}", **{event: fails})
    asked = scripted(f"run-hook-fails-{event}", bash("touch made"), {"say": "Made."})
    frames = with_claude(bridge, asked, cwd=folder)
    assert {one["v"] for one in frames} == {"1"}
    assert [one for one in types(frames) if one in ("run.completed", "run.failed")] == [
        "run.completed"
    ]
    assert "Traceback" not in "".join(texts(frames, "text"))
    assert (folder / "made").exists()
    plain = [one for one in shape(frames) if one[0] != "run.question"]
    assert plain[-2:] == [("run.progress", "text"), ("run.completed", "")]


def test_a_slow_hook_looks_like_a_slow_tool(bridge: Bridge, tmp_path: Path) -> None:
    """Its tool was told, and has no result, for as long as the hook takes."""
    mark, go = tmp_path / "mark", tmp_path / "go"
    slow = f"touch {mark}; while [ ! -e {go} ]; do sleep 0.05; done"
    allow = says("PreToolUse", permissionDecision="allow")
    folder = repository(bridge, "slow", PreToolUse=f"{slow}; {allow}")
    seen: list[bool] = []

    def heard(frame: dict[str, Any]) -> None:
        if frame["payload"].get("kind") == "tool_use":
            seen.append(go.exists())
            go.touch()
        if frame["payload"].get("kind") == "tool_result":
            seen.append(mark.exists())

    asked = scripted("run-hook-slow", bash("touch made"), {"say": "Made."})
    frames = with_claude(bridge, asked, cwd=folder, heard=heard)
    assert seen == [False, True]
    assert frames[-1]["type"] == "run.completed"


def test_hooks_of_a_folder_are_left_out_where_that_is_asked_for(bridge: Bridge) -> None:
    folder = repository(bridge, "restrict", SessionStart="touch started")
    asked = scripted("run-hook-restrict", {"say": "Hello."})
    frames = with_claude(bridge, asked, "--folder", "restrict", cwd=folder)
    assert frames[-1]["type"] == "run.completed"
    assert not (folder / "started").exists()
    with_claude(bridge, scripted("run-hook-obeyed", {"say": "Hello."}), cwd=folder)
    assert (folder / "started").exists()


def test_a_folder_that_nobody_trusts_is_not_opened_with_its_hooks(
    bridge: Bridge, tmp_path: Path
) -> None:
    for path, body in hooks(SessionStart="touch started").items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(json.dumps(body))
    frames = with_claude(bridge, "hello", cwd=tmp_path, status=1)
    assert frames[-1]["type"] == "run.failed"
    assert "brings its own settings" in frames[-1]["payload"]["message"]
    assert not (tmp_path / "started").exists()


def test_a_hook_has_no_more_rights_than_its_agent(bridge: Bridge, tmp_path: Path) -> None:
    """It talks to the gateway from inside the agent, and tries what only a person may."""
    (tmp_path / "talk.py").write_text(TALK)
    wanted = [
        {"type": "ask", "ref": "1", "name": "token.create", "params": {"name": "mine"}},
        {"type": "ask", "ref": "2", "name": "trust.add", "params": {"folder": "/"}},
        {"type": "ask", "ref": "3", "name": "stop"},
        {"type": "ask", "ref": "4", "name": "list"},
    ]
    (tmp_path / "asked").write_text(json.dumps(wanted))
    talk = f"{sys.executable} -I -S {tmp_path}/talk.py {bridge.state}/gateway.sock"
    folder = repository(
        bridge, "rights", SessionStart=f"{talk} < {tmp_path}/asked > {tmp_path}/told"
    )
    with_claude(bridge, scripted("run-hook-rights", {"say": "Hello."}), cwd=folder)
    told = json.loads((tmp_path / "told").read_text())
    assert told[0]["scopes"] == ["input", "interrupt", "view"]
    assert [one.get("error", "") for one in told[1:]] == ["not_allowed"] * 3 + [""]
