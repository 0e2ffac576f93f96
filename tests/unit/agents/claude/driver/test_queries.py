from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.agents.claude.driver.memo import MAX_REQUESTS
from flybridge.agents.claude.driver.names import message_of
from flybridge.agents.claude.driver.queries import ANSWER_BYTES, PARAMS_BYTES, QUERY_MS, request_for
from flybridge.agents.claude.driver.versions import NEW, OLD
from flybridge.errors import InvalidRequestError
from flybridge.model.capabilities import LinkEnd
from flybridge.model.deliveries import Answer
from flybridge.model.ids import InputKey
from flybridge.model.queries import RAW
from flybridge.testing.drivers import NOW_MS, SESSION
from tests.harness.claude_cli import hear, response
from tests.harness.claude_recordings import attached

UNKNOWN = {"subtype": "error", "error": "Unsupported", "error_code": "unsupported_request"}
UNKNOWN_200 = {
    "subtype": "error",
    "error": "Unsupported control request subtype: get_hooks_listing",
}


def asked(
    driver: ClaudeDriver, name: str = "mcp", ref: str = "ref", params: str = "{}"
) -> list[dict[str, Any]]:
    driver.query(SESSION, ref, RAW + name, Raw(params.encode()), NOW_MS)
    return [json.loads(line.data)["request"] for line in driver.take().lines]


def said_of(driver: ClaudeDriver, name: str, params: str = "{}") -> str:
    """What is said of a query for which nothing is written."""
    driver.query(SESSION, "ref", RAW + name, Raw(params.encode()), NOW_MS)
    output = driver.take()
    assert output.lines == []
    (answer,) = [what for _, what in output.out]
    assert isinstance(answer, Answer)
    return answer.error


@pytest.mark.parametrize(
    ("name", "params", "request_body"),
    [
        ("mcp", "{}", {"subtype": "mcp_status"}),
        ("context", "{}", {"subtype": "get_context_usage"}),
        ("usage", "{}", {"subtype": "get_usage"}),
        ("cost", "{}", {"subtype": "get_session_cost"}),
        ("models", "{}", {"subtype": "list_models"}),
        ("settings", "{}", {"subtype": "get_settings"}),
        ("plan", "{}", {"subtype": "get_plan"}),
        ("status", "{}", {"subtype": "get_status"}),
        ("permission_rules", "{}", {"subtype": "list_permission_rules"}),
        ("hooks", "{}", {"subtype": "get_hooks_listing"}),
        ("memory", "{}", {"subtype": "get_memory_dialog"}),
        ("workspace_diff", "{}", {"subtype": "get_workspace_diff"}),
        ("files", "{}", {"subtype": "file_suggestions", "query": ""}),
        ("files", '{"query":"src/a..b"}', {"subtype": "file_suggestions", "query": "src/a..b"}),
        ("task_output", '{"task":"b1"}', {"subtype": "get_task_output", "task_id": "b1"}),
        (
            "rewind",
            '{"key":"me:1"}',
            {
                "subtype": "rewind_files",
                "user_message_id": message_of(SESSION, InputKey("me:1")),
                "dry_run": True,
            },
        ),
    ],
)
def test_a_query_is_asked_in_the_words_of_the_cli(
    name: str, params: str, request_body: dict[str, Any]
) -> None:
    assert asked(attached(), name, params=params) == [request_body]


def test_every_query_that_is_offered_is_known() -> None:
    params = {"task_output": b'{"task":"t"}', "rewind": b'{"key":"k"}'}
    for name in OLD.queries | NEW.queries:
        request_for(name, Raw(params.get(name, b"{}")), SESSION)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("mcp", '{"server":"x"}'),
        ("mcp", "[]"),
        ("mcp", "null"),
        ("mcp", "{"),
        ("files", '{"query":7}'),
        ("files", '{"query":"' + "a" * 513 + '"}'),
        ("files", '{"query":"/etc/"}'),
        ("files", '{"query":"~/"}'),
        ("files", '{"query":"src/../../"}'),
        ("files", '{"query":"' + "a" * PARAMS_BYTES + '"}'),
        ("task_output", "{}"),
        ("task_output", '{"task":""}'),
        ("rewind", '{"key":["a"]}'),
        ("rewind", "[" * 4000),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, params: str) -> None:
    with pytest.raises(InvalidRequestError):
        request_for(name, Raw(params.encode()), SESSION)
    assert said_of(attached(), name, params).startswith(f"invalid_request: {name}: ")


