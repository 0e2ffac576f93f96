from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.testing import recorder
from flybridge.testing.recorder import executed, lines, ran, read_record
from tests.harness.agent_host import Host, kind, shapes, spoken
from tests.harness.line_process import Json
from tests.harness.processes import is_gone
from tests.harness.waiting import WAIT_S, wait_until

BY_PATH = (sys.executable, "-I", "-S", recorder.__file__)
BY_NAME = (sys.executable, "-m", "flybridge.testing.recorder")
SESSION = "11111111-2222-4333-8444-555555555555"
TEXT_TURN = [
    "system/init",
    "system/status",
    "replay",
    "message_start",
    "content_block_start",
    "text_delta",
    "assistant/text",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "result",
]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "record"


@pytest.fixture
def host(book: Path) -> Iterator[Host]:
    with start(book) as one:
        yield one


def start(book: Path, *flags: str) -> Host:
    return Host(BY_PATH, *flags, env={"RECORDER_FILE": str(book)})


def script(*steps: Json) -> str:
    return "please\n@@ " + json.dumps(steps)


def noted(book: Path, what: str) -> list[Json]:
    return [record.data for record in read_record(book) if record.kind == what]


# ---- the record ------------------------------------------------------------------------------


def test_a_line_is_on_record_before_it_is_acted_upon(host: Host, book: Path) -> None:
    host.request("initialize")
    host.next()
    assert [json.loads(line)["request"]["subtype"] for line in lines(book)] == ["initialize"]


def test_lines_are_kept_exactly_with_their_number_and_process(host: Host, book: Path) -> None:
    host.write('{ "type" : "keep_alive", "é": 1}\r\n'.encode())
    host.write(b'{"type": "odd", "x": "\xff"}\n')
    assert host.exit_code() == 1  # not UTF-8 is a bad line, and still on record
    got = [record for record in read_record(book) if record.kind == "line"]
    assert [record.line for record in got] == [
        '{ "type" : "keep_alive", "é": 1}\r'.encode(),
        b'{"type": "odd", "x": "\xff"}',
    ]
    assert [record.data["n"] for record in got] == [1, 2]
    assert {record.pid for record in got} == {host.process.pid}


def test_a_line_without_its_end_is_recorded_and_not_acted_upon(host: Host, book: Path) -> None:
    host.write(b'{"type":"user","message":{"role":"user","content":"half')
    host.close_input()
    assert host.exit_code() == 0
    (record,) = [record for record in read_record(book) if record.kind == "line"]
    assert record.data["torn"]
    assert executed(book) == []


def test_a_record_not_there_yet_is_empty(tmp_path: Path) -> None:
    assert read_record(tmp_path / "none") == []


def test_an_entry_cut_by_a_kill_is_left_out(book: Path) -> None:
    book.write_text('{"executed": "u1", "text": "x", "pid": 1}\n{"executed": "u2", "te')
    assert executed(book) == ["u1"]
    assert "u1" in repr(read_record(book)[0])


def test_without_a_record_it_refuses_to_start() -> None:
    env = {name: value for name, value in os.environ.items() if name != "RECORDER_FILE"}
    done = subprocess.run(BY_PATH, env=env, capture_output=True, input=b"", timeout=WAIT_S)
    assert done.returncode == 2
    assert b"RECORDER_FILE" in done.stderr


def test_it_runs_by_name_and_tells_its_version(book: Path) -> None:
    done = subprocess.run([*BY_NAME, "--version"], capture_output=True, timeout=WAIT_S)
    assert done.stdout.startswith(b"2.1.325 (")
    with Host(BY_NAME, "--record", str(book), "--session-id", SESSION) as host:
        assert host.turn("hi", "u1")[-1]["session_id"] == SESSION
    assert executed(book) == ["u1"]
    assert "--verbose" in noted(book, "started")[0]["started"]


# ---- conversation ----------------------------------------------------------------------------


def test_a_plain_message_is_answered_in_the_order_of_the_cli(host: Host, book: Path) -> None:
    messages = host.turn("hello")
    assert shapes(messages) == TEXT_TURN
    assert messages[-1]["result"] == spoken(messages) == "ok: hello"
    assert noted(book, "executed")[0]["text"] == "hello"


