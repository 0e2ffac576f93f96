"""The page in a hand: one column, a bar at the bottom, and nothing too small to hit."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

MIN_TARGET = 44
# What is smaller than a thumb, of all that can be hit. A tick counts with its label; a link inside
# of a sentence is as high as the sentence.
TOO_SMALL = """
(least) => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, [role=option], [role=menuitem]"
)].flatMap((one) => {
  const boxes = [one, ...(one.matches("[type=checkbox], [type=radio]") ? one.labels : [])]
    .map((each) => each.getBoundingClientRect());
  const { width, height, bottom } = boxes.toSorted((a, b) => b.height - a.height)[0];
  if (width <= 1 || bottom < 0) return [];  // not to be seen, or not yet
  if (one.matches("a") && getComputedStyle(one).display === "inline") return [];
  if (Math.min(width, height) > least - 1) return [];
  return [`${Math.round(width)} x ${Math.round(height)}: ${one.outerHTML.slice(0, 120)}`];
})
"""
_names = itertools.count()


def overflows(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_the_bar_leads_to_board_session_and_inspector(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"phone-{next(_names)}", title="In a hand")
    gateway.say(session, "tasks", f"say-{next(_names)}")
    page = visitor(size="phone").open()
    bar = page.get_by_role("navigation", name="Places")
    expect(bar.get_by_role("button", name="Inspector")).to_be_disabled()
    bar.get_by_role("button", name="Session").click()
    page.get_by_role("dialog", name="Sessions").get_by_role("link", name="In a hand").click()
    expect(page.get_by_role("heading", name="In a hand", level=1)).to_be_visible()
    bar.get_by_role("button", name="Inspector").click()
    expect(page.get_by_role("dialog", name="Inspector").get_by_role("tab")).to_have_count(4)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    bar.get_by_role("link", name="Board").click()
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
    bar.get_by_role("button", name="Session").click()
    expect(page).to_have_url(f"{gateway.address}/s/{session}")


def test_the_window_itself_does_not_scroll(gateway: Served, visitor: Visitor) -> None:
    """What is only read out stands below the edge, too: it makes no room to scroll to."""
    for _ in range(2):
        session = gateway.new_session(f"phone-{next(_names)}", title="Paint and crew")
        gateway.say(session, "questions", f"say-{next(_names)}", until="written")
    page = visitor(size="phone").open()
    expect(page.get_by_text("Has questions for you")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollHeight === innerHeight")


@pytest.mark.parametrize("path", ["/", "/history", "/new", "session"])
def test_nothing_is_wider_than_the_smallest_phone(
    gateway: Served, visitor: Visitor, path: str
) -> None:
    if path == "session":
        session = gateway.new_session(f"phone-{next(_names)}")
        gateway.say(session, "markdown", f"say-{next(_names)}")
        path = f"/s/{session}"
    page = visitor(size="narrow").open(path)
    page.get_by_role("navigation", name="Places").wait_for()
    page.wait_for_load_state("networkidle")
    if "/s/" in path:
        expect(page.get_by_text("That is all of it.")).to_be_visible()
    assert not overflows(page)


@pytest.fixture(scope="module")
def asking(gateway: Served) -> dict[str, str]:
    """Sessions that want something, by what was said to them."""
    made = {}
    for word in ("run ls", "questions", "plan", "edit"):
        made[word] = gateway.new_session(f"phone-{next(_names)}", title=f"Asked for {word}")
        gateway.say(made[word], word, f"say-{next(_names)}", until="written")
    return made


@pytest.mark.parametrize("path", ["/", "/history", "/access", "/devices", "/settings", "/new"])
def test_what_can_be_hit_in_a_view_is_large_enough(
    asking: dict[str, str], visitor: Visitor, path: str
) -> None:
    page = visitor(size="phone").open(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("navigation", name="Places")).to_contain_text("waiting")
    if path in ("/settings", "/new"):
        expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate(TOO_SMALL, MIN_TARGET) == []
    if path == "/":
        page.get_by_role("button", name="All sessions").click()
        expect(page.get_by_role("dialog", name="Sessions")).to_be_visible()
        assert page.evaluate(TOO_SMALL, MIN_TARGET) == []


@pytest.mark.parametrize("word", ["run ls", "questions", "plan", "edit"])
def test_what_can_be_hit_in_a_session_is_large_enough(
    asking: dict[str, str], visitor: Visitor, word: str
) -> None:
    page = visitor(size="phone").open(f"/s/{asking[word]}")
    expect(page.get_by_role("region", name="Waiting for you")).to_be_visible()
    page.keyboard.press("Alt+o")  # every tool is open
    assert page.evaluate(TOO_SMALL, MIN_TARGET) == []
    page.get_by_role("navigation", name="Places").get_by_text("Inspector").click()
    expect(page.get_by_role("tab")).to_have_count(4)
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert page.evaluate(TOO_SMALL, MIN_TARGET) == []


def test_what_is_told_over_the_list_can_be_pressed(gateway: Served, visitor: Visitor) -> None:
    """An open dialog makes all else dead: what is told stands in it, and outlives it."""
    gateway.new_session(f"phone-{next(_names)}", title="Put away")
    page = visitor(size="phone").open()
    page.get_by_role("button", name="All sessions").click()
    drawer = page.get_by_role("dialog", name="Sessions")
    row = drawer.get_by_role("link", name="Put away")
    for last in (False, True):
        drawer.get_by_role("button", name="More for Put away").click()
        page.get_by_role("menuitem", name="Archive").click()
        expect(row).to_have_count(0)
        expect(drawer.get_by_role("status")).to_have_text("Archived.")  # and is read out
        if not last:
            page.get_by_role("button", name="Undo").tap()
            expect(row).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    page.get_by_role("button", name="Undo").tap()
    expect(page.get_by_role("region", name="Messages").get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("link", name="Put away")).to_be_visible()
