"""Tool cards: one line each, and what opens in place."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

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
    card.get_by_role("button").first.click()
    expect(card).to_contain_text("two")


def test_a_denial_stays_open_with_its_words(gateway: Served, visitor: Visitor) -> None:
    session, page = asking(gateway, visitor, "run rm -r boats")
    gateway.answer(session, decision="deny", message="not the boats")
    card = page.locator("[data-tool=Bash]")
    expect(card).to_have_attribute("data-status", "denied")
    expect(card).to_contain_text("not the boats")


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
    agents.first.get_by_role("button", name="What it does").click()
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
    expect(change.locator(".syn-keyword").first).to_have_text("def")
