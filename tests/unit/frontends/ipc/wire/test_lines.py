"""Lines: whatever is written is read or named, and what we write is always one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.errors import RemoteProtocolError
from flybridge.frontends.ipc.wire import messages as w
from flybridge.frontends.ipc.wire.lines import read, read_outbound, write


@pytest.mark.conforms("ipc: inbound types")
def test_inbound_messages_are_read() -> None:
    assert read(b'{"type":"protocol_init","version":1}') == w.ProtocolInit(version=1)
    approval = read(
        b'{"type":"tool_approval","request_id":"r","decision":"allow","updatedInput":{}}'
    )
    assert isinstance(approval, w.ToolApproval)
    assert approval.updated_input is not None
    assert read(b'{"type":"model_change","model":"m"}') == w.ModelChange(model="m")
    assert read(b'{"type":"session_command","command":"fork"}') == w.SessionCommand(command="fork")
    answer = read(b'{"type":"question_answer","request_id":"r","answers":{"q":["a","b"],"p":"c"}}')
    assert isinstance(answer, w.QuestionAnswer)
    assert answer.answers == {"q": ("a", "b"), "p": "c"}
    assert read(b"  \r") is None


@pytest.mark.conforms("ipc: unknown types")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"not json", "Not JSON"),
        (b"42", "Not a message"),
        (b"[]", "Not a message"),
        (b'{"type":"dance"}', "Unknown message type: dance"),
        (b'{"type":"user_message"}', "text"),
        (b'{"type":"user_message","text":7}', "text"),
        (b'{"type":"session_command","command":"sing"}', "sing"),
        (b"\xff\xfe", "Not JSON"),
        (b"[" * 100_000, "Not"),
    ],
)
def test_what_is_wrong_is_named(line: bytes, why: str) -> None:
    with pytest.raises(RemoteProtocolError, match=why):
        read(line)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_no_line_does_more_than_raise_a_named_error(line: bytes) -> None:
    try:
        read(line)
    except RemoteProtocolError:
        pass


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_is_one_line_and_comes_back(text: str) -> None:
    line = write(w.AssistantText(msg_id="m", seq=0, text=text))
    assert line.count(b"\n") == 1
    assert json.loads(line)["text"] == text
    assert read_outbound(line) == w.AssistantText(msg_id="m", seq=0, text=text)
