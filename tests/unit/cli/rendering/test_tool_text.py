from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering import tool_text as t

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def encoded(value: object) -> bytes:
    return msgspec.json.encode(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"command": "ls -la", "description": "look"}, "ls -la"),
        ({"file_path": "/a/b", "content": "x"}, "/a/b"),
        ({"odd": 1}, '{"odd":1}'),
        ({}, ""),
        ("text", "text"),
        ({"command": "a\nb"}, "a ↵ b"),
        ({"questions": [{"question": "Which?", "header": "W"}]}, "Which?"),
        ({"questions": [{"header": "A"}, {"header": "B"}, 3]}, "A, B"),
        ({"todos": [1, 2]}, "2 tasks"),
        (
            {"taskId": "3", "status": "done", "addBlockedBy": ["1"]},
            '3: status done, addBlockedBy ["1"]',
        ),
        ({"subject": "build", "description": "long"}, "build"),
        ({"plan": "\n## Do it\nthen"}, "Do it"),
    ],
)
def test_a_call_is_summed_up_by_what_says_most(value: object, shown: str) -> None:
    assert t.summary(encoded(value)) == shown


@given(values)
def test_any_input_has_a_summary_and_lines(value: object) -> None:
    raw = encoded(value)
    assert isinstance(t.summary(raw), str)
    assert t.whole(raw)
    assert isinstance(t.helper_name(raw), str)
    assert isinstance(t.plan_of(raw), str)


def test_the_whole_input_is_there_and_lines_cannot_pass_for_keys() -> None:
    lines = t.whole(encoded({"command": "a\ndescription: safe", "n": [1]}))
    assert lines == ["command:", "    a", "    description: safe", "n: [1]"]
    assert t.whole(b"not json") == ["not json"]


def test_long_results_are_folded_but_not_for_one_line() -> None:
    assert t.folded("a\nb\nc\n", 2) == (["a", "b", "c"], 0)
    assert t.folded("a\nb\nc\nd\n", 2) == (["a", "b"], 2)
    assert t.folded(" \n", 2) == ([], 0)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"subagent_type": "Explore", "description": "look around"}, "look around"),
        ({"subagent_type": "Explore"}, "Explore"),
        ({"subagent_type": "Explore", "description": "a\nb\x1b"}, "a ↵ b^["),
        ({"description": "look"}, ""),
        ([], ""),
    ],
)
def test_a_subagent_is_called_by_its_task(value: object, name: str) -> None:
    assert t.helper_name(encoded(value)) == name
    assert len(t.helper_name(encoded({"subagent_type": "x" * 500}))) <= 32


def test_a_plan_is_found_where_it_is() -> None:
    assert t.plan_of(encoded({"plan": "# do"})) == "# do"
    assert t.plan_of(encoded({"plan": 3})) == t.plan_of(b"") == t.plan_of(b"[]") == ""


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (400, "0.4 s"),
        (12_400, "12 s"),
        (60_000, "1 min"),
        (61_000, "1 min 1 s"),
        (3_660_000, "1 h 1 min"),
        (3 * 86_400_000, "3 days"),
        (-5, "0.0 s"),
    ],
)
def test_times_are_in_the_unit_people_would_use(ms: int, shown: str) -> None:
    assert t.duration(ms) == shown


def test_empty_parts_are_not_joined() -> None:
    assert t.joined(["a", "", "b"]) == "a · b"
