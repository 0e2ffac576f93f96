from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.agents.claude.wire import encode
from flybridge.agents.claude.wire import host_requests as h
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import decode, decode_host
from flybridge.errors import LocalProtocolError

awkward = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from('\n\r\u2028\x00"\\é😀')
)


def assert_line(data: bytes, value: Any) -> None:
    assert data.isascii()
    assert b"\n" not in data
    assert b"\r" not in data
    assert json.loads(data) == value


def test_a_prompt_has_every_field_a_host_should_send() -> None:
    data = encode.prompt([w.TextBlock("hi")], uuid="u")
    assert data == (
        b'{"type":"user","session_id":"","parent_tool_use_id":null,'
        b'"message":{"role":"user","content":[{"type":"text","text":"hi"}]},"uuid":"u"}'
    )


def test_pictures_and_documents_are_the_apis_blocks() -> None:
    source = w.Source(type="base64", media_type="image/png", data="QUJD")
    data = encode.prompt([w.ImageBlock(source), w.DocumentBlock(source, title="t")], uuid="u")
    wire = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    assert json.loads(data)["message"]["content"] == [
        {"type": "image", "source": wire},
        {"type": "document", "source": wire, "title": "t"},
    ]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(awkward)
def test_any_text_fits_on_one_line_and_comes_back(text: str) -> None:
    data = encode.prompt([w.TextBlock(text)], uuid="u")
    assert_line(data, json.loads(data))
    said = decode_host(data)
    assert isinstance(said, w.Prompt)
    assert json.loads(bytes(said.message.content)) == [{"type": "text", "text": text}]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.dictionaries(awkward, awkward), st.sampled_from([None, 1, "\t"]))
def test_a_raw_input_of_any_form_fits_on_one_line(value: dict[str, str], indent: Any) -> None:
    raw = Raw(json.dumps(value, indent=indent, ensure_ascii=False).encode())
    data = encode.allow("r", raw)
    verdict = {"behavior": "allow", "updatedInput": value}
    response = {"subtype": "success", "request_id": "r", "response": verdict}
    assert_line(data, {"type": "control_response", "response": response})


def test_an_ascii_input_goes_back_byte_for_byte() -> None:
    raw = b'{ "b":1.50, "a" : "\\u00e9", "b":2 }'
    assert b'"updatedInput":' + raw in encode.allow("r", Raw(raw))


def test_allow_takes_permissions_along() -> None:
    data = encode.allow("r", Raw(b"{}"), [Raw(b'{"type":"setMode"}')])
    assert json.loads(data)["response"]["response"] == {
        "behavior": "allow",
        "updatedInput": {},
        "updatedPermissions": [{"type": "setMode"}],
    }


def test_deny_says_stop_only_when_meant() -> None:
    assert json.loads(encode.deny("r", "no"))["response"]["response"] == {
        "behavior": "deny",
        "message": "no",
    }
    assert json.loads(encode.deny("r", "no", interrupt=True))["response"]["response"] == {
        "behavior": "deny",
        "message": "no",
        "interrupt": True,
    }


def test_an_error_answers_a_request_nobody_knows() -> None:
    assert json.loads(encode.failure("r", "what?")) == {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "r", "error": "what?"},
    }


