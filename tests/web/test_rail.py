"""The list of sessions beside every view."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

_names = itertools.count()


def new(gateway: Served, title: str) -> str:
    return gateway.new_session(f"rail-{next(_names)}", title=title)


def rail(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Sessions")


def choose(page: Page, title: str, what: str) -> None:
    """Open the menu of a session, and take something from it."""
    rail(page).get_by_role("button", name=f"More for {title}").click()
    page.get_by_role("menuitem", name=what, exact=True).click()


def test_whoever_needs_somebody_is_on_top(gateway: Served, visitor: Visitor) -> None:
    quiet = new(gateway, "A quiet one")
    gateway.say(quiet, "hello", f"say-{next(_names)}")
    asking = new(gateway, "An asking one")
    gateway.say(asking, "run ls", f"say-{next(_names)}", until="written")
    page = visitor().open(f"/s/{quiet}")
    needs = rail(page).get_by_role("group", name="Needs you")
    expect(needs.get_by_role("link")).to_have_text(
        [r"An asking one" + "now" + "Wants to run a command"]
    )
    expect(rail(page).get_by_role("link", name="A quiet one")).to_have_attribute(
        "aria-current", "page"
    )
    expect(page).to_have_title("(1) A quiet one · Flybridge")


def test_a_search_finds_titles_and_folders(gateway: Served, visitor: Visitor) -> None:
    new(gateway, "Mend the rudder")
    new(gateway, "Paint the hull")
    page = visitor().open()
    search = rail(page).get_by_role("searchbox")
    search.fill("RUDDER")
    expect(rail(page).locator("[data-row]")).to_have_count(1)
    search.press("ArrowDown")
    expect(rail(page).get_by_role("link", name="Mend the rudder")).to_be_focused()
    search.press("Escape")
    expect(search).to_have_value("")
    search.fill("no such thing")
    expect(rail(page).get_by_text("No session matches that.")).to_be_visible()


def test_arrows_move_between_sessions(gateway: Served, visitor: Visitor) -> None:
    new(gateway, "The first")
    new(gateway, "The second")
    page = visitor().open()
    rows = rail(page).locator("[data-row]")
    expect(rail(page).get_by_role("link", name="The second")).to_be_visible()
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(rows.first).to_be_focused()


def test_a_session_is_renamed(gateway: Served, visitor: Visitor) -> None:
    new(gateway, "Old name")
    page = visitor().open()
    choose(page, "Old name", "Rename")
    title = page.get_by_role("dialog").get_by_label("Title")
    expect(title).to_be_focused()
    title.fill("New name")
    title.press("Enter")
    expect(rail(page).get_by_role("link", name="New name")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_archived_session_is_put_away_and_can_be_had_back(
    gateway: Served, visitor: Visitor
) -> None:
    new(gateway, "To be kept")
    page = visitor().open()
    row = rail(page).get_by_role("link", name="To be kept")
    choose(page, "To be kept", "Archive")
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Show archived").click()
    expect(row).to_be_visible()
    page.get_by_role("button", name="Hide archived").click()
    page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    expect(row).to_be_visible()


def test_a_session_is_deleted_when_somebody_says_so_twice(
    gateway: Served, visitor: Visitor
) -> None:
    session = new(gateway, "To be forgotten")
    page = visitor().open(f"/s/{session}")
    choose(page, "To be forgotten", "Delete")
    asked = page.get_by_role("dialog", name="Delete session")
    expect(asked).to_be_visible()
    page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    expect(rail(page).get_by_role("link", name="To be forgotten")).to_be_visible()
    choose(page, "To be forgotten", "Delete")
    asked.get_by_role("button", name="Delete session").click()
    expect(rail(page).get_by_role("link", name="To be forgotten")).to_have_count(0)
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()


def test_a_session_is_forked(gateway: Served, visitor: Visitor) -> None:
    session = new(gateway, "The trunk")
    gateway.say(session, "hello", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    choose(page, "The trunk", "Fork")
    expect(rail(page).get_by_role("link", name="The trunk")).to_have_count(2)
    expect(page).not_to_have_url(f"{gateway.address}/s/{session}")
    expect(page).to_have_url(re.compile("/s/ses_"))


def test_a_session_is_exported(gateway: Served, visitor: Visitor, tmp_path: Path) -> None:
    session = new(gateway, "To be read")
    gateway.say(session, "markdown", f"say-{next(_names)}")
    page = visitor().open()
    with page.expect_download() as markdown:
        choose(page, "To be read", "Export as Markdown")
    assert markdown.value.suggested_filename == "To-be-read.md"
    markdown.value.save_as(tmp_path / "session.md")
    text = (tmp_path / "session.md").read_text(encoding="utf-8")
    assert text.startswith("# To be read\n")
    assert "## Lists" in text
    with page.expect_download() as whole:
        choose(page, "To be read", "Export as JSON")
    assert whole.value.suggested_filename == "To-be-read.json"
