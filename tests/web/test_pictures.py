"""Which pictures the page loads, and from where."""

from __future__ import annotations

import http.client
import json
from contextlib import closing

from playwright.sync_api import expect

from tests.harness.login import headers_in
from tests.web.conftest import Visitor
from tests.web.rig import Served


def test_a16_pictures_in_an_agents_text_come_from_blobs_alone(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session("pictures")
    visit = visitor()
    page = visit.page()
    picture = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763"
        "f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
    )
    headers = {**headers_in(gateway.login), "content-type": "application/octet-stream"}
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
    with closing(connection):
        connection.request("POST", "/api/v1/blobs", picture, headers)
        digest = json.loads(connection.getresponse().read())["digest"]
    asked: list[tuple[str, str]] = []
    page.on("request", lambda request: asked.append((request.resource_type, request.url)))
    words = (
        f"![me](/api/v1/me) ![stream](/api/v1/sessions/{session}/stream?last=1) ![dot](/api/v1/"
        f"blobs/{digest}) ![out]({gateway.address}/api/v1/tokens) ![else](http://127.0.0.1:9/x)"
    )
    gateway.say(session, "run ls", "ask", until="observed")
    gateway.answer(session, decision="deny", message=words)  # the demo agent repeats the reason
    page.goto(f"{gateway.address}/s/{session}")
    dot = page.get_by_role("log").locator("img")
    expect(dot).to_have_count(1)
    expect(dot).to_have_attribute("alt", "dot")
    assert str(dot.get_attribute("src")).startswith("blob:")
    assert dot.evaluate("(one) => one.decode().then(() => one.naturalWidth)") == 1
    expect(page.get_by_role("log").get_by_role("link", name="else")).to_be_visible()
    assert all(url.startswith("blob:") for kind, url in asked if kind == "image")
    own = [url.partition("/api/v1/")[2] for _, url in asked if "/api/v1/" in url]
    assert [path for path in own if path != f"blobs/{digest}"] == []
