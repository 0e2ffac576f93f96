from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.client.transport.http import (
    MAX_BODY,
    MAX_HEAD,
    Answer,
    AnswerReader,
    request,
    to_error,
)
from flybridge.errors import (
    FlybridgeError,
    GatewayError,
    GatewayUnreachableError,
    NotAuthenticatedError,
    RemoteProtocolError,
    TooManyTriesError,
)

WHOLE = b'HTTP/1.1 200 OK\r\ncontent-length: 7\r\nX-Other: y\r\n\r\n{"a":1}'


@given(cuts=st.lists(st.integers(0, len(WHOLE)), max_size=5))
def test_an_answer_does_not_depend_on_how_reads_were_split(cuts: list[int]) -> None:
    reader = AnswerReader()
    places = [0, *sorted(cuts), len(WHOLE)]
    found = [reader.receive(WHOLE[a:b]) for a, b in pairwise(places)]
    whole = [one for one in found if one is not None]
    assert whole[0] == Answer(200, b'{"a":1}')
    assert all(one is None for one in found[: found.index(whole[0])])


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy",
        b"x" * (MAX_HEAD + 1),
    ],
)
def test_anything_else_is_no_answer(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        AnswerReader().receive(data)


@given(data=st.binary(max_size=200))
def test_any_bytes_give_an_answer_an_error_or_nothing_yet(data: bytes) -> None:
    try:
        AnswerReader().receive(b"HTTP/1.1 " + data)
    except RemoteProtocolError:
        pass


def test_a_request_says_what_it_must() -> None:
    assert request("GET", "/x?a=b", "h:1") == (
        b"GET /x?a=b HTTP/1.1\r\nHost: h:1\r\nAccept: application/json\r\n\r\n"
    )
    posted = request("POST", "/x", "h", {"Content-Type": "a/b"}, b"body")
    assert b"Content-Length: 4\r\n" in posted
    assert posted.endswith(b"\r\n\r\nbody")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, b"", NotAuthenticatedError),
        (429, b'{"code":"too_many_tries"}', TooManyTriesError),
        (429, b'{"code":"too_many_clients"}', GatewayUnreachableError),
        (503, b"<html>", GatewayUnreachableError),
        (502, b"\xff", GatewayUnreachableError),
        (302, b"", GatewayError),
        (421, b'{"code":"wrong_host","detail":"not my name"}', GatewayError),
        (200, b"[" * 5000, GatewayError),
    ],
)
def test_every_refusal_is_named(status: int, body: bytes, kind: type[FlybridgeError]) -> None:
    assert type(to_error(status, body)) is kind


def test_what_a_server_says_is_shown_as_text_only() -> None:
    error = to_error(404, b'{"detail":"nothing\\u001b[2J here\\n"}')
    assert str(error) == "the gateway refused us (404): nothing[2J here"