def test_a_repeated_uuid_is_recorded_and_echoed_and_not_run(host: Host, book: Path) -> None:
    host.turn("hello", "u1")
    host.until(kind("command/completed"))
    host.prompt("hello", "u1")
    assert shapes([host.next()]) == ["replay"]
    assert len(lines(book)) == 2
    assert executed(book) == ["u1"]


def test_a_repeated_uuid_is_known_after_a_resume(book: Path) -> None:
    with start(book, "--session-id", SESSION) as host:
        host.turn("hello", "u1")
    with start(book, "--resume", SESSION) as host:
        host.prompt("hello", "u1")
        assert shapes([host.next()]) == ["replay"]
    with start(book, "--resume", "another") as host:
        host.turn("hello", "u1")
    assert executed(book) == ["u1", "u1"]


def test_double_execution_can_be_made_visible(book: Path) -> None:
    with start(book, "--no-dedupe") as host:
        host.turn("hello", "u1")
        host.turn("hello", "u1")
    assert executed(book) == ["u1", "u1"]


def test_flags_may_come_from_the_environment(book: Path) -> None:
    env = {"RECORDER_FILE": str(book), "RECORDER_FLAGS": "--no-dedupe"}
    with Host(BY_PATH, env=env) as host:
        host.turn("hello", "u1")
        host.turn("hello", "u1")
    assert len(executed(book)) == 2


def test_messages_that_come_while_busy_are_turns_of_their_own(
    host: Host, book: Path, tmp_path: Path
) -> None:
    host.prompt(script({"wait_file": str(tmp_path / "go")}), "u1")
    host.until(kind("replay"))
    host.prompt("two", "u2")
    host.until(kind("command/queued"))
    assert executed(book) == ["u1"]
    (tmp_path / "go").touch()
    host.until(kind("result"))
    assert host.until(kind("result"))[-1]["result"] == "ok: two"
    assert executed(book) == ["u1", "u2"]


def test_control_requests_are_answered(host: Host) -> None:
    assert host.ask("initialize")["response"]["models"]
    assert host.ask("set_model", model="m")["response"] == {"model": "m"}
    assert host.ask("set_permission_mode", mode="plan")["response"] == {"mode": "plan"}
    assert host.next()["permissionMode"] == "plan"
    assert host.ask("set_max_thinking_tokens")["subtype"] == "success"
    assert host.ask("unheard_of")["error_code"] == "unsupported_request"
    init = host.turn("hello")[0]
    assert (init["model"], init["permissionMode"]) == ("m", "plan")


@pytest.mark.parametrize("line", [b"no", b"[]", b'{"type":"user"}', b'{"type":"control_request"}'])
def test_a_bad_line_ends_it(host: Host, book: Path, line: bytes) -> None:
    host.write(line + b"\n")
    assert host.exit_code() == 1
    assert lines(book) == [line]


def test_the_end_of_stdin_finishes_what_waits(host: Host, book: Path) -> None:
    host.prompt("one", "u1")
    host.prompt("two", "u2")
    host.close_input()
    assert shapes(host.rest()).count("result") == 2
    assert host.exit_code() == 0
    assert executed(book) == ["u1", "u2"]


def test_the_end_of_stdin_may_be_the_end_at_once(book: Path) -> None:
    with start(book, "--eof-now") as host:
        host.prompt(script({"stall": 60}))
        host.until(kind("replay"))
        host.close_input()
        assert host.exit_code() == 0
    assert noted(book, "eof")


def test_sigterm_is_recorded_and_obeyed(host: Host, book: Path) -> None:
    host.prompt(script({"stall": 60}))
    host.until(kind("replay"))
    host.process.send_signal(signal.SIGTERM)
    assert host.exit_code() == 143
    assert noted(book, "term")


