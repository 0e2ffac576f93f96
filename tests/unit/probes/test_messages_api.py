from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.probes.messages_api import MessagesApi
from tests.harness.waiting import WAIT_S, wait_until


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as one:
        yield one


def prompt(text: str, *answers: object, **more: object) -> dict[str, Any]:
    said = f"{text}\n@@ {json.dumps(answers)}" if answers else text
    return {"model": "m", "messages": [{"role": "user", "content": said}], **more}


def post(
    api: MessagesApi, body: object, path: str = "/v1/messages"
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=WAIT_S)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def content(api: MessagesApi, body: object) -> list[dict[str, Any]]:
    status, _, data = post(api, body)
    assert status == 200, data
    found: list[dict[str, Any]] = json.loads(data)["content"]
    return found


def test_a_prompt_says_what_is_answered(api: MessagesApi) -> None:
    assert content(api, prompt("hi", {"say": "ahoy"})) == [{"type": "text", "text": "ahoy"}]
    assert content(api, prompt("hi")) == [{"type": "text", "text": "ok"}]


def test_a_stream_ends_with_its_connection(api: MessagesApi) -> None:
    body = prompt("hi", {"say": "ahoy there", "deltas": 3}, stream=True)
    status, headers, data = post(api, body)
    assert (status, headers["connection"]) == (200, "close")
    assert headers["content-type"].startswith("text/event-stream")
    assert data.count(b"event: content_block_delta\n") == 3
    assert data.endswith(b'event: message_stop\ndata: {"type":"message_stop"}\n\n')


def test_the_servers_own_script_is_for_prompts_without_one() -> None:
    with MessagesApi([{"say": "one"}, {"say": "two"}]) as api:
        body = prompt("hi")
        assert content(api, body)[0]["text"] == "one"
        body["messages"].append({"role": "assistant", "content": "one"})
        assert content(api, body)[0]["text"] == "two"
        assert content(api, prompt("hi", {"say": "own"}))[0]["text"] == "own"


def test_errors_come_by_status_with_their_headers(api: MessagesApi) -> None:
    limited = {"status": 429, "headers": {"retry-after": "7"}, "message": "slow down"}
    status, headers, data = post(api, prompt("hi", limited))
    assert (status, headers["retry-after"]) == (429, "7")
    error = {"type": "rate_limit_error", "message": "slow down"}
    assert json.loads(data) == {"type": "error", "error": error}
    kinds = [json.loads(post(api, prompt("x", {"status": n}))[2]) for n in (401, 500, 529)]
    assert [one["error"]["type"] for one in kinds] == [
        "authentication_error",
        "api_error",
        "overloaded_error",
    ]


def test_an_error_that_comes_so_many_times_is_over_then(api: MessagesApi) -> None:
    troubled = {"status": 500, "times": 2, "blocks": [{"say": "at last"}]}
    body = prompt("hi", troubled)
    assert [post(api, body)[0] for _ in range(3)] == [500, 500, 200]
    assert post(api, prompt("another", troubled))[0] == 500, "every prompt has its own count"


def test_a_stream_may_break(api: MessagesApi) -> None:
    fault = {"blocks": [{"say": "half"}], "fault": "overloaded_error", "message": "busy"}
    _, _, data = post(api, prompt("hi", fault, stream=True))
    assert data.endswith(
        b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    )
    _, _, data = post(api, prompt("hi", {"blocks": [{"say": "half"}], "cut": True}, stream=True))
    assert b"half" in data
    assert b"message_stop" not in data


def test_a_stream_is_held_until_a_file_is_there(api: MessagesApi, tmp_path: Path) -> None:
    go = tmp_path / "go"
    body = prompt("hi", {"say": "ab", "deltas": 2, "hold": str(go), "hold_after": 1}, stream=True)
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=WAIT_S)
    connection.request("POST", "/v1/messages", json.dumps(body))
    answer = connection.getresponse()
    seen = b""
    while b'"text":"a"' not in seen:
        seen += answer.read1()
    assert b'"text":"b"' not in seen
    go.touch()
    assert b'"text":"b"' in answer.read()
    connection.close()


