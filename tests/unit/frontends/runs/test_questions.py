"""Questions, and which answers are ones."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from flybridge.frontends.runs import questions as q
from flybridge.frontends.runs.markers import Asked
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.events import PermissionRequested, QuestionRequested
from flybridge.model.ids import PromptId

OPTIONS = [{"label": "Red"}, {"label": "Blue", "description": "cold"}]


def prompt(*asked: object) -> QuestionRequested:
    raw = Raw(json.dumps(asked).encode())
    return QuestionRequested(prompt=PromptId("prm_1"), questions=raw, digest="d")


def marker(**said: Any) -> q.Open:
    return q.of_marker(msgspec.convert({"question": "Q?", **said}, Asked), "7", 1, 0)


def permission(given: object) -> PermissionRequested:
    raw = Raw(json.dumps(given).encode())
    return PermissionRequested(prompt=PromptId("prm_1"), tool="Bash", input=raw, digest="d")


def test_a_permission_says_all_that_would_run() -> None:
    asked = q.of_permission(permission({"command": "rm x", "n": 1}), 0)
    assert asked.question.text == "May Bash run?\ncommand: rm x\nn: 1"
    assert q.check(asked, "yes") == ("allow",)
    assert q.check(asked, True) == ("allow",)
    assert q.check(asked, "deny") == ("deny",)
    assert q.check(asked, "perhaps") == "choose one of the options: allow, deny"
    answer = q.command_of([asked], {"prm_1": ("allow",)})
    assert answer == AnswerPermission(prompt=PromptId("prm_1"), digest="d", decision="allow")


def test_one_prompt_may_hold_several_questions() -> None:
    one, two = q.of_prompt(prompt({"question": "A?", "options": OPTIONS}, {"question": "B?"}), 5)
    assert (one.question.kind, two.question.kind) == ("select", "text")
    assert one.group == two.group == "prm_1"
    answers: dict[str, tuple[str, ...]] = {
        one.question.question_id: ("Red",),
        two.question.question_id: ("x",),
    }
    command = q.command_of([one, two], answers)
    assert isinstance(command, AnswerQuestion)
    assert command.answers == {"A?": ("Red",), "B?": ("x",)}


def test_a_prompt_nobody_can_read_is_still_asked() -> None:
    (asked,) = q.of_prompt(prompt(3), 0)
    assert asked.question.kind == "text"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"options": OPTIONS}, "select"),
        ({"options": OPTIONS, "freeText": True}, "text"),
        ({}, "text"),
        ({"kind": "secret"}, "secret"),
        ({"kind": "file_path"}, "file_path"),
        ({"kind": "confirm"}, "confirm"),
    ],
)
def test_kinds_of_marker_questions(said: dict[str, Any], kind: str) -> None:
    assert marker(**said).question.kind == kind


@pytest.mark.parametrize("value", [("Red", "Blue"), "Red,Blue", "Red, Blue", '["Red", "Blue"]'])
def test_several_labels_come_in_several_ways(value: str | tuple[str, ...]) -> None:
    assert q.check(marker(options=OPTIONS, multiSelect=True), value) == ("Red", "Blue")


def test_an_answer_outside_the_options_is_none() -> None:
    assert "Red, Blue" in q.check(marker(options=OPTIONS), "Green")
    assert "Red, Blue" in q.check(marker(options=OPTIONS), ("Red", "Blue"))
    assert q.check(marker(), "") == q.NEEDED
    assert q.check(marker(required=False), "") == ("",)
    assert q.check(marker(kind="confirm"), "Y") == ("yes",)


def test_a_secret_too_short_to_be_hidden_is_not_taken() -> None:
    asked = marker(kind="secret")
    assert q.check(asked, "abc") == q.check(asked, "  abc ") == q.TOO_SHORT
    assert q.check(asked, "abcd") == ("abcd",)
    assert q.check(marker(kind="secret", required=False), "") == ("",)


def test_answers_to_markers_are_said_in_words() -> None:
    one, two = marker(), q.of_marker(Asked(question="R?"), "7", 2, 0)
    assert q.words_of([one], {"q_7.1": ("a", "b")}) == "a, b"
    assert q.words_of([one, two], {"q_7.1": ("a",), "q_7.2": ("",)}) == "Q?\na\n\nR?\n(no answer)"
