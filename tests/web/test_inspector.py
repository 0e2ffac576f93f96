"""What stands beside a session: tasks, changes, context, cost, servers."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

_names = itertools.count()


@pytest.mark.conforms("stream-json §19d", "audit: component, context gauge")
def test_the_context_and_what_fills_it(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}")
    gateway.say(session, "hello", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    gauge = page.get_by_role("meter", name="Context used").first
    expect(gauge).to_have_attribute("aria-valuetext", "0 % of 8,000 tokens")
    page.get_by_role("tab", name="Context").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Messages")
    expect(panel).to_contain_text("of 8,000 tokens")


@pytest.mark.conforms("stream-json §19d", "audit: component, context gauge")
def test_a_full_context_is_warned_of(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    gateway.say(session, "think " + "about it " * 3_400, f"say-{next(_names)}")
    expect(page.locator("header [data-level=nearly]")).to_contain_text("nearly full")


@pytest.mark.conforms("stream-json §19e", "audit: component, cost display")
def test_the_cost_and_how_much_of_it_was_the_last_turn(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}")
    gateway.say(session, "price", f"say-{next(_names)}")
    gateway.say(session, "price", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_label("Cost $")).to_contain_text("+$")
    page.get_by_role("tab", name="Context").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("This session")


def test_a_changed_file_leads_to_its_change_however_far_up(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}", mode="acceptEdits")
    gateway.say(session, "edit", f"say-{next(_names)}")
    for _ in range(12):
        gateway.say(session, "markdown", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    changed = page.locator("[data-tool=Edit]")
    expect(page.get_by_role("log")).to_have_attribute("aria-busy", "false")
    expect(changed).to_have_count(0)  # so far away that it is not drawn
    page.get_by_role("tab", name="Changes").click()
    page.get_by_role("tabpanel").get_by_role("button").last.click()
    expect(changed).to_be_in_viewport()


def test_no_servers_are_told_as_none(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}")
    gateway.say(session, "hello", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    page.get_by_role("tab", name="MCP").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("No MCP servers")


def test_the_tabs_are_walked_with_the_arrows(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    page.get_by_role("tab", name="Tasks").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Changes")).to_be_focused()
    expect(page.get_by_role("tab", name="Changes")).to_have_attribute("aria-selected", "true")


def test_the_inspector_can_be_put_away(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"inspector-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_role("tablist")).to_be_visible()
    page.get_by_role("button", name="Inspector").click()
    expect(page.get_by_role("tablist")).to_have_count(0)
    page.keyboard.press("Alt+i")
    expect(page.get_by_role("tablist")).to_be_visible()
