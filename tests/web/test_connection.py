"""A connection that is lost, and what a person sees of it: no word twice, none missing."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.cli.at_terminal import SLOW
from tests.web.conftest import Visitor
from tests.web.rig import Served, Visit
from tests.web.wire import Wire

CUTS = 20
LOST = r"WebSocket|ERR_|Failed to load resource"
_names = itertools.count()


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.close()


@pytest.fixture(scope="module")
def browser_args(wire: Wire) -> list[str]:
    """The gateway goes by the name localhost, too; that way leads through the wire."""
    return [f"--host-resolver-rules=MAP localhost 127.0.0.1:{wire.port}"]


@pytest.fixture
def cuttable(gateway: Served, visitor: Visitor, wire: Wire) -> Visit:
    """Somebody at the other end of the wire."""
    wire.target = gateway.port
    wire.mend()
    visit = visitor(logged_in=False)
    visit.expect(LOST)
    cookies = copy.deepcopy(gateway.login["cookies"])
    for one in cookies:
        one["domain"] = "localhost"
    visit.context.add_cookies(cookies)
    return visit


def is_preview(frame: str | bytes) -> bool:
    return '"type":"preview"' in str(frame)


def without_last_line(log: Locator) -> str:
    """What was said: how it goes on, or ended, stands below it."""
    return log.inner_text().rpartition("\n\n")[0]


def at(visit: Visit, path: str) -> Page:
    page = visit.page()
    page.goto(f"http://localhost:{visit.gateway.port}{path}")
    return page


def test_twenty_cuts_in_one_answer_leave_every_word_once(
    gateway: Served, visitor: Visitor, cuttable: Visit, wire: Wire
) -> None:
    # so slow that every wait below would give up before the answer is at its end
    session = gateway.new_session(f"cuts-{next(_names)}", agent=SLOW, model="")
    page = at(cuttable, f"/s/{session}")
    log = page.get_by_role("log")
    gateway.say(session, "long", f"say-{next(_names)}", until="written")
    expect(log).to_contain_text("This is")
    seen: list[str] = []
    for _ in range(CUTS):
        with page.expect_websocket() as back:
            wire.cut()
        # only what goes on over the new one can be cut again
        back.value.wait_for_event("framereceived", is_preview)
        seen.append(without_last_line(log))
    gateway.call(
        "POST",
        f"/sessions/{session}/commands",
        {"command": {"type": "interrupt"}, "request": f"stop-{next(_names)}"},
    )
    expect(log).to_contain_text("Interrupted")
    fresh = visitor().open(f"/s/{session}").get_by_role("log")
    expect(fresh).to_contain_text("Interrupted")
    # not only when the whole of it came: at no moment was a word missing, or there twice
    assert all(without_last_line(fresh).startswith(one) for one in seen)
    assert log.inner_text() == fresh.inner_text()


def test_a_lost_connection_is_seen_and_comes_back(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    page = at(cuttable, "/")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    wire.take_down()
    expect(page.get_by_text("Reconnecting. What you send is kept")).to_be_visible()
    wire.mend()
    page.get_by_role("button", name="Try now").click()
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    expect(page.get_by_text("Reconnecting")).to_have_count(0)


def test_what_is_sent_while_offline_waits_and_is_carried_out_once(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    session = gateway.new_session(f"offline-{next(_names)}")
    page = at(cuttable, f"/s/{session}")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    wire.take_down()
    expect(page.get_by_text("Reconnecting. What you send is kept")).to_be_visible()
    message = page.get_by_label("Message", exact=True)
    message.fill("think about the sea")
    message.press("Enter")
    expect(page.get_by_text("When the connection is back")).to_be_visible()
    wire.mend()
    expect(page.get_by_role("log").get_by_text("think about the sea")).to_have_count(1)
    expect(page.get_by_role("log")).to_contain_text("Done")
    expect(page.get_by_text("When the connection is back")).to_have_count(0)
    assert said(gateway, session).count("think about the sea") == 1


def said(gateway: Served, session: str) -> list[str]:
    """What people said, as the log has it."""
    events = gateway.call("GET", f"/sessions/{session}/events")["events"]
    return [
        part["text"]
        for line in events
        if (one := line["event"])["type"] == "input.accepted"
        for part in one.get("content", [])
    ]


def test_a_part_that_cannot_be_fetched_leaves_the_page_as_it_is(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    page = at(cuttable, "/")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    wire.take_down()
    new = page.get_by_role("button", name="New session")
    new.click()
    said = page.get_by_role("region", name="Messages")
    expect(said).to_contain_text("This part of the page could not be loaded.")
    wire.mend()
    said.get_by_role("button", name="Reload").click()
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    new.click()
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()


def test_starting_over_is_one_press(gateway: Served, cuttable: Visit) -> None:
    page = at(cuttable, "/")
    state = page.get_by_role("button", name="Connected")
    with page.expect_websocket():
        state.click()
    expect(state).to_be_visible()


def test_a_login_that_ends_elsewhere_asks_to_log_in_again(
    gateway: Served, visitor: Visitor
) -> None:
    visit = visitor(logged_in=False)
    page = visit.log_in()
    visit.expect(LOST)
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    page.evaluate(
        "fetch('api/v1/logout', { method: 'POST', body: '{}',"
        " headers: { 'content-type': 'application/json' } })"
    )
    again = page.get_by_role("button", name="Log in again")
    expect(again).to_be_visible()
    again.click()
    page.wait_for_url("**/login")


def test_a_visitor_nobody_knows_is_led_to_the_login(gateway: Served, visitor: Visitor) -> None:
    visit = visitor(logged_in=False)
    visit.expect(LOST)
    page = visit.page()
    page.goto(f"{gateway.address}/history", wait_until="commit")
    page.wait_for_url("**/login")
    assert page.evaluate("sessionStorage.getItem('flybridge-next')") == "/history"
