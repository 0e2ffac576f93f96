from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.model.capabilities import OpenSpec
from flybridge.model.commands import Interrupt
from flybridge.model.events import ConversationLost, Error, Notice
from flybridge.model.facts import InputEchoed, ItemClosed, TurnOver
from flybridge.model.ids import InputKey
from flybridge.testing.drivers import INCARNATION, SESSION
from tests.harness.claude_cli import (
    assistant,
    block_stop,
    event,
    hear,
    init,
    kinds,
    lifecycle,
    line,
    message_start,
    only,
    printed,
    requesting,
    result,
    say,
    tell,
    text,
    text_start,
    user,
)
from tests.harness.claude_recordings import attached


def resumed() -> ClaudeDriver:
    agent = ClaudeAgent()
    driver = agent.driver(agent.capabilities(b"2.1.325"))
    spec = OpenSpec(agent="claude", cwd="/project", agent_session="u", resume=True)
    driver.attach(SESSION, INCARNATION, spec, b"")
    return driver


def over(driver: ClaudeDriver, **fields: Any) -> TurnOver:
    return only(hear(driver, init(), result(**fields)), TurnOver)


@pytest.mark.parametrize(
    "evidence",
    [
        init(),
        line(type="system", subtype="status", status="requesting"),
        message_start(),
        text_start(),
        assistant(text("hi")),
        line(type="command_lifecycle", command_uuid="u", state="started"),
    ],
)
def test_a_turn_begins_with_the_first_evidence_and_once(evidence: bytes) -> None:
    driver = attached()
    assert kinds(hear(driver, evidence))[0] == "TurnBegan"
    assert "TurnBegan" not in kinds(hear(driver, init(), message_start("msg_2")))


@pytest.mark.parametrize(
    "quiet",
    [
        block_stop(),
        event({"type": "message_stop"}),
        user("hi", isReplay=True, uuid="u"),
        line(type="system", subtype="status", status="compacting"),
        line(type="command_lifecycle", command_uuid="u", state="queued"),
        assistant(text("sub"), parent="agent"),
        line(type="keep_alive"),
    ],
)
def test_other_messages_begin_no_turn(quiet: bytes) -> None:
    assert "TurnBegan" not in kinds(hear(attached(), quiet))


def test_an_old_cli_that_echoes_no_local_command_has_still_run_it() -> None:
    driver = attached("2.1.38")
    say(driver, "/cost", key="test:1")
    say(driver, "hello", key="test:2")
    output = user("<local-command-stdout>$0</local-command-stdout>", isReplay=True, uuid="other")
    facts = hear(driver, init(), output, result(result=""))
    assert only(facts, InputEchoed).key == "test:1"
    assert kinds(facts)[-2:] == ["InputEchoed", "TurnOver"]


def test_an_old_clis_turn_with_an_echo_takes_no_other_input() -> None:
    driver = attached("2.1.38")
    first = say(driver, "one", key="test:1")
    say(driver, "two", key="test:2")
    echo = user("one", isReplay=True, uuid=first["uuid"])
    assert only(hear(driver, init(), echo, result()), InputEchoed).key == "test:1"


def test_a_new_clis_own_turn_takes_no_input_that_is_on_its_way() -> None:
    driver = attached("2.1.325")
    say(driver, "hello")
    assert "InputEchoed" not in kinds(hear(driver, init(), assistant(text("by myself")), result()))


def test_what_the_cli_tells_the_model_in_the_users_name_is_a_notice() -> None:
    told = hear(attached(), init(), user("[Please go on.]", isSynthetic=True))
    assert only(told, Notice).text == "[Please go on.]"
    summary = hear(attached("2.1.38"), init(), user("This is what was said.", isReplay=False))
    assert only(summary, Notice).text == "This is what was said."


def test_a_turn_nobody_asked_for_is_a_turn() -> None:
    driver = attached()
    over(driver)
    facts = hear(driver, init(), assistant(text("done in the background")), result())
    assert kinds(facts) == ["TurnBegan", "ItemOpened", "ItemClosed", "TurnOver"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "done"),
        ({"is_error": True}, "error"),
        ({"subtype": "error_during_execution"}, "error"),
        ({"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}, "interrupted"),
        ({"is_error": True, "terminal_reason": "aborted_streaming"}, "interrupted"),
        ({"subtype": "error_max_turns"}, "limit"),
        ({"subtype": "error_max_budget_usd", "is_error": True}, "limit"),
        ({"is_error": True, "terminal_reason": "max_turns"}, "limit"),
        ({"is_error": True, "terminal_reason": "api_error"}, "error"),
        ({"subtype": "hologram"}, "error"),
        ({"is_error": "perhaps"}, "error"),
    ],
)
def test_why_a_turn_ended(fields: dict[str, Any], reason: str) -> None:
    assert over(attached(), **fields).reason == reason


def test_our_own_interrupt_is_no_error() -> None:
    driver = attached()
    hear(driver, init())
    tell(driver, Interrupt())
    stopped = only(hear(driver, result(subtype="error_during_execution")), TurnOver)
    assert stopped.reason == "interrupted"
    assert over(driver, subtype="error_during_execution").reason == "error"


