from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.agents.claude.wire.decode import decode
from flybridge.agents.claude.wire.messages import Odd, Unknown
from flybridge.agents.demo.script import SCENES, Scene, menu
from tests.harness.agent_host import DEMO, Host, Reply, allow, deny, kind, shapes, spoken
from tests.repo.tree import ROOT

RESUMED = "11111111-2222-4333-8444-555555555555"
TUTORIAL = ROOT / "docs" / "tutorial" / "demo-agent.md"
# of the CLI's catalogue; whether our own decoder types them already is its business
CATALOGUED = {
    ("conversation_reset", ""),
    ("system", "background_tasks_changed"),
    ("system", "task_started"),
    ("system", "task_updated"),
    ("system", "task_notification"),
}
PLAYED = [scene for scene in SCENES if scene.name != "crash"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with Host(cwd=tmp_path_factory.mktemp("stage")) as host:
        yield host


@pytest.mark.parametrize("reply", [allow, deny], ids=["allow", "deny"])
@pytest.mark.parametrize("scene", PLAYED, ids=lambda scene: scene.name)
def test_every_scene_runs_to_its_end(stage: Host, scene: Scene, reply: Reply) -> None:
    stage.raw.clear()
    messages = stage.play(scene.name, reply)
    if scene.name == "background" and reply is allow:
        messages += stage.until(kind("result"))  # the turn that nobody asked for
    assert messages[-1]["is_error"] is (scene.name == "error")
    assert bool(spoken(messages)) or scene.name in ("compact", "clear")
    strange = [found for line in stage.raw if (found := not_understood(line))]
    assert bool(strange) is (scene.name == "unknown"), strange


def not_understood(line: bytes) -> str:
    message = decode(line.rstrip(b"\n"))
    if isinstance(message, Odd):
        return message.reason
    if isinstance(message, Unknown) and (message.type, message.subtype) not in CATALOGUED:
        return f"{message.type}/{message.subtype}"
    return ""


def test_a_denied_scene_leaves_nothing_behind(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        for scene in PLAYED:
            host.play(scene.name, deny)
    assert list(tmp_path.iterdir()) == []


def test_names_are_used_once_and_say_what_they_are() -> None:
    names = [name for scene in SCENES for name in (scene.name, *scene.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.casefold() for name in names)
    assert all(scene.about and len(scene.about) <= 40 for scene in SCENES)
    assert all(bool(scene.hint) == bool(scene.rest) for scene in SCENES)


def test_the_menu_has_every_scene_in_few_lines() -> None:
    lines = menu().split("\n")
    assert len(lines) == len({scene.group for scene in SCENES}) <= 6
    assert all(f"`{scene.name}" in menu() for scene in SCENES)


def test_the_tutorial_lists_the_scenes_as_they_are() -> None:
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \|$", TUTORIAL.read_text(), re.MULTILINE)
    shown = [(f"{one.name} {one.hint.replace('|', ', ')}".strip(), one.about) for one in SCENES]
    assert rows == shown


def test_the_greeting_says_that_this_is_a_demo_and_what_to_try() -> None:
    with Host() as host:
        text = spoken(host.turn("what can you do?"))
        assert spoken(host.turn("write me a poem")) == text
    assert "**demo**" in text
    assert menu() in text


def test_every_scene_is_a_slash_command_too() -> None:
    with Host() as host:
        commands = host.ask("initialize")["response"]["commands"]
        assert [command["name"] for command in commands] == [scene.name for scene in SCENES]
        assert "thought about it" in spoken(host.turn("/think"))
        assert "thought about it" in spoken(host.turn("THINK about boats"))
        assert "`/frobnicate` is no command" in spoken(host.turn("/frobnicate now"))


def test_only_the_first_answer_says_that_it_continues() -> None:
    with Host(DEMO, "--resume", RESUMED) as host:
        first = host.turn("hello")
        assert first[0]["session_id"] == RESUMED
        assert "I continue session `11111111`" in spoken(first)
        assert "I continue" not in spoken(host.turn("hello"))


def test_a_full_context_is_compacted_before_the_turn() -> None:
    with Host() as host:
        for _ in range(4):
            assert "system/compact_boundary" not in shapes(host.turn("flood"))
        messages = host.turn("think")
    order = shapes(messages)
    assert order[:4] == [
        "system/status",
        "system/status",
        "system/compact_boundary",
        "user/text",
    ]
    boundary = messages[2]["compact_metadata"]
    assert boundary["trigger"] == "auto"
    assert boundary["pre_tokens"] > 6400
    assert boundary["post_tokens"] == boundary["pre_tokens"] // 10
    assert order.index("system/init") == 4
