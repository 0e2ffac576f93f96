"""Above a session: which one it is, where it works, what is checked out there."""

from __future__ import annotations

import itertools
import subprocess

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.rig import Served, Size

_names = itertools.count()


def test_the_branch_is_told_and_asked_for_again_with_every_turn(
    gateway: Served, visitor: Visitor
) -> None:
    folder = gateway.base / "boat"
    subprocess.run(["git", "init", "-q", "-b", "tides", str(folder)], check=True)
    session = gateway.new_session(f"header-{next(_names)}", cwd=str(folder))
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_role("group", name="Branch tides")).to_be_visible()
    subprocess.run(["git", "-C", str(folder), "checkout", "-q", "-b", "winds"], check=True)
    gateway.say(session, "hello", f"say-{next(_names)}")
    expect(page.get_by_role("group", name="Branch winds")).to_be_visible()


def test_a_title_is_read_to_its_end_before_anything_else(gateway: Served, visitor: Visitor) -> None:
    title = "A title of some forty letters, no more."
    session = gateway.new_session(f"header-{next(_names)}", title=title)
    page = visitor(size="tablet").open(f"/s/{session}")
    heading = page.get_by_role("heading", name=title)
    expect(heading).to_be_visible()
    assert heading.evaluate("(one) => one.scrollWidth <= one.clientWidth")


@pytest.mark.parametrize("words", ["crash", "error"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_web_b09_the_mark_above_a_session_is_that_of_the_list(
    gateway: Served, visitor: Visitor, words: str, size: Size
) -> None:
    title = f"Marked {next(_names)}"
    session = gateway.new_session(f"header-{next(_names)}", title=title)
    gateway.say(session, words, f"say-{next(_names)}", until="written")
    page = visitor(size=size).open(f"/s/{session}")
    header = page.locator("header").filter(has=page.get_by_role("heading", name=title))
    expect(header.get_by_role("img", name="failed")).to_be_visible()
    if size == "desk":
        expect(page.get_by_text("The last turn failed").first).to_be_visible()  # in the list