def test_a_turn_that_was_done_before_the_interrupt_is_done() -> None:
    driver = attached()
    hear(driver, init())
    tell(driver, Interrupt())
    assert only(hear(driver, result()), TurnOver).reason == "done"


def test_an_interrupt_while_idle_does_not_colour_the_next_turn() -> None:
    driver = attached()
    tell(driver, Interrupt())
    assert over(driver, subtype="error_during_execution").reason == "error"


def test_the_end_says_what_went_wrong() -> None:
    assert over(attached(), is_error=True, result="API Error: 500").message == "API Error: 500"
    failed = over(attached(), subtype="error_during_execution", errors=["a", 7, "b"])
    assert failed.message == "a; b"


@pytest.mark.parametrize(
    ("subtype", "words"),
    [
        ("error_max_turns", "the limit of turns is reached"),
        ("error_max_budget_usd", "the budget is spent"),
        ("error_max_structured_output_retries", "no answer had the form that was asked for"),
    ],
)
def test_a_limit_says_which_one_even_where_the_cli_does_not(subtype: str, words: str) -> None:
    driver = attached("2.1.38")
    over = only(hear(driver, init(), result(subtype=subtype, errors=[])), TurnOver)
    assert (over.reason, over.message) == ("limit", words)
    told = result(subtype=subtype, is_error=True, errors=["Reached maximum"])
    assert only(hear(attached(), init(), told), TurnOver).message == "Reached maximum"


def test_an_input_that_came_to_nothing_is_not_passed_over_in_silence() -> None:
    driver = attached("2.1.38")
    say(driver, "hi", "k")
    facts = hear(driver, init(), result(result=""))
    assert only(facts, InputEchoed).key == "k"
    assert "hook" in only(facts, TurnOver).message
    empty = hear(attached("2.1.38"), init(), result(result=""))
    assert only(empty, TurnOver).message == ""


def test_what_each_model_used_is_kept_with_its_limits() -> None:
    used = {"m": {"inputTokens": 3, "contextWindow": 200_000, "maxOutputTokens": 32_000}}
    over = only(hear(attached(), init(), result(modelUsage=used)), TurnOver)
    assert over.detail is not UNSET
    assert json.loads(bytes(over.detail))["modelUsage"] == used


def test_cost_goes_on_after_a_restart() -> None:
    driver = attached()
    hear(driver, init(), result(total_cost_usd=1.0))
    driver = attached(memo=driver.memo(SESSION))
    over = only(hear(driver, init(), result(total_cost_usd=1.25)), TurnOver)
    assert over.cost_usd == pytest.approx(0.25)


def test_words_that_stand_nowhere_else_are_not_lost() -> None:
    assert over(attached(), result="Unknown skill: x").message == "Unknown skill: x"
    driver = attached()
    hear(driver, init(), assistant(text("hi")))
    assert only(hear(driver, result(result="hi")), TurnOver).message == ""


def test_cost_is_the_difference_and_never_negative() -> None:
    driver = attached()
    costs = [over(driver, total_cost_usd=total).cost_usd for total in (1.0, 1.5, 0.25, 0.5)]
    assert costs == [1.0, 0.5, 0.0, 0.25]
    assert over(driver).cost_usd == 0.0
    assert over(driver, total_cost_usd="many").cost_usd == 0.0


def test_a_resumed_conversation_does_not_pay_for_its_past_again() -> None:
    assert over(resumed(), total_cost_usd=9.0).cost_usd == 0.0
    since = {"m": {"costUSD": 0.25}, "n": {"costUSD": 0.5}}
    driver = resumed()
    first = over(driver, total_cost_usd=9.0, model_usage_since_last_result=since)
    assert first.cost_usd == 0.75
    assert over(driver, total_cost_usd=9.5).cost_usd == 0.5


def test_the_end_carries_the_last_gauges() -> None:
    driver = attached()
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
    hear(driver, init(), line(type="assistant", message={"id": "a", "content": [], "usage": usage}))
    ended = only(
        hear(driver, result(usage=usage, modelUsage={"m": {"contextWindow": 200}})), TurnOver
    )
    gauges = {name: json.loads(bytes(raw)) for name, raw in ended.gauges.items()}
    assert gauges == {"usage": usage, "context": {"tokens": 15, "window": 200}}
    assert ended.usage is not UNSET


def test_the_agents_own_result_is_kept_without_its_big_fields() -> None:
    ended = over(attached(), num_turns=2, permission_denials=["x" * 9000], usage={"x": "y" * 9000})
    assert ended.usage is UNSET
    assert ended.detail is not UNSET
    detail = json.loads(bytes(ended.detail))
    assert detail["num_turns"] == 2
    assert detail["_omitted"] == ["permission_denials", "usage"]


def test_a_result_with_half_a_character_still_ends_the_turn() -> None:
    ended = over(attached(), is_error=True, result="\ud83d")
    assert ended.message == "\ufffd"
    assert ended.detail is not UNSET
    assert json.loads(bytes(ended.detail))["result"] == "\ufffd"


def test_a_second_result_ends_nothing() -> None:
    driver = attached()
    over(driver)
    assert kinds(hear(driver, result())) == ["Unrecognised"]


