from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from flybridge.agents.claude.wire import decode as d
from flybridge.agents.claude.wire import host_requests as h
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import SAFE_DEPTH, SPARE_DEPTH, decode, decode_host
from flybridge.wire.lines import CutLine


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def delta(**piece: str) -> bytes:
    event = {"type": "content_block_delta", "index": 2, "delta": piece}
    return line(type="stream_event", event=event, parent_tool_use_id=None)


# ---- what is known -------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["text", "thinking", "partial_json"])
def test_a_delta_is_decoded_down_to_its_text(field: str) -> None:
    message = decode(delta(**{"type": "whatever", field: "piece"}))
    assert isinstance(message, w.StreamEvent)
    assert isinstance(message.event, w.BlockDelta)
    assert message.event.index == 2
    assert getattr(message.event.delta, field) == "piece"


def test_the_order_of_keys_does_not_matter() -> None:
    message = decode(b'{"duration_api_ms":1,"is_error":true,"subtype":"success","type":"result"}')
    assert isinstance(message, w.Result)
    assert message.is_error


def test_a_message_delta_has_a_delta_without_a_type() -> None:
    event = {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"x": 1}}
    message = decode(line(type="stream_event", event=event))
    assert isinstance(message, w.StreamEvent)
    assert isinstance(message.event, w.MessageDelta)


def test_a_system_message_is_typed_by_its_subtype() -> None:
    init = decode(line(type="system", subtype="init", model="m", permissionMode="plan"))
    assert isinstance(init, w.Init)
    assert (init.model, init.permission_mode) == ("m", "plan")
    assert isinstance(decode(line(type="system", subtype="status", status=None)), w.Status)


def test_a_permission_request_keeps_its_input_byte_for_byte() -> None:
    asked = (
        b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool",'
        b'"tool_name":"Bash","input":{ "b":1.50, "a" : "\\u00e9" },"tool_use_id":"t",'
        b'"description":"d"}}'
    )
    message = decode(asked)
    assert isinstance(message, w.CanUseTool)
    assert bytes(message.input) == b'{ "b":1.50, "a" : "\\u00e9" }'
    assert message.rest is not UNSET
    assert json.loads(bytes(message.rest)) == {"description": "d"}


@pytest.mark.parametrize("request_", [{"subtype": "hologram"}, {}, [], "x", {"subtype": 7}])
def test_a_request_not_known_here_keeps_its_id_for_an_answer(request_: Any) -> None:
    message = decode(line(type="control_request", request_id="r", request=request_))
    assert isinstance(message, w.OtherRequest)
    assert message.request_id == "r"


# ---- what is not ---------------------------------------------------------------------------------


def test_an_unknown_type_falls_to_the_envelope() -> None:
    message = decode(line(type="hologram", subtype="s", parent_tool_use_id="t"))
    assert isinstance(message, w.Unknown)
    assert (message.type, message.subtype, message.parent) == ("hologram", "s", "t")


@pytest.mark.parametrize(
    "body",
    [
        {"type": "system", "subtype": "hologram"},
        {"type": "system", "subtype": "status", "status": 7},
        {"type": "stream_event", "event": {"type": "hologram"}},
        {"type": "assistant", "message": {"content": "not a list"}},
        {"type": "user"},
    ],
)
def test_a_known_type_in_another_shape_is_kept_whole(body: dict[str, Any]) -> None:
    message = decode(line(**body))
    assert isinstance(message, w.Unknown)
    assert json.loads(message.line) == body


def test_the_end_of_a_turn_is_one_whatever_its_fields_are() -> None:
    message = decode(line(type="result", subtype="success", is_error="maybe"))
    assert message == w.Result(subtype="success", is_error=True)


@pytest.mark.parametrize(
    "odd", [b"", b"noise", b"[1]", b'"x"', b"5", b"null", b"{}", b'{"type":7}']
)
def test_a_line_that_is_no_message_is_odd(odd: bytes) -> None:
    message = decode(odd)
    assert isinstance(message, w.Odd)
    assert message.line == odd


@pytest.mark.parametrize(
    "odd",
    [
        b"\xef\xbb\xbf{}",
        b'{"type":"keep_alive"} x',
        b'{"type":"result","is_error":NaN}',
        b'{"type":"hologram","value":1e999',
        b'{"type":"hologram"',
    ],
)
def test_broken_json_is_odd(odd: bytes) -> None:
    assert isinstance(decode(odd), w.Odd)


def test_the_same_key_twice_is_no_trouble() -> None:
    message = decode(b'{"type":"command_lifecycle","state":"a","state":"b","command_uuid":"u"}')
    assert message == w.CommandLifecycle(command_uuid="u", state="b")


# ---- text that is none ---------------------------------------------------------------------------


def test_half_an_emoji_does_not_cost_the_rest_of_a_delta() -> None:
    message = decode(delta(type="text_delta", text="smile \ud83d"))
    assert isinstance(message, w.StreamEvent)
    assert isinstance(message.event, w.BlockDelta)
    assert message.event.delta.text == "smile \ufffd"


def test_half_an_emoji_in_a_raw_part_is_replaced_too() -> None:
    block = {"type": "text", "text": "\ude00 high \ud83d, whole \U0001f600"}
    message = decode(line(type="assistant", message={"content": [block]}))
    assert isinstance(message, w.Assistant)
    text = d.block(message.message.content[0])
    assert text == w.TextBlock("\ufffd high \ufffd, whole \U0001f600")


def test_half_an_emoji_in_a_message_not_known_here_is_replaced_too() -> None:
    message = decode(line(type="hologram", text="\ud83d"))
    assert isinstance(message, w.Unknown)
    assert json.loads(message.line) == {"type": "hologram", "text": "\ufffd"}


