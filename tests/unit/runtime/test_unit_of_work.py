from __future__ import annotations

import hashlib

import msgspec
import pytest

from flybridge.errors import LocalProtocolError, StorageError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec
from flybridge.model.content import Text
from flybridge.model.deliveries import Preview
from flybridge.model.facts import ItemClosed, ItemOpened, LinkUp, TurnBegan, TurnOver
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId
from flybridge.runtime.unit_of_work import (
    PIECE_BYTES,
    SNAPSHOT_EVERY,
    Memory,
    Step,
    entries_of,
    load_memory,
    new_memory,
    replay,
)
from flybridge.session.decide import Context, decide, open_session
from flybridge.session.effects import Decision
from flybridge.session.ports import IncarnationRow
from flybridge.session.state import encode_state
from flybridge.store.memory import MemoryBlobs, MemoryJournal

SES = SessionId("ses_1")


def row(incarnation: IncarnationId) -> IncarnationRow:
    return IncarnationRow(
        incarnation=incarnation, session=SES, state="starting", socket="s", secret="x"
    )


class Desk:
    """A memory and a journal, stepped by hand."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.memory = new_memory(SES, 1)

    def step(self) -> Step:
        return Step(self.memory, 5, MemoryBlobs(), row)

    def commit(self, step: Step) -> None:
        self.journal.commit(step.write())
        step.committed()

    def open(self) -> None:
        step = self.step()
        context = Context(now_ms=5, principal="me", incarnation=IncarnationId("inc_1"))
        step.decided(open_session(OpenSpec(agent="a", cwd="/"), context))
        self.commit(step)

    def load(self) -> Memory:
        loaded = self.journal.load(SES)
        assert loaded is not None
        return load_memory(self.journal, loaded)


def test_a_step_is_one_batch_and_the_log_folds_back_to_it() -> None:
    desk = Desk()
    desk.open()
    assert [entry.seq for entry in replay(desk.journal, SES, 0)] == [1, 2]
    assert encode_state(desk.load().state) == encode_state(desk.memory.state)


def test_a_replayed_batch_decodes_to_the_live_entries() -> None:
    desk = Desk()
    desk.open()
    stored = desk.journal.read(SES, 0, 1 << 20)[0]
    assert stored.entries is None
    assert [one.event for one in entries_of(stored)] == [
        entry.event for entry in replay(desk.journal, SES, 0)
    ]


def test_an_agent_that_is_to_be_started_is_recorded_first() -> None:
    desk = Desk()
    desk.open()
    live = desk.journal.live()
    assert [(one.incarnation, one.state) for one in live] == [("inc_1", "starting")]


def test_the_text_of_an_open_item_is_kept_until_it_closes() -> None:
    desk = Desk()
    desk.open()
    step = desk.step()
    step.fact(TurnBegan())
    step.fact(ItemOpened(item=ItemId("i"), kind="text"))
    desk.commit(step)
    desk.memory.drafts.apply(Preview(ItemId("i"), 0, 2, "ab"))
    desk.commit(desk.step())
    assert desk.load().drafts.text(ItemId("i")) == "ab"
    step = desk.step()
    step.fact(ItemClosed(item=ItemId("i"), status="partial"))
    desk.commit(step)
    assert desk.load().drafts.text(ItemId("i")) == ""
    done = step.entries[-1].event
    assert done == e.TextDone(item=ItemId("i"), text="ab", status="partial")


def test_snapshots_make_loading_independent_of_the_length_of_the_log() -> None:
    desk = Desk()
    desk.open()
    for _ in range(SNAPSHOT_EVERY):
        step = desk.step()
        step.fact(TurnBegan())
        step.fact(TurnOver(cost_usd=0.5, gauges={"g": msgspec.Raw(b"[1]")}))
        desk.commit(step)
    loaded = desk.journal.load(SES)
    assert loaded is not None
    assert loaded.snapshot is not None
    assert loaded.snapshot[0] > SNAPSHOT_EVERY
    assert encode_state(desk.load().state) == encode_state(desk.memory.state)


def test_a_dispatch_without_an_agent_is_our_own_mistake() -> None:
    desk = Desk()
    desk.open()
    step = desk.step()
    step.fact(LinkUp(incarnation=IncarnationId("inc_1")))
    context = Context(now_ms=5, principal="me", request="r")
    decision = decide(desk.memory.state, c.SendInput(content=(Text("x"),)), context)
    with pytest.raises(LocalProtocolError):
        step.decided(decision)


def test_open_inputs_keep_their_rows_across_a_restart() -> None:
    desk = Desk()
    desk.open()
    step = desk.step()
    context = Context(now_ms=5, principal="me", request="r")
    step.decided(decide(desk.memory.state, c.SendInput(content=(Text("x"),)), context))
    desk.commit(step)
    again = desk.load()
    assert again.rows[InputKey("me:r")].stage == "accepted"
    assert again.next_number == 1


def test_what_a_decision_names_is_stored_without_its_secrets() -> None:
    desk = Desk()
    desk.open()
    blobs = MemoryBlobs()
    data = b'{"command":"login hunter22"}'
    digest = hashlib.sha256(data).hexdigest()
    closed = e.PermissionClosed(prompt=PromptId("p"), how="allowed", edited=True, blob=digest)
    for secret, kept in (("", data), ("hunter22", b'{"command":"login [secret]"}')):
        desk.memory.secrets.add(secret)
        step = Step(desk.memory, 5, blobs, row)
        step.decided(Decision(events=[closed], blobs={digest: data}))
        desk.commit(step)
        said = step.entries[-1].event
        assert isinstance(said, e.PermissionClosed)
        assert blobs.get(said.blob) == kept
    inline = msgspec.structs.replace(closed, blob="", input=msgspec.Raw(data))
    step = Step(desk.memory, 5, blobs, row)
    step.decided(Decision(events=[inline]))
    assert b"hunter22" not in msgspec.json.encode(step.entries[-1].event)


class FullDisk(MemoryBlobs):
    def put(self, digest: str, data: bytes) -> None:
        raise StorageError("full")


def test_a_decision_that_cannot_be_stored_changes_nothing() -> None:
    desk = Desk()
    desk.open()
    before = encode_state(desk.memory.state)
    step = Step(desk.memory, 5, FullDisk(), row)
    with pytest.raises(StorageError):
        step.decided(Decision(events=[e.Notice(text="n")], blobs={"d": b"x"}))
    assert encode_state(desk.memory.state) == before
    assert step.entries == []


def test_a_step_without_anything_new_needs_no_commit() -> None:
    desk = Desk()
    desk.open()
    step = desk.step()
    assert not step.durable
    step.drain()
    assert not step.durable


def test_a_past_is_told_behind_the_first_event_in_pieces_of_one_step() -> None:
    desk = Desk()
    step = desk.step()
    context = Context(now_ms=5, principal="me", incarnation=IncarnationId("inc_1"))
    said = [(100 + n, e.Notice(text="x" * 1000)) for n in range(400)]
    past: list[tuple[int, e.Event]] = [
        (0, e.History(phase="started")),
        *said,
        (0, e.History(phase="done")),
    ]
    step.begun(open_session(OpenSpec(agent="a", cwd="/"), context), past)
    write = step.write()
    assert len(write.batches) > 2
    assert max(len(batch.wire) for batch in write.batches) < 2 * PIECE_BYTES
    desk.commit(step)
    entries = list(replay(desk.journal, SES, 0))
    assert [one.seq for one in entries] == list(range(1, 405))
    assert [one.at_ms for one in entries[:4]] == [5, 5, 100, 101]
    assert [type(one.event) for one in entries[-2:]] == [e.History, e.AgentStarted]
    assert encode_state(desk.load().state) == encode_state(desk.memory.state)
    assert desk.memory.state.phase == "starting"
