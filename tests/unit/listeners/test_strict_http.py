from __future__ import annotations

import h11
import pytest

from flybridge.listeners.strict_http import HEAD_BYTES, StrictHttp

GOOD = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\na\nb\r"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n"
LOOSE = {
    "bare LF": b"GET / HTTP/1.1\nHost: a\n\n",
    "bare LF at last": b"GET / HTTP/1.1\r\nHost: a\r\n\n",
    "one bare LF": b"GET / HTTP/1.1\r\nX: 1\nHost: a\r\n\r\n",
    "folded": b"GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n",
    "folded by a tab": b"GET / HTTP/1.1\r\nX: 1\r\n\t2\r\nHost: a\r\n\r\n",
    "bare CR": b"GET / HTTP/1.1\r\nX: 1\rY: 2\r\nHost: a\r\n\r\n",
}


def parse(parts: list[bytes]) -> list[str]:
    """Feed a connection, answer each request; the targets that came through."""
    server, seen = StrictHttp(), []
    for part in parts:
        server.receive_data(part)
        while True:
            event = server.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED):
                break
            if isinstance(event, h11.Request):
                seen.append(event.target.decode())
            if isinstance(event, h11.EndOfMessage):
                server.send(h11.Response(status_code=204, headers=[]))
                server.send(h11.EndOfMessage())
                server.start_next_cycle()
    return seen


def splits(data: bytes) -> list[list[bytes]]:
    single = [data[n : n + 1] for n in range(len(data))]
    return [[data], single, *([data[:n], data[n:]] for n in range(1, len(data)))]


@pytest.mark.parametrize("before", [b"", GOOD, GOOD + GOOD, POST, CHUNKED + b"\r\n"])
@pytest.mark.parametrize("loose", LOOSE.values(), ids=LOOSE.keys())
def test_a15_a_loose_head_is_refused_wherever_it_stands(before: bytes, loose: bytes) -> None:
    for parts in splits(before + loose):
        with pytest.raises(h11.RemoteProtocolError):
            parse(parts)


@pytest.mark.parametrize("end", [b"\n", b"X: 1\n\n", b"X: 1\r\n\n", b"X: 1\r\n 2\r\n\r\n"])
def test_a15_a_loose_trailer_is_refused(end: bytes) -> None:
    for parts in splits(CHUNKED + end + GOOD):
        with pytest.raises(h11.RemoteProtocolError):
            parse(parts)


def test_requests_of_the_right_form_pass_however_they_were_split() -> None:
    for parts in splits(GOOD + POST + CHUNKED + b"\r\n" + CHUNKED + b"X: 1\r\n\r\n" + GOOD):
        assert parse(parts) == ["/"] * 5


def test_a_body_may_hold_any_bytes() -> None:
    assert parse([POST + GOOD]) == ["/", "/"]


def test_a_head_is_not_too_long_and_has_one_length() -> None:
    with pytest.raises(h11.RemoteProtocolError):
        parse([b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * HEAD_BYTES + b"\r\n\r\n"])
    both = b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"
    with pytest.raises(h11.RemoteProtocolError):
        parse([b"POST / HTTP/1.1\r\nHost: a\r\n" + both + b"\r\n"])
