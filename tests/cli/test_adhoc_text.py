"""Frames as text."""

from __future__ import annotations

import io
import json
from typing import Any

from flybridge.cli.adhoc_text import RunText, start_frame
from flybridge.wire.runs.messages import Start, decode


def frame(what: str, **payload: Any) -> bytes:
    return json.dumps({"type": f"run.{what}", "run_id": "run_1", "payload": payload}).encode()


def test_a_prompt_becomes_a_frame() -> None:
    assert decode(start_frame("go")) == ("", Start(prompt="go"))


def test_only_text_goes_to_the_output() -> None:
    beside = io.StringIO()
    text = RunText(beside, progress=True)
    assert text.show(frame("progress", kind="text", content="a\x1b[2Jb")) == b"a^[[2Jb\n"
    assert text.show(frame("progress", kind="tool_use", tool="Bash", content="x" * 999)) == b""
    assert text.show(frame("progress", kind="text_delta", content="x")) == b""
    assert text.show(frame("artifact", kind="file", name="a.txt")) == b""
    assert text.show(frame("failed", code="timeout", message="late")) == b""
    assert text.show(frame("cancelled", reason="r")) == b""
    assert text.show(frame("started", provider="demo")) == b""
    said = beside.getvalue().splitlines()
    assert said[0].startswith("tool_use: Bash xxx")
    assert len(said[0]) < 120
    assert said[1:] == ["file: a.txt", "flybridge: late (timeout)", "flybridge: cancelled: r"]


def test_without_a_terminal_only_the_end_is_told() -> None:
    beside = io.StringIO()
    RunText(beside, progress=False).show(frame("progress", kind="status", content="x"))
    assert beside.getvalue() == ""


def test_who_leaves_is_told_the_run_and_nothing_else() -> None:
    text = RunText(io.StringIO(), progress=False)
    assert text.show_id(frame("started")) == b"run_1\n"
    assert text.show_id(frame("progress", kind="text", content="x")) == b""
    assert text.show_id(frame("failed", code="c", message="m")) == b""
