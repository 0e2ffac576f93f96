"""What reaches somebody who looks elsewhere."""

from __future__ import annotations

import itertools

from playwright.sync_api import Page, expect

from tests.harness.waiting import wait_until
from tests.web.conftest import Visitor
from tests.web.rig import Served, Visit

_names = itertools.count()
# a browser without a screen shows nothing; what it would show is written down instead
NOTED = """
window.noted = [];
class Noted extends EventTarget {
  static permission = "granted";
  static async requestPermission() { return "granted"; }
  constructor(title, options) {
    super();
    Object.assign(this, options, { title, closed: false });
    window.noted.push(this);
  }
  close() { this.closed = true; }
}
window.Notification = Noted;
const away = () => window.looksAway === true;
Object.defineProperty(document, "visibilityState", { get: () => away() ? "hidden" : "visible" });
"""


def told(page: Page) -> list[tuple[str, str, bool]]:
    noted = page.evaluate("window.noted.map((one) => [one.title, one.body, one.closed])")
    return [(title, body, closed) for title, body, closed in noted]


def expect_told(page: Page, *wanted: tuple[str, str, bool]) -> None:
    """Wait until these notifications were shown, and no others."""
    wait_until(lambda: told(page) == [*wanted], lambda: f"{wanted}, and not {told(page)}")


def look_away(page: Page) -> None:
    page.evaluate("looksAway = true; document.dispatchEvent(new Event('visibilitychange'))")


def watching(visit: Visit, path: str) -> Page:
    visit.context.add_init_script(NOTED)
    visit.context.add_init_script(
        "localStorage.setItem('flybridge.settings', JSON.stringify({ notifications: true }))"
    )
    page = visit.open(path)
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    return page


def ask(gateway: Served, title: str) -> str:
    session = gateway.new_session(f"notify-{next(_names)}", title=title)
    gateway.say(session, "run ls", f"say-{next(_names)}", until="written")
    return session


def answer(gateway: Served, session: str) -> None:
    found = gateway.call("GET", "/prompts")["prompts"]
    (prompt,) = [one for one in found if one["session"] == session]
    command = {
        "type": "answer_permission",
        "prompt": prompt["prompt"],
        "digest": prompt["digest"],
        "decision": "deny",
    }
    body = {"command": command, "request": f"answer-{next(_names)}"}
    gateway.call("POST", f"/sessions/{session}/commands", body)


def test_a_prompt_nobody_sees_is_told_once_and_withdrawn(gateway: Served, visitor: Visitor) -> None:
    page = watching(visitor(), "/history")
    look_away(page)
    session = ask(gateway, "Somewhere else")
    expect(page).to_have_title("(1) History · Flybridge")
    expect(page.get_by_role("status").first).to_have_text("Somewhere else: Wants to run a command.")
    expect_told(page, ("Somewhere else", "Wants to run a command", False))
    answer(gateway, session)
    expect(page).to_have_title("History · Flybridge")
    expect_told(page, ("Somewhere else", "Wants to run a command", True))


def test_a_click_on_it_leads_to_the_prompt(gateway: Served, visitor: Visitor) -> None:
    page = watching(visitor(), "/history")
    look_away(page)
    session = ask(gateway, "Click me")
    expect(page).to_have_title("(1) History · Flybridge")
    expect(page.get_by_role("status").first).to_contain_text("Click me")
    expect_told(page, ("Click me", "Wants to run a command", False))
    page.evaluate("noted[0].dispatchEvent(new Event('click'))")
    expect(page).to_have_url(f"{gateway.address}/s/{session}")
    expect(page.get_by_role("region", name="Waiting for you")).to_be_focused()
    answer(gateway, session)


def test_nobody_is_told_of_what_they_look_at(gateway: Served, visitor: Visitor) -> None:
    page = watching(visitor(), "/")
    session = ask(gateway, "In sight")
    expect(page.get_by_role("region", name="Needs you")).to_be_visible()
    assert told(page) == []
    answer(gateway, session)


def test_consent_is_asked_for_when_it_matters(gateway: Served, visitor: Visitor) -> None:
    visit = visitor()
    visit.context.add_init_script(f"{NOTED}; Noted.permission = 'default';")
    page = visit.open()
    question = page.get_by_role("region", name="Notifications")
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    expect(question).to_have_count(0)
    session = ask(gateway, "First of all")
    question.get_by_role("button", name="Tell me").click()
    said = page.get_by_role("region", name="Messages")
    expect(said).to_contain_text("You will be told when a session needs you.")
    expect(question).to_have_count(0)
    answer(gateway, session)


def test_a_browser_that_does_not_allow_it_is_said_so(gateway: Served, visitor: Visitor) -> None:
    visit = visitor()
    visit.context.add_init_script(f"{NOTED}; Noted.requestPermission = async () => 'denied';")
    page = visit.open("/settings")
    panel = page.get_by_role("dialog", name="Settings")
    panel.get_by_label("Notifications").click()
    expect(page.get_by_role("alert").first).to_contain_text("Allow it in its settings")
    expect(panel.get_by_label("Notifications")).not_to_be_checked()
