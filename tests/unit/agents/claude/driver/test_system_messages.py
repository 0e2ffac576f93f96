from __future__ import annotations

import json
from typing import Any

import pytest

from flybridge.agents.claude.driver.convert.words import TEXT_CHARS
from flybridge.agents.claude.driver.slash import MAX_COMMANDS
from flybridge.model.events import AgentReady, ModelChanged, Notice
from tests.harness.claude_cli import assistant, hear, init, kinds, line, result, text
from tests.harness.claude_recordings import attached


def test_a_task_in_the_foreground_is_no_news() -> None:
    driver = attached()
    for subtype in ("task_started", "task_progress", "task_updated"):
        assert hear(driver, line(type="system", subtype=subtype, is_backgrounded=False)) == []


def test_a_task_in_the_background_is_told_when_it_begins_and_ends() -> None:
    driver = attached()
    start = line(
        type="system", subtype="task_started", is_backgrounded=True, description="count the waves"
    )
    end = line(type="system", subtype="task_notification", status="completed", summary="12 waves")
    assert hear(driver, start, end) == [
        Notice(text="in the background: count the waves"),
        Notice(text="completed: 12 waves"),
    ]


def test_what_a_person_should_read_is_a_notice() -> None:
    driver = attached()
    told = line(type="system", subtype="informational", content="mind the gap", level="warning")
    reset = line(type="conversation_reset", trigger="clear", new_conversation_id="u")
    assert hear(driver, told, reset) == [
        Notice(text="mind the gap", level="warning"),
        Notice(text="the agent begins a new conversation"),
    ]
    empty = line(type="system", subtype="informational")
    assert kinds(hear(driver, empty)) == ["Unrecognised"]
    other = line(type="hologram", subtype="task_updated")
    assert kinds(hear(driver, other)) == ["Unrecognised"]


def test_a_hook_is_told_of_only_where_it_failed() -> None:
    ran = {"type": "system", "subtype": "hook_response", "hook_name": "Stop"}
    assert hear(attached(), line(**ran, exit_code=0, outcome="success", stdout="fine")) == []
    failed = hear(attached(), line(**ran, exit_code=1, outcome="error", stderr="no rope"))
    assert failed == [Notice(text="Stop: no rope", level="warning")]


def test_a_refusal_is_told_and_so_is_the_model_that_took_over() -> None:
    driver = attached()
    refused = {"type": "system", "subtype": "model_refusal_fallback", "content": "Flagged."}
    facts = hear(driver, line(**refused, scope="session", fallback_model="other"))
    assert facts == [Notice(text="Flagged.", level="warning"), ModelChanged(model="other")]
    alone = line(type="system", subtype="model_refusal_no_fallback", api_refusal_category="cyber")
    assert hear(driver, alone) == [Notice(text="the model refused: cyber", level="warning")]


def test_a_summary_of_calls_is_a_notice() -> None:
    assert hear(attached(), line(type="tool_use_summary", summary="Hoisted.")) == [
        Notice(text="Hoisted.")
    ]


def test_a_log_in_is_told_while_it_goes_on_and_when_it_fails() -> None:
    driver = attached()
    asking = line(type="auth_status", isAuthenticating=True, output=["open this page"])
    failed = line(type="auth_status", isAuthenticating=False, output=[], error="expired")
    assert hear(driver, asking, failed) == [
        Notice(text="the agent logs in\nopen this page"),
        Notice(text="the agent could not log in: expired", level="warning"),
    ]
    assert hear(driver, line(type="auth_status", isAuthenticating=False, output=[])) == []


def test_files_are_told_of_only_where_they_were_not_kept() -> None:
    driver = attached()
    kept = {"type": "system", "subtype": "files_persisted", "files": [{"filename": "a"}]}
    assert hear(driver, line(**kept, failed=[])) == []
    facts = hear(driver, line(**kept, failed=[{"filename": "b", "error": "too big"}]))
    assert facts == [Notice(text="b was not kept: too big", level="warning")]


