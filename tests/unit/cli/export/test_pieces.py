from __future__ import annotations

import pytest

from flybridge.cli.export.pieces import (
    change_lines,
    clock,
    content_text,
    date,
    money,
    task_parts,
)
from flybridge.model import events as ev
from flybridge.model.content import Image, Text


def test_times_are_the_same_everywhere() -> None:
    assert date(1_700_000_000_000) == "2023-11-14 22:13:20 UTC"
    assert clock(1_700_000_000_000) == "22:13:20"
    assert money(0.04211) == "$0.0421"


def test_tasks_can_be_ticked_off() -> None:
    news = ["tasks: 1 of 3 done", "[x] a", "[>] b", "[ ] c*"]
    assert task_parts(news) == [
        "#### Tasks: 1 of 3 done",
        "- [x] a\n- [ ] now: b\n- [ ] c\\*",
    ]
    assert task_parts(["[x] a · 3 of 3 done"]) == ["#### Tasks", "- [x] a · 3 of 3 done"]
    assert task_parts(["no tasks any more"]) == ["#### Tasks", "- no tasks any more"]
    assert task_parts([]) == []


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (ev.Retry(attempt=1, reason="rate_limit"), ["trying again (1): rate limit"]),
        (ev.RateLimit(status="rejected"), ["rate limit reached"]),
        (ev.ContextCompacted(), ["the context was compacted"]),
        (ev.ModeChanged(mode="plan"), ["mode: plan"]),
        (ev.ModelChanged(model="m"), ["model: m"]),
        (ev.SessionChanged(title="t"), ["title: t"]),
        (ev.SessionClosed(), ["the session was closed"]),
        (ev.SessionChanged(archived=True), []),
    ],
)
def test_what_was_changed(event: ev.Event, lines: list[str]) -> None:
    assert change_lines(event, 0) == lines


def test_a_message_is_its_text_and_what_came_with_it() -> None:
    content = (Image("image/png", data="eHh4"), Text("# look"))
    assert content_text(content) == "\\[image/png, 3 bytes\\]\n\n##### look"