@pytest.mark.parametrize(
    "bad",
    [
        b'{"type":"assistant","message":{"content":["\xff"]}}',
        b'{"type":"assistant","message":{"content":[]},"skipped":"\xff"}',
        b'{"type":"stream_event","event":{"type":"content_block_start","index":0,'
        b'"content_block":"\xc3\x28"}}',
        b'{"type":"system","subtype":"init","tools":["\xed\xa0\x80"]}',
        b'{"type":"hologram","x":"\xff"}',
        b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,'
        b'"delta":{"text":"\xff"}}}',
    ],
)
def test_bytes_that_are_not_utf8_never_get_through(bad: bytes) -> None:
    assert isinstance(decode(bad), w.Odd)


def test_text_beyond_ascii_is_kept() -> None:
    said = '{"type":"user","message":{"content":"é\u2028"}}'.encode()
    message = decode(said)
    assert isinstance(message, w.User)
    assert d.text(message.message.content) == "é\u2028"


# ---- size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [b'{"type":"assistant","message":', b'{"type":"hologram","x":', b'{"type":"x","type":7,"x":'],
)
def test_nesting_without_end_is_odd(head: bytes) -> None:
    message = decode(head + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert isinstance(message, w.Odd)


def test_nesting_that_only_just_fits_is_odd_too() -> None:
    def nested(depth: int) -> bytes:
        return b'{"type":"rate_limit_event","rate_limit_info":' + b"[" * depth + b"]" * depth + b"}"

    assert isinstance(decode(nested(SAFE_DEPTH)), w.RateLimitEvent)
    readable, too_deep = SAFE_DEPTH, 1_000_000
    while too_deep - readable > 1:
        middle = (readable + too_deep) // 2
        try:
            msgspec.json.decode(nested(middle), type=Raw)
            readable = middle
        except RecursionError:
            too_deep = middle
    assert isinstance(decode(nested(readable - SPARE_DEPTH // 2)), w.Odd)


def test_many_brackets_are_not_deep() -> None:
    block = {"type": "text", "text": "[{" * 1000}
    message = decode(line(type="assistant", message={"content": [block] * 500}))
    assert isinstance(message, w.Assistant)


def test_a_cut_line_is_odd_even_if_its_head_is_a_message() -> None:
    assert decode(CutLine(b'{"type":"keep_alive"}')) == w.Odd(
        reason="line too long", line=b'{"type":"keep_alive"}'
    )
    assert decode(CutLine(b'{"type":"assis')) == w.Odd(
        reason="line too long", line=b'{"type":"assis'
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.one_of(st.binary(), st.text().map(lambda text: line(type="user", message=text))))
def test_decode_never_raises(data: bytes) -> None:
    decode(data)
    decode_host(data)


# ---- parts ---------------------------------------------------------------------------------------


def test_soft_parts_are_empty_when_they_are_something_else() -> None:
    assert d.text(UNSET) == ""
    assert d.text(Raw(b"7")) == ""
    assert d.text(Raw(b'"x"')) == "x"
    assert d.number(UNSET) is None
    assert d.number(Raw(b'"x"')) is None
    assert d.number(Raw(b"1e300")) is None
    assert d.number(Raw(b"7")) == 7
    assert d.fields(Raw(b"[]")) == {}
    assert d.blocks(Raw(b'"x"')) is None
    assert d.block(Raw(b'{"type":"hologram"}')) is None


def test_the_kind_of_a_delta_is_read_on_demand() -> None:
    assert d.delta_kind(delta(type="signature_delta", signature="s")) == "signature_delta"
    assert d.delta_kind(b"{}") == ""


@pytest.mark.parametrize("bad", [b"noise", b'{"a":NaN}', b"[" * 100_000, b'{"a":1e999}'])
def test_what_nobody_can_read_is_not_mended(bad: bytes) -> None:
    assert d.mend(bad) is None


# ---- the host's lines ----------------------------------------------------------------------------


def test_an_agent_reads_what_a_host_writes() -> None:
    said = decode_host(line(type="user", message={"role": "user", "content": "hi"}, uuid="u"))
    assert isinstance(said, w.Prompt)
    assert said.uuid == "u"
    asked = decode_host(
        line(type="control_request", request_id="r", request={"subtype": "interrupt"})
    )
    assert asked == w.HostAsked(request_id="r", subtype="interrupt", request=h.Interrupt())
    other = decode_host(
        line(type="control_request", request_id="r", request={"subtype": "hologram"})
    )
    assert other == w.HostAsked(request_id="r", subtype="hologram", request=None)


@pytest.mark.parametrize("bad", [b"noise", b"[]", b'{"type":"keep_alive","x":"\xff"}'])
def test_an_agent_finds_a_bad_line_odd(bad: bytes) -> None:
    assert isinstance(decode_host(bad), w.Odd)


def test_an_agent_keeps_what_it_does_not_know() -> None:
    assert isinstance(decode_host(line(type="hologram")), w.Unknown)


def test_a_result_of_the_apis_own_tools_is_known_by_the_end_of_its_type() -> None:
    raw = b'{"type":"web_search_tool_result","tool_use_id":"s","content":[]}'
    found = d.block(raw)
    assert isinstance(found, w.ServerToolResultBlock)
    assert found.tool_use_id == "s"
    assert d.block(b'{"type":"web_search_tool_result"}') is None
    assert d.block(b'{"type":"hologram","tool_use_id":"s"}') is None
    assert d.kind(b'{"type":"hologram"}') == "hologram"
    assert d.kind(b"[]") == ""
