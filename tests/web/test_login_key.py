"""A login has two halves: the cookie, which goes to every port, and a key that stays at ours."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.abuse.clients import WebSocket
from tests.harness.login import KEY_HEADER, headers_in
from tests.web.conftest import Visitor
from tests.web.rig import Served, Visit, served

_names = (f"key-{number}" for number in itertools.count())
REFUSED = r"401|WebSocket"  # what the console says of a login that is none


class Neighbour:
    """A web server on another port of this machine. It keeps what it is sent."""

    def __init__(self) -> None:
        self.cookies: list[str] = []
        self.set_cookie = ""
        neighbour = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                neighbour.cookies.append(self.headers.get("cookie") or "")
                self.send_response(200)
                self.send_header("content-type", "text/html")
                if neighbour.set_cookie:
                    self.send_header("set-cookie", neighbour.set_cookie)
                self.end_headers()
                self.wfile.write(b"<!doctype html><link rel=icon href=data:,><h1>your app</h1>")

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    with closing(Neighbour()) as neighbour:
        yield neighbour


@pytest.fixture
def other(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A second gateway, on another port."""
    with served(browser, tmp_path_factory) as gateway:
        yield gateway


def connected(page: Page) -> None:
    expect(page.get_by_role("button", name="Connected")).to_be_visible()


