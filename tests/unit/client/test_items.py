"""Lines of a session, typed for those who use them."""

from __future__ import annotations

import pytest
from msgspec import Raw

from flybridge.client.items import (
    Detached,
    EventItem,
    GaugeItem,
    PreviewItem,
    ViewItem,
    to_event,
    to_item,
)
from flybridge.model.events import TurnStarted
from flybridge.model.ids import TurnId
from flybridge.wire.native import messages as wire


def test_each_kind_of_line_has_its_item() -> None:
    raw = b'{"type":"turn.started","turn":"trn_1"}'
    line = wire.EventLine(session="s", epoch=1, seq=2, at_ms=3, event=Raw(raw))
    assert to_item(line) == EventItem(2, 3, TurnStarted(turn=TurnId("trn_1")), raw)
    preview = wire.PreviewLine(session="s", item="i", since=0, upto=1, text="t")
    assert to_item(preview) == PreviewItem("i", 0, 1, "t")
    gauge = wire.GaugeLine(session="s", name="n", value=Raw(b"1"))
    assert to_item(gauge) == GaugeItem("n", b"1")
    assert to_item(wire.ViewLine(session="s", seq=4, state=Raw(b"{}"))) == ViewItem(4, b"{}")
    assert to_item(wire.DetachedLine(session="s", code="c")) == Detached("c")


@pytest.mark.parametrize(
    "raw",
    [b'{"type":"some.day"}', b'{"type":"turn.started"}', b"[]", b'{"type":"notice","text":"\xff"}'],
)
def test_an_event_nobody_here_knows_is_kept_raw(raw: bytes) -> None:
    assert to_event(Raw(raw)) is None
    line = wire.EventLine(session="s", epoch=1, seq=1, at_ms=1, event=Raw(raw))
    assert to_item(line) == EventItem(1, 1, None, raw)
