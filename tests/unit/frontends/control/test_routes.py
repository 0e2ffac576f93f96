"""One message by HTTP: what is its acknowledgement, and what is no message at all."""

from __future__ import annotations

import json

import pytest

from flybridge.frontends.control.routes import ROUTES
from tests.harness.control_harness import Steered


def test_it_takes_the_right_to_it_and_nothing_else() -> None:
    (route,) = ROUTES
    assert (route.name, route.needs) == ("POST /api/v1/control", ("control",))


async def test_a_message_and_its_acknowledgement(place: Steered) -> None:
    live = await place.ready()
    cookie = place.sender()
    got = await place.call("POST", "/control", place.message(live, sender="boss"), cookie=cookie)
    assert (got.status, got.json["result"]) == (200, "ok")
    bad = await place.call(
        "POST", "/control", place.message(live, content="", sender="boss"), cookie=cookie
    )
    assert (bad.status, bad.json["result"]) == (200, "rejected"), "it was acknowledged"
    assert place.lines() == ["hello"]


async def test_a_megabyte_of_awkward_text_comes_through(place: Steered) -> None:
    live = await place.ready()
    text = '\x01\u2028"\\' * (160 << 10)
    said = place.message(live, content=text, sender="boss")
    got = await place.call("POST", "/control", json.dumps(said).encode(), cookie=place.sender())
    assert got.json["result"] == "ok"
    assert place.lines() == [text]


@pytest.mark.abuse(49)
@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"type":"control.stdin.request"}', b'{"a":1,"a":1}', b"[" * 10**5]
)
async def test_49_what_is_no_message_is_a_bad_request(place: Steered, body: bytes) -> None:
    got = await place.call("POST", "/control", body, cookie=place.sender())
    assert (got.status, got.code) == (400, "invalid_request")


async def test_there_is_an_end_to_a_message(place: Steered) -> None:
    got = await place.call("POST", "/control", b" " * (9 << 20), cookie=place.sender())
    assert got.status == 413


@pytest.mark.abuse(5)
async def test_5_a_form_of_another_site_sends_nothing(place: Steered) -> None:
    live = await place.ready()
    data = json.dumps(place.message(live, sender="boss")).encode()
    head = place.headers(cookie=place.sender())
    for more, status in (
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json", "origin": "http://evil.example"}, 403),
    ):
        got = await place.raw("POST", "/api/v1/control", data, {**head, **more})
        assert got.status == status
    assert place.lines() == []
