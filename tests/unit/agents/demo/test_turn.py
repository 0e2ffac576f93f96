from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.agent_host import DEMO, Host, kind, shapes, spoken
from tests.harness.line_process import Json

# As seen from the CLI, version 2.1.325.
BEGIN = ["system/init", "system/status", "replay"]
THINK_THEN_TEXT = [
    *BEGIN,
    "message_start",
    "content_block_start",
    "thinking_delta",
    "assistant/thinking",
    "content_block_stop",
    "content_block_start",
    "text_delta",
    "assistant/text",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "result",
]
TEXT_THEN_TOOL = [
    *BEGIN,
    "message_start",
    "content_block_start",
    "text_delta",
    "assistant/text",
    "content_block_stop",
    "content_block_start",
    "input_json_delta",
    "assistant/tool_use",
    "content_block_stop",
    "message_delta",
    "control_request",
    "message_stop",
]
AFTER_ANSWER = [
    "control_response",
    "user/tool_result",
    "system/status",
    "message_start",
    "content_block_start",
    "text_delta",
    "assistant/text",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "result",
]


def ask(host: Host, text: str) -> tuple[list[Json], Json]:
    """Send a prompt that needs a permission; return what came and the request."""
    host.prompt(text)
    messages = host.until(kind("message_stop"))
    (request,) = [m for m in messages if m["type"] == "control_request"]
    return messages, request


def test_a_turn_has_the_order_of_the_cli() -> None:
    with Host() as host:
        assert shapes(host.turn("think")) == THINK_THEN_TEXT
        assert shapes(host.turn("think")) == THINK_THEN_TEXT


def test_deltas_add_up_to_the_block() -> None:
    with Host() as host:
        messages = host.turn("hello")
    deltas = [
        m["event"]["delta"]
        for m in messages
        if m["type"] == "stream_event" and "delta" in m["event"]
    ]
    text = "".join(delta.get("text", "") for delta in deltas)
    assert text == spoken(messages)
    assert messages[-1]["result"] == text


