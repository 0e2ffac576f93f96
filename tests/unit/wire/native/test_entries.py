"""Spliced event lines are what encoding each message would have given."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.errors import RemoteProtocolError
from flybridge.wire.native.entries import decode_entries, encode_entries
from flybridge.wire.native.messages import EventLine, encode

GOLDEN = Path(__file__).parents[3] / "golden" / "native" / "entries.jsonl"


def test_the_golden_batch_decodes_and_encodes_to_the_same_bytes() -> None:
    data = GOLDEN.read_bytes().rstrip(b"\n")
    lines = decode_entries(data)
    first = lines[0]
    events = [bytes(line.event) for line in lines]
    assert [line.seq for line in lines] == [40, 41, 42]
    assert encode_entries(first.session, first.epoch, first.seq, first.at_ms, events) == data


documents = st.dictionaries(st.text(' \n"é\\'), st.text(' \n"é\\') | st.integers(), max_size=3)


@given(
    session=st.text('s "\n\\é', min_size=1),
    first=st.integers(1, 2**40),
    events=st.lists(documents, min_size=1, max_size=5),
)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_splicing_equals_encoding_each_line(
    session: str, first: int, events: list[dict[str, str | int]]
) -> None:
    bodies = [msgspec.json.encode(event) for event in events]
    expected = b"\n".join(
        encode(EventLine(session=session, epoch=3, seq=first + n, at_ms=7, event=Raw(body)))
        for n, body in enumerate(bodies)
    )
    assert encode_entries(session, 3, first, 7, bodies) == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_pretty_printed_event_still_takes_one_line(count: int) -> None:
    pretty = b'{\n "type":"tasks",\n "tasks":["a\\nb"]\n}'
    lines = encode_entries("ses_1", 1, 1, 1, [pretty] * count).split(b"\n")
    assert len(lines) == count
    assert msgspec.json.decode(lines[0])["event"] == msgspec.json.decode(pretty)


def test_no_events_are_no_bytes() -> None:
    assert encode_entries("ses_1", 1, 1, 1, []) == b""
    assert decode_entries(b"") == []


def test_only_event_lines_are_entries() -> None:
    with pytest.raises(RemoteProtocolError, match="event line"):
        decode_entries(b'{"type":"error","code":"x"}')
