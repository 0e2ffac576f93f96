from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.tools import describe
from flybridge.model.facts import PermissionAsked, ToolCalled
from flybridge.model.tools import (
    COMMAND_CHARS,
    CUT,
    DIFF_CHARS,
    MAX_PATHS,
    NO_SUBJECT,
    PATH_CHARS,
    TITLE_CHARS,
    URL_CHARS,
    ToolSubject,
)
from tests.harness.claude_cli import assistant, can_use_tool, hear, tool_use
from tests.harness.claude_recordings import GOLDEN, attached

KNOWN: list[tuple[str, dict[str, Any], str, ToolSubject]] = [
    (
        "Bash",
        {"command": "ls -l", "description": "List files"},
        "execute",
        ToolSubject(title="List files", command="ls -l"),
    ),
    ("PowerShell", {"command": "dir"}, "execute", ToolSubject(command="dir")),
    ("REPL", {"code": "1 + 1"}, "execute", ToolSubject(command="1 + 1")),
    (
        "BashOutput",
        {"bash_id": "b1"},
        "execute",
        ToolSubject(title='{"bash_id":"b1"}'),
    ),
    ("Read", {"file_path": "/a", "limit": 3}, "read", ToolSubject(paths=("/a",))),
    ("NotebookRead", {"notebook_path": "/n"}, "read", ToolSubject(paths=("/n",))),
    (
        "Edit",
        {"file_path": "/a", "old_string": "x\ny", "new_string": "z\n"},
        "edit",
        ToolSubject(paths=("/a",), diff="-x\n-y\n+z"),
    ),
    (
        "MultiEdit",
        {
            "file_path": "/a",
            "edits": [
                {"old_string": "x", "new_string": "y"},
                {"old_string": "v", "new_string": ""},
            ],
        },
        "edit",
        ToolSubject(paths=("/a",), diff="-x\n+y\n@@ @@\n-v"),
    ),
    (
        "Write",
        {"file_path": "/a", "content": "x\n\ny\n"},
        "edit",
        ToolSubject(paths=("/a",), diff="+x\n+\n+y"),
    ),
    (
        "NotebookEdit",
        {"notebook_path": "/n", "cell_id": "c", "new_source": "1"},
        "edit",
        ToolSubject(title="replace cell c", paths=("/n",), diff="+1"),
    ),
    (
        "Grep",
        {"pattern": "a  b", "path": "/src"},
        "search",
        ToolSubject(title="a  b", paths=("/src",)),
    ),
    ("Glob", {"pattern": "*.py"}, "search", ToolSubject(title="*.py")),
    ("LS", {"path": "/src"}, "search", ToolSubject(paths=("/src",))),
    (
        "WebFetch",
        {"url": "https://a.example", "prompt": "sum up"},
        "fetch",
        ToolSubject(title="sum up", url="https://a.example"),
    ),
    ("WebSearch", {"query": "tides"}, "fetch", ToolSubject(title="tides")),
    ("web_search", {"query": "tides"}, "fetch", ToolSubject(title="tides")),
    (
        "Task",
        {"description": "look around", "prompt": "p", "subagent_type": "Explore"},
        "agent",
        ToolSubject(title="look around"),
    ),
    ("Agent", {"subagent_type": "Explore"}, "agent", ToolSubject(title="Explore")),
    ("ExitPlanMode", {"plan": "# Sail\n\nfar"}, "plan", ToolSubject(title="Sail")),
    ("TodoWrite", {"todos": [{}, {}]}, "task", ToolSubject(title="2 tasks")),
    ("TaskCreate", {"subject": "Caulk"}, "task", ToolSubject(title="Caulk")),
    (
        "TaskUpdate",
        {"taskId": "1", "status": "completed", "addBlocks": ["2"]},
        "task",
        ToolSubject(title='1: status completed, addBlocks ["2"]'),
    ),
    ("TaskGet", {"taskId": "1"}, "task", ToolSubject(title="1")),
    ("TaskList", {}, "task", NO_SUBJECT),
    (
        "AskUserQuestion",
        {"questions": [{"question": "Which?", "header": "H"}]},
        "other",
        ToolSubject(title="Which?"),
    ),
    ("EnterPlanMode", {}, "other", NO_SUBJECT),  # allowing it approves no plan
    ("KillShell", {"shell_id": "s"}, "other", ToolSubject(title='{"shell_id":"s"}')),
    ("Skill", {"skill": "knots", "args": "x"}, "other", ToolSubject(title="knots")),
    ("ToolSearch", {"query": "mail"}, "other", ToolSubject(title="mail")),
    ("mcp__files__search", {"query": "q"}, "mcp", ToolSubject(title="q")),
    ("mcp__files__count", {"of": 3}, "mcp", ToolSubject(title='{"of":3}')),
    ("ListMcpResourcesTool", {"server": "s"}, "mcp", ToolSubject(title='{"server":"s"}')),
    ("Brew", {"cups": 2}, "other", ToolSubject(title='{"cups":2}')),
]
# Every tool of the recordings; one that is new there wants a line here, and a thought.
RECORDED = {
    "Agent": "agent",
    "AskUserQuestion": "other",
    "Bash": "execute",
    "Edit": "edit",
    "EnterPlanMode": "other",
    "ExitPlanMode": "plan",
    "Glob": "search",
    "Grep": "search",
    "MultiEdit": "edit",
    "NoSuchTool": "other",
    "NotebookEdit": "edit",
    "Read": "read",
    "Skill": "other",
    "Task": "agent",
    "TaskCreate": "task",
    "TodoWrite": "task",
    "ToolSearch": "other",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Write": "edit",
}


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