def test_an_allowed_tool_runs_once_it_is_allowed(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        before, request = ask(host, "run echo hi")
        assert shapes(before) == TEXT_THEN_TOOL
        assert request["request"]["input"]["command"] == "echo hi"
        host.answer(
            request["request_id"], behavior="allow", updatedInput=request["request"]["input"]
        )
        after = host.until(kind("result"))
    assert shapes(after) == AFTER_ANSWER
    assert after[0]["response"]["request_id"] == request["request_id"]
    assert after[1]["message"]["content"][0]["content"] == "hi"
    assert after[-1]["permission_denials"] == []


def test_a_denied_tool_does_not_run(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "write note.md")
        host.answer(request["request_id"], behavior="deny", message="not today")
        after = host.until(kind("result"))
    assert shapes(after) == AFTER_ANSWER
    result = after[1]["message"]["content"][0]
    assert (result["content"], result["is_error"]) == ("not today", True)
    assert after[-1]["permission_denials"][0]["tool_name"] == "Write"
    assert not after[-1]["is_error"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_only_after_allow(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "write note.md")
        assert list(tmp_path.iterdir()) == []
        host.answer(request["request_id"], behavior="allow")
        host.until(kind("result"))
    assert (tmp_path / "note.md").read_text().startswith("# A note")


def test_an_edited_input_is_the_one_that_runs(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "run echo one")
        host.answer(request["request_id"], behavior="allow", updatedInput={"command": "echo two"})
        after = host.until(kind("result"))
    assert after[1]["message"]["content"][0]["content"] == "two"


def test_an_edit_cannot_lead_out_of_the_directory(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with Host(cwd=home) as host:
        _, request = ask(host, "write note.md")
        edited = {"file_path": str(tmp_path / "out.md"), "content": "x"}
        host.answer(request["request_id"], behavior="allow", updatedInput=edited)
        after = host.until(kind("result"))
    assert after[1]["message"]["content"][0]["is_error"]
    assert not (tmp_path / "out.md").exists()


def test_the_first_answer_wins(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "write note.md")
        host.answer(request["request_id"], behavior="deny", message="no")
        host.answer(request["request_id"], behavior="allow")
        assert host.until(kind("result"))[-1]["permission_denials"]
        assert shapes(host.turn("think")) == THINK_THEN_TEXT
    assert list(tmp_path.iterdir()) == []


def test_an_error_reply_denies(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "write note.md")
        body = {"subtype": "error", "request_id": request["request_id"], "error": "broken"}
        host.send({"type": "control_response", "response": body})
        assert host.until(kind("result"))[-1]["permission_denials"]
    assert list(tmp_path.iterdir()) == []


def test_always_allow_is_remembered_for_exactly_that_command() -> None:
    with Host() as host:
        _, request = ask(host, "run echo hi")
        rules = request["request"]["permission_suggestions"]
        host.answer(request["request_id"], behavior="allow", updatedPermissions=rules)
        host.until(kind("result"))
        again = host.turn("run echo hi")
        assert not [m for m in again if m["type"] == "control_request"]
        _, other = ask(host, "run echo ho")
        assert other["request"]["input"]["command"] == "echo ho"


def test_two_prompts_may_be_open_and_answered_in_any_order() -> None:
    with Host() as host:
        host.prompt("parallel")
        messages = host.until(kind("message_stop"))
        first, second = [m for m in messages if m["type"] == "control_request"]
        host.answer(second["request_id"], behavior="allow")
        done = host.until(kind("user/tool_result"))[-1]["message"]["content"][0]
        assert done["tool_use_id"] == second["request"]["tool_use_id"]
        host.answer(first["request_id"], behavior="deny", message="no")
        result = host.until(kind("result"))[-1]
    assert len(result["permission_denials"]) == 1


@pytest.mark.parametrize(
    ("flags", "asked", "written"),
    [
        (("--permission-mode", "acceptEdits"), False, True),
        (("--permission-mode", "bypassPermissions"), False, True),
        (("--permission-mode", "dontAsk"), False, False),
        (("--permission-prompt-tool", "none"), False, False),
    ],
)
def test_a_mode_may_answer_instead_of_a_person(
    tmp_path: Path, flags: tuple[str, ...], asked: bool, written: bool
) -> None:
    with Host(DEMO, *flags, cwd=tmp_path) as host:
        messages = host.turn("write note.md")
    assert ("control_request" in shapes(messages)) is asked
    assert (tmp_path / "note.md").exists() is written


# ---- interrupts: in text, in thought, at an open prompt, in a tool ------------------------------


def interrupted(host: Host) -> list[Json]:
    host.request("interrupt")
    messages = host.until(kind("result"))
    end = messages[-1]
    assert (end["subtype"], end["is_error"]) == ("error_during_execution", True)
    return [m for m in messages if m["type"] != "stream_event"]


def test_an_interrupt_in_text_keeps_the_text_so_far() -> None:
    with Host(speed="20") as host:
        host.prompt("long")
        host.until(kind("text_delta"))
        messages = interrupted(host)
        assert shapes(messages) == ["control_response", "assistant/text", "user/text", "result"]
        assert messages[-2]["message"]["content"][0]["text"] == "[Request interrupted by user]"
        assert messages[-1]["terminal_reason"] == "aborted_streaming"
        assert "That was all" not in spoken(messages)
        host.turn("hidden")  # it goes on


def test_an_interrupt_in_thought_ends_the_turn() -> None:
    with Host(speed="100") as host:
        host.prompt("think")
        host.until(kind("thinking_delta"))
        assert shapes(interrupted(host)) == ["control_response", "user/text", "result"]


def test_an_interrupt_cancels_the_open_prompts(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "write note.md")
        messages = interrupted(host)
        host.answer(request["request_id"], behavior="allow")  # too late
        assert shapes(host.turn("think")) == THINK_THEN_TEXT
    order = [
        "control_cancel_request",
        "control_response",
        "user/tool_result",
        "user/text",
        "result",
    ]
    assert shapes(messages) == order
    assert messages[0]["request_id"] == request["request_id"]
    note = "[Request interrupted by user for tool use]"
    assert messages[-2]["message"]["content"][0]["text"] == note
    assert messages[-1]["terminal_reason"] == "aborted_tools"
    assert len(messages[-1]["permission_denials"]) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_stops_a_running_tool() -> None:
    with Host(DEMO, "--permission-mode", "bypassPermissions", speed="5") as host:
        host.prompt("run sleep 60")
        host.until(kind("tool_progress"))
        messages = [m for m in interrupted(host) if m["type"] != "tool_progress"]
    assert shapes(messages) == ["control_response", "user/tool_result", "user/text", "result"]
    assert messages[-1]["permission_denials"] == []


def test_a_denial_may_end_the_turn(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        _, request = ask(host, "write note.md")
        host.answer(request["request_id"], behavior="deny", message="stop", interrupt=True)
        messages = host.until(kind("result"))
    assert shapes(messages) == ["control_response", "user/tool_result", "user/text", "result"]
    assert messages[-1]["terminal_reason"] == "aborted_tools"
    assert len(messages[-1]["permission_denials"]) == 1


def test_an_interrupt_at_rest_does_nothing() -> None:
    with Host() as host:
        assert host.ask("interrupt")["response"] == {"still_queued": []}
        assert shapes(host.turn("think")) == THINK_THEN_TEXT
