"""Conversations that were had on this machine: found, kept and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

CONVERSATION = "0b0e0f5c-6a51-4c1f-9d53-6f0d7f9d2f11"
AT = "2026-11-01T10:00:00.000Z"


@pytest.fixture(scope="module", autouse=True)
def past(gateway: Served) -> Path:
    """One conversation as Claude Code writes them down."""
    folder = gateway.base / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    shared = {
        "sessionId": CONVERSATION,
        "cwd": str(gateway.work),
        "timestamp": AT,
        "version": "2.1.38",
        "isSidechain": False,
        "userType": "external",
    }
    asked = {
        **shared,
        "type": "user",
        "uuid": "11111111-1111-4111-8111-111111111111",
        "parentUuid": None,
        "message": {"role": "user", "content": "Where is the lighthouse?"},
    }
    answered = {
        **shared,
        "type": "assistant",
        "uuid": "22222222-2222-4222-8222-222222222222",
        "parentUuid": asked["uuid"],
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [{"type": "text", "text": "On the northern pier."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }
    path = folder / f"{CONVERSATION}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (asked, answered)))
    return path


def test_a_conversation_is_listed_and_found_by_what_was_said(visitor: Visitor) -> None:
    page = visitor().open("/history")
    listed = page.get_by_role("region", name="Conversations")
    expect(listed.get_by_text("Where is the lighthouse?")).to_be_visible()
    page.get_by_role("searchbox", name="Search everything that was said").fill("northern pier")
    page.keyboard.press("Enter")
    found = page.get_by_role("region", name="Found")
    expect(found.get_by_text("On the northern pier.")).to_be_visible()


def test_going_on_asks_where_and_with_what(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/history")
    page.get_by_role("button", name="Fork Where is the lighthouse?").click()
    form = page.get_by_role("dialog", name="New session")
    expect(form.get_by_role("combobox", name="Conversation")).to_have_value(CONVERSATION)
    expect(form.get_by_label("Folder")).to_have_value(str(gateway.work))
    expect(form.get_by_label("In a copy")).to_be_checked()


def test_a_conversation_is_kept_as_a_session(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open("/history")
    page.get_by_role("button", name="Import Where is the lighthouse?").click()
    expect(page.get_by_role("log")).to_contain_text("On the northern pier.")
    page.goto(f"{gateway.address}/history")
    expect(page.get_by_role("link", name="Open Where is the lighthouse?")).to_be_visible()
