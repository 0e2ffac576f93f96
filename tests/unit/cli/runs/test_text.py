"""Frames as text."""

from __future__ import annotations

import json
from typing import Any

from flybridge.cli.runs.text import RunText, start_frame
from flybridge.frontends.runs.wire.messages import Start, decode


def frame(what: str, **payload: Any) -> bytes:
    return json.dumps({"type": f"run.{what}", "run_id": "run_1", "payload": payload}).encode()


def test_a_prompt_becomes_a_frame() -> None:
    assert decode(start_frame("go")) == ("", Start(prompt="go"))


def test_only_text_goes_to_the_output() -> None:
    text = RunText(progress=True)
    assert text.show(frame("progress", kind="text", content="a\x1b[2Jb")) == (b"a^[[2Jb\n", b"")
    shown = [
        text.show(frame("progress", kind="tool_use", tool="Bash", content="x" * 999)),
        text.show(frame("progress", kind="text_delta", content="x")),
        text.show(frame("artifact", kind="file", name="a.txt")),
        text.show(frame("failed", code="timeout", message="late")),
        text.show(frame("cancelled", reason="r")),
        text.show(frame("started", provider="demo")),
    ]
    assert [written.output for written in shown] == [b""] * 6
    said = b"".join(written.beside for written in shown).decode().splitlines()
    assert said[0].startswith("tool_use: Bash xxx")
    assert len(said[0]) < 120
    assert said[1:] == ["file: a.txt", "flybridge: late (timeout)", "flybridge: cancelled: r"]


def test_without_a_terminal_only_the_end_is_told() -> None:
    shown = RunText(progress=False).show(frame("progress", kind="status", content="x"))
    assert shown == (b"", b"")


def test_a_person_is_not_told_of_a_protocol() -> None:
    shown = RunText(progress=False).show(frame("failed", code="protocol_error", message="No."))
    assert shown.beside == b"flybridge: No.\n"


def test_who_leaves_is_told_the_run_and_nothing_else() -> None:
    text = RunText(progress=False)
    assert text.show_id(frame("started")) == (b"run_1\n", b"")
    assert text.show_id(frame("progress", kind="text", content="x")) == (b"", b"")
    assert text.show_id(frame("failed", code="c", message="m")) == (b"", b"flybridge: m (c)\n")
