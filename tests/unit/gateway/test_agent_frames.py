from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from flybridge.gateway.agent_frames import AgentFrames
from flybridge.listeners.frames import RESTART

awkward = st.text('\n"é{}', max_size=12)


def client() -> ClientProtocol:
    return ClientProtocol(parse_uri("ws://x/"), state=OPEN)


def said(heard: list[bytes | int]) -> bytes:
    return b"".join(one for one in heard if isinstance(one, bytes))


@given(
    text=st.lists(awkward, max_size=8),
    frames=st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.booleans()), min_size=1),
    read=st.integers(1, 40),
)
@pytest.mark.conforms("S3-A1")
def test_what_is_said_does_not_depend_on_frames_and_reads(
    text: list[str], frames: list[tuple[int, bool, bool]], read: int
) -> None:
    stream = "".join(one + "\n" for one in text).encode()
    theirs, at, turn = client(), 0, 0
    while at < len(stream):
        size, binary, whole = frames[turn % len(frames)]
        piece = stream[at : at + size]
        at, turn = at + size, turn + 1
        if whole or len(piece) < 2:
            theirs.send_binary(piece) if binary else theirs.send_text(piece)
        else:
            begin = theirs.send_binary if binary else theirs.send_text
            begin(piece[:1], fin=False)
            theirs.send_continuation(piece[1:], fin=True)
    wire = b"".join(theirs.data_to_send())
    ours = AgentFrames(1000)
    got = [ours.receive(wire[at : at + read], 0.0) for at in range(0, len(wire), read)]
    assert b"".join(said(one) for one in got) == stream
    assert ours.open


@given(st.binary(max_size=200))
def test_any_bytes_are_frames_or_the_end_of_the_connection(data: bytes) -> None:
    ours = AgentFrames(100)
    ours.receive(data, 0.0)
    ours.take()


def test_a_line_is_one_text_frame_and_its_ping_asks_whether_it_arrived() -> None:
    theirs = client()
    theirs.receive_data(AgentFrames.line(b'{"a":1}\n', 7))
    line, ping = theirs.events_received()
    assert isinstance(line, Frame)
    assert isinstance(ping, Frame)
    assert (line.opcode, bytes(line.data), line.fin) == (Opcode.TEXT, b'{"a":1}\n', True)
    ours = AgentFrames(1000)
    answer = b"".join(theirs.data_to_send())  # the library answers a ping by itself
    assert ours.receive(answer, 0.0) == [7]


def test_an_uncounted_line_asks_nothing() -> None:
    theirs = client()
    theirs.receive_data(AgentFrames.line(b"x\n", 0))
    assert len(theirs.events_received()) == 1


def test_a_sign_of_arrival_comes_in_its_place() -> None:
    theirs = client()
    theirs.send_text(b"before\n")
    theirs.send_pong((3).to_bytes(8, "big"))
    theirs.send_text(b"after\n")
    ours = AgentFrames(1000)
    assert ours.receive(b"".join(theirs.data_to_send()), 0.0) == [b"before\n", 3, b"after\n"]


def test_their_pings_are_answered_and_a_flood_of_them_ends_it() -> None:
    theirs, ours = client(), AgentFrames(1000)
    theirs.send_ping(b"hi")
    ours.receive(b"".join(theirs.data_to_send()), 0.0)
    theirs.receive_data(b"".join(ours.take()))
    (pong,) = theirs.events_received()
    assert isinstance(pong, Frame)
    assert bytes(pong.data) == b"hi"
    for _ in range(300):
        theirs.send_ping(b"")
    ours.receive(b"".join(theirs.data_to_send()), 0.0)
    assert not ours.open


def test_a_frame_that_is_too_long_ends_it() -> None:
    theirs, ours = client(), AgentFrames(1000)
    theirs.send_text(b"x" * 1001)
    assert ours.receive(b"".join(theirs.data_to_send()), 0.0) == []
    assert not ours.open


def test_a_frame_without_a_mask_ends_it() -> None:
    ours = AgentFrames(1000)
    assert ours.receive(b"\x81\x01x", 0.0) == []
    assert not ours.open


def test_it_is_closed_with_a_reason_once() -> None:
    theirs, ours = client(), AgentFrames(1000)
    ours.close(RESTART)
    ours.close(RESTART)
    theirs.receive_data(b"".join(ours.take()))
    assert theirs.close_rcvd is not None
    assert theirs.close_rcvd.code == 1012
