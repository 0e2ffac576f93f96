"""What opens over the page: commands, help, keys, settings; and the access page."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

_names = itertools.count()


def talked(gateway: Served, visitor: Visitor) -> tuple[str, Page]:
    session = gateway.new_session(f"panels-{next(_names)}", title="first boat")
    gateway.say(session, "hello", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_role("heading", name="Hello from the demo agent")).to_be_visible()
    return session, page


def test_the_palette_finds_sessions_and_commands(gateway: Served, visitor: Visitor) -> None:
    _, page = talked(gateway, visitor)
    gateway.new_session(f"panels-{next(_names)}", title="second boat")
    page.keyboard.press("Control+/")
    box = page.get_by_role("combobox", name="Command or session")
    expect(box).to_be_focused()
    box.fill("second")
    expect(page.get_by_role("option", name="second boat")).to_have_attribute(
        "aria-selected", "true"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="second boat", level=1)).to_be_visible()


@pytest.mark.conforms("stream-json §19b", "audit: component, help panel")
def test_help_tells_what_the_agent_can_do(gateway: Served, visitor: Visitor) -> None:
    _, page = talked(gateway, visitor)
    page.get_by_role("textbox", name="Message").first.fill("/help")
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="Help")
    panel.get_by_role("button", name="Commands (").click()
    expect(panel).to_contain_text("/markdown")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


@pytest.mark.conforms("stream-json §19c", "audit: component, keybindings panel")
def test_every_key_can_be_another_one(gateway: Served, visitor: Visitor) -> None:
    _, page = talked(gateway, visitor)
    page.get_by_role("textbox", name="Message").first.fill("/keybindings-help")
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="Keys")
    panel.get_by_role("button", name="Keys for Clear the view").click()
    page.keyboard.press("Control+/")
    expect(panel.get_by_role("alert").filter(has_text="Commands")).to_be_visible()
    page.keyboard.press("Alt+k")
    expect(panel.get_by_role("button", name="Keys for Clear the view: Alt+K")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.keyboard.press("Alt+k")
    expect(page.get_by_role("button", name="Show what was cleared")).to_be_visible()


@pytest.mark.conforms("stream-json §19a", "audit: component, settings panel")
def test_settings_change_the_session(gateway: Served, visitor: Visitor) -> None:
    session, page = talked(gateway, visitor)
    page.get_by_role("textbox", name="Message").first.fill("/config")
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="Settings")
    panel.get_by_label("Permission mode").select_option(label="Plan only")
    expect(panel.get_by_label("Permission mode")).to_have_value("plan")
    expect(panel.get_by_text("changes nothing")).to_be_visible()
    expect(page.get_by_text("Permission mode: Plan only")).to_be_attached()
    assert gateway.call("GET", f"/sessions/{session}")["mode"] == "plan"
    panel.get_by_label("Fast mode").click()
    expect(panel.get_by_label("Fast mode")).to_be_checked()


def test_what_is_typed_right_after_a_panel_closed_is_in_the_message(
    gateway: Served, visitor: Visitor
) -> None:
    _, page = talked(gateway, visitor)
    message = page.get_by_role("textbox", name="Message").first
    message.focus()
    for _ in range(5):
        page.keyboard.press("Control+,")
        expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.type("x")
    expect(message).to_have_value("xxxxx")


def test_settings_of_the_browser_are_kept(gateway: Served, visitor: Visitor) -> None:
    visit = visitor(theme="dark")
    page = visit.open("/settings")
    panel = page.get_by_role("dialog", name="Settings")
    panel.get_by_label("Theme").select_option("light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    panel.get_by_label("High contrast").check()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("html")).to_have_attribute("data-contrast", "more")


def test_tokens_are_made_shown_once_and_taken_back(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/access")
    page.get_by_label("Name of a new token").fill("robot")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("status").filter(has_text="shown this once")).to_be_visible()
    page.get_by_role("button", name="Revoke the token robot").click()
    expect(page.get_by_role("button", name="Revoke the token robot")).to_have_count(0)
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("table")).to_contain_text("token.revoke")