def ask(
    gateway: Served, path: str, headers: dict[str, str], method: str = "GET"
) -> tuple[int, Any]:
    """What the gateway says to a program with these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
    body = None if method == "GET" else b"{}"
    given = headers if method == "GET" else {**headers, "content-type": "application/json"}
    with closing(connection):
        connection.request(method, f"/api/v1{path}", body, given)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_a04_a_server_on_another_port_is_sent_the_cookie_and_cannot_use_it(
    gateway: Served, visitor: Visitor, neighbour: Neighbour
) -> None:
    session = gateway.new_session(next(_names))
    visit = visitor()
    page = visit.open(f"/s/{session}")
    connected(page)
    with visit.context.expect_page() as opened:  # as the page writes a link of an agent's text
        page.evaluate(
            """(address) => {
              const link = document.createElement("a");
              Object.assign(link, { href: address, target: "_blank", rel: "noopener noreferrer" });
              document.body.append(link);
              link.click();
            }""",
            neighbour.address,
        )
    opened.value.wait_for_load_state()
    page.goto(f"{neighbour.address}/typed")
    name = f"flybridge-{gateway.port}="
    assert [name in cookie for cookie in neighbour.cookies] == [True, True]  # browsers do that
    found = page.evaluate("indexedDB.databases().then((all) => all.map((one) => one.name))")
    assert found == []  # what this port keeps, and nothing of ours
    stolen = {"cookie": neighbour.cookies[-1]}
    for method, path in (
        ("GET", "/me"),
        ("GET", "/sessions"),
        ("GET", f"/sessions/{session}/events"),
        ("GET", f"/sessions/{session}/stream"),
        ("GET", f"/blobs/{'0' * 64}"),
        ("GET", "/openapi.json"),
        ("POST", "/sessions"),
        ("POST", "/tokens"),
        ("POST", "/logout"),
        ("POST", f"/sessions/{session}/commands"),
    ):
        status, told = ask(gateway, path, stolen, method)
        assert (status, told["code"]) == (401, "login_incomplete"), path
    for key in ("", "guess"):
        with closing(WebSocket(gateway.port)) as socket:
            assert socket.upgrade(stolen) == 101
            socket.say({"type": "auth", "key": key}, {"type": "hello", "proto": 1})
            assert socket.ending() == 4401
    assert ask(gateway, "/me", headers_in(gateway.login))[0] == 200  # its owner's login holds


def test_a13_a_cookie_that_another_port_planted_locks_nobody_out(
    gateway: Served, visitor: Visitor, neighbour: Neighbour
) -> None:
    page = visitor().page()
    neighbour.set_cookie = f"flybridge-{gateway.port}=x; Path=/api"
    page.goto(neighbour.address)
    page.goto(gateway.address)
    connected(page)
    answer = page.evaluate(
        "(key) => fetch('api/v1/me', { headers: { 'flybridge-login-key': key } })"
        ".then((answer) => answer.status)",
        headers_in(gateway.login)[KEY_HEADER],
    )
    assert answer == 200


def test_a04_one_browser_is_signed_in_at_two_gateways(
    gateway: Served, other: Served, visitor: Visitor
) -> None:
    visit = visitor(logged_in=False)
    first = visit.log_in()
    connected(first)
    second = visit.page()
    second.goto(other.link(), wait_until="commit")
    second.wait_for_url(f"{other.address}/")
    connected(second)
    first.reload()
    connected(first)
    keys = {
        record["value"]
        for origin in visit.login()["origins"]
        for database in origin["indexedDB"]
        for record in database["stores"][0]["records"]
    }
    assert len(keys) == 2
    for key in keys:  # neither opens the other's door
        status = [
            ask(place, "/me", {**headers_in(visit.login()), KEY_HEADER: key})[0]
            for place in (gateway, other)
        ]
        assert sorted(status) == [200, 401]
    visit.expect(REFUSED)
    second.goto(f"{other.address}/access")
    second.get_by_role("button", name="Log out").click()
    second.wait_for_url("**/login")
    first.reload()
    connected(first)


def test_a04_logging_out_deletes_the_key_and_a_new_link_signs_in_again(
    gateway: Served, visitor: Visitor
) -> None:
    visit = visitor(logged_in=False)
    page = visit.log_in()
    page.goto(f"{gateway.address}/access")
    before = headers_in(visit.login())
    visit.expect(REFUSED)
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    expect(page.get_by_label("Password")).to_be_visible()
    assert headers_in(visit.login()) == {"cookie": "", KEY_HEADER: ""}
    assert ask(gateway, "/me", before)[0] == 401
    page.goto(f"{gateway.address}/history", wait_until="commit")
    page.wait_for_url("**/login")
    page.goto(gateway.link(), wait_until="commit")
    page.wait_for_url(f"{gateway.address}/history")  # back to where it was
    connected(page)


DELETE_KEY = """new Promise((done) => {
  indexedDB.open("flybridge").onsuccess = (opened) => {
    const store = opened.target.result.transaction("login", "readwrite").objectStore("login");
    store.clear().onsuccess = done;
  };
})"""


def test_a04_a_browser_that_lost_its_key_is_led_to_the_sign_in_page(
    gateway: Served, visitor: Visitor
) -> None:
    visit = visitor(logged_in=False)
    page = visit.log_in()
    connected(page)
    visit.expect(REFUSED)
    page.evaluate(DELETE_KEY)
    page.reload()
    page.wait_for_url("**/login")
    expect(page.get_by_label("Password")).to_be_visible()
    page.goto(gateway.link(), wait_until="commit")
    page.wait_for_url(f"{gateway.address}/")
    connected(page)


def test_a04_a_cookie_from_before_the_upgrade_leads_to_the_sign_in_page(
    gateway: Served, visitor: Visitor
) -> None:
    visit = visitor(logged_in=False)
    visit.expect(REFUSED)
    (cookie,) = gateway.login["cookies"]
    for value in (cookie["value"], "0123456789abcdef.over"):
        known: Any = {**cookie, "value": value}
        visit.context.add_cookies([known])
        page = visit.page()
        page.goto(f"{gateway.address}/history", wait_until="commit")
        page.wait_for_url("**/login")
        expect(page.get_by_label("Password")).to_be_visible()
        page.close()


def test_a04_signing_in_again_in_one_tab_holds_for_the_others(
    gateway: Served, visitor: Visitor
) -> None:
    visit = visitor(logged_in=False)
    first = visit.log_in()
    connected(first)
    old = headers_in(visit.login())
    second = visit.page()
    second.goto(gateway.link(), wait_until="commit")
    second.wait_for_url(f"{gateway.address}/")
    connected(second)
    assert headers_in(visit.login())[KEY_HEADER] != old[KEY_HEADER]
    with first.expect_websocket():
        first.get_by_role("button", name="Connected").click()  # starts the connection over
    connected(first)


@pytest.mark.parametrize(
    "broken",
    [
        "Object.defineProperty(globalThis, 'indexedDB', { value: undefined })",
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }",
        "IDBDatabase.prototype.transaction = () => { throw new DOMException(); }",
    ],
)
def test_a04_a_browser_that_keeps_nothing_is_told_so_and_spends_no_link(
    gateway: Served, visitor: Visitor, broken: str
) -> None:
    visit = visitor(logged_in=False)
    visit.context.add_init_script(broken)
    page = visit.page()
    link = gateway.link()
    page.goto(link)
    expect(page.get_by_role("status")).to_contain_text("does not let this page store data")
    whole: Visit = visitor(logged_in=False)
    again = whole.page()
    again.goto(link, wait_until="commit")
    again.wait_for_url(f"{gateway.address}/")
    connected(again)


def test_a04_the_list_of_routes_is_shown_to_those_who_are_in(
    gateway: Served, visitor: Visitor
) -> None:
    page = visitor().open("/api/v1/docs")
    expect(page.get_by_text("/sessions/{session}/stream")).to_be_visible()
    stranger = visitor(logged_in=False)
    stranger.expect(r"openapi\.json")
    expect(stranger.open("/api/v1/docs").get_by_text("Sign in first")).to_be_visible()
