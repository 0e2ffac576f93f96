"""A connection that is lost, and what a person sees of it: no word twice, none missing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.harness.login import KEY_HEADER, headers_in
from tests.harness.terminal_home import SLOW
from tests.harness.waiting import wait_until
from tests.web.conftest import Visitor
from tests.web.rig import Served, Visit
from tests.web.wire import LOST, Wire, through_wire

CUTS = 20
_names = itertools.count()


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.close()


@pytest.fixture(scope="module")
def browser_args(wire: Wire) -> list[str]:
    return [wire.browser_arg]


@pytest.fixture
def cuttable(gateway: Served, visitor: Visitor, wire: Wire) -> Visit:
    """Somebody at the other end of the wire."""
    wire.target = gateway.port
    wire.mend()
    visit = visitor(logged_in=False)
    visit.expect(LOST)
    visit.context.set_storage_state(through_wire(gateway.login))
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
    wait_until(
        lambda: log.inner_text() == fresh.inner_text(),
        lambda: f"{log.inner_text()!r} to be {fresh.inner_text()!r}",
    )


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


def said(gateway: Served, session: str) -> list[str]:
    """What people said, as the log has it."""
    events = gateway.call("GET", f"/sessions/{session}/events")["events"]
    return [
        part["text"]
        for line in events
        if (one := line["event"])["type"] == "input.accepted"
        for part in one.get("content", [])
    ]


def field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def waiting(page: Page) -> Locator:
    return page.get_by_role("list", name="Messages that wait")


def offline(visit: Visit, wire: Wire, session: str) -> Page:
    """The page of a session whose connection was just lost."""
    page = at(visit, f"/s/{session}")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    wire.take_down()
    expect(page.get_by_text("Reconnecting. What you send is kept")).to_be_visible()
    return page


def say(page: Page, *messages: str) -> None:
    for one in messages:
        field(page).fill(one)
        field(page).press("Enter")


def test_what_is_sent_while_offline_waits_and_is_carried_out_once(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    session = gateway.new_session(f"offline-{next(_names)}")
    page = offline(cuttable, wire, session)
    say(page, "think about the sea")
    expect(page.get_by_text("When the connection is back")).to_be_visible()
    wire.mend()
    expect(page.get_by_role("log").get_by_text("think about the sea")).to_have_count(1)
    expect(page.get_by_role("log")).to_contain_text("Done")
    expect(page.get_by_text("When the connection is back")).to_have_count(0)
    assert said(gateway, session).count("think about the sea") == 1


def test_what_waits_for_the_connection_can_be_changed_and_taken_back(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    session = gateway.new_session(f"offline-{next(_names)}")
    page = offline(cuttable, wire, session)
    say(page, "thimk", "never mind", "hello")
    row = waiting(page).get_by_role("listitem")
    expect(row).to_have_count(3)
    row.nth(1).get_by_role("button", name="Take this message back").click()
    expect(row).to_have_count(2)
    row.nth(0).get_by_role("button", name="Change this message").click()
    page.get_by_label("Changed message").fill("think")
    wire.mend()
    page.get_by_role("button", name="Try now").click()
    # the other one goes; what is in somebody's hands does not
    expect(page.get_by_role("log")).to_contain_text("Hello from the demo agent")
    assert said(gateway, session) == ["hello"]
    page.get_by_label("Changed message").press("Enter")
    expect(waiting(page)).not_to_be_visible()
    expect(page.get_by_role("log").get_by_role("article", name="You")).to_have_count(2)
    assert said(gateway, session) == ["hello", "think"]


def test_what_waits_and_what_is_written_survive_a_reload(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    session = gateway.new_session(f"offline-{next(_names)}")
    page = offline(cuttable, wire, session)
    say(page, "hello", "thimk")
    waiting(page).get_by_role("button", name="Change this message").last.click()
    page.get_by_label("Changed message").fill("think")
    field(page).fill("half a thought")
    wire.mend()
    page.reload()
    expect(page.get_by_role("log")).to_contain_text("Hello from the demo agent")
    expect(field(page)).to_have_value("half a thought")
    expect(page.get_by_label("Changed message")).to_have_value("think")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("log").get_by_role("article", name="You")).to_have_count(2)
    assert said(gateway, session) == ["hello", "think"]


def test_what_may_have_arrived_is_not_offered_to_be_taken_back(
    gateway: Served, cuttable: Visit, wire: Wire
) -> None:
    session = gateway.new_session(f"offline-{next(_names)}")
    page = at(cuttable, f"/s/{session}")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    wire.numb()  # it leaves the page, and nobody can say whether it arrived
    say(page, "hello")
    expect(waiting(page)).to_contain_text("Sending")
    wire.take_down()
    expect(waiting(page)).to_contain_text("Sent, not confirmed")
    expect(waiting(page).get_by_role("button")).to_have_count(0)
    wire.mend()
    expect(page.get_by_role("log")).to_contain_text("Hello from the demo agent")
    expect(waiting(page)).not_to_be_visible()
    assert said(gateway, session) == ["hello"]


# ---- a connection that dies without a word -------------------------------------------------------


def wake(page: Page) -> None:
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def sleep(page: Page) -> None:
    """Hours pass: no timer runs, and what is overdue then runs once."""
    page.clock.fast_forward("03:00:00")


@pytest.mark.parametrize("happens", [wake, sleep])
def test_a_page_that_comes_back_to_a_dead_connection_is_right_soon(
    gateway: Served, cuttable: Visit, wire: Wire, happens: Callable[[Page], None]
) -> None:
    session = gateway.new_session(f"asleep-{next(_names)}")
    cuttable.context.clock.install()
    page = at(cuttable, f"/s/{session}")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    wire.numb()
    gateway.say(session, "hello", f"say-{next(_names)}")
    with page.expect_websocket():
        happens(page)
    expect(page.get_by_role("log")).to_contain_text("Hello from the demo agent")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()


# ---- parts of the page that are not there --------------------------------------------------------


def renamed(text: str) -> str:
    """The same page under other names; and back again."""
    return re.sub(r"(?<=-)[\w-]{8}(?=\.(?:js|css)\b)", lambda found: found[0].swapcase(), text)


def of_yesterday(route: Route) -> None:
    answer = route.fetch(url=renamed(route.request.url))
    headers = {name: one for name, one in answer.headers.items() if name != "content-encoding"}
    route.fulfill(status=answer.status, headers=headers, body=renamed(answer.text()))


def test_a_page_older_than_its_gateway_says_so_once_and_a_reload_loses_nothing(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(f"old-{next(_names)}")
    visit = visitor()
    visit.expect(r"404|Refused to apply style")
    # a page that was changed on its way is from nowhere, and yet may talk to this machine
    visit.context.grant_permissions(["local-network-access"])
    # the gateway had another page when this one was opened
    visit.context.route(re.compile(r"/s/|/assets/[^/]*\.(js|css)$"), of_yesterday)
    page = visit.open(f"/s/{session}")
    field(page).fill("half a thought")
    visit.context.unroute_all()
    page.get_by_role("link", name="History").first.click()
    bar = page.get_by_role("main").get_by_text("The gateway was updated")
    expect(bar).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="New session").click()
    again = page.get_by_role("button", name="Reload")
    expect(again).to_have_count(1)
    again.click()
    expect(bar).to_have_count(0)
    expect(field(page)).to_have_value("half a thought")
    page.get_by_role("button", name="New session").click()
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()


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
        "(key) => fetch('api/v1/logout', { method: 'POST', body: '{}',"
        " headers: { 'content-type': 'application/json', 'flybridge-login-key': key } })",
        headers_in(visit.login())[KEY_HEADER],
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
