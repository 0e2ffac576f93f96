"""The page about devices. What a device sees is tested where devices come in."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.rig import Served


def test_a_device_gets_a_token_with_its_rights_and_loses_it(
    gateway: Served, visitor: Visitor
) -> None:
    page = visitor().open("/devices")
    expect(page.get_by_text("None can connect yet")).to_be_visible()
    page.get_by_label("Name").fill("button box")
    page.get_by_label("allow and deny").check()
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("status").filter(has_text="shown this once")).to_be_visible()
    paired = page.get_by_role("listitem").filter(has_text="button box")
    expect(paired).to_contain_text("view, approve")
    page.get_by_role("button", name="Revoke button box").click()
    expect(paired).to_have_count(0)
    assert gateway.call("GET", "/devices")["devices"] == []


def test_a_slot_is_told_what_to_start(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/devices")
    slot = page.get_by_role("listitem").filter(has_text="Slot 1")
    slot.get_by_label("Agent").fill("nobody")
    slot.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Unknown agent 'nobody'.").first).to_be_visible()
    slot.get_by_label("Agent").fill("demo")
    slot.get_by_role("button", name="Save").click()
    expect(slot.get_by_role("button", name="Save")).to_be_disabled()
    assert gateway.call("GET", "/devices")["slots"][1]["agent"] == "demo"
