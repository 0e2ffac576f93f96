"""One scene with a call of every kind of tool, for whoever wants to see how each is shown.

All of it is pretence: nothing is searched, fetched or changed, so nobody is asked.
"""

from __future__ import annotations

from flybridge.agents.demo.blocks import Call, Outcome, Say, Work
from flybridge.agents.demo.scenes.large import gives
from flybridge.agents.demo.stream import Json
from flybridge.agents.demo.tools import shown
from flybridge.agents.demo.turn import Turn

CELLS: list[Json] = [
    {"cellType": "markdown", "source": "# Depths\n\nIn **metres**.", "cell_id": "c1"},
    {"cellType": "code", "source": "depths = [4, 9, 2]", "cell_id": "c2", "language": "python"},
]
COLOURS = "\x1b[32m3 passed\x1b[0m, \x1b[31m1 failed\x1b[0m in 0.12 s"
PAGE = "## Tides\n\nHigh water at **06:12** and 18:40. See the [table](https://example.invalid/t)."


async def show_tools(turn: Turn, _rest: str) -> None:
    at = turn.session.cwd
    await turn.respond(Say("Tools that look:"), *_looking(at))
    await turn.respond(Say("Tools that change something, or would:"), *_changing(at))
    await turn.respond(Say("And tools of others, and tools that fail:"), *_others(at))
    await turn.respond(Say("Each of them was made up, and so is what it found."))


def _call(name: str, given: Json, text: str, detail: Json | str = "") -> Call:
    return Call(name, given, work=gives(Outcome(text=text, detail=detail)), free=True)


def _looking(at: str) -> list[Call]:
    files = [f"{at}/src/helm.py", f"{at}/src/rudder.py"]
    found = "src/helm.py:3:def helm(angle: float) -> str:"
    links: list[Json] = [
        {"title": "Tide tables", "url": "https://example.invalid/tides"},
        {"title": "How tides work", "url": "https://example.invalid/how"},
    ]
    lines: Json = {"mode": "content", "numFiles": 0, "filenames": [], "content": found}
    search: Json = {"query": "tides today", "results": [{"tool_use_id": "s", "content": links}]}
    page: Json = {"bytes": 4096, "code": 200, "codeText": "OK", "result": PAGE}
    notebook: Json = {"filePath": f"{at}/depths.ipynb", "cells": CELLS}
    program = 'def helm(angle: float) -> str:\n    return "port" if angle < 0 else "starboard"\n'
    file: Json = {"filePath": files[0], "content": program, "numLines": 2, "startLine": 12}
    return [
        _call("Glob", {"pattern": "src/**/*.py"}, "\n".join(files), {"filenames": files}),
        _call("Grep", {"pattern": "def helm", "output_mode": "content"}, found, lines),
        _call("Read", {"file_path": files[0]}, program, {"type": "text", "file": file}),
        _call(
            "Read",
            {"file_path": f"{at}/depths.ipynb"},
            "<cell id=c1>",
            {"type": "notebook", "file": notebook},
        ),
        _call(
            "WebFetch",
            {"url": "https://example.invalid/tides", "prompt": "When is high water?"},
            PAGE,
            page,
        ),
        _call("WebSearch", {"query": "tides today"}, "Two pages about tides.", search),
    ]


def _changing(at: str) -> list[Call]:
    cell: Json = {
        "notebook_path": f"{at}/depths.ipynb",
        "cell_id": "c2",
        "cell_type": "code",
        "new_source": "depths = [4, 9, 2, 7]\nprint(max(depths))",
    }
    words: Json = {**cell, "cell_type": "markdown", "new_source": "# Depths", "edit_mode": "insert"}
    bash: Json = {"command": "pytest -q", "description": "Try the helm"}
    todos: list[Json] = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Steer", "status": "in_progress", "activeForm": "Steering"},
        {"content": "Arrive", "status": "pending", "activeForm": "Arriving"},
    ]
    return [
        Call("Bash", bash, work=gives(shown(f"....\n{COLOURS}")), free=True),
        _call("NotebookEdit", cell, "changed c2", {**cell, "old_source": "depths = [4, 9, 2]"}),
        _call("NotebookEdit", words, "inserted a cell", words),
        _call("TodoWrite", {"todos": todos}, "The list was changed.", {"newTodos": todos}),
    ]


def _others(at: str) -> list[Call]:
    issue = '{"number": 12, "title": "The rudder sticks", "state": "open"}'
    wrong = "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>"
    edit: Json = {"file_path": f"{at}/a.py", "old_string": "a = 1", "new_string": "a = 2"}
    return [
        _call("mcp__github__get_issue", {"owner": "boats", "repo": "helm", "number": 12}, issue),
        _call("Skill", {"skill": "knots", "args": "bowline"}, "Launching skill: knots"),
        Call(
            "Bash", {"command": "make dock"}, work=_fails("Exit code 2\nmake: no rule"), free=True
        ),
        Call("Edit", edit, work=_fails(wrong), free=True),
    ]


def _fails(text: str) -> Work:
    return gives(Outcome(text=text, failed=True, detail=f"Error: {text}"))
