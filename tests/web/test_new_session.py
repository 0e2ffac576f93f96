"""Opening a session from the page."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served


def form(page: Page) -> Locator:
    return page.get_by_role("dialog", name="New session")


def test_a_first_session_needs_no_typing(gateway: Served, visitor: Visitor) -> None:
    """The usual agent is chosen, and the folder the gateway was started in is offered."""
    page = visitor().open("/new")
    expect(form(page).get_by_label("Agent")).to_have_value("demo")
    expect(form(page).get_by_label("Folder")).to_have_attribute("placeholder", str(gateway.work))
    expect(form(page).get_by_label("Folder")).to_have_value("")
    form(page).get_by_role("button", name="Open session").click()
    expect(page.get_by_role("log")).to_contain_text("This is the demo agent")
    assert gateway.call("GET", f"/sessions/{page.url.rsplit('/', 1)[1]}")["cwd"] == str(
        gateway.work
    )


def test_a_session_is_opened_and_shown(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open()
    page.get_by_role("button", name="New session").click()
    expect(form(page).get_by_label("Folder")).to_be_focused()
    form(page).get_by_label("Agent").select_option("demo")
    form(page).get_by_label("Folder").fill(str(gateway.work))
    form(page).get_by_label("Title").fill("From the page")
    form(page).get_by_role("button", name="Open session").click()
    expect(form(page)).to_have_count(0)
    expect(page.get_by_role("heading", name="From the page", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile("/s/ses_"))


def test_a_folder_that_is_not_there_is_said_so(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/new")
    form(page).get_by_label("Agent").select_option("demo")
    form(page).get_by_label("Folder").fill("not/a/whole/path")
    form(page).get_by_role("button", name="Open session").click()
    expect(form(page).get_by_role("alert").filter(has_text="whole path")).to_be_visible()
    form(page).get_by_label("Folder").fill("/no/such/folder")
    form(page).get_by_role("button", name="Open session").click()
    expect(form(page).get_by_role("alert").filter(has_text="No such directory")).to_be_visible()
    page.keyboard.press("Escape")
    expect(form(page)).to_have_count(0)


def test_a_folder_with_settings_of_its_own_is_asked_about(
    gateway: Served, visitor: Visitor
) -> None:
    folder = gateway.base / "brings"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": {}}))
    page = visitor().open("/new")
    form(page).get_by_label("Agent").select_option("demo")
    form(page).get_by_label("Folder").fill(str(folder))
    form(page).get_by_role("button", name="Open session").click()
    found = page.get_by_role("dialog", name="This folder brings its own settings")
    expect(found.get_by_text(str(folder / ".claude" / "settings.json"))).to_be_visible()
    found.get_by_role("button", name="Open without these files").click()
    expect(page.get_by_role("heading", name="brings", level=1)).to_be_visible()
    view = gateway.call("GET", f"/sessions/{page.url.rsplit('/', 1)[1]}")
    assert view["options"]["setting_sources"] == ["user"]


def test_the_options_of_an_agent_go_with_it(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/new")
    form(page).get_by_label("Agent").select_option("demo")
    form(page).get_by_label("Folder").fill(str(gateway.work))
    form(page).get_by_label("Permissions").select_option("plan")
    form(page).get_by_role("button", name="More").click()
    form(page).get_by_label("Maximum turns").fill("7")
    form(page).get_by_role("button", name="Open session").click()
    expect(form(page)).to_have_count(0)
    page.wait_for_url("**/s/ses_*")
    view = gateway.call("GET", f"/sessions/{page.url.rsplit('/', 1)[1]}")
    assert (view["mode"], view["agent_options"]) == ("plan", {"max_turns": 7})
    assert view["options"] == view["agent_options"]  # as a client of 0.1 reads it
