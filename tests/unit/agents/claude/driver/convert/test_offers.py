from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.agents.claude.driver.convert.offers import MAX_OFFERS, MAX_TEXT, offers_of
from flybridge.model.offers import Offer, OfferRule
from tests.harness.claude_recordings import NAMES, replay

BASH = {"toolName": "Bash", "ruleContent": "npm test"}


def offer_of(suggestion: object) -> Offer:
    (offer,) = offers_of([Raw(json.dumps(suggestion).encode())])
    return offer


def test_a_rule_is_an_offer_for_the_session_that_can_be_kept_elsewhere() -> None:
    suggestion = {
        "type": "addRules",
        "rules": [BASH, {"toolName": "Read"}],
        "behavior": "allow",
        "destination": "projectSettings",
    }
    assert offer_of(suggestion) == Offer(
        id="0",
        label="Always allow",
        scope="session",
        widens=False,
        durable=False,
        allows=True,
        rules=(OfferRule("Bash", "npm test", "execute"), OfferRule("Read", kind="read")),
        placed=True,
        place="project",
    )


@pytest.mark.parametrize(
    ("suggestion", "text"),
    [
        ({"type": "addRules", "rules": [BASH], "behavior": "deny"}, "Always deny Bash(npm test)"),
        ({"type": "addRules", "rules": [BASH], "behavior": "allow"}, "Always allow Bash(npm test)"),
        (
            {"type": "removeRules", "rules": [BASH], "behavior": "allow"},
            "Remove allow rules: Bash(npm test)",
        ),
        (
            {"type": "replaceRules", "rules": [BASH], "behavior": "allow"},
            "Replace all allow rules with: Bash(npm test)",
        ),
        ({"type": "replaceRules", "rules": [], "behavior": "allow"}, "Remove all allow rules"),
        ({"type": "addDirectories", "directories": ["/x", "/y"]}, "Always allow the folder /x, /y"),
        ({"type": "removeDirectories", "directories": ["/x"]}, "No longer allow the folder /x"),
    ],
)
def test_rules_and_folders_hold_in_the_session_and_widen_nothing(
    suggestion: dict[str, Any], text: str
) -> None:
    offer = offer_of(suggestion)
    assert offer.text == text
    assert not offer.outlives_session
    adds = suggestion["type"].startswith("add")
    assert offer.allows is (adds and suggestion.get("behavior") != "deny")


@pytest.mark.parametrize(
    ("suggestion", "text"),
    [
        (
            {"type": "removeRules", "rules": [BASH], "behavior": "deny"},
            "Remove deny rules: Bash(npm test)",
        ),
        (
            {"type": "replaceRules", "rules": [BASH], "behavior": "ask"},
            "Replace all ask rules with: Bash(npm test)",
        ),
        ({"type": "replaceRules", "rules": [], "behavior": "deny"}, "Remove all deny rules"),
    ],
)
def test_s1_an_offer_that_removes_restrictions_widens(
    suggestion: dict[str, Any], text: str
) -> None:
    offer = offer_of(suggestion)
    assert offer.text == text
    assert offer.widens
    assert offer.outlives_session
    assert not offer.allows


@pytest.mark.parametrize(
    "suggestion",
    [
        {"type": "addRules", "rules": [BASH]},
        {"type": "addRules", "rules": [BASH], "behavior": "sometimes"},
        {"type": "addRules", "rules": [BASH], "behavior": ["allow"]},
        {"type": "addRules", "rules": [BASH, 3], "behavior": "allow"},
        {"type": "addRules", "rules": "Bash", "behavior": "allow"},
        {"type": "removeRules", "rules": [BASH]},
        {"type": "replaceRules", "rules": [{}], "behavior": "deny"},
        {"type": "addDirectories", "directories": "/"},
        {"type": "removeDirectories", "directories": [1]},
    ],
)
def test_s1_a_suggestion_that_cannot_be_read_is_an_offer_of_unknown_effect(
    suggestion: dict[str, Any],
) -> None:
    assert offer_of(suggestion) == Offer(id="0")


@pytest.mark.parametrize(
    ("mode", "label"),
    [
        ("acceptEdits", "Allow, and accept all edits"),
        ("plan", "Allow, and switch to mode plan"),
        ("bypassPermissions", ""),  # the driver never accepts it
        ("", ""),
    ],
)
def test_a_mode_widens(mode: str, label: str) -> None:
    offer = offer_of({"type": "setMode", "mode": mode, "destination": "session"})
    assert (offer.label, offer.mode, offer.widens, offer.durable) == (label, mode, True, False)
    assert offer.outlives_session
    assert not offer.placed


@pytest.mark.parametrize(
    "suggestion",
    [
        b'{"type":"set\\u004dode","mode":"acceptEdits"}',
        b'{"type":"addRules","type":"setMode","mode":"acceptEdits"}',
        b'{"type":"setMode","mode":1}',
        b'{"type":"somethingNew"}',
        b'{"type":["addRules"]}',
        b"{}",
        b"7",
        b'"setMode"',
        b"[" * 2000,
        b"",
    ],
)
def test_c01_a_suggestion_of_unknown_effect_outlives_the_session(suggestion: bytes) -> None:
    (offer,) = offers_of([Raw(suggestion)])
    assert offer.outlives_session


@pytest.mark.parametrize(
    "suggestion",
    [
        {"type": "addRules"},
        {"type": "addRules", "rules": []},
        {"type": "addRules", "rules": [BASH, 3]},
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": ["*"]}]},
        {"type": "addRules", "rules": [{}]},
        {"type": "addRules", "rules": [], "behavior": "allow"},
        {"type": "addRules", "rules": [BASH], "behavior": "allow", "mode": "bypassPermissions"},
        {"type": "addDirectories", "directories": "/"},
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "x" * MAX_TEXT}],
            "behavior": "allow",
        },
        {"type": "setMode", "mode": "x" * MAX_TEXT},
        {"type": "inventedLater"},
        "words",
    ],
)
def test_what_cannot_be_described_has_no_label(suggestion: object) -> None:
    offer = offer_of(suggestion)
    assert offer.text == ""
    assert len(offer.subject) <= MAX_TEXT


def test_offers_keep_the_index_of_their_suggestion_and_are_bounded() -> None:
    raw = Raw(b'{"type":"inventedLater"}')
    offers = offers_of([raw] * (MAX_OFFERS + 1))
    assert [offer.id for offer in offers] == [str(index) for index in range(MAX_OFFERS)]


@given(st.recursive(st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner)))
def test_whatever_is_suggested_there_is_an_offer(value: object) -> None:
    assert isinstance(offer_of({"type": "addRules", "rules": [value]}), Offer)
    assert isinstance(offer_of(value), Offer)


def test_every_recorded_suggestion_can_be_described() -> None:
    seen = 0
    for name in NAMES:
        for line in map(json.loads, replay(name).recording.said()):
            request = line.get("request", {}) if line.get("type") == "control_request" else {}
            for suggestion in request.get("permission_suggestions") or ():
                seen += 1
                offer = offer_of(suggestion)
                assert offer.text, suggestion
                assert offer.outlives_session is (suggestion["type"] == "setMode")
    assert seen > 10
