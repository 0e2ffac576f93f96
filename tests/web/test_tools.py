"""Tool cards: one line each, and what opens in place."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.harness.terminal_home import SLOW
from tests.web.conftest import Visitor
from tests.web.rig import Served, Size

_names = itertools.count()


def asking(gateway: Served, visitor: Visitor, text: str) -> tuple[str, Page]:
    session = gateway.new_session(f"tools-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    gateway.say(session, text, f"say-{next(_names)}", until="written")
    expect(page.get_by_text("waits for you").first).to_be_visible()
    return session, page


def test_a_command_shows_what_was_run_and_what_it_said(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "run echo ahoy")
    gateway.answer(session)
    card = page.locator("[data-tool=Bash]")
    expect(card).to_have_attribute("data-status", "ok")
    card.get_by_role("button").first.click()
    expect(card.get_by_role("group", name="Output")).to_contain_text("ahoy")


@pytest.mark.conforms("stream-json §19f", "audit: component, diff viewer")
def test_an_edit_is_a_difference_with_its_numbers(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "edit")
    gateway.answer(session)
    expect(page.get_by_text("waits for you")).to_have_count(1)
    gateway.answer(session)
    card = page.locator("[data-tool=Edit]")
    expect(card).to_have_attribute("data-status", "ok")
    expect(card).to_contain_text("greet.py")
    expect(card.get_by_role("button").first).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("log")).to_contain_text("Done")


def test_a_change_by_a_person_is_marked(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "run echo one")
    gateway.answer(session, updated_input={"command": "echo two"})
    card = page.locator("[data-tool=Bash]")
    expect(card).to_contain_text("changed by you")
    line = card.get_by_role("button").first
    expect(line).to_contain_text("echo two")
    line.click()
    expect(card.get_by_text("echo two", exact=True)).to_have_count(2)  # in its line, and below
    expect(card).not_to_contain_text("echo one")
    card.get_by_role("button", name="What the agent had asked").click()
    expect(card).to_contain_text("echo one")


def test_a_denial_stays_open_with_its_words(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "run rm -r boats")
    gateway.answer(session, decision="deny", message="not the boats")
    card = page.locator("[data-tool=Bash]")
    expect(card).to_have_attribute("data-status", "denied")
    expect(card).to_contain_text("not the boats")


def test_a_tool_counts_its_seconds_and_says_that_it_was_interrupted(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(f"tools-{next(_names)}", agent=SLOW, model="")
    page = visitor().open(f"/s/{session}")
    gateway.say(session, "slow-tool", f"say-{next(_names)}", until="written")
    gateway.answer(session)
    card = page.locator("[data-tool=Bash]")
    expect(card.get_by_role("button").first).to_contain_text(re.compile(r"[1-9] s$"))
    page.keyboard.press("Escape")
    expect(card).to_contain_text("interrupted")
    expect(card.get_by_role("img").first).to_have_attribute("aria-label", "cut off")


def test_a_long_output_shows_both_ends_and_all_of_it_on_request(
    gateway: Served, visitor: Visitor
) -> None:
    """What is far from what is seen is not drawn: a megabyte costs no more than a page."""
    session, page = asking(gateway, visitor, "large colours")
    gateway.answer(session)
    card = page.locator("[data-tool=Bash]")
    expect(card).to_have_attribute("data-status", "ok")
    card.get_by_role("button").first.click()
    expect(card.get_by_role("group", name="Beginning of the output")).to_contain_text("part_00001")
    tail = card.get_by_role("group", name="End of the output")
    expect(tail).to_contain_text("1 failed")
    expect(tail.get_by_text("1 failed")).to_be_in_viewport()
    card.get_by_role("button", name="Show all").click()
    whole = card.get_by_role("group", name="Output", exact=True)
    expect(whole).to_contain_text("part_00001")
    assert whole.evaluate("box => box.querySelectorAll('*').length") < 5000
    whole.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(whole.get_by_text("1 failed")).to_be_in_viewport()


def test_a_change_of_ten_thousand_lines_can_be_read_and_decided(
    gateway: Served, visitor: Visitor
) -> None:
    _, page = asking(gateway, visitor, "large diff")
    change = page.get_by_role("group", name=re.compile("^Changes in"))
    expect(change).to_contain_text("value_1 = 1")
    allow = page.get_by_role("button", name="Allow once")
    expect(allow).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Show the end").click()
    expect(change).to_contain_text("value_9999 = 10000")
    assert change.evaluate("box => box.querySelectorAll('*').length") < 5000
    expect(allow).to_have_attribute("aria-disabled", "false")
    allow.click()
    card = page.locator("[data-tool=Edit]")
    expect(card).to_have_attribute("data-status", "ok")
    card.get_by_role("button", name="Show the whole change").click()
    # the rest of the change is fetched: only then is its end where the box ends
    expect(card).to_contain_text("5000 lines added, 5000 removed")
    card.get_by_role("group").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(card).to_contain_text("value_9999 = 10000")


def test_a_file_too_long_for_the_log_still_has_its_name(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "large file")
    card = page.locator("[data-tool=Write]")
    expect(card).to_contain_text("table.txt")
    gateway.answer(session)
    expect(card).to_contain_text(re.compile(r"\+8\d{3}"))  # all lines, not those that fit


def test_a_picture_that_a_tool_brought_back_is_seen(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"tools-{next(_names)}")
    gateway.say(session, "large picture", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    card = page.locator("[data-tool=Read]")
    expect(card).to_contain_text("picture")
    card.get_by_role("button").first.click()
    picture = card.locator("img")  # until it is fetched, something else stands in its place
    expect(picture).to_have_accessible_name("What Read brought back")
    expect(picture).to_be_visible()
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") == 480


def test_every_kind_of_tool_has_a_card_that_everybody_can_read(
    gateway: Served, visitor: Visitor, axe: Callable[..., list[str]]
) -> None:
    session = gateway.new_session(f"tools-{next(_names)}")
    gateway.say(session, "tools", f"say-{next(_names)}")
    page = visitor(size="phone", theme="light").open(f"/s/{session}")
    log = page.get_by_role("log")
    log.get_by_role("button", name="Explored").click()
    for name in ("Find", "Search", "Read", "Fetch", "Search the web", "GitHub > Get Issue"):
        log.get_by_role("button", name=f"done {name} ").first.click()
    for tool, shown in (
        ("Glob", "src/rudder.py"),
        ("Grep", "def helm"),
        ("WebFetch", "High water"),
        ("WebSearch", "How tides work"),
        ("TodoWrite", "3 tasks"),
        ("mcp__github__get_issue", "The rudder sticks"),
        ("Edit", "File has not been read yet"),
    ):
        expect(log.locator(f"[data-tool={tool}]")).to_contain_text(shown)
    expect(log.locator("[data-cell=code]").first).to_contain_text("max(depths)")
    assert axe(page, within="[role=log]") == []


def test_subagents_are_nested_and_live(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "agents")
    agents = page.locator("[data-tool=Task], [data-tool=Agent]")
    expect(agents).to_have_count(2)
    expect(agents.first.locator("[data-tool=Bash]")).to_be_visible()
    gateway.answer(session)
    gateway.answer(session)
    expect(page.get_by_role("log")).to_contain_text("Done")
    for agent in agents.all():
        expect(agent).to_have_attribute("data-status", "ok")
        expect(agent.locator("[data-tool=Bash]")).to_have_count(0)  # folded, now that it is over
    agents.first.get_by_role("button").first.click()
    agents.first.get_by_role("button", name="What it did").click()
    expect(agents.first.locator("[data-tool=Bash]")).to_have_attribute("data-status", "ok")


@pytest.mark.conforms("audit: component, task list panel")
def test_tasks_are_listed_beside_and_folded_in_the_text(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"tools-{next(_names)}")
    gateway.say(session, "tasks", f"say-{next(_names)}")
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_role("button", name="Kept its list of tasks")).to_be_visible()
    panel = page.get_by_role("tabpanel", name="Tasks")
    expect(panel).to_contain_text("3 of 3 done")
    panel.get_by_role("button", name="As a board").click()
    expect(panel.get_by_role("region", name="Done").get_by_role("listitem")).to_have_count(3)


def test_code_in_a_change_has_its_colours(gateway: Served, visitor: Visitor) -> None:
    _session, page = asking(gateway, visitor, "edit")
    change = page.get_by_role("region", name="Waiting for you").get_by_role(
        "group", name="Changes in"
    )
    # of the whole file, or of the line that changes, if another test has made the file
    expect(change.locator(".syn-keyword").first).to_have_text(re.compile("^(def|return)$"))


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_web_b03_a_declined_question_says_so(gateway: Served, visitor: Visitor, size: Size) -> None:
    session = gateway.new_session(f"declined-{next(_names)}")
    gateway.say(session, "question", f"say-{next(_names)}", until="written")
    page = visitor(size=size).open(f"/s/{session}")
    page.get_by_role("button", name="Do not answer").click()
    card = page.locator("[data-tool=AskUserQuestion]")
    line = card.get_by_role("button").first
    expect(line).to_contain_text("declined")
    expect(line).not_to_contain_text("denied")
    if line.get_attribute("aria-expanded") == "false":
        line.click()
    expect(card).to_contain_text("Declined by you")
    expect(card).not_to_contain_text("No answer yet")
    expect(page.get_by_text("without asking anybody")).to_have_count(0)
