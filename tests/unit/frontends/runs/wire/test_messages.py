"""Frames, both ways: what is written is what the page says, and bad ones have a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.errors import RemoteProtocolError
from flybridge.frontends.runs.wire import messages as w

GOLDEN = Path(__file__).parents[4] / "golden" / "runs"
OUT: tuple[w.Outbound, ...] = (
    w.Started(provider="demo", model="m", config=w.RunConfig(agent="demo", cwd="/w", max_turns=3)),
    w.Progress(kind="text", content="hello"),
    w.Progress(kind="tool_use", tool="Bash", content='{"command":"ls"}'),
    w.Question(
        question_id="q_1",
        kind="select",
        text="Which?",
        options=(w.Option(label="Red", description="warm"), w.Option(label="Blue")),
        validation="choose one of the options",
    ),
    w.Question(question_id="q_2", kind="secret", text="Key?", required=False, timeout_s=5.0),
    w.Artifact(name="a.txt", path="/w/a.txt", kind="file", content="a\n"),
    w.Completed(summary="done", artifacts=("a.txt",), usage=w.Usage(cost_usd=0.1, input_tokens=1)),
    w.Failed(code="timeout", message="too late"),
    w.Cancelled(reason="enough"),
)


def lines(name: str) -> list[bytes]:
    return (GOLDEN / name).read_bytes().splitlines(keepends=True)


@pytest.mark.conforms("S4-1.1", "S4-6.1", "S4-6.5", "S4-6.6", "S4-6.8")
def test_every_frame_is_written_as_the_golden_file_has_it() -> None:
    at_ms = 1_700_000_000_123
    written = [
        w.encode(w.Frame(id=f"msg_{n:016x}", at_ms=at_ms, run="run_1", payload=one))
        for n, one in enumerate(OUT)
    ]
    assert written == lines("outbound.jsonl")
    assert {type(one) for one in OUT} == set(get_args(w.Outbound))
    for line in written:
        frame = json.loads(line)
        assert list(frame) == ["v", "id", "ts", "type", "run_id", "payload"]
        assert line.count(b"\n") == 1


@pytest.mark.conforms("S4-1.2", "S4-6.2", "S4-6.9", "S4-6.13")
def test_every_kind_of_input_is_read() -> None:
    start, answer, several, cancel = [w.decode(line) for line in lines("inbound.jsonl")]
    assert start == (
        "run_1",
        w.Start(prompt="fix it", config=w.RunConfig(model="m", stream=True), context={"a": "b"}),
    )
    assert answer == ("", w.Input(question_id="q_1", value="Red"))
    assert several == ("", w.Input(question_id="q_1", value=("Red", "Blue")))
    assert cancel == ("", w.Cancel(reason="enough"))


@pytest.mark.conforms("S4-6.2")
def test_the_version_is_one() -> None:
    assert w.VERSION == "1"
    with pytest.raises(w.UnsupportedVersionError, match="'99'"):
        w.decode(b'{"v":"99","type":"run.start","payload":{}}')


def test_an_unknown_type_is_told_from_a_bad_frame() -> None:
    with pytest.raises(w.UnknownTypeError, match="tango"):
        w.decode(b'{"v":"1","type":"run.tango"}')


@pytest.mark.conforms("S4-6.11")
@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"v":1,"type":"run.start"}',
        b'{"v":"1","type":"run.start","payload":{}}',
        b'{"v":"1","type":"run.start","payload":{"prompt":""}}',
        b'{"v":"1","type":"run.start","payload":{"prompt":"x","config":{"max_turns":-1}}}',
        b'{"v":"1","type":"run.start","run_id":"a b","payload":{"prompt":"x"}}',
        b"[" * 100_000,
        b'{"v":"1","type":"run.cancel","payload":{"reason":"\\ud800"}}',
    ],
)
def test_what_makes_no_sense_has_one_error(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        w.decode(line)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"v":1,"type":"run.start"}', 'Field "v" must be a string, for example "1".'),
        (b'{"v":"1","type":7}', 'Field "type" must be a string.'),
        (
            b'{"v":"1","type":"run.start","payload":{"prompt":""}}',
            "run.start: prompt must not be empty.",
        ),
        (b'{"v":"1","type":"run.start","payload":{}}', "run.start: prompt is missing."),
        (
            b'{"v":"1","type":"run.start","payload":{"prompt":7}}',
            "run.start: prompt must be a string, not a number.",
        ),
        (
            b'{"v":"1","type":"run.start","payload":{"prompt":"x","config":{"max_turns":-1}}}',
            "run.start: config.max_turns: expected int >= 0.",
        ),
    ],
)
def test_an_error_names_the_field_that_is_wrong(line: bytes, text: str) -> None:
    with pytest.raises(RemoteProtocolError) as error:
        w.decode(line)
    assert str(error.value) == text


def test_fields_of_a_later_time_are_passed_over() -> None:
    line = b'{"v":"1","more":1,"type":"run.cancel","payload":{"reason":"r","tempo":2}}'
    assert w.decode(line) == ("", w.Cancel(reason="r"))


@given(text=st.text())
def test_no_text_breaks_a_line(text: str) -> None:
    said = w.Progress(kind="text", content=text)
    line = w.encode(w.Frame(id="msg_1", at_ms=0, run="r", payload=said))
    assert line.count(b"\n") == 1
    assert json.loads(line)["payload"].get("content", "") == text


def test_times_are_utc_to_the_millisecond() -> None:
    assert w.timestamp(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert w.timestamp(0) == "1970-01-01T00:00:00.000Z"
