from __future__ import annotations

import pytest

from flybridge.agents.demo.scenes.trouble import CRASH_STATUS
from tests.harness.agent_host import Host, kind, shapes, spoken


def test_an_error_is_the_apis_and_the_session_goes_on() -> None:
    with Host() as host:
        *_, said, result = host.turn("error")
        assert said["message"]["model"] == "<synthetic>"
        assert (result["subtype"], result["is_error"]) == ("success", True)
        assert (result["terminal_reason"], result["api_error_status"]) == ("api_error", 529)
        assert not host.turn("hello")[-1]["is_error"]
        host.close_input()
        assert host.exit_code() == 0


@pytest.mark.parametrize(
    ("which", "error", "kind_of_error"),
    [
        ("429", "rate_limit", "rate_limit_error"),
        ("401", "authentication_failed", "authentication_error"),
        ("529", "server_error", "overloaded_error"),
    ],
)
def test_each_failure_has_the_names_the_cli_gives_it(
    which: str, error: str, kind_of_error: str
) -> None:
    with Host() as host:
        messages = host.turn(f"error {which}")
    *_, said, result = messages
    assert (said["error"], said["api_error_type"]) == (error, kind_of_error)
    assert said["is_api_error_message"] is True
    assert result["api_error_status"] == int(which)
    retries = [m for m in messages if m.get("subtype") == "api_retry"]
    assert [m["attempt"] for m in retries] == [1, 2]
    assert all(m["error_status"] == int(which) for m in retries)


def test_retries_can_come_to_a_good_end() -> None:
    with Host() as host:
        messages = host.turn("retry")
    assert shapes(messages).count("system/api_retry") == 2
    assert not messages[-1]["is_error"]


def test_a_retry_can_be_interrupted() -> None:
    with Host(speed="100") as host:
        host.prompt("retry")
        host.until(kind("system/api_retry"))
        host.request("interrupt")
        assert host.until(kind("result"))[-1]["subtype"] == "error_during_execution"


def test_a_limit_is_told_before_the_answer() -> None:
    with Host() as host:
        order = shapes(host.turn("limit"))
    assert order.index("rate_limit_event") < order.index("message_start")


def test_what_nobody_knows_is_said_in_the_middle_of_a_good_turn() -> None:
    with Host() as host:
        messages = host.turn("unknown")
    assert {"weather_report", "noise"} <= set(shapes(messages))
    assert "Nothing is dropped" in spoken(messages)


def test_a_crash_leaves_a_message_without_an_end() -> None:
    with Host() as host:
        host.prompt("crash")
        assert shapes(host.rest())[-1] == "text_delta"
        assert host.exit_code() == CRASH_STATUS
