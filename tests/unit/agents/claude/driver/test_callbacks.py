from __future__ import annotations

import json
from typing import Any

import pytest

from flybridge.model.events import Notice, Unrecognised
from flybridge.testing.drivers import NOW_MS
from tests.harness.claude_cli import hear, line, response
from tests.harness.claude_recordings import attached

# As 2.1.325 wrote them, but for what is long.
HOOK = {
    "subtype": "hook_callback",
    "callback_id": "cb_pre",
    "input": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}},
    "tool_use_id": "toolu_000111",
}
LIST = {
    "subtype": "mcp_message",
    "server_name": "host",
    "message": {"method": "tools/list", "jsonrpc": "2.0", "id": 1},
}
NOTE = {
    "subtype": "mcp_message",
    "server_name": "host",
    "message": {"jsonrpc": "2.0", "method": "notifications/initialized"},
}
FORM = {
    "subtype": "elicitation",
    "mcp_server_name": "lab",
    "message": "Which harbour?",
    "mode": "form",
    "requested_schema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
}


def answer(asked: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """What is written for a request, and what is told of it."""
    driver = attached()
    driver.receive([line(type="control_request", request_id="r9", request=asked)], NOW_MS)
    output = driver.take()
    written = [json.loads(one.data)["response"] for one in output.lines]
    echo = [response("r9", **one) for one in written]
    assert hear(driver, *echo) == []  # the CLI repeats our answers
    return written, [what for _, what in output.out]


def test_a_hook_that_is_not_there_blocks_nothing() -> None:
    (written,), (told,) = answer(HOOK)
    assert written == {"subtype": "success", "request_id": "r9", "response": {}}
    assert isinstance(told, Notice)


@pytest.mark.parametrize(
    ("asked", "name"), [(LIST, 1), (NOTE, None), ({**LIST, "message": 7}, None)]
)
def test_a_server_that_is_not_there_knows_no_method(asked: dict[str, Any], name: object) -> None:
    (written,), _ = answer(asked)
    assert written["subtype"] == "success"
    said = written["response"]["mcp_response"]
    assert (said["jsonrpc"], said["id"], said["error"]["code"]) == ("2.0", name, -32601)


def test_a_form_that_nobody_can_fill_in_is_closed_and_told_of() -> None:
    (written,), (told,) = answer(FORM)
    assert written["response"] == {"action": "cancel"}
    assert isinstance(told, Notice)
    assert told.text.startswith("lab wanted to know something")
    assert told.text.endswith("Which harbour?")


@pytest.mark.parametrize("subtype", ["oauth_token_refresh", "host_auth_token_refresh", "ui_show"])
def test_what_only_other_hosts_have_is_refused_and_told_of(subtype: str) -> None:
    (written,), (told,) = answer({"subtype": subtype})
    assert (written["subtype"], written["error"]) == ("error", f"not supported: {subtype}")
    assert told == Notice(
        text=f"the agent asked for {subtype}, which nobody here answers", level="warning"
    )


@pytest.mark.parametrize("asked", [{"subtype": "brand_new"}, {"subtype": "can_use_tool"}, {}])
def test_what_nobody_knows_is_refused_and_kept(asked: dict[str, Any]) -> None:
    (written,), (told,) = answer(asked)
    assert written["subtype"] == "error"
    assert isinstance(told, Unrecognised)


def test_a_dialog_nobody_declared_is_left_to_the_cli() -> None:
    written, (told,) = answer({"subtype": "request_user_dialog", "kind": "plan"})
    assert written == []
    assert isinstance(told, Notice)