def test_a_query_gets_the_agents_answer() -> None:
    driver = attached()
    asked(driver, "context")
    value = Raw(b'{"totalTokens":7}')
    assert hear(driver, response("fb-kit-1", response={"totalTokens": 7})) == [
        Answer("ref", value=value)
    ]
    assert driver.deadline_ms is None


def test_keys_of_servers_and_settings_are_not_shown() -> None:
    driver = attached()
    asked(driver, "mcp")
    server = {"name": "web", "config": {"headers": {"Authorization": "Bearer abc"}}}
    (answer,) = hear(driver, response("fb-kit-1", response={"mcpServers": [server]}))
    assert isinstance(answer, Answer)
    assert b"abc" not in bytes(answer.value)  # type: ignore[arg-type]


def test_half_a_character_in_an_answer_costs_only_that_character() -> None:
    driver = attached()
    asked(driver, "mcp")
    body = b'{"subtype":"success","request_id":"fb-kit-1","response":{"a":"\\ud83d"}}'
    facts = hear(driver, b'{"type":"control_response","response":' + body + b"}")
    assert facts == [Answer("ref", value=Raw('{"a":"\ufffd"}'.encode()))]


def test_a_query_the_agent_refuses_says_why() -> None:
    driver = attached()
    asked(driver, "context")
    error = response("fb-kit-1", subtype="error", error="no")
    assert hear(driver, error) == [Answer("ref", error="no")]


def test_an_answer_without_end_is_not_passed_on() -> None:
    driver = attached()
    asked(driver, "workspace_diff")
    (answer,) = hear(driver, response("fb-kit-1", response={"a": "b" * ANSWER_BYTES}))
    assert isinstance(answer, Answer)
    assert answer.error.startswith("the answer is too long")


def test_a_query_without_an_answer_is_given_up() -> None:
    driver = attached()
    asked(driver)
    assert driver.deadline_ms == NOW_MS + QUERY_MS
    driver.tick(NOW_MS + QUERY_MS - 1)
    assert driver.take().out == []
    driver.tick(NOW_MS + QUERY_MS)
    assert [what for _, what in driver.take().out] == [Answer("ref", error="timeout")]
    assert driver.deadline_ms is None
    assert hear(driver, response("fb-kit-1", response={})) == []


def test_an_old_version_is_not_asked_what_it_never_answers() -> None:
    for name in NEW.queries - OLD.queries:
        assert said_of(attached("2.1.38"), name) == "not_supported"
    assert said_of(attached(), "the weather") == "not_supported"


@pytest.mark.parametrize("unknown", [UNKNOWN, UNKNOWN_200])
def test_what_the_agent_does_not_know_is_not_asked_again(unknown: dict[str, str]) -> None:
    driver = attached()
    asked(driver, "hooks")
    assert hear(driver, response("fb-kit-1", **unknown)) == [Answer("ref", error="not_supported")]
    again = attached(memo=driver.memo(SESSION))
    assert said_of(again, "hooks") == "not_supported"
    assert asked(again, "plan")


def test_queries_are_bounded_and_end_with_the_agent() -> None:
    driver = attached()
    for n in range(MAX_REQUESTS):
        assert asked(driver, ref=f"r{n}")
    assert said_of(driver, "mcp") == "busy"
    driver.lost(LinkEnd(why="exit"), NOW_MS)
    out = [what for _, what in driver.take().out]
    assert out == [Answer(f"r{n}", error="agent_exited") for n in range(MAX_REQUESTS)]


def test_nobody_waits_for_an_answer_after_a_restart() -> None:
    driver = attached()
    asked(driver)
    again = attached(memo=driver.memo(SESSION))
    assert hear(again, response("fb-kit-1", response={})) == []
