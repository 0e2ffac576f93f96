"""The transcript: what was said and done, and that it stays where it is read."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

_names = itertools.count()


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
    session = gateway.new_session(f"timeline-{next(_names)}", model="")  # at a talking pace
    page = visitor().open(f"/s/{session}")
    gateway.say(session, "count", f"say-{next(_names)}", until="written")
    expect(page.get_by_role("log")).to_contain_text("3")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("log")).to_contain_text("Interrupted")


def test_thoughts_are_one_line_once_they_are_over(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "think about boats")
    line = page.get_by_role("button", name="Thought")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    expect(line).to_have_attribute("aria-expanded", "true")


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


def test_reading_further_up_is_left_alone(gateway: Served, visitor: Visitor) -> None:
    session, page = opened(gateway, visitor, "markdown", "markdown", "long")
    log = page.get_by_role("log")
    expect(log).to_have_attribute("data-following", "true")
    log.hover()
    page.mouse.wheel(0, -900)
    expect(log).to_have_attribute("data-following", "false")
    before = log.evaluate("box => box.scrollTop")
    gateway.say(session, "hello", f"say-{next(_names)}")
    pill = page.get_by_role("button", name="Latest")
    expect(pill).to_contain_text("new")
    assert abs(log.evaluate("box => box.scrollTop") - before) < 4
    pill.click()
    expect(log).to_have_attribute("data-following", "true")


def test_a_long_session_is_fetched_in_pages(gateway: Served, visitor: Visitor) -> None:
    """Older lines come when their place comes near, and nothing that is read moves."""
    session = gateway.new_session(f"timeline-{next(_names)}")
    gateway.say(session, "hello", f"say-{next(_names)}")
    for _ in range(60):  # more events than are fetched at first
        gateway.say(session, "context", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    log = page.get_by_role("log")
    expect(log.locator("[data-entry]").last).to_be_visible()
    asked = 0
    while page.get_by_role("heading", name="Hello from the demo agent").count() == 0:
        log.evaluate("box => box.scrollTo(0, 0)")
        page.wait_for_timeout(50)
        asked += 1
        assert asked < 100
    expect(page.get_by_role("heading", name="Hello from the demo agent")).to_be_attached()


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("compact", "Context compacted"),
        ("unknown", "A message this version does not know"),
        ("limit", "rate limit"),
        ("retry", "trying again"),
        ("error 529", "Failed"),
    ],
)
def test_what_belongs_to_nothing_has_a_line(
    gateway: Served, visitor: Visitor, word: str, shown: str
) -> None:
    _, page = opened(gateway, visitor, word)
    expect(page.get_by_role("log").get_by_text(shown).first).to_be_visible()


def test_an_agent_that_ended_says_what_to_do(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "crash")
    card = page.get_by_role("region", name="The agent ended")
    expect(card).to_contain_text("Your next message starts it again")


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
