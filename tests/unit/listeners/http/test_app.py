from __future__ import annotations

import asyncio
import http.client
import re
from pathlib import Path
from typing import Any

import pytest

from flybridge.auth.refusals import PER_SOURCE
from flybridge.errors import StorageError
from flybridge.listeners.http.outgoing import CSP
from flybridge.listeners.http.route import Call, Done, Route
from flybridge.session.authorisation import Verdict
from tests.harness.http_harness import Web, serving


async def test_every_response_has_the_same_guards(web: Web) -> None:
    targets = [
        ("GET", "/api/v1/health", {}),
        ("GET", "/login", {}),
        ("GET", "/static/login.js", {}),
        ("GET", "/api/v1/sessions", {}),  # 401
        ("GET", "/nowhere", {}),  # 404
        ("PUT", "/api/v1/health", {"content-type": "application/json"}),
        ("GET", "/", {"host": "evil.example"}),  # 421
    ]
    seen = set()
    for method, target, headers in targets:
        got = await web.raw(method, target, None, headers)
        assert got.headers["content-security-policy"] == CSP
        assert got.headers["cross-origin-opener-policy"] == "same-origin"
        assert got.headers["cross-origin-resource-policy"] == "same-origin"
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "no-referrer"
        assert got.headers["cache-control"] == "no-store"
        assert not [name for name in got.headers if name.lower().startswith("access-control")]
        seen.add(got.headers["x-request-id"])
    assert len(seen) == len(targets)


async def test_a_path_that_is_not_there_is_told_to_those_we_know(web: Web) -> None:
    assert (await web.call("GET", "/nowhere", cookie="")).status == 401
    got = await web.call("GET", "/nowhere")
    assert (got.status, got.code) == (404, "not_found")
    assert (await web.raw("GET", "/nowhere", None, {})).status == 404


async def test_a_method_that_is_not_there_names_those_that_are(web: Web) -> None:
    got = await web.call("DELETE", "/sessions")
    assert (got.status, got.headers["allow"]) == (405, "GET, POST")
    assert (await web.call("DELETE", "/sessions", cookie="")).status == 401


async def test_a_head_is_a_get_without_its_body(web: Web) -> None:
    got = await web.call("HEAD", "/sessions")
    assert (got.status, got.body) == (200, b"")
    assert int(got.headers["content-length"]) > 0
    assert (await web.call("HEAD", "/sessions/none")).status == 404


async def test_a_body_that_is_too_big_is_refused_while_it_is_read(web: Web) -> None:
    got = await web.call("POST", "/sessions", b"x" * ((1 << 20) + 1))
    assert (got.status, got.code) == (413, "too_big")

    def chunked() -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=20)
        headers = {**web.headers(), "content-type": "application/json"}
        pieces = (b"x" * 65536 for _ in range(40))
        connection.request(
            "POST", "/api/v1/sessions", body=pieces, headers=headers, encode_chunked=True
        )
        found = connection.getresponse()
        said = found.read()
        connection.close()
        return found.status, said

    status, said = await asyncio.to_thread(chunked)
    assert (status, b"too_big" in said) == (413, True)


async def test_several_requests_share_a_connection(web: Web) -> None:
    def several() -> list[int]:
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=20)
        found = []
        for headers in (web.headers(), {}, web.headers()):
            connection.request("GET", "/api/v1/me", headers=headers)
            response = connection.getresponse()
            response.read()
            found.append(response.status)
        connection.close()
        return found

    assert await asyncio.to_thread(several) == [200, 401, 200]


async def test_an_error_of_ours_is_logged_and_not_told(
    short_tmp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: Call) -> Done:
        raise RuntimeError("the secret is 42")

    async def full(_: Call) -> Done:
        raise StorageError("/home/me/journal.db is full")

    some: dict[str, Any] = {"method": "GET", "scope": "view", "summary": "x"}
    routes = [
        Route(path="/api/v1/broken", handler=broken, **some),
        Route(path="/api/v1/full", handler=full, **some),
    ]
    async with serving(short_tmp, routes=routes) as web:
        got = await web.call("GET", "/broken")
        assert (got.status, got.code) == (500, "internal")
        assert b"42" not in got.body
        assert got.headers["x-request-id"] in caplog.text
        got = await web.call("GET", "/full")
        assert (got.status, got.code) == (503, "storage_failed")
        assert b"/home" not in got.body


async def test_what_goes_wrong_at_the_gate_is_audited_within_a_bound(web: Web) -> None:
    for _ in range(PER_SOURCE + 10):
        await web.raw("GET", "/api/v1/me?x=SECRET", None, {"host": "evil.example"})
    told = [one for one in web.records if one.event == "gate"]
    assert len(told) == PER_SOURCE
    assert {(one.code, one.target, one.source) for one in told} == {
        ("wrong_host", "/api/v1/me", "127.0.0.1")
    }


async def test_a_route_that_is_refused_is_audited(web: Web) -> None:
    token = web.token("view")
    await web.call("GET", "/tokens", token=token)
    told = [one for one in web.records if one.event == "route"]
    assert [(one.target, one.detail, one.principal) for one in told] == [
        ("GET /api/v1/tokens", "admin", f"token:{token[4:20]}")
    ]


async def test_uvicorn_makes_one_address_tuple_for_each_connection(web: Web) -> None:
    """What tcp_peer knows connections by; if this changes, it only judges more often."""
    seen: list[object] = []
    inner = web.app.verdict

    async def verdict(scope: Any, login: str = "") -> Verdict:
        seen.append(scope["client"])
        return await inner(scope, login)

    web.app.verdict = verdict  # type: ignore[method-assign]

    def twice() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=20)
        for _ in range(2):
            connection.request("GET", "/api/v1/me", headers=web.headers())
            connection.getresponse().read()
        connection.close()

    await asyncio.to_thread(twice)
    await asyncio.to_thread(twice)
    assert seen[0] is seen[1]
    assert seen[2] is seen[3]
    assert seen[0] is not seen[2]


async def test_a_cookie_under_tls_is_for_tls_alone(short_tmp: Path) -> None:
    async with serving(short_tmp) as web:
        web.app.api.secure = True
        ticket = web.authority.ticket()
        got = await web.call("POST", "/login", {"ticket": ticket}, cookie="")
        assert re.search(r"; Secure$", got.headers["set-cookie"])
