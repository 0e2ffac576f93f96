"""What Escape does, first to last: close, deny, clear, look, stop."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.harness.terminal_home import SLOW
from tests.web.conftest import Visitor
from tests.web.rig import Served

_requests = (f"escape-{number}" for number in itertools.count())


def field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def dock(page: Page) -> Locator:
    return page.get_by_role("region", name="Waiting for you")


@pytest.mark.conforms("audit: component, escape key handler")
def test_a_reflex_looks_at_a_prompt_and_only_the_second_denies(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(next(_requests))
    page = visitor().open(f"/s/{session}")
    field(page).fill("half a thought")
    gateway.say(session, "run echo ahoy", next(_requests), until="written")
    expect(dock(page).get_by_role("button", name="Allow once")).to_be_enabled()
    expect(field(page)).to_be_focused()  # a prompt takes no focus from a draft
    page.keyboard.press("Escape")
    expect(field(page)).to_have_value("")
    expect(dock(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(dock(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("log")).to_contain_text("That did not happen")
    page.get_by_role("button", name="Undo").click()
    expect(field(page)).to_have_value("half a thought")


def test_a_form_of_a_prompt_is_left_first(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_requests))
    gateway.say(session, "run echo ahoy", next(_requests), until="written")
    page = visitor().open(f"/s/{session}")
    dock(page).get_by_role("button", name="Deny").click()
    expect(dock(page).get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dock(page).get_by_role("button", name="Allow once")).to_be_visible()
    expect(dock(page)).to_be_focused()


def test_a_turn_is_stopped(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_requests), agent=SLOW, model="")
    page = visitor().open(f"/s/{session}")
    field(page).fill("count")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("I count to")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    expect(page.get_by_role("log")).not_to_contain_text("Nobody stopped me")


def test_suggestions_close_and_the_text_stays(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_requests))
    gateway.say(session, "hello", next(_requests))
    page = visitor().open(f"/s/{session}")
    field(page).press_sequentially("/co")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(field(page)).to_have_value("/co")


def test_a_dialog_closes_and_nothing_behind_it_stops(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_requests))
    gateway.say(session, "run echo ahoy", next(_requests), until="written")
    page = visitor().open(f"/s/{session}")
    expect(dock(page).get_by_role("button", name="Allow once")).to_be_enabled()
    field(page).fill("/help")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(dock(page)).to_be_visible()
