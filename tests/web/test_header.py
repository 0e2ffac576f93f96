"""Above a session: which one it is, where it works, what is checked out there."""

from __future__ import annotations

import itertools
import subprocess

from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

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