def test_an_answer_may_wait_for_a_file_before_its_first_byte(
    api: MessagesApi, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    said: list[str] = []
    body = prompt("hi", {"wait_file": str(go), "blocks": [{"say": "now"}]})
    asking = threading.Thread(target=lambda: said.append(content(api, body)[0]["text"]))
    asking.start()
    wait_until(lambda: len(api.requests) == 1)
    assert said == []
    go.touch()
    asking.join(WAIT_S)
    assert said == ["now"]


def test_a_client_that_hangs_up_is_noticed(api: MessagesApi, tmp_path: Path) -> None:
    body = prompt("hi", {"say": "a", "hold": str(tmp_path / "never")}, stream=True)
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=WAIT_S)
    connection.request("POST", "/v1/messages", json.dumps(body))
    connection.getresponse().read1()
    connection.close()
    wait_until(lambda: api.gone == 1)


def test_closing_hangs_up_on_everybody(tmp_path: Path) -> None:
    before = threading.active_count()
    api = MessagesApi().start()
    idle = socket.create_connection(("127.0.0.1", api.port))
    body = prompt("hi", {"say": "a", "hold": str(tmp_path / "never")}, stream=True)
    held = http.client.HTTPConnection("127.0.0.1", api.port, timeout=WAIT_S)
    held.request("POST", "/v1/messages", json.dumps(body))
    answer = held.getresponse()
    answer.read1()
    api.close()
    assert answer.read() == b""
    assert idle.recv(1) == b""
    idle.close()
    held.close()
    wait_until(lambda: threading.active_count() <= before)


def test_tokens_are_counted_and_probes_answered(api: MessagesApi) -> None:
    status, _, data = post(api, prompt("hi"), "/v1/messages/count_tokens?beta=true")
    assert (status, json.loads(data)["input_tokens"] > 0) == (200, True)
    assert post(api, {}, "/api/event")[0] == 200
    for method, length in (("HEAD", 0), ("GET", 1)):
        connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=WAIT_S)
        connection.request(method, "/")
        answer = connection.getresponse()
        assert (answer.status, len(answer.read()) >= length) == (200, True)
        connection.close()
    assert [(one.method, one.path) for one in api.requests] == [
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/api/event"),
        ("GET", "/"),
    ]
    assert api.turns == []


def test_every_request_is_kept_and_a_prompt_counted_where_it_is_new(api: MessagesApi) -> None:
    body = prompt("first words", {"tool": "Bash"}, {"say": "done"})
    (call,) = content(api, body)
    body["messages"] += [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"]}]},
    ]
    content(api, body)
    content(api, prompt("a title", model="haiku"))
    assert [(one.position, one.helper) for one in api.requests] == [
        (0, False),
        (1, False),
        (0, True),
    ]
    assert [api.count(one) for one in ("first words", "a title", "unheard")] == [1, 0, 0]
    last = api.turns[-1]
    assert [one["tool_use_id"] for one in last.blocks("tool_result")] == [call["id"]]
    assert "first words" in last.given()[0]
    assert last.said() == []


def test_a_script_that_cannot_be_played_is_an_error_and_a_complaint(api: MessagesApi) -> None:
    status, _, data = post(api, prompt("hi", {"sya": "typo"}))
    assert (status, b"bad script" in data) == (400, True)
    assert len(api.complaints) == 1


@pytest.mark.parametrize("body", [[], "text", None])
def test_a_body_that_is_no_object_is_refused(api: MessagesApi, body: object) -> None:
    assert post(api, body)[0] == 400


def test_it_can_be_reached_through_a_unix_socket(short_tmp: Path) -> None:
    path = short_tmp / "api.sock"
    with MessagesApi(unix=str(path)) as api, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        body = json.dumps(prompt("hi", {"say": "ahoy"})).encode()
        head = f"POST /v1/messages HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        seen = b""
        while b"ahoy" not in seen:
            seen += client.recv(65536)
        assert len(api.turns) == 1
