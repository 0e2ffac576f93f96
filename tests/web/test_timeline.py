"""The transcript: what was said and done, and that it stays where it is read."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.harness.terminal_home import SLOW
from tests.harness.waiting import wait_until
from tests.web.conftest import Visitor
from tests.web.looking import PAINTED
from tests.web.rig import Served, Visit

_names = itertools.count()
# How far a box is scrolled, once it rests: a turn of the wheel takes several frames.
AT_REST = """
async (box) => {
  for (let tops = [NaN]; ; tops = [box.scrollTop, ...tops.slice(0, 2)]) {
    if (tops.length === 3 && tops.every((one) => one === tops[0])) return tops[0];
    await new Promise((painted) => requestAnimationFrame(painted));
  }
}
"""


def opened(gateway: Served, visitor: Visitor, *said: str) -> tuple[str, Page]:
    """A session in which this was said, and a page that shows it."""
    session = gateway.new_session(f"timeline-{next(_names)}")
    for text in said:
        gateway.say(session, text, f"say-{next(_names)}")
    return session, visitor().open(f"/s/{session}")


def test_markdown_becomes_a_page(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "markdown")
    log = page.get_by_role("log")
    expect(log.get_by_role("heading", name="Markdown")).to_be_visible()
    expect(log.get_by_role("table")).to_be_visible()
    expect(log.get_by_role("link", name="link")).to_have_attribute("rel", "noopener noreferrer")
    expect(log.get_by_text("def", exact=True).first).to_be_visible()  # coloured, word by word


@pytest.mark.conforms("stream-json §18 page")
def test_text_grows_as_it_is_said(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"timeline-{next(_names)}", agent=SLOW, model="")
    page = visitor().open(f"/s/{session}")
    gateway.say(session, "count", f"say-{next(_names)}", until="written")
    expect(page.get_by_role("log")).to_contain_text("I count to")
    expect(page.get_by_role("log")).to_contain_text("Writes · ")
    expect(page.get_by_role("log")).to_contain_text("Stop me with Esc")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("log")).to_contain_text("Interrupted")


def test_thoughts_are_one_line_once_they_are_over(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "think about boats")
    line = page.get_by_role("button", name="Thought")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    expect(line).to_have_attribute("aria-expanded", "true")


def test_while_it_thinks_it_says_so(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"timeline-{next(_names)}", agent=SLOW, model="")
    page = visitor().open(f"/s/{session}")
    words = "think about boats" + " and boats" * 100  # longer than any page takes to show it
    gateway.say(session, words, f"say-{next(_names)}", until="written")
    expect(page.get_by_role("log")).to_contain_text("Thinks · ")


def test_what_was_opened_stays_open(gateway: Served, visitor: Visitor) -> None:
    """Through new lines, and through a lost connection."""
    visit = visitor()
    session = gateway.new_session(f"timeline-{next(_names)}")
    gateway.say(session, "think about boats", f"say-{next(_names)}")
    page = visit.open(f"/s/{session}")
    line = page.get_by_role("button", name="Thought").first
    line.click()
    gateway.say(session, "hello", f"say-{next(_names)}")
    expect(page.get_by_role("heading", name="Hello from the demo agent")).to_be_visible()
    expect(line).to_have_attribute("aria-expanded", "true")
    visit.expect("WebSocket|ERR_")
    gateway.restart()
    gateway.say(session, "think about ropes", f"say-{next(_names)}")
    expect(page.get_by_role("button", name="Thought")).to_have_count(3)
    expect(line).to_have_attribute("aria-expanded", "true")


def scroll_up(page: Page, by: int) -> float:
    """Turn the wheel once the end of a long answer is shown; how far the log is scrolled then."""
    log = page.get_by_role("log")
    expect(log.get_by_text("That was all of it.")).to_be_in_viewport()
    expect(log).to_have_attribute("data-following", "true")
    log.evaluate(AT_REST)
    log.hover()
    page.mouse.wheel(0, -by)
    expect(log).to_have_attribute("data-following", "false")
    return float(log.evaluate(AT_REST))


def test_reading_further_up_is_left_alone(gateway: Served, visitor: Visitor) -> None:
    session, page = opened(gateway, visitor, "markdown", "markdown", "long")
    log = page.get_by_role("log")
    before = scroll_up(page, 900)
    gateway.say(session, "hello", f"say-{next(_names)}")
    pill = page.get_by_role("button", name="Latest")
    expect(pill).to_contain_text("new")
    assert abs(log.evaluate("box => box.scrollTop") - before) < 4
    pill.click()
    expect(log).to_have_attribute("data-following", "true")


class Held:
    """A page whose questions for older lines wait until they are let through."""

    def __init__(self, visit: Visit) -> None:
        self.page = visit.page()
        self._waiting: list[str | bytes] = []
        self._server: WebSocketRoute | None = None
        self.page.route_web_socket("**/api/v1/ws", self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        self._server = socket.connect_to_server()
        socket.on_message(self._ask)

    def _ask(self, message: str | bytes) -> None:
        if '"name":"page"' in str(message):
            self._waiting.append(message)
        elif self._server is not None:
            self._server.send(message)

    def is_asked(self) -> bool:
        return self._waiting != []

    def let_through(self) -> None:
        assert self._server is not None
        self._server.send(self._waiting.pop(0))


def top_of(line: Locator) -> float:
    return float(line.evaluate("line => line.getBoundingClientRect().top"))


def test_older_lines_do_not_move_what_is_read(gateway: Served, visitor: Visitor) -> None:
    """Neither while an answer streams, nor where they join what is there; what is open stays so."""
    session = gateway.new_session(f"timeline-{next(_names)}", agent=SLOW)  # for now without pauses
    gateway.say(session, "large tools", f"say-{next(_names)}")
    pace = {"command": {"type": "set_model", "model": "flybridge-demo"}, "until": "accepted"}
    gateway.call("POST", f"/sessions/{session}/commands", {**pace, "request": f"n-{next(_names)}"})
    gateway.say(session, "count", f"say-{next(_names)}", until="written")
    held = Held(visitor(size="phone"))
    page = held.page
    page.goto(f"{gateway.address}/s/{session}")
    # the page's events are handled during calls to it
    wait_until(lambda: page.evaluate("true") and held.is_asked(), "the question for older lines")
    log = page.get_by_role("log")
    log.evaluate("box => box.scrollTo(0, 0)")
    expect(log).to_have_attribute("data-following", "false")
    group = log.locator("[data-members]").first
    members = str(group.get_attribute("data-members")).split(" ")
    button = group.get_by_role("button").first
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    edge = log.locator("[data-entry]:not([data-members])").first.get_attribute("data-entry")
    first = log.locator(f'[data-entry="{edge}"]')
    page.evaluate(PAINTED)
    before = top_of(first)
    held.let_through()
    same = log.locator(f'[data-members~="{members[-1]}"]')
    expect(same).not_to_have_attribute("data-members", " ".join(members))
    expect(same.get_by_role("button").first).to_have_attribute("aria-expanded", "true")
    assert abs(top_of(first) - before) < 2
    assert log.evaluate("box => box.scrollTop") > 0


def test_what_grows_above_does_not_move_what_is_read(gateway: Served, visitor: Visitor) -> None:
    """In a browser that does nothing about it, too."""
    _, page = opened(gateway, visitor, "markdown", "markdown", "long")
    log = page.get_by_role("log")
    log.evaluate("box => { box.style.overflowAnchor = 'none'; }")
    scroll_up(page, 300)
    read = log.get_by_text("That is all of it.").last
    before = top_of(read)
    log.locator("[data-entry]").first.evaluate("line => { line.style.minHeight = '700px'; }")
    page.evaluate(PAINTED)
    assert abs(top_of(read) - before) < 2


def test_a_long_session_is_fetched_in_pages(gateway: Served, visitor: Visitor) -> None:
    """Older lines come when their place comes near."""
    session = gateway.new_session(f"timeline-{next(_names)}")
    gateway.say(session, "hello", f"say-{next(_names)}")
    for _ in range(2):  # more events than are fetched at first
        gateway.say(session, "large tools", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    log = page.get_by_role("log")
    expect(log.locator("[data-entry]").last).to_be_visible()
    hello = page.get_by_role("heading", name="Hello from the demo agent")

    def is_there() -> bool:
        log.evaluate("box => box.scrollTo(0, 0)")
        return hello.count() == 1

    wait_until(is_there, "the first line of the session")


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("compact", "Context compacted"),
        ("unknown", "A message this version does not know"),
        ("limit", "rate limit"),
        ("retry", "trying again"),
    ],
)
def test_what_belongs_to_nothing_has_a_line(
    gateway: Served, visitor: Visitor, word: str, shown: str
) -> None:
    _, page = opened(gateway, visitor, word)
    expect(page.get_by_role("log").get_by_text(shown).first).to_be_visible()


def test_why_a_turn_failed_is_said_once(gateway: Served, visitor: Visitor) -> None:
    session, page = opened(gateway, visitor)
    rail = page.get_by_role("navigation", name="Sessions")
    expect(rail.locator(f"a[href$='{session}']")).to_be_visible()  # what is so now is no news
    gateway.say(session, "error 529", f"say-{next(_names)}")
    expect(page.get_by_role("alert")).to_contain_text("the turn failed")  # to who does not look
    card = page.get_by_role("log").get_by_role("region", name="The model's service failed")
    expect(card).to_contain_text("Send your message again")
    expect(page.get_by_role("log").get_by_text("Failed", exact=True)).to_be_visible()
    expect(page.get_by_text("imaginary model is overloaded")).to_have_count(1)
    expect(page.get_by_text("trying again")).to_have_count(1)


def test_an_agent_that_ended_says_what_to_do(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "crash")
    card = page.get_by_role("region", name="The agent ended")
    expect(card).to_contain_text("Your next message starts it again")
    expect(page.get_by_role("log").get_by_text("The agent ended")).to_have_count(1)


def test_clearing_clears_the_view_only(gateway: Served, visitor: Visitor) -> None:
    session, page = opened(gateway, visitor, "hello")
    log = page.get_by_role("log")
    expect(log.get_by_role("heading", name="Hello from the demo agent")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(log.get_by_role("heading", name="Hello from the demo agent")).to_have_count(0)
    log.get_by_role("button", name="Show what was cleared").click()
    expect(log.get_by_role("heading", name="Hello from the demo agent")).to_be_visible()
    assert gateway.call("GET", f"/sessions/{session}")["turns"] == 1


def test_no_live_region_carries_the_text(gateway: Served, visitor: Visitor) -> None:
    """Boundaries are announced; words that stream are not."""
    session, page = opened(gateway, visitor)
    expect(page.get_by_role("log")).to_have_attribute("aria-live", "off")
    gateway.say(session, "hello", f"say-{next(_names)}")
    expect(page.get_by_role("heading", name="Hello from the demo agent")).to_be_visible()
    live = page.locator("[aria-live=polite], [aria-live=assertive], [role=status], [role=alert]")
    for text in live.all_inner_texts():
        assert "no model, no key" not in text
