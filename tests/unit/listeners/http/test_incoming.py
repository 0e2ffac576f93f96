from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from flybridge.auth.gate import Head
from flybridge.errors import InvalidRequestError
from flybridge.listeners.http import incoming
from flybridge.listeners.http.incoming import (
    ClientGone,
    body_of,
    check_size,
    drain,
    forwarded_client,
    head_of,
    params_of,
    source_of,
)
from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import Body, Call, Done, Params, Route


class Some(Params, kw_only=True):
    name: str
    count: int = 0
    flag: bool | None = None


class Said(Body, kw_only=True):
    a: int


async def handler(_: Call) -> Done:
    return Done()


def route(body: type, max_body: int = 100) -> Route:
    return Route(
        method="POST",
        path="/",
        scope="view",
        handler=handler,
        summary="x",
        body=body,
        max_body=max_body,
    )


def receiving(*messages: dict[str, Any]) -> Callable[[], Awaitable[dict[str, Any]]]:
    left = list(messages)

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return receive


def piece(data: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


def test_a_head_is_taken_as_it_came() -> None:
    scope = {
        "method": "GET",
        "raw_path": b"/a%2Fb",
        "query_string": b"x=1",
        "headers": [(b"host", b"h")],
        "client": ("10.0.0.1", 5),
    }
    head = head_of(scope)
    assert (head.target, head.one(b"host")) == ("/a%2Fb?x=1", b"h")
    assert source_of(scope) == "10.0.0.1"
    assert source_of({}) == ""


def test_path_and_query_become_one_struct() -> None:
    found = params_of(Some, {"name": "a"}, b"count=5&flag=true")
    assert found == Some(name="a", count=5, flag=True)


@pytest.mark.parametrize(
    "query",
    [
        b"count=5&count=5",
        b"name=b",  # the path has said it
        b"token=secret",
        b"count=x",
        b"count=" + b"9" * 5000,
        b"flag=maybe",
        b"count=%00",
        b"count=%ff",
        b"&".join(b"a%d=1" % n for n in range(50)),
    ],
)
def test_a_query_that_is_not_understood_is_refused(query: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        params_of(Some, {"name": "a"}, query)


def test_who_says_that_it_is_too_big_is_believed() -> None:
    def head(length: bytes) -> Head:
        return Head(method="POST", target="/", headers=[(b"content-length", length)])

    check_size(head(b"100"), 100)
    for length in (b"101", b"9" * 400):
        with pytest.raises(HttpError, match="100 bytes"):
            check_size(head(length), 100)


async def test_a_body_is_read_piece_by_piece() -> None:
    receive = receiving(piece(b'{"a"'), piece(b":5}", more=False))
    assert await body_of(route(Said), receive) == Said(a=5)
    assert await body_of(route(bytes), receiving(piece(b"raw", more=False))) == b"raw"


async def test_a_body_that_lied_about_its_size_is_cut_off() -> None:
    with pytest.raises(HttpError, match="100 bytes"):
        await body_of(route(bytes), receiving(*[piece(b"x" * 60)] * 2))


async def test_who_leaves_in_the_middle_gets_no_answer() -> None:
    with pytest.raises(ClientGone):
        await body_of(route(Said), receiving(piece(b"{"), {"type": "http.disconnect"}))


async def test_a_body_has_to_come_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BODY_S", 0.01)
    with pytest.raises(HttpError) as caught:
        await body_of(route(Said), receiving(piece(b"{")))
    assert caught.value.refused.status == 408


async def test_too_much_is_drained_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    await drain(receiving(piece(b"x"), piece(b"x", more=False)))
    monkeypatch.setattr(incoming, "MAX_DRAINED", 2)
    await drain(receiving(piece(b"x"), piece(b"x")))
    monkeypatch.setattr(incoming, "DRAIN_S", 0.01)
    await drain(receiving(piece(b"x")))


@pytest.mark.parametrize(
    ("values", "source", "client"),
    [
        ([b"203.0.113.5"], "127.0.0.1", "203.0.113.5"),
        ([b"1.1.1.1, 203.0.113.5"], "::1", "203.0.113.5"),  # a client can write the first ones
        ([b"1.1.1.1", b"203.0.113.5"], "127.0.0.1", "203.0.113.5"),
        ([b"2001:db8::1:2"], "127.0.0.1", "2001:db8::/64"),
        ([b"[2001:db8::1:2]"], "127.0.0.1", "2001:db8::/64"),
        ([b"203.0.113.5"], "192.0.2.1", "192.0.2.1"),  # no proxy of ours
        ([b"nonsense"], "127.0.0.1", "127.0.0.1"),
        ([b""], "127.0.0.1", "127.0.0.1"),
        ([], "127.0.0.1", "127.0.0.1"),
    ],
)
def test_the_client_of_a_proxy_is_the_last_it_names(
    values: list[bytes], source: str, client: str
) -> None:
    headers = [(b"x-forwarded-for", value) for value in values]
    head = Head(method="POST", target="/", headers=headers)
    assert forwarded_client(head, b"x-forwarded-for", source) == client
    assert forwarded_client(head, b"", source) == source  # nothing is believed by default
