from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.agents.claude.driver.convert.shapes import (
    background_of,
    hunks_of,
    limits_of,
    questions_of,
    tasks_of,
)
from flybridge.agents.claude.driver.memo import Task
from flybridge.model.diffs import MAX_HUNKS, DiffHunk
from flybridge.model.events import BackgroundChanged, RateLimit
from flybridge.model.facts import QuestionAsked
from flybridge.model.limits import MAX_LIMITS, UsageLimit
from flybridge.model.questions import (
    MAX_OPTIONS,
    MAX_QUESTIONS,
    OPTION_CHARS,
    QUESTION_CHARS,
    PromptQuestion,
    QuestionOption,
)
from flybridge.model.tasks import MAX_TASKS, AgentTask, BackgroundTask
from flybridge.session.absorb import digest_of
from tests.harness.claude_cli import can_use_tool, hear, line, only
from tests.harness.claude_recordings import attached

ASKED = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": True,
        "options": [{"label": "Red", "description": "like a buoy"}, {"label": "Blue"}],
    }
]
WHICH = PromptQuestion(
    text="Which colour?",
    header="Colour",
    multi=True,
    options=(
        QuestionOption(label="Red", description="like a buoy"),
        QuestionOption(label="Blue"),
    ),
)
LIMIT = {
    "status": "allowed_warning",
    "resetsAt": 1794749839,
    "rateLimitType": "five_hour",
    "utilization": 0.91,
    "unifiedWindows": {
        "five_hour": {"utilization": 0.91, "status": "allowed_warning"},
        "seven_day": {"utilization": 0.2, "resetsAt": 1794750000, "status": "allowed"},
    },
}


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def test_questions_are_typed_and_an_answer_is_bound_to_what_was_written() -> None:
    asked = only(
        hear(attached(), can_use_tool(name="AskUserQuestion", input={"questions": ASKED})),
        QuestionAsked,
    )
    assert asked.asked == (WHICH,)
    assert WHICH.key == "Which colour?"  # Claude files answers under the texts
    assert msgspec.json.decode(asked.questions) == ASKED
    assert digest_of("", bytes(asked.questions)) == digest_of("", msgspec.json.encode(ASKED))


@pytest.mark.parametrize(
    "asked",
    [
        7,
        ["words"],
        [{"header": "no question"}],
        [*ASKED, {"question": "x" * (QUESTION_CHARS + 1)}],
        [{"question": "q", "options": "many"}],
        [{"question": "q", "options": [{"label": "x" * (OPTION_CHARS + 1)}]}],
        [{"question": "q", "options": [{"label": "a"}] * (MAX_OPTIONS + 1)}],
        [{"question": "q"}] * (MAX_QUESTIONS + 1),
    ],
)
def test_questions_that_do_not_fit_are_left_to_the_raw_form(asked: Any) -> None:
    assert questions_of(raw(asked)) == ()


def test_tasks_are_typed() -> None:
    task = Task(id="1", content="Caulk", status="", active="Caulking", blocked_by=["2"])
    assert tasks_of([task]) == (
        AgentTask(id="1", text="Caulk", active_text="Caulking", blocked_by=("2",)),
    )
    assert len(tasks_of([task] * 1000)) == MAX_TASKS


def test_what_runs_in_the_background_is_typed() -> None:
    told = [
        {"task_id": "b1", "task_type": "local_bash", "description": "long"},
        {"task_id": "a1", "task_type": "local_agent", "status": "paused"},
        {"description": "no id"},
    ]
    running = (
        BackgroundTask(id="b1", kind="execute", title="long"),
        BackgroundTask(id="a1", kind="agent", status="paused"),
    )
    assert background_of([raw(task) for task in told]) == running
    heard = hear(attached(), line(type="system", subtype="background_tasks_changed", tasks=told))
    changed = only(heard, BackgroundChanged)
    assert (changed.running, len(changed.tasks)) == (running, 3)


def test_limits_are_typed_with_the_one_it_is_about_first() -> None:
    heard = hear(attached(), line(type="rate_limit_event", rate_limit_info=LIMIT))
    limit = only(heard, RateLimit)
    assert limit.limits == (
        UsageLimit(scope="five_hour", status="warning", used=0.91, resets_ms=1794749839000),
        UsageLimit(scope="seven_day", status="ok", used=0.2, resets_ms=1794750000000),
    )
    assert (limit.status, limit.resets_ms) == ("allowed_warning", 1794749839000)


@pytest.mark.parametrize(
    ("said", "status"), [("rejected", "reached"), ("allowed", "ok"), ("odd", "unknown")]
)
def test_the_status_of_a_limit_is_one_of_ours(said: str, status: str) -> None:
    assert limits_of(raw({"status": said}))[0].status == status


def test_hunks_are_typed() -> None:
    told = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": ["-a", "+b"]}
    typed = DiffHunk(old_start=3, old_lines=1, new_start=3, new_lines=2, lines=("-a", "+b"))
    assert hunks_of(raw([{**told, "more": 1}])) == (typed,)


def test_a_patch_of_too_many_hunks_is_left_to_the_raw_form() -> None:
    hunk = {"lines": ["+a"]}
    assert len(hunks_of(raw([hunk] * MAX_HUNKS))) == MAX_HUNKS
    assert hunks_of(raw([hunk] * (MAX_HUNKS + 1))) == ()


@pytest.mark.parametrize("patch", [7, ["x"], [{"lines": "x"}], [{"oldStart": 1}], "-a"])
def test_a_patch_that_cannot_be_read_is_left_to_the_raw_form(patch: Any) -> None:
    assert hunks_of(raw(patch)) == ()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["question", "options", "label", "status", "unifiedWindows", "task_id"]
            ),
            inner,
        )
    ),
    max_leaves=8,
)


@given(values)
def test_nothing_that_is_told_makes_them_fail(told: Any) -> None:
    questions_of(raw(told))
    background_of([raw(told)])
    hunks_of(raw(told))
    assert len(limits_of(raw(told))) <= MAX_LIMITS + 1
