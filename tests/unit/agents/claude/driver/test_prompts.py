from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.agents.claude.driver.memo import MAX_PROMPTS
from flybridge.model.capabilities import LinkEnd
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.events import Notice
from flybridge.model.facts import (
    InputEchoed,
    InputRejected,
    PermissionAsked,
    PromptWithdrawn,
    QuestionAsked,
    ToolReturned,
)
from flybridge.model.ids import InputKey, PromptId
from flybridge.testing.drivers import NOW_MS, SESSION
from tests.harness.claude_cli import (
    assistant,
    can_use_tool,
    hear,
    init,
    kinds,
    line,
    only,
    refused,
    response,
    result,
    tell,
    tool_result,
    tool_use,
)
from tests.harness.claude_recordings import attached

PROMPT = PromptId("prm_kit_1")
RULE = {"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "localSettings"}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
BYPASS = {"type": "setMode", "mode": "bypassPermissions", "destination": "session"}
QUESTIONS = [{"question": "Which?", "header": "h", "options": [], "multiSelect": True}]


def asking(**fields: Any) -> ClaudeDriver:
    driver = attached()
    hear(driver, init(), assistant(tool_use("t1")), can_use_tool(**fields))
    return driver


def allow(**fields: Any) -> AnswerPermission:
    return AnswerPermission(prompt=PROMPT, digest="d", decision="allow", **fields)


def deny(**fields: Any) -> AnswerPermission:
    return AnswerPermission(prompt=PROMPT, digest="d", decision="deny", **fields)


def verdict(written: list[dict[str, Any]]) -> Any:
    (one,) = written
    assert one["type"] == "control_response"
    assert one["response"]["subtype"] == "success"
    assert one["response"]["request_id"] == "r1"
    return one["response"]["response"]


# ---- asking --------------------------------------------------------------------------------------


def test_a_request_is_a_prompt_with_a_name_of_ours() -> None:
    driver = attached()
    hear(driver, init(), assistant(tool_use("t1"), parent="agent"))
    (asked,) = hear(
        driver,
        can_use_tool(
            permission_suggestions=[RULE], decision_reason="outside", description="Remove"
        ),
    )
    assert isinstance(asked, PermissionAsked)
    assert (asked.prompt, asked.tool, asked.item) == (PROMPT, "Bash", "t1")
    assert (asked.parent, asked.reason) == ("agent", "outside")
    assert bytes(asked.input) == b'{"command":"rm a"}'
    assert [json.loads(bytes(one)) for one in asked.suggestions] == [RULE]
    assert asked.detail is not UNSET
    assert json.loads(bytes(asked.detail))["description"] == "Remove"


def test_several_prompts_are_open_at_once() -> None:
    driver = asking()
    (second,) = hear(driver, can_use_tool("r2", "t2", "Read"))
    assert isinstance(second, PermissionAsked)
    assert second.prompt == "prm_kit_2"
    answer = AnswerPermission(prompt=second.prompt, digest="", decision="allow")
    assert tell(driver, answer)[0]["response"]["request_id"] == "r2"
    assert verdict(tell(driver, allow()))["behavior"] == "allow"


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_a_sub_agents_prompt_says_who_asks(version: str) -> None:
    driver = attached(version)
    start = tool_use("up", "Task", subagent_type="Explore", description="Look around")
    hear(driver, assistant(start), assistant(tool_use("t1"), parent="up"))
    asked = only(hear(driver, can_use_tool(agent_id="a78ad60")), PermissionAsked)
    assert (asked.agent, asked.parent) == ("Explore", "up")


def test_a_background_agents_prompt_says_who_asks_after_its_call_is_over() -> None:
    driver = attached()
    start = tool_use("up", "Agent", description="Look around")
    hear(driver, assistant(start), tool_result("up"), result())
    driver = attached(memo=driver.memo(SESSION))
    hear(driver, assistant(tool_use("t1"), parent="up", subagent_type="general-purpose"))
    asked = only(hear(driver, can_use_tool()), PermissionAsked)
    assert (asked.agent, asked.parent) == ("general-purpose", "up")


def test_an_agent_nobody_saw_start_is_named_by_its_id() -> None:
    asked = only(hear(attached(), can_use_tool(agent_id="a78ad60")), PermissionAsked)
    assert asked.agent == "a78ad60"
    assert only(hear(attached(), can_use_tool()), PermissionAsked).agent == ""


def test_questions_are_asked_as_questions() -> None:
    driver = attached()
    (asked,) = hear(driver, can_use_tool(name="AskUserQuestion", input={"questions": QUESTIONS}))
    assert isinstance(asked, QuestionAsked)
    assert json.loads(bytes(asked.questions)) == QUESTIONS


def test_a_request_id_in_use_opens_no_second_prompt() -> None:
    driver = asking()
    assert kinds(hear(driver, can_use_tool())) == ["Unrecognised"]
    assert verdict(tell(driver, allow()))["updatedInput"] == {"command": "rm a"}


def test_too_many_prompts_are_denied_at_once() -> None:
    driver = attached()
    hear(driver, *(can_use_tool(f"r{at}", f"t{at}") for at in range(MAX_PROMPTS)))
    driver.receive([can_use_tool("one too many")], NOW_MS)
    output = driver.take()
    assert only([what for _, what in output.out], Notice).level == "warning"
    (written,) = output.lines
    assert json.loads(written.data)["response"]["subtype"] == "error"


# ---- answering -----------------------------------------------------------------------------------


def test_allow_repeats_the_input_byte_for_byte() -> None:
    driver = attached()
    request = can_use_tool().replace(b'{"command":"rm a"}', b'{ "n":1.50,"a":"\\u00e9" }')
    hear(driver, request)
    driver.send(SESSION, allow(), InputKey("k"), NOW_MS)
    (written,) = driver.take().lines
    assert b'"updatedInput":{ "n":1.50,"a":"\\u00e9" }' in written.data
    assert (written.key, written.on_restart) == ("k", "send")


def test_allow_with_an_edited_input_sends_that() -> None:
    edited = Raw(b'{\n  "command": "ls"\n}')
    assert verdict(tell(asking(), allow(updated_input=edited))) == {
        "behavior": "allow",
        "updatedInput": {"command": "ls"},
    }


@pytest.mark.parametrize("edited", [b"[]", b"7", b"{", b"", b'{"a":"\xff"}'])
def test_an_edited_input_that_is_no_object_is_refused_and_the_prompt_stays(edited: bytes) -> None:
    driver = asking()
    (fact,) = refused(driver, allow(updated_input=Raw(edited)))
    assert isinstance(fact, InputRejected)
    assert verdict(tell(driver, allow()))["behavior"] == "allow"


def test_what_is_remembered_holds_for_this_session_only() -> None:
    driver = asking(permission_suggestions=[MODE, RULE])
    assert verdict(tell(driver, allow(remember=(1,))))["updatedPermissions"] == [
        RULE | {"destination": "session"}
    ]


def test_a_mode_is_never_changed_by_an_allow_that_did_not_say_so() -> None:
    driver = asking(permission_suggestions=[MODE, RULE])
    assert "updatedPermissions" not in verdict(tell(driver, allow()))


def test_a_mode_is_changed_when_that_very_suggestion_is_chosen() -> None:
    driver = asking(permission_suggestions=[MODE])
    assert verdict(tell(driver, allow(remember=(0,))))["updatedPermissions"] == [MODE]


@pytest.mark.parametrize("index", [0, 1, -1, 99])
def test_bypassing_everything_cannot_be_remembered(index: int) -> None:
    driver = asking(permission_suggestions=[BYPASS])
    driver.send(SESSION, allow(remember=(index,)), InputKey("k"), NOW_MS)
    output = driver.take()
    assert only([what for _, what in output.out], Notice).level == "warning"
    assert "updatedPermissions" not in json.loads(output.lines[0].data)["response"]["response"]


def test_deny_always_says_something() -> None:
    assert verdict(tell(asking(), deny())) == {
        "behavior": "deny",
        "message": "The user does not want this tool to run.",
    }
    assert verdict(tell(asking(), deny(message="no \ud83d")))["message"] == "no ?"


def test_deny_and_stop_ends_the_turn_without_an_error() -> None:
    driver = asking()
    assert verdict(tell(driver, deny(message="no", stop=True)))["interrupt"] is True
    facts = hear(
        driver,
        tool_result("t1", "no", is_error=True),
        result(subtype="error_during_execution", errors=[]),
    )
    assert only(facts, ToolReturned).status == "denied"
    assert getattr(facts[-1], "reason", "") == "interrupted"


@pytest.mark.parametrize(
    ("version", "labels", "expected"),
    [
        ("2.1.325", ("Red",), "Red"),
        ("2.1.325", ("Red", "Blue"), "Red, Blue"),
        ("2.1.38", ("Red", "Blue"), "Red,Blue"),
        ("2.1.325", ("Small, compact", "Large"), ["Small, compact", "Large"]),
        ("", ("Red", "Blue"), "Red, Blue"),
    ],
)
def test_answers_take_the_form_the_version_understands(
    version: str, labels: tuple[str, ...], expected: Any
) -> None:
    driver = attached(version)
    hear(driver, can_use_tool(name="AskUserQuestion", input={"questions": QUESTIONS}))
    answer = AnswerQuestion(prompt=PROMPT, digest="", answers={"Which?": labels})
    assert verdict(tell(driver, answer)) == {
        "behavior": "allow",
        "updatedInput": {"questions": QUESTIONS, "answers": {"Which?": expected}},
    }


def test_questions_can_be_declined() -> None:
    driver = attached()
    hear(driver, can_use_tool(name="AskUserQuestion", input={"questions": QUESTIONS}))
    assert verdict(tell(driver, AnswerQuestion(prompt=PROMPT, digest="", declined=True))) == {
        "behavior": "deny",
        "message": "The user declined to answer the questions.",
    }


def test_an_answer_with_half_a_character_is_refused() -> None:
    driver = attached()
    hear(driver, can_use_tool(name="AskUserQuestion", input={"questions": QUESTIONS}))
    answer = AnswerQuestion(prompt=PROMPT, digest="", answers={"Which?": ("\ud83d",)})
    assert kinds(refused(driver, answer)) == ["InputRejected"]


def test_the_wrong_kind_of_answer_is_refused() -> None:
    question = AnswerQuestion(prompt=PROMPT, digest="")
    assert kinds(refused(asking(), question)) == ["InputRejected"]
    driver = attached()
    hear(driver, can_use_tool(name="AskUserQuestion", input={"questions": QUESTIONS}))
    assert kinds(refused(driver, allow())) == ["InputRejected"]


def test_a_second_answer_is_refused() -> None:
    driver = asking()
    tell(driver, allow())
    (fact,) = refused(driver, deny(), "late")
    assert fact == InputRejected(key=InputKey("late"), reason="the prompt is no longer open")


def test_an_answer_to_a_prompt_of_another_life_is_refused() -> None:
    driver = asking()
    answer = AnswerPermission(prompt=PromptId("prm_old_1"), digest="", decision="allow")
    assert kinds(refused(driver, answer)) == ["InputRejected"]


# ---- what becomes of prompts and answers ---------------------------------------------------------


def test_an_echo_proves_that_the_agent_has_the_answer() -> None:
    driver = asking()
    tell(driver, allow(), "k")
    assert hear(driver, response("r1")) == [InputEchoed(key=InputKey("k"))]
    assert hear(driver, response("r1")) == []


def test_a_result_proves_it_too_where_nothing_is_echoed() -> None:
    driver = asking()
    tell(driver, allow(), "k")
    facts = hear(driver, tool_result("t1"))
    assert kinds(facts) == ["InputEchoed", "ToolReturned"]
    assert hear(driver, response("r1")) == []


def test_a_cancelled_prompt_is_withdrawn() -> None:
    driver = asking()
    cancel = line(type="control_cancel_request", request_id="r1")
    assert hear(driver, cancel) == [PromptWithdrawn(prompt=PROMPT)]
    assert kinds(refused(driver, allow())) == ["InputRejected"]
    assert hear(driver, cancel) == []


def test_an_answer_that_crossed_a_cancel_was_not_taken() -> None:
    driver = asking()
    tell(driver, allow(), "k")
    (fact,) = hear(driver, line(type="control_cancel_request", request_id="r1"))
    assert isinstance(fact, InputRejected)
    assert fact.key == "k"


def test_a_cancel_of_somebody_elses_prompt_changes_nothing() -> None:
    driver = asking()
    other = line(type="control_cancel_request", request_id="other")
    assert kinds(hear(driver, other)) == ["Unrecognised"]
    assert verdict(tell(driver, allow()))["behavior"] == "allow"


def test_a_call_that_went_on_without_an_answer_withdraws_its_prompt() -> None:
    assert kinds(hear(asking(), tool_result("t1"))) == ["PromptWithdrawn", "ToolReturned"]


def test_the_end_of_the_turn_withdraws_its_prompts() -> None:
    assert kinds(hear(asking(), result())) == ["ToolReturned", "PromptWithdrawn", "TurnOver"]


def test_a_background_agents_prompt_outlives_the_turn() -> None:
    driver = attached()
    hear(driver, init(), assistant(tool_use("agent", "Agent")), tool_result("agent"))
    hear(driver, assistant(tool_use("t1"), parent="agent"), can_use_tool())
    assert kinds(hear(driver, result())) == ["TurnOver"]
    assert verdict(tell(driver, allow()))["behavior"] == "allow"


def test_a_dead_agents_prompts_are_withdrawn() -> None:
    driver = asking()
    driver.lost(LinkEnd(why="exit"), NOW_MS)
    assert kinds([what for _, what in driver.take().out]) == ["ToolReturned", "PromptWithdrawn"]


def test_a_sub_agent_that_asks_before_its_call_is_told_asks_below_the_one_that_started_it() -> None:
    """2.1.160 writes the request before the message in which the sub-agent makes the call."""
    driver = attached("2.1.160")
    started = line(type="system", subtype="task_started", task_id="a1", tool_use_id="task")
    hear(driver, init(), assistant(tool_use("task", "Task")), started)
    again = attached("2.1.160", driver.memo(SESSION))
    asked = only(hear(again, can_use_tool(tool_use_id="t1", agent_id="a1")), PermissionAsked)
    assert (asked.item, asked.parent) == ("t1", "task")
    other = only(hear(again, can_use_tool("r2", tool_use_id="t2")), PermissionAsked)
    assert other.parent == ""
