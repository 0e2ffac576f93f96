from __future__ import annotations

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from flybridge.frontends.companion.http import answer_to, refused, token_of

UPGRADE = {"Upgrade": "websocket"}


def request(path: str = "/", **headers: str) -> Request:
    return Request(path, Headers(headers))


def test_an_upgrade_is_let_through_whatever_its_path_and_host() -> None:
    for path in ("/", "/anything", "/?x=1"):
        assert answer_to(request(path, Host="192.168.1.5:3333", **UPGRADE)) is None


def test_health_tells_that_the_server_is_up_and_nothing_else() -> None:
    said = answer_to(request("/health?x"))
    assert said is not None
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == b'{"ok":true}'


def test_who_asks_for_a_page_is_told_what_this_is() -> None:
    said = answer_to(request("/"))
    assert said is not None
    assert said.startswith(b"HTTP/1.1 200 ")


def test_who_asks_for_something_else_is_refused() -> None:
    said = answer_to(Request("/", Headers(UPGRADE), method="POST"))
    assert said is not None
    assert said.startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize("path", ["/", "/health"])
def test_a_browser_is_no_device(path: str) -> None:
    for origin in ("http://evil.example", "null", ""):
        said = answer_to(request(path, Origin=origin, **UPGRADE))
        assert said is not None
        assert said.startswith(b"HTTP/1.1 403 ")


def test_an_agent_is_no_device() -> None:
    said = answer_to(request("/ws/cli/0", **UPGRADE))
    assert said is not None
    assert said.startswith(b"HTTP/1.1 404 ")


def test_a_token_comes_in_one_header() -> None:
    assert token_of(request(Authorization="Bearer  fbd_x.y ")) == "fbd_x.y"
    assert token_of(request(Authorization="Basic fbd_x.y")) == ""
    assert token_of(request()) == ""
    twice = Headers()
    twice["Authorization"] = "Bearer a"
    twice["Authorization"] = "Bearer b"
    assert token_of(Request("/", twice)) == ""


def test_a_refusal_closes_the_connection() -> None:
    assert b"Connection: close" in refused(400)