@pytest.mark.parametrize(("name", "given", "kind", "subject"), KNOWN, ids=[k[0] for k in KNOWN])
def test_each_tool_has_its_kind_and_its_subject(
    name: str, given: dict[str, Any], kind: str, subject: ToolSubject
) -> None:
    assert describe(name, raw(given)) == (kind, subject)


def in_recordings() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}

    def look(value: Any) -> None:
        if isinstance(value, list):
            for part in value:
                look(part)
        elif isinstance(value, dict):
            if value.get("type") in ("tool_use", "server_tool_use"):
                found.setdefault(value["name"], []).append(value.get("input"))
            elif value.get("subtype") == "can_use_tool" and "tool_name" in value:
                found.setdefault(value["tool_name"], []).append(value["input"])
            for part in value.values():
                look(part)

    for path in sorted(GOLDEN.glob("2.*/*.jsonl")):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            text = entry.get("line") if isinstance(entry, dict) else None
            if isinstance(text, str) and text.startswith("{"):
                try:
                    look(json.loads(text))
                except ValueError:
                    continue
    return found


def test_every_tool_of_the_recordings_is_known() -> None:
    names = in_recordings()
    ours = {name for name in names if not name.startswith("mcp__")}
    assert {name: describe(name, UNSET)[0] for name in ours} == {
        name: RECORDED.get(name, "not in the list") for name in ours
    }
    assert all(
        describe(name, raw(given))[1] != NO_SUBJECT
        for name, inputs in names.items()
        for given in inputs
        if given
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just('é\\"\n😀' * 3000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from([known[0] for known in KNOWN])
inputs = st.fixed_dictionaries(
    {},
    optional={key: values for _, given, _, _ in KNOWN for key in given},
)


@given(name=names, given=inputs | values)
def test_a_subject_is_small_whatever_the_input_is(name: str, given: Any) -> None:
    _, subject = describe(name, raw(given))
    assert len(subject.title) <= TITLE_CHARS + len(CUT)
    assert len(subject.command) <= COMMAND_CHARS
    assert len(subject.diff) <= DIFF_CHARS
    assert len(subject.url) <= URL_CHARS
    assert len(subject.paths) <= MAX_PATHS
    assert all(path and len(path) <= PATH_CHARS for path in subject.paths)


@pytest.mark.parametrize("odd", ["x", "é", "😀", "\\", '"', "\n", "\x00"])
@pytest.mark.parametrize("shift", range(8))
def test_the_beginning_of_a_very_long_text_is_read_whatever_stands_at_its_cut(
    odd: str, shift: int
) -> None:
    for ascii_only in (True, False):
        text = "a" * shift + odd * 20_000
        data = json.dumps({"command": text}, ensure_ascii=ascii_only).encode()
        command = describe("Bash", Raw(data))[1].command
        assert command == text[: COMMAND_CHARS - len(CUT)] + CUT


def test_a_path_that_is_too_long_is_left_out_and_never_cut() -> None:
    _, subject = describe("Edit", raw({"file_path": "/" + "x" * 20_000, "new_string": "y"}))
    assert subject == ToolSubject(diff="+y")


def test_a_call_and_the_prompt_for_it_say_the_same() -> None:
    driver = attached()
    facts = hear(driver, assistant(tool_use("t", "Bash", command="ls")))
    facts += hear(driver, can_use_tool(tool="t", name="Bash", input={"command": "ls"}))
    called = [fact for fact in facts if isinstance(fact, ToolCalled | PermissionAsked)]
    assert [(fact.kind, fact.subject) for fact in called] == [
        ("execute", ToolSubject(command="ls"))
    ] * 2


def test_an_input_that_lives_in_a_blob_has_its_subject_in_the_event() -> None:
    driver = attached()
    long = {"file_path": "/a", "content": "x" * 200_000}
    [called] = [
        fact
        for fact in hear(driver, assistant(tool_use("t", "Write", **long)))
        if isinstance(fact, ToolCalled)
    ]
    assert called.blob
    assert called.subject.paths == ("/a",)
    assert called.subject.diff.endswith(CUT)
