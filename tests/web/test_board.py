"""The board: every session at a glance, and whatever waits answered there."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.rig import Served, Size

_names = itertools.count()


def test_an_empty_board_says_how_to_begin(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open()
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
    page.get_by_role("button", name="Start a session").click()
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()


def test_a_permission_is_given_from_the_board(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"board-{next(_names)}", title="Steer the boat")
    gateway.say(session, "run echo ahoy", f"say-{next(_names)}", until="written")
    page = visitor().open()
    needs = page.get_by_role("region", name="Needs you")
    expect(needs.get_by_role("link", name="Steer the boat")).to_be_visible()
    expect(needs.get_by_text("echo ahoy", exact=True)).to_be_visible()  # all of what is asked
    needs.get_by_role("button", name="Allow once").click()
    expect(needs).to_have_count(0)
    gateway.say(session, "hello", f"say-{next(_names)}")  # it goes on
    results = [
        line["event"].get("status", "ok")
        for line in gateway.call("GET", f"/sessions/{session}/events")["events"]
        if line["event"]["type"] == "tool.result"
    ]
    assert results == ["ok"]


def test_a_question_is_answered_from_the_board(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"board-{next(_names)}", title="Paint the boat")
    gateway.say(session, "question", f"say-{next(_names)}", until="written")
    page = visitor().open()
    needs = page.get_by_role("region", name="Needs you")
    needs.get_by_role("radio", name="Blue").check()
    needs.get_by_role("button", name="Send answer").click()
    expect(needs).to_have_count(0)


def test_a_prompt_answered_elsewhere_leaves_the_board(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"board-{next(_names)}", title="Asked twice")
    gateway.say(session, "run ls", f"say-{next(_names)}", until="written")
    page = visitor().open()
    expect(page.get_by_role("region", name="Needs you")).to_be_visible()
    (prompt,) = gateway.call("GET", "/prompts")["prompts"]
    answer = {
        "type": "answer_permission",
        "prompt": prompt["prompt"],
        "digest": prompt["digest"],
        "decision": "deny",
    }
    gateway.call(
        "POST",
        f"/sessions/{session}/commands",
        {"command": answer, "request": f"answer-{next(_names)}"},
    )
    expect(page.get_by_role("region", name="Needs you")).to_have_count(0)


def test_a_card_says_where_what_and_for_how_much(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"board-{next(_names)}", title="Count the cost")
    gateway.say(session, "price", f"say-{next(_names)}")
    page = visitor().open()
    card = page.get_by_role("main").get_by_role("link", name="Count the cost")
    expect(card).to_contain_text(str(gateway.work))
    expect(card).to_contain_text("demo")
    expect(card).to_contain_text("$")
    expect(page.get_by_role("region", name="Spent")).to_contain_text("30 days")
    card.click()
    expect(page).to_have_url(f"{gateway.address}/s/{session}")


def test_a_session_that_is_not_there_says_so(visitor: Visitor) -> None:
    page = visitor().open("/s/ses_00000000000000000000")
    expect(page.get_by_role("heading", name="This session is not here")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()


def test_what_waits_is_never_put_away(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(f"board-{next(_names)}", title="Archived, and asks")
    gateway.say(session, "run ls", f"say-{next(_names)}", until="written")
    gateway.call("PATCH", f"/sessions/{session}", {"archived": True})
    page = visitor().open()
    row = page.get_by_role("group", name="Needs you").get_by_role("link")
    expect(row).to_contain_text("Archived, and asks")
    needs = page.get_by_role("region", name="Needs you")
    needs.get_by_role("button", name="Deny", exact=True).click()
    needs.get_by_role("button", name="Deny", exact=True).last.click()
    expect(page.get_by_role("link", name="Archived, and asks")).to_have_count(0)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_web_b13_the_board_counts_sessions_and_names_prompts(
    gateway: Served, visitor: Visitor, size: Size
) -> None:
    session = gateway.new_session(f"board-{next(_names)}", title="Two at once")
    gateway.say(session, "agents", f"say-{next(_names)}", until="written")
    page = visitor(size=size).open()
    needs = page.get_by_role("region", name="Needs you")
    expect(needs.get_by_role("button", name="Allow once")).to_have_count(2)
    heading = needs.get_by_role("heading", level=2)
    expect(heading).to_have_text("Needs you 1 · 2 prompts")
    expect(page.get_by_text("1 needs you", exact=True)).to_be_visible()
    needs.get_by_role("button", name="Allow once").first.click()
    expect(heading).to_have_text("Needs you 1")
    expect(page.get_by_text("1 needs you", exact=True)).to_be_visible()
    needs.get_by_role("button", name="Allow once").first.click()
    expect(needs).to_have_count(0)
