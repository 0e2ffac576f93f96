"""The page in a hand: one column, a bar at the bottom, and nothing too small to hit."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served, Size, Theme

MIN_TARGET = 44
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
    assert not overflows(page)


def test_what_can_be_hit_is_large_enough(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"phone-{next(_names)}", title="Hit me")
    gateway.say(session, "run ls", f"say-{next(_names)}", until="written")
    page = visitor(size="phone").open()
    expect(page.get_by_role("button", name="Allow once")).to_be_visible()
    for box in page.evaluate(
        "[...document.querySelectorAll('button')].map((one) => one.getBoundingClientRect())"
        ".filter((one) => one.width > 0).map((one) => [one.width, one.height])"
    ):
        assert min(box) >= MIN_TARGET - 1, box


def test_a_row_has_its_menu_in_the_drawer_too(gateway: Served, visitor: Visitor) -> None:
    gateway.new_session(f"phone-{next(_names)}", title="Far down")
    page = visitor(size="phone").open()
    page.get_by_role("button", name="All sessions").click()
    drawer = page.get_by_role("dialog", name="Sessions")
    drawer.get_by_role("button", name="More for Far down").click()
    page.get_by_role("menuitem", name="Archive").click()
    expect(drawer.get_by_role("link", name="Far down")).to_have_count(0)


@pytest.mark.parametrize(("theme", "size"), [("dark", "desk"), ("light", "phone")])
def test_the_frame_has_no_findings(
    gateway: Served, visitor: Visitor, axe: Callable[..., list[str]], theme: Theme, size: Size
) -> None:
    session = gateway.new_session(f"phone-{next(_names)}", title="Look at it")
    gateway.say(session, "run ls", f"say-{next(_names)}", until="written")
    page = visitor(theme=theme, size=size).open()
    expect(page.get_by_role("region", name="Needs you")).to_be_visible()
    expect(page.get_by_role("button", name="Allow once").first).to_be_enabled()
    assert axe(page) == []
    page.goto(f"{gateway.address}/history")
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    assert axe(page) == []
    page.goto(f"{gateway.address}/new")
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()
    assert axe(page, within="dialog") == []
