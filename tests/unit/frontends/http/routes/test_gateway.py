from __future__ import annotations

import re

import msgspec

from flybridge.runtime.methods.overview import Agents
from flybridge.runtime.methods.totals import Usage
from tests.harness.http_harness import Web


async def test_health_tells_anybody_that_it_answers_and_no_more(web: Web) -> None:
    got = await web.call("GET", "/health", cookie="")
    assert got.json == {"ok": True, "version": "1.2.3"}


async def test_agents_are_listed_with_what_they_can_do(web: Web) -> None:
    got = await web.call("GET", "/agents")
    found = {one.name: one for one in msgspec.json.decode(got.body, type=Agents).agents}
    assert found["recorder"].installed
    assert "answer_permission" in found["recorder"].commands
    assert (found["missing"].installed, found["missing"].problem) == (False, "agent_not_found")
    assert b"/no/such/program" not in got.body


async def test_what_was_spent_is_added_up(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    got = await web.call("GET", "/usage?days=7")
    found = msgspec.json.decode(got.body, type=Usage)
    assert found.complete
    assert [one.session for one in found.sessions] == [live.session]
    assert found.total.turns == 1


async def test_status_comes_from_the_gateway(web: Web) -> None:
    assert "pid" in (await web.call("GET", "/status")).json


async def test_metrics_can_be_read_by_those_who_collect_them(web: Web) -> None:
    await web.open()
    await web.call("GET", "/nothing")
    await web.raw("GET", "/", None, {"host": "evil"})
    got = await web.call("GET", "/metrics", token=web.token("view"))
    assert got.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = got.body.decode()
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) .+|[a-z_]+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+', line)
    assert "flybridge_sessions{status=" in text
    assert 'flybridge_gate_refused_total{code="wrong_host"} 1' in text
    assert 'route="/api/v1/sessions",status="201"' in text
    assert 'route="-",status="404"' in text


async def test_the_document_describes_what_is_there(web: Web) -> None:
    got = (await web.call("GET", "/openapi.json")).json
    assert got["openapi"] == "3.1.0"
    assert "/sessions/{session}/commands" in got["paths"]
