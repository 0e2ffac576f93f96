from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.cli.rendering.checklist import MAX_TASKS, Checklist
from flybridge.model.events import Tasks
from flybridge.model.tasks import AgentTask


def told(checklist: Checklist, *tasks: object) -> list[str]:
    return checklist.news(Tasks(tasks=Raw(msgspec.json.encode(tasks))))


def task(number: str, status: str, **more: object) -> dict[str, object]:
    return {"id": number, "subject": f"task {number}", "status": status, **more}


def test_the_whole_list_is_told_once_and_then_what_changed() -> None:
    checklist = Checklist()
    first, second = task("1", "pending"), task("2", "pending", blockedBy=["1"])
    assert told(checklist, first, second) == [
        "tasks: 0 of 2 done",
        "[ ] 1. task 1",
        "[ ] 2. task 2 (waits for 1)",
    ]
    assert told(checklist, first, second) == []
    running = task("1", "in_progress", activeForm="doing 1")
    assert told(checklist, running, second) == ["[>] 1. doing 1 · 0 of 2 done"]
    done = task("1", "completed")
    assert told(checklist, done, second) == ["[x] 1. task 1 · 1 of 2 done"]
    both = task("2", "completed", blockedBy=["1"])
    assert told(checklist, done, both) == ["[x] 2. task 2 · 2 of 2 done"]
    assert told(checklist, both) == ["tasks: 1 of 1 done"]
    assert told(checklist) == ["no tasks any more"]
    assert told(checklist) == []


def test_a_list_without_numbers_goes_by_place() -> None:
    checklist = Checklist()
    tasks = [{"content": "a", "status": "completed"}, {"title": "b"}, "c"]
    assert told(checklist, *tasks) == ["tasks: 1 of 3 done", "[x] a", "[ ] b", '"c"']


def test_a_list_may_be_wrapped() -> None:
    assert Checklist().news(Tasks(tasks=Raw(b'{"tasks":[{"subject":"a"}]}'))) == [
        "[ ] a · 0 of 1 done"
    ]
    assert Checklist().news(Tasks(tasks=Raw(b'{"odd":1}'))) == ['{"odd":1}']


def test_a_task_is_one_line_whatever_it_says() -> None:
    (line,) = told(Checklist(), {"subject": "a\n[x] b\x1b[2J"})
    assert line == "[ ] a ↵ [x] b^[[2J · 0 of 1 done"


def test_a_list_without_end_is_cut() -> None:
    lines = told(Checklist(), *[{"subject": "a"}] * (MAX_TASKS + 5))
    assert len(lines) == MAX_TASKS + 2
    assert lines[-1] == "… 5 more"


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["id", "status", "subject", "blockedBy"]),
            st.none() | st.text(max_size=3) | st.lists(st.integers()),
        ),
        max_size=4,
    )
)
def test_any_list_can_be_told(tasks: list[dict[str, object]]) -> None:
    assert all(char >= " " for line in told(Checklist(), *tasks) for char in line)


@pytest.mark.parametrize("raw", [b"", b"3", b"null", b'"x"', b"nonsense"])
def test_what_is_no_list_is_shown_as_it_is(raw: bytes) -> None:
    assert len(Checklist().news(Tasks(tasks=Raw(raw)))) == 1


def test_all_of_it_can_be_asked_for() -> None:
    tasks = Checklist()
    assert tasks.lines() == []
    told(tasks, {"content": "a", "status": "completed"}, {"content": "b"})
    assert tasks.lines() == ["[x] a", "[ ] b"]


def typed(checklist: Checklist, *tasks: AgentTask) -> list[str]:
    return checklist.news(Tasks(tasks=Raw(b'"the agent writes it otherwise"'), items=tasks))


def test_a_typed_list_is_told_as_an_untyped_one() -> None:
    checklist = Checklist()
    first = AgentTask(id="1", text="caulk", status="in_progress", active_text="caulking")
    second = AgentTask(id="2", text="paint", blocked_by=("1",))
    assert typed(checklist, first, second) == [
        "tasks: 0 of 2 done",
        "[>] 1. caulking",
        "[ ] 2. paint (waits for 1)",
    ]
    assert typed(checklist, first, second) == []
    done = AgentTask(id="1", text="caulk", status="completed")
    assert typed(checklist, done, second) == ["[x] 1. caulk · 1 of 2 done"]
