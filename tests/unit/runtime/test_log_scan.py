from __future__ import annotations

import msgspec
import pytest

from flybridge.model import events as e
from flybridge.model.deliveries import Batch, Entry
from flybridge.model.ids import ItemId, PromptId, SessionId, TurnId
from flybridge.runtime import log_scan
from flybridge.runtime.log_scan import Wanted, slices
from flybridge.session.ports import SessionRow, Write
from flybridge.store.memory import MemoryJournal
from flybridge.wire.native.messages import EventLine, encode

S = SessionId("ses_1")


def batch(first: int, *events: e.Event, live: bool = False) -> Batch:
    lines = [
        encode(
            EventLine(
                session=S,
                epoch=1,
                seq=seq,
                at_ms=seq * 10,
                event=msgspec.Raw(msgspec.json.encode(one)),
            )
        )
        for seq, one in enumerate(events, first)
    ]
    entries = tuple(Entry(seq=n, at_ms=n * 10, event=one) for n, one in enumerate(events, first))
    return Batch(
        session=S,
        epoch=1,
        first_seq=first,
        count=len(events),
        wire=b"\n".join(lines),
        entries=entries if live else None,
    )


WANTED = Wanted(e.TurnEnded, e.PermissionClosed)
EVENTS = (
    e.TurnStarted(turn=TurnId("trn_1")),
    e.Notice(text='"event":{"type":"turn.ended"}'),
    e.TurnEnded(turn=TurnId("trn_1"), cost_usd=0.5),
    e.PermissionClosed(prompt=PromptId("p"), how="denied"),
    e.ToolResult(
        item=ItemId("i"),
        detail=msgspec.Raw(b'{"event":{"type":"turn.ended","turn":"forged"}}'),
    ),
)


def test_only_what_is_wanted_is_found_and_nothing_that_looks_like_it() -> None:
    for live in (False, True):
        found = list(WANTED.found_in(batch(5, *EVENTS, live=live)))
        assert [(one.seq, one.at_ms) for one in found] == [(7, 70), (8, 80)]
        assert found[0].event == EVENTS[2]


def journal(count: int) -> MemoryJournal:
    made = MemoryJournal()
    row = SessionRow(session=S, agent="a", cwd="/")
    for n in range(count):
        one = batch(n * len(EVENTS) + 1, *EVENTS)
        made.commit(Write(session=S, batches=[one], row=row if n == 0 else None))
    return made


async def test_a_log_is_read_slice_by_slice_from_any_place() -> None:
    made = journal(40)
    for after in (0, 1, 7, 199, 200, 500):
        found = [one async for one in slices(made, S, after, WANTED)]
        seqs = [entry.seq for one in found for entry in one.entries]
        wanted = [n for n in range(1, 201) if (n - 1) % 5 in (2, 3) and n > after]
        assert seqs == wanted
        assert [one.last_seq for one in found][-1:] == ([200] if after < 200 else [])


async def test_a_long_log_comes_in_several_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    made = journal(40)
    monkeypatch.setattr(log_scan, "SLICE_BYTES", 1000)
    found = [one async for one in slices(made, S, 0, WANTED)]
    assert len(found) > 5
    assert sum(len(one.entries) for one in found) == 80


async def test_a_session_that_is_not_there_has_no_log() -> None:
    assert [one async for one in slices(MemoryJournal(), S, 0, WANTED)] == []
