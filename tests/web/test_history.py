"""Conversations that were had on this machine: found, kept and gone on with."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.past import CONVERSATION, write_down
from tests.web.rig import Served


@pytest.fixture(scope="module", autouse=True)
def past(gateway: Served) -> None:
    write_down(gateway)


def test_a_conversation_is_listed_and_found_by_what_was_said(
    gateway: Served, visitor: Visitor
) -> None:
    page = visitor().open("/history")
    listed = page.get_by_role("region", name="Conversations")
    expect(listed.get_by_text("Where is the lighthouse?")).to_be_visible()
    page.get_by_role("searchbox", name="Search everything that was said").fill("northern pier")
    page.keyboard.press("Enter")
    found = page.get_by_role("region", name="Found")
    hit = found.get_by_role("listitem").filter(has_text="On the northern pier.")
    expect(hit.get_by_text(str(gateway.work), exact=True)).to_be_visible()  # where it was said


def test_going_on_asks_where_and_with_what(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/history")
    page.get_by_role("button", name="Fork Where is the lighthouse?").click()
    form = page.get_by_role("dialog", name="New session")
    expect(form.get_by_role("combobox", name="Conversation")).to_have_value(CONVERSATION)
    expect(form.get_by_label("Folder")).to_have_value(str(gateway.work))
    expect(form.get_by_label("Fork it")).to_be_checked()


def test_a_conversation_is_kept_as_a_session(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/history")
    page.get_by_role("button", name="Import Where is the lighthouse?").click()
    expect(page.get_by_role("log")).to_contain_text("On the northern pier.")
    expect(page.get_by_role("article", name="You").first).not_to_contain_text("by past")
    page.goto(f"{gateway.address}/history")
    expect(page.get_by_role("link", name="Open Where is the lighthouse?")).to_be_visible()
