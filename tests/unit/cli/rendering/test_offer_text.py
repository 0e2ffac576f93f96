from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.convert.offers import offers_of
from flybridge.cli.rendering.offer_text import offer_text
from flybridge.model.offers import Offer, OfferRule

RULE = {"toolName": "Bash", "ruleContent": "npm test"}
ADD = {"type": "addRules", "rules": [RULE], "behavior": "allow"}
HERE = "Always allow Bash(npm test) — in this session"


def of_claude(suggestion: object) -> str:
    (offer,) = offers_of([Raw(msgspec.json.encode(suggestion))])
    return offer_text(offer)


@pytest.mark.parametrize(
    ("suggestion", "text"),
    [
        ({**ADD, "destination": "session"}, HERE),
        (
            {**ADD, "destination": "projectSettings"},
            f"{HERE} (asked for: this project, for everybody)",
        ),
        (
            {"type": "setMode", "mode": "acceptEdits"},
            "Allow, and accept all edits — in this session",
        ),
        (
            {"type": "addDirectories", "directories": ["/x"]},
            "Always allow the folder /x — in this session",
        ),
        (
            {"type": "addRules", "rules": [{"toolName": "Write"}], "behavior": "deny"},
            "Always deny Write — in this session",
        ),
    ],
)
def test_an_offer_of_claude_is_shown_as_what_it_keeps(suggestion: object, text: str) -> None:
    assert of_claude(suggestion) == text


@pytest.mark.parametrize(
    "suggestion",
    [{"type": "setMode", "mode": "bypassPermissions"}, "x", {"type": "inventedLater"}],
)
def test_what_cannot_be_chosen_has_no_text(suggestion: object) -> None:
    assert of_claude(suggestion) == ""


@pytest.mark.parametrize(
    ("fields", "reach"),
    [
        ({"scope": "once", "durable": False}, "this once"),
        ({"scope": "session", "durable": True}, "in this session, also later"),
        ({"scope": "project"}, "in this project, also later"),
        ({}, "everywhere, also later"),
    ],
)
def test_how_far_an_offer_reaches_is_shown(fields: dict[str, Any], reach: str) -> None:
    assert offer_text(Offer(label="Always allow", **fields)) == f"Always allow — {reach}"


def test_nothing_hides_in_an_offer() -> None:
    rule = OfferRule("sh", "ls\n\u202e\x1b[2J")
    text = offer_text(Offer(label="Always\nallow", rules=(rule,)))
    assert text.isprintable()
    assert "\u202e" not in text
