"""Tools: what they were given, what came of it, what they changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from flybridge.model.commands import SetMode
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, results

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §9b", "stream-json §9c")
async def test_an_edit_shows_what_it_changed(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "sails.txt"
    write = {"tool": "Write", "input": {"file_path": str(made), "content": "one\ntwo\n"}}
    given = {"file_path": str(made), "old_string": "two", "new_string": "three"}
    edit = {"tool": "Edit", "input": given}
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        await talk.turn("diff", write, edit, {"say": "Changed."})
        assert [one.status for one in talk.all(ev.ToolResult)] == ["ok", "ok"]
        diffs = talk.all(ev.Diff)
        assert [one.path for one in diffs] == [str(made)] * 2
        assert [one.item for one in diffs] == [one.item for one in talk.all(ev.ToolResult)]
        lines = [json.loads(bytes(one.patch))[0]["lines"] for one in diffs]
        assert lines == [["+one", "+two"], [" one", "-two", "+three"]]
        assert talk.unknown() == []


@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
@pytest.mark.conforms("stream-json §9h")
async def test_todos_are_tasks(bridge: Bridge) -> None:
    todos = [
        {"content": "Hoist", "status": "in_progress", "activeForm": "Hoisting"},
        {"content": "Sail", "status": "pending", "activeForm": "Sailing"},
    ]
    async with await Talk.open(bridge, agent="todos") as talk:
        await talk.turn("todos", {"tool": "TodoWrite", "input": {"todos": todos}}, {"say": "Ok."})
        (tasks,) = talk.all(ev.Tasks)
        assert json.loads(bytes(tasks.tasks)) == todos
        assert talk.unknown() == []


# ---- files -----------------------------------------------------------------------------------


def detail(result: ev.ToolResult) -> dict[str, Any]:
    """The CLI's own object for a result, which stands beside the message and not inside it."""
    found = json.loads(bytes(result.detail))  # type: ignore[arg-type]
    assert isinstance(found, dict)
    return found


