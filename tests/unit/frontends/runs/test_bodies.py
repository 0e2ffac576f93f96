from __future__ import annotations

from msgspec import Raw

from flybridge.frontends.runs.bodies import blob_of, whole
from flybridge.model import events as e
from flybridge.model.ids import ItemId


def test_an_event_is_put_together_with_its_long_text() -> None:
    text = e.TextDone(item=ItemId("i"), text="beg", blob="d1")
    diff = e.Diff(item=ItemId("i"), path="a", patch=Raw(b"[]"), blob="d2")
    assert [blob_of(one) for one in (text, diff)] == ["d1", "d2"]
    made = whole(text, "beginning é".encode())
    assert isinstance(made, e.TextDone)
    assert made.text == "beginning é"
    changed = whole(diff, b'[{"a":1}]')
    assert isinstance(changed, e.Diff)
    assert bytes(changed.patch) == b'[{"a":1}]'


def test_a_short_one_and_one_nobody_can_read_need_nothing() -> None:
    assert blob_of(e.TextDone(item=ItemId("i"), text="all")) == ""
    assert blob_of(e.Notice(text="x")) == ""
    assert blob_of(None) == ""
