from __future__ import annotations

import json

import pytest

from tests.harness.agent_host import DEMO, Host, kind, shapes, spoken


def test_initialize_is_answered_before_any_message() -> None:
    with Host() as host:
        told = host.ask("initialize", hooks=None)["response"]
    assert told["account"]["email"] == "demo"
    assert {"value", "displayName", "description"} <= told["models"][0].keys()
    assert {"name", "description", "argumentHint"} <= told["commands"][0].keys()


def test_initialize_lists_the_open_prompts() -> None:
    with Host() as host:
        host.prompt("tool")
        host.until(kind("message_stop"))
        (prompt,) = host.ask("initialize")["response"]["pending_permission_requests"]
    assert prompt["request"]["subtype"] == "can_use_tool"


def test_an_unknown_control_request_is_refused() -> None:
    with Host() as host:
        answer = host.ask("brew_coffee")
    assert (answer["subtype"], answer["error_code"]) == ("error", "unsupported_request")


@pytest.mark.parametrize("subtype", ["set_max_thinking_tokens", "mcp_status"])
def test_harmless_requests_are_answered(subtype: str) -> None:
    with Host() as host:
        assert host.ask(subtype)["subtype"] == "success"


def test_the_model_is_set_and_shown() -> None:
    with Host(DEMO, "--model", "first") as host:
        assert host.turn("hello")[0]["model"] == "first"
        host.request("set_model", model="second")
        assert shapes(host.until(kind("control_response"))) == ["replay", "control_response"]
        assert host.turn("hello")[0]["model"] == "second"
        assert host.ask("set_model")["response"] == {"model": "flybridge-demo"}


def test_the_mode_is_set_and_shown() -> None:
    with Host(DEMO, "--permission-mode", "plan") as host:
        assert host.turn("hello")[0]["permissionMode"] == "plan"
        assert host.ask("set_permission_mode", mode="acceptEdits")["subtype"] == "success"
        assert host.next()["permissionMode"] == "acceptEdits"
        assert host.turn("hello")[0]["permissionMode"] == "acceptEdits"


def test_nobody_gets_the_right_to_bypass_later() -> None:
    with Host() as host:
        answer = host.ask("set_permission_mode", mode="bypassPermissions")
        assert answer["error_code"] == "bypass_not_launched"
        assert host.ask("set_permission_mode", mode="bogus")["error_code"] == "invalid_mode"
    with Host(DEMO, "--allow-dangerously-skip-permissions") as host:
        assert host.ask("set_permission_mode", mode="bypassPermissions")["subtype"] == "success"


def test_a_uuid_is_echoed_and_its_life_is_told() -> None:
    with Host() as host:
        host.prompt("think", "u1")
        messages = host.until(kind("command/completed"))
    order = shapes(messages)
    assert order[:5] == [
        "command/queued",
        "command/started",
        "system/init",
        "system/status",
        "replay",
    ]
    assert messages[4]["uuid"] == "u1"
    assert order[-2:] == ["result", "command/completed"]


def test_a_repeated_uuid_is_echoed_and_never_run() -> None:
    with Host() as host:
        host.prompt("think", "u1")
        host.until(kind("command/completed"))
        host.prompt("think again", "u1")
        host.close_input()
        rest = host.rest()
    assert shapes(rest) == ["replay"]
    assert rest[0]["uuid"] == "u1"
    assert rest[0]["message"]["content"] == "think again"


def test_messages_that_come_while_busy_are_turns_of_their_own() -> None:
    with Host() as host:
        host.prompt("tool", "u1")
        request = host.until(kind("control_request"))[-1]
        host.prompt("think", "u2")
        host.until(kind("command/queued"))
        host.prompt("think", "u3")
        host.until(kind("command/queued"))
        host.answer(request["request_id"], behavior="deny", message="no")
        ends = [host.until(kind("command/completed"))[-1]["command_uuid"] for _ in range(3)]
    assert ends == ["u1", "u2", "u3"]


def test_an_interrupt_tells_what_is_queued_and_leaves_it() -> None:
    with Host() as host:
        host.prompt("tool", "u1")
        host.until(kind("control_request"))
        host.prompt("think", "u2")
        assert host.ask("interrupt")["response"] == {"still_queued": ["u2"]}
        host.until(kind("command/completed"))
        assert host.until(kind("command/completed"))[-1]["command_uuid"] == "u2"


def test_an_interrupt_may_drop_the_queue() -> None:
    with Host() as host:
        host.prompt("tool", "u1")
        host.until(kind("control_request"))
        host.prompt("think", "u2")
        receipt = host.ask("interrupt", cancel_queued=True)["response"]
        assert receipt == {"still_queued": [], "cancelled": ["u2"]}
        host.close_input()
        assert "system/init" not in shapes(host.rest())


def test_content_may_be_text_or_blocks() -> None:
    with Host() as host:
        blocks = [{"type": "text", "text": "think"}, {"type": "image", "source": {}}]
        host.send({"type": "user", "message": {"role": "user", "content": blocks}})
        messages = host.until(kind("result"))
    assert "two helms" in spoken(messages)
    replay = next(m for m in messages if m.get("isReplay"))
    assert replay["message"]["content"] == blocks


def test_the_session_state_is_told_if_asked_for() -> None:
    with Host(env={"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}) as host:
        host.prompt("tool")
        request = host.until(kind("control_request"))[-1]
        host.answer(request["request_id"], behavior="deny", message="no")
        host.close_input()
        host.rest()
    said = [json.loads(line) for line in host.raw if line]
    states = [m["state"] for m in said if m.get("subtype") == "session_state_changed"]
    assert states == ["running", "requires_action", "running", "idle"]


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"null",
        b'{"type":"keep_alive"} {"type":"keep_alive"}',
        b'{"type":"user"}',
        b'{"type":"user","message":{"role":"assistant","content":"x"}}',
        b'{"type":"control_request","request_id":"1"}',
    ],
)
def test_a_bad_line_ends_the_agent(line: bytes) -> None:
    with Host() as host:
        host.write(line + b"\n")
        assert host.exit_code() == 1
        assert host.errors()
        assert host.rest() == []


def test_other_oddities_are_passed_over() -> None:
    with Host() as host:
        host.write(b'\n\r\n[]\n"x"\n{"type":"keep_alive"}\r\n{}\n{"type":"control_response"}\n')
        host.answer("never-asked", behavior="allow")
        host.write(b'\xef\xbb\xbf{"type":"keep_alive"}\n')
        assert host.turn("hello")[-1]["subtype"] == "success"
