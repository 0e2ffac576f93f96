"""Prompts: forwarded with all that was said, answered once, taken back when nobody waits."""

from __future__ import annotations

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.ipc.prompts import Prompts, chosen, remembered
from flybridge.frontends.ipc.steps import Act
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.model.ids import ItemId, PromptId
from tests.unit.frontends.ipc.session_kit import Kit, raw, types

RULE = {"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "localSettings"}
ASKED = ev.PermissionRequested(
    prompt=PromptId("p1"),
    tool="Bash",
    input=raw({"command": "ls"}),
    digest="d1",
    item=ItemId("toolu_1"),
    parent=ItemId("toolu_0"),
    reason="This command requires approval",
    suggestions=(raw(RULE),),
    detail=raw({"blocked_path": "/etc"}),
)
QUESTION = ev.QuestionRequested(
    prompt=PromptId("q1"),
    questions=raw(
        [
            {"question": "One?", "multiSelect": False, "options": [{"label": "A"}]},
            {"question": "Many?", "multiSelect": True, "options": [{"label": "A"}, {"label": "B"}]},
        ]
    ),
    digest="d2",
)


@pytest.mark.conforms("ipc: permission forward")
def test_a_permission_is_forwarded_whole() -> None:
    kit = Kit()
    kit.apply(ASKED)
    (one,) = kit.lines()
    assert one == {
        "type": "control_request_forward",
        "ipc_version": 2,
        "request_id": "p1",
        "tool_name": "Bash",
        "input": {"command": "ls"},
        "decision_reason": "This command requires approval",
        "permission_suggestions": [RULE],
        "blocked_path": "/etc",
        "tool_use_id": "toolu_1",
        "is_question": False,
        "parent_tool_use_id": "toolu_0",
    }


@pytest.mark.conforms("ipc: allow", "ipc: deny")
def test_decisions_are_commands() -> None:
    prompts = Prompts()
    prompts.asked(ASKED)
    allow = prompts.approve(w.ToolApproval(request_id="p1", decision="allow"))
    assert allow == c.AnswerPermission(prompt=PromptId("p1"), digest="d1", decision="allow")
    edited = prompts.approve(
        w.ToolApproval(request_id="p1", decision="allow", updated_input=raw({"command": "pwd"}))
    )
    assert isinstance(edited, c.AnswerPermission)
    assert edited.updated_input == raw({"command": "pwd"})
    for decision in ("deny", "whatever"):
        denied = prompts.approve(w.ToolApproval(request_id="p1", decision=decision))
        assert isinstance(denied, c.AnswerPermission)
        assert (denied.decision, denied.message) == ("deny", "User denied")


def test_only_what_was_suggested_can_be_accepted() -> None:
    suggestions = (raw({"type": "setMode"}), raw(RULE))
    assert remembered(suggestions, ()) == ((), "session")
    assert remembered(suggestions, (raw(RULE),)) == ((1,), "local")
    assert remembered(suggestions, (raw({**RULE, "destination": "session"}),)) == ((1,), "session")
    with pytest.raises(InvalidRequestError):
        remembered(suggestions, (raw({"type": "addRules", "rules": [{"toolName": "*"}]}),))
    with pytest.raises(InvalidRequestError):
        remembered(suggestions, (raw(RULE), raw({"type": "setMode"})))


@pytest.mark.conforms("ipc: question")
def test_answers_are_matched_with_the_labels() -> None:
    answers: dict[str, str | tuple[str, ...]] = {"One?": "A, B", "Many?": "A,B"}
    assert chosen(QUESTION, answers) == {"One?": ("A, B",), "Many?": ("A", "B")}
    assert chosen(QUESTION, {"Many?": "own, words"}) == {"Many?": ("own, words",)}
    assert chosen(QUESTION, {"Many?": ("B",)}) == {"Many?": ("B",)}


def test_a_question_can_be_answered_like_a_tool_and_declined() -> None:
    prompts = Prompts()
    forward = prompts.asked(QUESTION)
    assert (forward.tool_name, forward.is_question) == ("AskUserQuestion", True)
    declined = prompts.approve(w.ToolApproval(request_id="q1", decision="deny"))
    assert isinstance(declined, c.AnswerQuestion)
    assert declined.declined
    given = raw({"answers": {"One?": "A"}})
    said = prompts.approve(w.ToolApproval(request_id="q1", decision="allow", updated_input=given))
    assert isinstance(said, c.AnswerQuestion)
    assert said.answers == {"One?": ("A",)}


def test_a_permission_takes_no_answer_to_a_question() -> None:
    kit = Kit()
    kit.apply(ASKED)
    kit.lines()
    assert kit.say({"type": "question_answer", "request_id": "p1", "answers": {}}) == []
    assert types(kit.lines()) == ["error"]


@pytest.mark.conforms("ipc: cancel")
def test_a_prompt_that_is_over_is_taken_back_unless_we_decided_it() -> None:
    kit = Kit()
    kit.apply(ASKED)
    kit.lines()
    kit.apply(ev.PermissionClosed(prompt=PromptId("p1"), how="cancelled"))
    assert types(kit.lines()) == ["control_request_cancel"]
    kit.apply(ASKED)
    (act,) = kit.say({"type": "tool_approval", "request_id": "p1", "decision": "allow"})
    assert isinstance(act, Act)
    kit.lines()
    kit.apply(ev.PermissionClosed(prompt=PromptId("p1"), how="allowed", by="uid:1"))
    assert kit.lines() == []


def test_an_answer_that_did_not_count_leaves_the_prompt_to_others() -> None:
    kit = Kit()
    kit.apply(ASKED)
    (act,) = kit.say({"type": "tool_approval", "request_id": "p1", "decision": "allow"})
    assert isinstance(act, Act)
    kit.adapter.refused(act, "not allowed")
    kit.lines()
    kit.apply(ev.PermissionClosed(prompt=PromptId("p1"), how="denied", by="else"))
    assert types(kit.lines()) == ["control_request_cancel"]
