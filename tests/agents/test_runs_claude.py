"""The same script against the demo agent and the real CLI: the same types of events."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.rig import Bridge
from tests.agents.talk import scripted
from tests.harness.line_process import LineProcess
from tests.harness.terminal_home import Home, home_in

pytestmark = pytest.mark.needs("claude-cli")
Frame = dict[str, Any]
KINDS = ("run.started", "run.progress", "run.question", "run.artifact", "run.completed")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with home_in(tmp_path_factory.mktemp("d")) as home:
        yield home


def play(
    argv: list[str],
    env: dict[str, str],
    cwd: Path,
    prompt: str,
    status: int = 0,
    heard: Callable[[Frame], None] = lambda frame: None,
) -> list[Frame]:
    """The script: start, allow everything, answer everything with the first option."""
    with LineProcess(argv, env=env, cwd=cwd, start_new_session=True) as script:

        def say(kind: str, payload: dict[str, Any]) -> None:
            script.send({"v": "1", "type": kind, "payload": payload})

        say("run.start", {"prompt": prompt})
        while (frame := script.next_or_none()) is not None:
            heard(frame)
            if frame["type"] == "run.question":
                asked = frame["payload"]
                label = asked["options"][0]["label"]
                say("run.input", {"question_id": asked["question_id"], "value": label})
        assert script.exit_code() == status, script.messages[-1:]
    return script.messages


def with_demo(demo: Home, prompt: str) -> list[dict[str, Any]]:
    flags = ["--output", "json", "--agent", "demo", "--model", "flybridge-demo-fast"]
    return play(demo.argv("adhoc", *flags), demo.env, demo.work, prompt)


def with_claude(
    bridge: Bridge,
    prompt: str,
    *flags: str,
    cwd: Path | None = None,
    status: int = 0,
    heard: Callable[[Frame], None] = lambda frame: None,
) -> list[Frame]:
    # a script that finds none would start one, in its own environment: with other agents
    bridge.wait_until_ready()
    argv = bridge.argv("adhoc", "--output", "json", "--agent", "claude", *flags)
    return play(argv, dict(os.environ), cwd or bridge.claude.cwd, prompt, status, heard)


def shape(frames: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Types and kinds, without what an agent says of itself, and repeats as one."""
    told = [(one["type"], one["payload"].get("kind", "")) for one in frames]
    told = [one for one in told if one[1] != "status"]
    return [one for n, one in enumerate(told) if n == 0 or told[n - 1] != one]


@pytest.mark.conforms("S4-same")
def test_saying_something_looks_the_same(bridge: Bridge, demo: Home) -> None:
    theirs = with_claude(bridge, scripted("hello", {"say": "Ahoy."}))
    assert shape(theirs) == shape(with_demo(demo, "hello"))
    assert theirs[-1]["payload"]["summary"] == "Ahoy."
    assert theirs[-1]["payload"]["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("command", ["/context", "/cost"])
def test_d03_what_a_local_command_prints_is_the_text_of_the_run(
    bridge: Bridge, command: str
) -> None:
    frames = with_claude(bridge, command)
    texts = [one["payload"]["content"] for one in frames if one["payload"].get("kind") == "text"]
    assert len(texts) == 1
    assert len(texts[0].strip()) > 20
    assert frames[-1]["type"] == "run.completed"
    assert frames[-1]["payload"]["summary"] == texts[0]
    argv = bridge.argv("adhoc")
    done = subprocess.run(
        [*argv, "--output", "cli", "--agent", "claude", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=bridge.claude.cwd,
        start_new_session=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip()) > 20


@pytest.mark.conforms("S4-same")
def test_writing_a_file_looks_the_same(bridge: Bridge, demo: Home) -> None:
    path = bridge.claude.cwd / f"note-{bridge.claude.version}.txt"
    tool = {"tool": "Write", "input": {"file_path": str(path), "content": "hi\n"}}
    theirs = with_claude(bridge, scripted("write", [{"say": "I write."}, tool], {"say": "Done."}))
    ours = with_demo(demo, f"write note-{bridge.claude.version}.txt")
    assert shape(theirs) == shape(ours)
    made = next(one["payload"] for one in theirs if one["type"] == "run.artifact")
    assert (made["name"], made["kind"], made["content"]) == (path.name, "file", "hi\n")


@pytest.mark.conforms("S4-same")
def test_a_question_looks_the_same(bridge: Bridge, demo: Home) -> None:
    asked = {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    }
    tool = {"tool": "AskUserQuestion", "input": {"questions": [asked]}}
    theirs = with_claude(
        bridge, scripted("ask", [{"say": "One question."}, tool], {"say": "Thanks."})
    )
    assert shape(theirs) == shape(with_demo(demo, "question"))
    assert {one["type"] for one in theirs} <= set(KINDS)


def test_a_marker_question_is_answered_in_the_same_conversation(bridge: Bridge) -> None:
    options = [{"label": "Red", "description": "r"}]
    asked = json.dumps({"questions": [{"question": "Colour?", "options": options}]})
    frames = with_claude(bridge, scripted("mark", {"say": f"Well.<!--QUESTION:{asked}-->"}))
    assert [one["type"] for one in frames].count("run.question") == 1
    assert frames[-1]["type"] == "run.completed"
    last = bridge.api.turns[-1].given()
    assert any("Red" in text for text in last)
