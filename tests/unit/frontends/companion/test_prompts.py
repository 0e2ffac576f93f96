"""What a prompt looks like on a small screen, and what a button answers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from flybridge.frontends.companion.prompts import Prompt, answer, of_permission, of_question
from flybridge.frontends.companion.wire.budget import DETAIL_BYTES
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.ids import PromptId
from flybridge.model.tools import CUT, NO_SUBJECT, TITLE_CHARS, ToolKind, ToolSubject, limited
from tests.unit.frontends.companion.logs import MODE, RULE, asks, raw


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        ({"description": "d", "command": "ls"}, "ls"),
        ({"content": "x", "file_path": "/a"}, "/a"),
        ({"path": "/b", "pattern": "p"}, "p"),
        ({"query": "q"}, "q"),
        ({"prompt": "p", "url": "u"}, "u"),
        ({"number": 1, "words": "first string"}, "first string"),
        ({"number": 1}, '{"number":1}'),
        ({"command": 7, "other": "text"}, "text"),
    ],
)
def test_the_first_words_that_tell_what_it_is_are_the_detail(
    given: dict[str, Any], detail: str
) -> None:
    assert of_permission(asks(tool="T", **given)).detail == detail


def test_the_description_is_the_requests_own_or_the_inputs() -> None:
    inputs = of_permission(asks(command="ls", description="of the input"))
    assert inputs.description == "of the input"
    own = asks(command="ls", description="no", detail={"description": "of the request"})
    assert of_permission(own).description == "of the request"


def test_an_input_that_cannot_be_read_counts_as_cut() -> None:
    event = e.PermissionRequested(prompt=PromptId("p"), tool="T", input=Raw(b"7"), digest="d")
    shown = of_permission(event)
    assert shown.cut
    assert shown.detail == "(cannot be read here)"


@pytest.mark.parametrize(
    ("command", "cut"),
    [("a" * 540, False), ("a" * 541, True), ("\U0001f600" * 135, False), ("é" * 271, True)],
)
def test_more_than_fits_on_the_screen_counts_as_cut(command: str, cut: bool) -> None:
    assert of_permission(asks(command=command)).cut is cut


def test_a_tool_with_a_name_that_is_too_long_counts_as_cut() -> None:
    assert of_permission(asks(tool="mcp__" + "x" * 60, command="ls")).cut


def test_always_takes_up_rules_and_no_mode() -> None:
    other = {"type": "addDirectories", "directories": ["/"]}
    denies = {**RULE, "behavior": "deny"}
    prompt = of_permission(asks(suggestions=(MODE, RULE, other, denies, 7)))
    found = answer(prompt, "always", "box")
    assert isinstance(found, c.AnswerPermission)
    assert (found.decision, found.remember, found.place) == ("allow", (1,), "session")


def test_yes_allows_the_input_as_it_is_and_once() -> None:
    found = answer(of_permission(asks(suggestions=(RULE,))), "yes", "box")
    assert found == c.AnswerPermission(prompt=PromptId("prm_1"), digest="d-prm_1", decision="allow")


def test_no_says_which_device_denied_it() -> None:
    found = answer(of_permission(asks()), "no", "the box")
    assert isinstance(found, c.AnswerPermission)
    assert (found.decision, found.message) == ("deny", "Denied by user via the box")


@pytest.mark.parametrize(
    ("tool", "given", "edits"),
    [
        ("Edit", {"file_path": "/p/a"}, "/p/a"),
        ("Write", {"file_path": "/p/a"}, "/p/a"),
        ("NotebookEdit", {"notebook_path": "/p/a"}, "/p/a"),
        ("Write", {"file_path": 7}, ""),
        ("Bash", {"command": "x", "file_path": "/p/a"}, ""),
        ("mcp__x__Edit", {"file_path": "/p/a"}, ""),
    ],
)
def test_only_a_tool_that_edits_names_the_file_it_edits(
    tool: str, given: dict[str, Any], edits: str
) -> None:
    assert of_permission(asks(tool=tool, **given)).edits == edits


def of_kind(kind: ToolKind, subject: ToolSubject, **given: Any) -> Prompt:
    """Return the prompt of an agent that is not Claude."""
    event = msgspec.structs.replace(asks(tool="t", **given), kind=kind, subject=subject)
    return of_permission(event)


@pytest.mark.parametrize(
    ("kind", "subject", "detail"),
    [
        ("execute", ToolSubject(title="List", command="ls"), "ls"),
        ("edit", ToolSubject(paths=("a", "b")), "a, b"),
        ("search", ToolSubject(title="keel", paths=("src",)), "keel in src"),
        ("fetch", ToolSubject(title="sum up", url="https://a.example"), "https://a.example"),
        ("plan", ToolSubject(title="Sail"), "all of it"),  # its title is not the plan
        ("other", ToolSubject(title="short"), "all of it"),
        ("execute", ToolSubject(command="ls" + CUT), "all of it"),  # more than a subject holds
    ],
)
def test_another_agents_tool_is_shown_by_its_kind(
    kind: ToolKind, subject: ToolSubject, detail: str
) -> None:
    assert of_kind(kind, subject, argv="all of it").detail == detail


def test_a_search_for_a_pattern_that_is_cut_is_shown_whole_or_counts_as_cut() -> None:
    for chars, cut in ((TITLE_CHARS + 1, False), (4096, True)):
        pattern = "x" * chars
        subject = ToolSubject(title=limited(pattern, TITLE_CHARS), paths=("src",))
        shown = of_kind("search", subject, pattern=pattern, path="src")
        assert shown.cut is cut
        assert shown.detail == f"{pattern} in src"[: DETAIL_BYTES + 1]


@pytest.mark.parametrize(
    ("kind", "subject", "edits"),
    [
        ("edit", ToolSubject(paths=("/p/a",)), "/p/a"),
        ("edit", ToolSubject(paths=("/p/a", "/etc/passwd")), ""),
        ("edit", ToolSubject(), ""),
        ("execute", ToolSubject(paths=("/p/a",)), ""),
        ("other", ToolSubject(paths=("/p/a",)), ""),
    ],
)
def test_an_edit_of_another_agent_is_one_if_it_says_so_and_names_one_file(
    kind: ToolKind, subject: ToolSubject, edits: str
) -> None:
    assert of_kind(kind, subject, file_path="/p/a").edits == edits


def test_only_kinds_that_read_are_allowed_as_a_whole_tool() -> None:
    assert of_kind("read", ToolSubject(paths=("/p/a",))).whole_tool
    assert not of_kind("execute", ToolSubject(command="cat a")).whole_tool
    assert not of_kind("mcp", ToolSubject(title="a")).whole_tool


def test_a_prompt_from_before_calls_had_a_kind_is_shown_as_it_was_and_asked_about() -> None:
    event = msgspec.structs.replace(asks(tool="Edit", file_path="/p/a"), kind="")
    shown = of_permission(msgspec.structs.replace(event, subject=NO_SUBJECT))
    assert (shown.detail, shown.edits, shown.whole_tool) == ("/p/a", "", False)


def test_suggestions_of_an_older_version_are_not_accepted_and_not_replaced_by_a_wider_rule() -> (
    None
):
    event = msgspec.structs.replace(asks(tool="Read", suggestions=(RULE,)), offers=())
    shown = of_permission(event)
    assert (shown.rules, shown.whole_tool) == ((), False)


@pytest.mark.parametrize("asked", [[{"question": "Why?"}], [], [{}], {"no": "list"}])
def test_a_question_says_that_it_is_not_answered_here(asked: object) -> None:
    event = e.QuestionRequested(prompt=PromptId("p"), questions=raw(asked), digest="d")
    shown = of_question(event)
    assert shown.kind == "question"
    assert "not here" in shown.detail
    assert shown.detail.endswith("Why?") is (asked == [{"question": "Why?"}])
