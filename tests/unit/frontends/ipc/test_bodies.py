"""Blobs: which ones an event needs, and the whole of what they hold."""

from __future__ import annotations

from msgspec import UNSET

from flybridge.frontends.ipc.bodies import fields, number, text, wanted, whole_detail, whole_text
from flybridge.model import events as ev
from flybridge.model.ids import ItemId
from tests.unit.frontends.ipc.session_kit import raw


def test_an_event_names_the_blobs_it_needs() -> None:
    assert wanted(ev.TextDone(item=ItemId("t"), blob="a")) == ["a"]
    assert wanted(ev.TextDone(item=ItemId("t"), text="short")) == []
    result = ev.ToolResult(item=ItemId("t"), blob="a", detail=raw({"_blob": "b"}))
    assert wanted(result) == ["a", "b"]
    assert wanted(ev.AgentReady(detail=raw({"_blob": "c"}))) == ["c"]


def test_what_a_blob_holds_replaces_the_head() -> None:
    assert whole_text("head", "a", {"a": b"head and tail"}) == "head and tail"
    assert whole_text("head", "", {}) == "head"
    assert bytes(whole_detail(raw({"_blob": "b"}), {"b": b"{}"}) or b"") == b"{}"
    assert whole_detail(UNSET, {}) is UNSET


def test_nonsense_is_nothing() -> None:
    assert (fields(raw([])), text(raw(3)), number(raw("x"))) == ({}, "", 0.0)