@pytest.mark.parametrize(
    ("request_", "wire"),
    [
        (h.Initialize(), {"subtype": "initialize"}),
        (h.Interrupt(), {"subtype": "interrupt"}),
        (h.SetModel("m"), {"subtype": "set_model", "model": "m"}),
        (h.SetModel(), {"subtype": "set_model"}),
        (h.SetPermissionMode("plan"), {"subtype": "set_permission_mode", "mode": "plan"}),
    ],
)
def test_requests_are_named_by_their_subtype(request_: h.HostRequest, wire: Any) -> None:
    data = encode.control_request("r", request_)
    assert_line(data, {"type": "control_request", "request_id": "r", "request": wire})
    assert decode_host(data) == w.HostAsked(
        request_id="r", subtype=wire["subtype"], request=request_
    )


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: encode.prompt([w.TextBlock("\ud83d")], uuid="u"),
        lambda: encode.prompt([w.TextBlock("x")], uuid="\ud83d"),
        lambda: encode.control_request("r", h.SetModel("\ud83d")),
        lambda: encode.allow("r", Raw(b'{"a":\n')),
        lambda: encode.allow("r", Raw(b'{"a":"\xff"}')),
        lambda: encode.compact(b"{"),
        lambda: encode.compact(b""),
        lambda: encode.compact(b'{"a":"\xff"}'),
        lambda: encode.compact(b'{"a":tru}'),
        lambda: encode.compact(b"[" * 100_000),
    ],
)
def test_what_would_break_the_line_is_refused(attempt: Any) -> None:
    with pytest.raises(LocalProtocolError):
        attempt()


def test_compact_keeps_numbers_and_order() -> None:
    assert bytes(encode.compact(b'{"b" : 1.50,\n "a":[1 ,2]}')) == b'{"b":1.50,"a":[1,2]}'


# ---- the CLI's side ------------------------------------------------------------------------------

SAID = [
    w.StreamEvent(w.BlockDelta(0, w.Delta(text="x"))),
    w.StreamEvent(w.MessageStart(w.MessageHead(id="m"))),
    w.Init(model="m", permission_mode="default", session_id="s"),
    w.Status(status="requesting"),
    w.ApiRetry(attempt=1, max_retries=10, retry_delay_ms=500),
    w.Result(subtype="success", is_error=False),
    w.Cancel("r"),
    w.CommandLifecycle(command_uuid="u", state="started"),
    w.KeepAlive(),
]


@pytest.mark.parametrize("message", SAID, ids=lambda one: type(one).__name__)
def test_what_an_agent_of_ours_writes_is_what_a_driver_reads(message: Any) -> None:
    data = encode.stamped(message, session_id="s", uuid="u")
    assert_line(data, json.loads(data))
    assert json.loads(data)["session_id"] == "s"
    assert json.loads(data)["uuid"] == "u"
    assert decode(data) == message


def test_an_answer_and_an_echo_are_written_as_the_cli_does() -> None:
    body = w.AssistantBody(id="m", content=[Raw(b'{"type":"text","text":"\xc3\xa9"}')])
    data = encode.stamped(w.Assistant(message=body), session_id="s", uuid="u")
    assert_line(data, json.loads(data))
    assert json.loads(data)["message"]["content"] == [{"type": "text", "text": "é"}]
    echo = w.User(message=w.UserBody(content=Raw(b'"hi"')), is_replay=True)
    data = encode.stamped(echo, session_id="s", uuid="ours")
    assert data.count(b'"uuid"') == 1
    said = decode(data)
    assert isinstance(said, w.User)
    assert (said.uuid, said.is_replay) == ("ours", True)


def test_a_message_that_has_both_fields_gets_each_once() -> None:
    prompt = w.Prompt(message=w.UserBody(content=Raw(b'"hi"')))
    data = encode.stamped(prompt, session_id="s", uuid="u")
    assert data.count(b'"uuid"') == data.count(b'"session_id"') == 1


def test_a_permission_request_is_what_a_driver_reads() -> None:
    data = encode.can_use_tool(
        "r",
        tool_name="Bash",
        input=Raw(b'{"command":"ls"}'),
        tool_use_id="t",
        suggestions=[Raw(b"{}")],
    )
    message = decode(data)
    assert isinstance(message, w.CanUseTool)
    assert (message.request_id, message.tool_name, message.tool_use_id) == ("r", "Bash", "t")
    assert bytes(message.input) == b'{"command":"ls"}'
    assert [bytes(one) for one in message.permission_suggestions or []] == [b"{}"]


def test_success_may_carry_nothing() -> None:
    assert json.loads(encode.success("r")) == {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "r"},
    }