def test_the_session_state_is_told_if_asked_for(book: Path) -> None:
    env = {"RECORDER_FILE": str(book), "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
    with Host(BY_PATH, env=env) as host:
        host.prompt("hello")
        states = kind("system/session_state_changed")
        assert [host.until(states)[-1]["state"] for _ in range(2)] == ["running", "idle"]


# ---- interrupts ------------------------------------------------------------------------------

ASK = {"tool": "Bash", "input": {"command": "a"}, "ask": True}


AT_A_WAIT = ["control_response", "user/text", "result"]
AT_A_PROMPT = ["control_cancel_request", "control_response", "user/tool_result", *AT_A_WAIT[1:]]


@pytest.mark.parametrize(
    ("step", "seen", "order"),
    [
        ({"stall": 60}, "replay", AT_A_WAIT),
        ({"wait_file": "/none"}, "replay", AT_A_WAIT),
        (ASK, "message_stop", AT_A_PROMPT),
    ],
)
def test_an_interrupt_ends_a_wait(
    host: Host, book: Path, step: Json, seen: str, order: list[str]
) -> None:
    host.prompt(script(step, {"say": "never"}))
    host.until(kind(seen))
    host.request("interrupt")
    messages = host.until(kind("result"))
    assert shapes(messages) == order
    assert messages[-1]["subtype"] == "error_during_execution"
    assert shapes(host.turn("next")) == TEXT_TURN
    assert ran(book) == []


def test_an_interrupt_tells_what_is_queued_and_may_drop_it(host: Host, book: Path) -> None:
    host.prompt(script({"stall": 60}), "u1")
    host.until(kind("replay"))
    host.prompt("two", "u2")
    receipt = host.ask("interrupt", cancel_queued=True)["response"]
    assert receipt == {"still_queued": [], "cancelled": ["u2"]}
    host.close_input()
    host.rest()
    assert executed(book) == ["u1"]


def test_an_interrupt_at_rest_only_gets_its_receipt(host: Host) -> None:
    assert host.ask("interrupt")["response"] == {"still_queued": []}
    assert shapes(host.turn("next")) == TEXT_TURN


# ---- steps -----------------------------------------------------------------------------------


def ask(host: Host, *steps: Json) -> Json:
    host.prompt(script(*steps))
    return host.until(kind("control_request"))[-1]


def test_say_comes_in_as_many_deltas_as_told(host: Host) -> None:
    messages = host.turn(script({"say": "abcdef", "deltas": 6}, {"say": "x"}))
    deltas = [m for m in messages if shapes([m]) == ["text_delta"]]
    assert [m["event"]["delta"]["text"] for m in deltas] == [*"abcdef", "x"]
    assert messages[-1]["result"] == "x"


def test_think_is_a_thinking_block(host: Host) -> None:
    order = shapes(host.turn(script({"think": "hm"})))
    assert order[5:7] == ["thinking_delta", "assistant/thinking"]


def test_an_allowed_tool_is_on_record_with_the_input_it_ran_with(host: Host, book: Path) -> None:
    request = ask(host, {**ASK, "result": "fine"})
    assert ran(book) == []
    host.answer(request["request_id"], behavior="allow", updatedInput={"command": "b"})
    messages = host.until(kind("result"))
    assert shapes(messages)[:3] == ["message_stop", "control_response", "user/tool_result"]
    assert messages[2]["message"]["content"][0]["content"] == "fine"
    (tool,) = ran(book)
    assert (tool["ran"], tool["input"]) == (request["request"]["tool_use_id"], {"command": "b"})
    assert noted(book, "answer")[0]["behavior"] == "allow"


def test_a_denied_tool_is_not_run(host: Host, book: Path) -> None:
    request = ask(host, ASK)
    host.answer(request["request_id"], behavior="deny", message="no")
    result = host.until(kind("user/tool_result"))[-1]["message"]["content"][0]
    assert (result["is_error"], result["content"]) == (True, "no")
    host.until(kind("result"))
    assert ran(book) == []


def test_a_denial_may_end_the_turn(host: Host, book: Path) -> None:
    request = ask(host, ASK, {"say": "never"})
    host.answer(request["request_id"], behavior="deny", message="no", interrupt=True)
    assert host.until(kind("result"))[-1]["subtype"] == "error_during_execution"
    assert ran(book) == []


def test_stdin_closed_denies(host: Host, book: Path) -> None:
    ask(host, ASK)
    host.close_input()
    assert shapes(host.rest())[-1] == "result"
    assert ran(book) == []


def test_a_second_answer_is_a_stray_one(host: Host, book: Path) -> None:
    request = ask(host, ASK, {"tool": "Read"})
    body = {"subtype": "success", "request_id": request["request_id"]}
    both = [{"behavior": "allow", "updatedInput": {"command": one}} for one in ("1st", "2nd")]
    answers = [{"type": "control_response", "response": {**body, "response": r}} for r in both]
    host.write(b"".join(json.dumps(answer).encode() + b"\n" for answer in answers))
    host.until(kind("result"))
    wait_until(lambda: len(noted(book, "stray")) == 1)
    assert [tool["input"]["command"] for tool in ran(book)] == ["1st", "true"]


def test_a_tool_may_fail(host: Host) -> None:
    messages = host.turn(script({"tool": "Bash", "result": "Exit code 1", "fails": True}))
    (result,) = [m for m in messages if shapes([m]) == ["user/tool_result"]]
    assert result["message"]["content"][0]["is_error"]


def test_a_prompt_may_be_asked_twice_under_one_id(host: Host, book: Path) -> None:
    first = ask(host, {"reuse_prompt": True})
    assert host.next() == first
    host.answer(first["request_id"], behavior="allow")
    host.until(kind("result"))
    assert len(ran(book)) == 1


def test_an_old_id_may_be_used_for_another_call(host: Host, book: Path) -> None:
    first = ask(host, {**ASK, "reuse_prompt": "after"})
    host.answer(first["request_id"], behavior="allow")
    second = host.until(kind("control_request"))[-1]
    assert second["request_id"] == first["request_id"]
    assert second["request"]["tool_use_id"] != first["request"]["tool_use_id"]
    assert second["request"]["input"] != first["request"]["input"]
    host.answer(second["request_id"], behavior="deny", message="no")
    host.until(kind("result"))
    assert len(ran(book)) == 1


def test_a_flood_is_complete_and_numbered(host: Host) -> None:
    messages = host.turn(script({"flood": 1_000_000, "line": 50}))
    texts = [m["event"]["delta"]["text"] for m in messages if shapes([m]) == ["text_delta"]]
    assert [int(text[:8]) for text in texts] == list(range(20_000))
    assert {len(text) for text in texts} == {50}
    assert spoken(messages) == "".join(texts)


def test_a_big_line_is_one_line(host: Host) -> None:
    host.turn(script({"big_line": 3_000_000}))
    assert max(map(len, host.raw)) > 3_000_000


def test_junk_is_written_as_it_is(host: Host) -> None:
    host.prompt(script({"junk": "not json\n"}, {"junk_hex": "ff000a"}))
    host.until(kind("replay"))
    assert [host.line(), host.line()] == [b"not json\n", b"\xff\x00\n"]
    host.until(kind("result"))


def test_a_torn_line_is_finished_later(host: Host, tmp_path: Path) -> None:
    host.prompt(script({"torn": "whole again", "wait_file": str(tmp_path / "go")}))
    host.until(kind("replay"))
    (tmp_path / "go").touch()
    assert spoken(host.until(kind("result"))) == "whole again"


def test_an_interrupt_finishes_a_torn_line_first(host: Host) -> None:
    host.prompt(script({"torn": "whole again", "wait_file": "/none"}))
    host.until(kind("replay"))
    host.request("interrupt")
    assert shapes(host.until(kind("result"))) == [
        "assistant/text",
        "control_response",
        "user/text",
        "result",
    ]


def test_a_torn_line_may_stay_torn(host: Host) -> None:
    host.prompt(script({"torn": '{"type":"odd"}', "die": 9}))
    host.until(kind("replay"))
    assert host.line() == b'{"type"'
    assert host.exit_code() == 9


def test_it_dies_at_once(host: Host, book: Path) -> None:
    host.prompt(script({"say": "x"}, {"die": 7}), "u1")
    assert shapes(host.rest())[-1] == "message_stop"
    assert host.exit_code() == 7
    assert executed(book) == ["u1"]


def test_it_kills_itself(host: Host) -> None:
    host.prompt(script({"kill_self": 9}))
    assert host.exit_code() == -9


def test_it_may_ignore_sigterm(host: Host) -> None:
    host.prompt(script({"ignore_term": True}, {"say": "x"}, {"stall": 60}))
    host.until(kind("message_stop"))
    host.process.send_signal(signal.SIGTERM)
    host.request("interrupt")
    host.until(kind("result"))
    assert host.process.poll() is None


@pytest.mark.needs("linux")
def test_a_grandchild_may_get_away(host: Host, book: Path) -> None:
    host.turn(script({"fork_away": "marker-of-test", "seconds": 30}))
    (fork,) = noted(book, "forked")
    pid = fork["forked"]
    try:
        assert b"marker-of-test" in Path(f"/proc/{pid}/cmdline").read_bytes()
        assert os.getsid(pid) != os.getsid(host.process.pid)
        host.close_input()
        host.rest()  # it does not hold our stdout
        assert host.exit_code() == 0
        assert not is_gone(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: is_gone(pid))


@pytest.mark.needs("linux")
def test_a_child_may_keep_stdout_open(host: Host, book: Path) -> None:
    host.prompt(script({"hold_stdout": 30}, {"say": "bye"}, {"die": 0}))
    host.until(kind("message_stop"))
    assert host.exit_code() == 0
    (held,) = noted(book, "holds")
    try:
        assert host.process.stdout
        ours = Path(f"/proc/self/fd/{host.process.stdout.fileno()}").readlink()
        assert Path(f"/proc/{held['holds']}/fd/1").readlink() == ours
        assert host._lines.empty()
    finally:
        os.kill(held["holds"], signal.SIGKILL)
    assert host.rest() == []


def test_it_may_stop_reading_until_a_file_is_there(host: Host, book: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    host.prompt(script({"stop_reading": str(go)}, {"say": "deaf"}))
    host.until(kind("result"))
    host.prompt("unread", "u2")
    assert len(lines(book)) == 1
    go.touch()
    assert host.until(kind("result"))[-1]["result"] == "ok: unread"


def test_it_may_stop_reading_for_a_time(host: Host) -> None:
    host.turn(script({"stop_reading": 0.01}))
    assert shapes(host.turn("heard")) == TEXT_TURN


def test_stderr_is_written(host: Host) -> None:
    host.turn(script({"stderr": "oops\n"}, {"stderr_flood": 200_000}))
    host.close_input()
    host.exit_code()
    assert host.errors() == b"oops\n" + b"e" * 200_000 + b"\n"


def test_a_turn_may_have_two_results(host: Host) -> None:
    host.turn(script({"two_results": True}, {"say": "x"}))
    assert host.next()["type"] == "result"


def test_a_turn_may_come_unprompted(host: Host, book: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    host.turn(script({"unprompted": "by myself", "wait_file": str(go)}), "u1")
    host.until(kind("command/completed"))
    go.touch()
    messages = host.until(kind("result"))
    assert shapes(messages) == [one for one in TEXT_TURN if one != "replay"]
    assert spoken(messages) == "by myself"
    assert executed(book) == ["u1"]


def test_the_echo_may_be_left_out(host: Host) -> None:
    assert "replay" not in shapes(host.turn(script({"echo": False}, {"say": "x"})))


@pytest.mark.parametrize("text", ["@@ [nonsense", '@@ [{"sing": "la"}]'])
def test_a_bad_script_shows_in_the_result(host: Host, text: str) -> None:
    result = host.turn(text)[-1]
    assert result["is_error"]
    assert "bad script" in result["result"]


def test_a_single_step_needs_no_list(host: Host) -> None:
    assert host.turn('@@ {"say": "alone"}')[-1]["result"] == "alone"


def test_an_entry_that_a_kill_cut_short_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "record"
    recorder.Notebook(str(path)).note(first=1)
    with path.open("ab") as file:
        file.write(b'\n{"line": "ha')
    recorder.Notebook(str(path)).note(ran="x")
    assert [one.kind for one in recorder.read_record(path)] == ["line", "ran"]