@pytest.mark.conforms("stream-json §9a", "PN-4")
async def test_a_file_that_was_read_is_text_and_an_object(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "log.txt"
    made.write_text("one\ntwo\nthree\n")
    read = {"tool": "Read", "input": {"file_path": str(made), "offset": 2, "limit": 1}}
    async with await Talk.open(bridge) as talk:
        await talk.turn("tool-read", read, {"say": "Read."})
        assert talk.all(ev.PermissionRequested) == []
        (result,) = talk.all(ev.ToolResult)
        assert (result.status, "two" in result.text, "three" in result.text) == ("ok", True, False)
        file = detail(result)["file"]
        assert (file["filePath"], file["content"].strip(), file["startLine"]) == (
            str(made),
            "two",
            2,
        )
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §9c", "PN-4")
async def test_a_file_that_is_written_over_shows_what_changed(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "over.txt"
    made.write_text("one\ntwo\n")
    read = {"tool": "Read", "input": {"file_path": str(made)}}
    write = {"tool": "Write", "input": {"file_path": str(made), "content": "one\nthree\n"}}
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        await talk.turn("tool-over", read, write, {"say": "Written."})
        told = detail(talk.all(ev.ToolResult)[1])
        assert (told["type"], told["filePath"]) == ("update", str(made))
        assert told["originalFile"] == "one\ntwo\n"
        (diff,) = talk.all(ev.Diff)
        assert json.loads(bytes(diff.patch))[0]["lines"] == [" one", "-two", "+three"]
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §9b")
async def test_an_edit_of_a_file_nobody_read_is_an_error_or_an_edit(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "unread.txt"
    made.write_text("one\n")
    given = {"file_path": str(made), "old_string": "one", "new_string": "two"}
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        await talk.turn("tool-unread", {"tool": "Edit", "input": given}, {"say": "Well."})
        (result,) = talk.all(ev.ToolResult)
        if bridge.claude.version != "2.1.325":
            assert result.status == "error"
            assert "has not been read" in result.text
            assert made.read_text() == "one\n"
        else:
            assert (result.status, made.read_text()) == ("ok", "two\n")
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §9g")
async def test_a_cell_of_a_notebook_is_changed(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "log.ipynb"
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "first",
        "metadata": {},
        "outputs": [],
        "source": ["print(1)"],
    }
    info = {"language_info": {"name": "python"}}
    book = {"cells": [cell], "metadata": info, "nbformat": 4, "nbformat_minor": 5}
    made.write_text(json.dumps(book))
    read = {"tool": "Read", "input": {"file_path": str(made)}}
    given = {"notebook_path": str(made), "new_source": "print(2)", "cell_id": "first"}
    edit = {"tool": "NotebookEdit", "input": given}
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        await talk.turn("tool-notebook", read, edit, {"say": "Changed."})
        assert [one.status for one in talk.all(ev.ToolResult)] == ["ok", "ok"]
        told = detail(talk.all(ev.ToolResult)[1])
        assert (told["cell_type"], told["edit_mode"]) == ("code", "replace")
        (diff,) = talk.all(ev.Diff)
        assert (diff.path, "+print(2)" in json.loads(bytes(diff.patch))[0]["lines"]) == (
            str(made),
            True,
        )
        assert talk.unknown() == []
    assert json.loads(made.read_text())["cells"][0]["source"] in ("print(2)", ["print(2)"])


@pytest.mark.conforms("stream-json §9e")
async def test_files_are_found_by_name_and_by_content(bridge: Bridge) -> None:
    folder = bridge.repository("search", {"a/reef.txt": "coral\n", "b/deep.txt": "kraken\n"})
    glob = {"tool": "Glob", "input": {"pattern": "**/*.txt"}}
    grep = {"tool": "Grep", "input": {"pattern": "krak", "output_mode": "content"}}
    named = Options(tools=("Glob", "Grep"))  # the newer one has them only when they are named
    async with await Talk.open(bridge, cwd=folder, options=named) as talk:
        await talk.turn("tool-search", glob, grep, {"say": "Found."})
        by_name, by_content = talk.all(ev.ToolResult)
        found = sorted(Path(one).name for one in detail(by_name)["filenames"])
        assert found == ["deep.txt", "reef.txt"]
        assert "kraken" in by_content.text
        assert detail(by_content)["mode"] == "content"
        assert talk.unknown() == []


# ---- commands ----------------------------------------------------------------------------------


@pytest.mark.conforms("stream-json §9d", "stream-json §11b", "PN-3", "rule 30")
async def test_a_command_tells_its_output_and_a_failure_its_code(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        say, fail = bash("echo aye; echo nay >&2"), bash("echo sunk; exit 3")
        await talk.say("tool-shell", say, fail, {"say": "Well."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.get(ev.TurnEnded)
        good, bad = talk.all(ev.ToolResult)
        told = detail(good)
        assert (good.status, told["stdout"].split(), told["interrupted"]) == (
            "ok",
            ["aye", "nay"],
            False,
        )
        assert bad.status == "error"
        assert "Exit code 3" in bad.text
        assert "sunk" in bad.text
        assert "<tool_use_error>" not in bad.text
        assert json.loads(bytes(bad.detail)).startswith("Error: Exit code 3")  # type: ignore[arg-type]
        assert talk.unknown() == []
    told_model = results(bridge, "tool-shell")
    assert [one.get("is_error") for one in told_model] == [False, True]


@pytest.mark.conforms("stream-json §11b", "PN-3")
async def test_a_call_that_makes_no_sense_is_an_error_and_keeps_its_tags_for_the_model(
    bridge: Bridge,
) -> None:
    calls = ({"tool": "NoSuchTool", "input": {}}, {"tool": "Read", "input": {"file": 1}})
    async with await Talk.open(bridge) as talk:
        await talk.turn("tool-nonsense", *calls, {"say": "Well."})
        assert [one.status for one in talk.all(ev.ToolResult)] == ["error", "error"]
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    told = results(bridge, "tool-nonsense")
    assert [one["is_error"] for one in told] == [True, True]
    assert all("<tool_use_error>" in str(one["content"]) for one in told)


@pytest.mark.conforms("stream-json §9f")
async def test_a_page_that_cannot_be_fetched_is_an_error_of_the_tool(bridge: Bridge) -> None:
    given = {"url": "https://boats.example/", "prompt": "what is it?"}
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-web", {"tool": "WebFetch", "input": given}, {"say": "No."})
        asked = await talk.get(ev.PermissionRequested)
        assert (asked.tool, json.loads(bytes(asked.input))) == ("WebFetch", given)
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "error"
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §9f")
async def test_a_search_is_a_call_with_a_result(bridge: Bridge) -> None:
    search = {"tool": "WebSearch", "input": {"query": "tides of the harbour"}}
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-search-web", search, {"say": "Well."})
        asked = await talk.get(ev.PermissionRequested)
        assert asked.tool == "WebSearch"
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        (result,) = talk.all(ev.ToolResult)
        assert (result.status, "tides of the harbour" in result.text) == ("ok", True)
        assert talk.unknown() == []


# ---- several at once -------------------------------------------------------------------------


@pytest.mark.conforms("stream-json §3c", "stream-json §16", "rule 13")
async def test_each_of_several_calls_has_its_own_result(bridge: Bridge) -> None:
    names = ("alpha", "bravo", "charlie", "delta")
    for name in names:
        (bridge.claude.cwd / name).write_text(f"the words of {name}\n")
    reads = [
        {"tool": "Read", "input": {"file_path": str(bridge.claude.cwd / name)}} for name in names
    ]
    async with await Talk.open(bridge) as talk:
        await talk.turn("tool-several", [{"say": "All."}, *reads], {"say": "Read."})
        started = {one.item: one for one in talk.all(ev.ToolStarted)}
        found = {one.item: one for one in talk.all(ev.ToolResult)}
        assert started.keys() == found.keys()
        assert len(talk.all(ev.ToolResult)) == len(names)
        for item, call in started.items():
            name = Path(json.loads(bytes(call.input))["file_path"]).name  # type: ignore[arg-type]
            assert f"the words of {name}" in found[item].text
            assert detail(found[item])["file"]["content"] == f"the words of {name}\n"
        assert talk.unknown() == []
    assert len(results(bridge, "tool-several")) == len(names)


@pytest.mark.conforms(
    "stream-json §9h",
    "stream-json §20a",
    "stream-json §20b",
    "stream-json §20c",
    "stream-json §20d",
)
async def test_tasks_are_one_list_that_changes(bridge: Bridge) -> None:
    tools = ("TaskCreate", "TaskUpdate", "TaskList", "TaskGet")
    old = bridge.claude.version == "2.1.38"
    how: dict[str, Any] = {} if old else {"options": Options(tools=tools)}
    given = {"subject": "Sail", "description": "away", "activeForm": "Sailing"}
    second = {"subject": "Land", "description": "there", "activeForm": "Landing"}
    calls = [
        {"tool": "TaskCreate", "input": given},
        {"tool": "TaskCreate", "input": second},
        {"tool": "TaskUpdate", "input": {"taskId": "2", "addBlockedBy": ["1"]}},
        {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "in_progress"}},
        {"tool": "TaskList", "input": {}},
        {"tool": "TaskGet", "input": {"taskId": "1"}},
        {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}},
        {"tool": "TaskUpdate", "input": {"taskId": "2", "status": "deleted"}},
    ]
    async with await Talk.open(bridge, **how) as talk:
        await talk.turn("tool-tasks", *calls, {"say": "Done."})
        assert {one.status for one in talk.all(ev.ToolResult)} == {"ok"}
        lists = [json.loads(bytes(one.tasks)) for one in talk.all(ev.Tasks)]
        states = [[(one["content"], one["status"]) for one in tasks] for tasks in lists]
        assert states[0] == [("Sail", "pending")]
        assert [("Sail", "in_progress"), ("Land", "pending")] in states
        assert states[-1] == [("Sail", "completed")]
        assert lists[0][0]["activeForm"] == "Sailing"
        waits = [(one[0].get("blocks"), one[1].get("blockedBy")) for one in lists if len(one) > 1]
        assert (["2"], ["1"]) in waits
        named = {one.name: one.item for one in talk.all(ev.ToolStarted)}
        found = {one.item: one for one in talk.all(ev.ToolResult)}
        assert "Sail" in found[named["TaskList"]].text
        assert "away" in found[named["TaskGet"]].text
        assert talk.unknown() == []