def test_a_cli_that_could_not_start_says_why() -> None:
    (fact,) = hear(
        attached(),
        result(subtype="error_during_execution", is_error=True, errors=["No conversation found"]),
    )
    assert fact == Error(code="agent", text="No conversation found")
    assert hear(attached(), result(subtype="error_x")) == [Error(code="agent", text="error_x")]


def test_a_conversation_that_cannot_be_resumed_is_said_to_be_lost() -> None:
    driver = resumed()
    said = "No conversation found with session ID: x"
    told = hear(driver, result(subtype="error_during_execution", is_error=True, errors=[said]))
    assert told == [Error(code="agent", text=said), ConversationLost(reason=said)]


# ---- D1: inputs that are never echoed (2.1.121 to 2.1.205) ---------------------------------------


@pytest.mark.parametrize("version", ["2.1.38", "2.1.121", "2.1.200", "2.1.205", "2.1.325", ""])
@pytest.mark.parametrize(
    "said",
    [
        (printed("Total cost: $0"), result(result="Total cost: $0")),
        (result(result="Unknown command: /nosuch"),),
        (
            user("<local-command-stdout>Compacted</local-command-stdout>", isReplay=True),
            result(result=""),
        ),
    ],
    ids=["printed", "unknown", "compacted"],
)
def test_d01_a_local_command_that_is_never_echoed_ends_with_its_turn(
    version: str, said: tuple[bytes, ...]
) -> None:
    driver = attached(version)
    say(driver, "/command", key="test:1")
    say(driver, "hello", key="test:2")
    facts = hear(driver, init(), *said)
    assert only(facts, InputEchoed).key == "test:1"
    assert kinds(facts)[-2:] == ["InputEchoed", "TurnOver"]


def test_d01_a_whole_conversation_of_2_1_200_stays_in_step() -> None:
    driver = attached("2.1.200")
    for number, words in enumerate(("hello", "/cost", "hello", "/nosuch", "x")):
        uuid = say(driver, words, key=f"test:{number}")["uuid"]
        if words.startswith("/"):
            facts = hear(driver, init(), printed("said", uuid=f"u{number}"), result())
        else:
            echo = user(words, isReplay=True, uuid=uuid)
            facts = hear(driver, init(), requesting(), echo, assistant(text("ok")), result())
        assert only(facts, InputEchoed).key == f"test:{number}"
        assert kinds(facts)[-1] == "TurnOver"


@pytest.mark.parametrize("version", ["2.1.121", "2.1.200", "2.1.325"])
@pytest.mark.parametrize(
    "own",
    [
        (requesting(), assistant(text("by myself")), result()),
        (message_start(), result()),
        (result(origin={"kind": "task-notification"}),),
    ],
    ids=["asked", "streamed", "named"],
)
def test_d01_a_turn_the_agent_began_takes_no_input_that_is_on_its_way(
    version: str, own: tuple[bytes, ...]
) -> None:
    driver = attached(version)
    say(driver, "hello", key="test:1")
    assert "InputEchoed" not in kinds(hear(driver, init(), *own))
    later = hear(driver, init(), printed("$0"), result())
    assert only(later, InputEchoed).key == "test:1"


def test_d01_an_agent_that_announces_inputs_is_believed_and_nothing_is_guessed() -> None:
    driver = attached("2.1.200")
    first = say(driver, "one", key="test:1")
    assert "InputEchoed" not in kinds(hear(driver, lifecycle(first["uuid"], "queued")))
    assert "InputEchoed" not in kinds(hear(driver, init(), printed("hi"), result()))
    started = hear(driver, lifecycle(first["uuid"], "started"))
    assert only(started, InputEchoed).key == "test:1"


def test_d01_what_is_known_of_an_agent_survives_a_restart() -> None:
    driver = attached("2.1.200")
    first = say(driver, "one", key="test:1")
    hear(driver, lifecycle(first["uuid"], "queued"), init(), requesting())
    again = attached("2.1.200", driver.memo(SESSION))
    assert "InputEchoed" not in kinds(hear(again, result()))


@pytest.mark.parametrize(
    ("version", "told", "status"),
    [
        ("2.1.200", None, "partial"),
        ("2.1.206", {"still_queued": []}, "partial"),
        ("2.1.325", {"still_queued": [], "cancelled": []}, "complete"),
    ],
)
def test_d01_a_text_that_an_interrupt_cut_is_partial_where_only_the_interrupt_tells(
    version: str, told: dict[str, Any] | None, status: str
) -> None:
    """2.1.325 confirms an interrupt with a list of what it took back, and marks what it cut."""
    driver = attached(version)
    hear(driver, init(), message_start(), text_start())
    driver.send(SESSION, Interrupt(), InputKey("test:stop"), 0)
    (asked,) = [json.loads(one.data) for one in driver.take().lines]
    more = {} if told is None else {"response": told}
    answer = {"subtype": "success", "request_id": asked["request_id"], **more}
    facts = hear(driver, line(type="control_response", response=answer), assistant(text("half")))
    assert only(facts, ItemClosed).status == status
