from __future__ import annotations

from typing import Any

import msgspec
import pytest

from flybridge.model.events import PermissionRequested
from flybridge.model.offers import UNKNOWN, Offer, OfferRule

FOR_NOW = {"scope": "session", "durable": False, "widens": False}


def test_an_offer_of_unknown_effect_counts_as_lasting_and_widening() -> None:
    assert msgspec.json.decode(b"{}", type=Offer) == UNKNOWN
    assert (UNKNOWN.durable, UNKNOWN.widens, UNKNOWN.scope) == (True, True, "user")
    assert UNKNOWN.outlives_session
    assert UNKNOWN.text == ""


@pytest.mark.parametrize(
    ("more", "outlives"),
    [
        ({}, False),
        ({"scope": "once"}, False),
        ({"durable": True}, True),
        ({"widens": True}, True),
        ({"mode": "all"}, True),
        ({"scope": "project"}, True),
        ({"scope": "user"}, True),
    ],
)
def test_each_field_alone_makes_an_offer_outlive_the_session(
    more: dict[str, object], outlives: bool
) -> None:
    assert msgspec.convert({**FOR_NOW, **more}, Offer).outlives_session is outlives


def test_an_offer_is_described_by_label_rules_and_folders() -> None:
    offer = Offer(
        label="Always allow",
        rules=(OfferRule("Bash", "ls *"), OfferRule("Read"), OfferRule("Odd", "")),
        folders=("/project",),
    )
    assert offer.text == "Always allow Bash(ls *), Read, Odd(), /project"
    assert Offer(label="Accept edits").text == "Accept edits"
    assert Offer(rules=(OfferRule("Bash"),)).text == ""


def test_rows_without_offers_are_read_and_offers_take_little_room() -> None:
    old = b'{"type":"permission.requested","prompt":"p","tool":"T","input":{},"digest":"d"}'
    event = msgspec.json.decode(old, type=PermissionRequested)
    assert event.offers == ()
    assert msgspec.json.encode(event) == old
    assert msgspec.json.encode(UNKNOWN) == b"{}"


@pytest.mark.parametrize(
    "more",
    [
        {"decision": "allow"},
        {"widens": True},
        {"allows": True},
        {"mode": "free"},
        {"folders": ("/",)},
    ],
)
def test_an_offer_narrows_only_if_nothing_says_that_it_grants(more: dict[str, Any]) -> None:
    deny: dict[str, Any] = {"decision": "deny", "widens": False, "scope": "user", "durable": True}
    assert Offer(**deny).narrows
    assert not Offer(**{**deny, **more}).narrows
    assert not Offer(decision="deny").narrows  # its effect is unknown


def test_a_row_without_a_decision_belongs_to_an_allow() -> None:
    assert msgspec.json.decode(b'{"label":"x"}', type=Offer).decision == "allow"
    assert b"decision" not in msgspec.json.encode(Offer(label="x"))
