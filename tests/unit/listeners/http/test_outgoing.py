from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import msgspec

from flybridge.errors import SessionNotFoundError
from flybridge.listeners.http.outgoing import CSP, Sending, answered, failure, respond
from flybridge.listeners.http.route import Answered, Call, Done, Route
from flybridge.listeners.http.sse import Receive, Send


class Sent:
    def __init__(self) -> None:
        self.messages: list[MutableMapping[str, Any]] = []

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        self.messages.append(message)

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.messages[0]["headers"])


async def nothing() -> MutableMapping[str, Any]:
    await asyncio.Event().wait()
    return {}


async def handler(_: Call) -> Done:
    return Done()


ROUTE = Route(method="GET", path="/", scope="view", handler=handler, summary="x", status=201)


async def test_every_response_carries_our_headers_and_its_name() -> None:
    sent = Sent()
    sending = Sending(sent, "abc")
    await respond(sending, Answered(headers={"content-type": "text/plain"}, body=b"hi"), nothing)
    assert sent.headers == {
        b"content-type": b"text/plain",
        b"content-length": b"2",
        b"content-security-policy": CSP.encode(),
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"no-referrer",
        b"cache-control": b"no-store",
        b"x-request-id": b"abc",
    }
    assert sending.status == 200


async def test_a_route_may_say_how_long_its_answer_is_good() -> None:
    sent = Sent()
    await respond(Sending(sent, "a"), Answered(headers={"cache-control": "max-age=60"}), nothing)
    assert sent.headers[b"cache-control"] == b"max-age=60"


def test_a_value_becomes_json_with_the_routes_status() -> None:
    found = answered({"a": 1}, ROUTE)
    assert (found.status, found.body) == (201, b'{"a":1}')
    same = Answered()
    assert answered(same, ROUTE) is same


def test_an_error_becomes_a_problem() -> None:
    found = failure(SessionNotFoundError("ses_1"))
    assert found.status == 404
    assert found.headers["content-type"] == "application/problem+json"
    assert msgspec.json.decode(found.body)["code"] == "session_not_found"


async def test_a_stream_is_written_as_it_comes_and_its_head_alone_where_that_is_asked() -> None:
    dropped: list[bool] = []

    async def stream(send: Send, _: Receive) -> None:
        await send(b"a")
        await send(b"b")

    answer = Answered(stream=stream, dropped=lambda: dropped.append(True))
    sent = Sent()
    await respond(Sending(sent, "x"), answer, nothing)
    assert [one.get("body") for one in sent.messages] == [None, b"a", b"b", b""]
    assert b"content-length" not in sent.headers
    assert dropped == []
    sent = Sent()
    await respond(Sending(sent, "x"), answer, nothing, head_only=True)
    assert [one.get("body") for one in sent.messages] == [None, b""]
    assert dropped == [True]