def test_a_message_that_is_taken_back_is_told() -> None:
    (fact,) = hear(attached(), line(type="tombstone", message={"uuid": "u"}))
    assert isinstance(fact, Notice)
    assert fact.level == "warning"


def test_the_short_form_of_an_answer_is_read_too() -> None:
    driver = attached()
    short = line(type="streamlined_text", text="Done.")
    tools = line(type="streamlined_tool_use_summary", tool_summary="Read 2 files")
    assert hear(driver, short, tools) == [Notice(text="Done."), Notice(text="Read 2 files")]


def test_what_is_too_long_for_a_notice_is_kept_as_it_came() -> None:
    long = line(type="system", subtype="notification", text="x" * (TEXT_CHARS + 1))
    assert kinds(hear(attached(), long)) == ["Unrecognised"]


# ---- D4: slash commands that come and go ---------------------------------------------------------


def commands_changed(*names: str) -> bytes:
    listed = [{"name": one, "description": f"about {one}", "argumentHint": ""} for one in names]
    return line(type="system", subtype="commands_changed", commands=listed)


def test_d04_a_new_list_of_commands_is_told() -> None:
    driver = attached()
    hear(driver, init(slash_commands=["cost"], terminal_slash_commands=["color"]))
    (told,) = hear(driver, commands_changed("cost", "hail", "color"))
    assert isinstance(told, AgentReady)
    assert told.commands == {"cost": "local", "hail": "prompt", "color": "ui"}
    detail = json.loads(bytes(told.detail))  # type: ignore[arg-type]
    assert detail["slash_commands"] == ["cost", "hail", "color"]
    assert detail["commands"][1]["description"] == "about hail"
    assert (told.agent_session, told.model, told.mode) == ("", "", "")


@pytest.mark.parametrize("commands", [None, {"name": "x"}, "x", 7])
def test_d04_a_list_that_is_none_is_kept_as_it_came(commands: object) -> None:
    strange = line(type="system", subtype="commands_changed", commands=commands)
    assert kinds(hear(attached(), strange)) == ["Unrecognised"]
    assert kinds(hear(attached(), line(type="system", subtype="commands_changed"))) == [
        "Unrecognised"
    ]


def test_d04_the_list_is_bounded() -> None:
    many = commands_changed(*(f"c{number}" for number in range(MAX_COMMANDS + 9)))
    (told,) = hear(attached(), many)
    assert isinstance(told, AgentReady)
    assert len(told.commands) == MAX_COMMANDS


# ---- D9: another model takes over ----------------------------------------------------------------

FALLBACK = {"type": "fallback", "from": {"model": "opus"}, "to": {"model": "sonnet"}}


def test_d09_a_change_of_model_in_an_answer_is_told_once() -> None:
    facts = hear(attached(), init(), assistant(FALLBACK), assistant(text("Hi.")), result())
    assert [one for one in facts if isinstance(one, Notice)] == [
        Notice(text="opus declined to answer; sonnet answers instead", level="warning")
    ]
    assert "Unrecognised" not in kinds(facts)
    assert "Notice" not in kinds(hear(attached(), init(), assistant(text("Hi.")), result()))


@pytest.mark.parametrize("first", [True, False])
def test_d09_what_the_agent_says_about_it_itself_is_enough(first: bool) -> None:
    system = line(
        type="system", subtype="model_refusal_fallback", content="opus refused", scope="turn"
    )
    said = [system, assistant(FALLBACK)] if first else [assistant(FALLBACK), system]
    facts = hear(attached(), init(), *said, result())
    assert [one.text for one in facts if isinstance(one, Notice)] == ["opus refused"]


@pytest.mark.parametrize("block", [{"type": "fallback"}, {**FALLBACK, "from": 7, "to": None}])
def test_d09_a_change_of_model_without_names_is_told_all_the_same(block: dict[str, Any]) -> None:
    facts = hear(attached(), init(), assistant(block), result())
    (told,) = [one.text for one in facts if isinstance(one, Notice)]
    assert "declined to answer" in told
