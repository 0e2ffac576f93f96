from __future__ import annotations

import asyncio

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from flybridge.errors import StorageError
from flybridge.model import events as e
from flybridge.model.deliveries import Batch, Gauge, Preview, Shown, View
from flybridge.model.ids import ItemId, SessionId
from flybridge.runtime.broadcaster import RING_BYTES, Hub, wire_of
from flybridge.session.ports import SessionRow, Write
from flybridge.store.memory import MemoryJournal
from flybridge.wire.native.entries import encode_entries
from tests.harness.runtime_harness import ListClient
from tests.harness.waiting import until

SES = SessionId("ses_1")


class Source:
    def __init__(self) -> None:
        self.open: list[Preview] = []

    def texts(self) -> list[Shown]:
        return [Shown(SES, one) for one in self.open]

    def view(self) -> View:
        return View(SES, 0, msgspec.Raw(b"{}"))


class Stage:
    """A hub over a journal, and a log to publish."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.source = Source()
        self.hub = Hub(self.journal)
        self.hub.feed(SES, 0, self.source)
        self.head = 0

    def publish(self, count: int = 1, size: int = 10) -> None:
        event = msgspec.json.encode(e.Notice(text="x" * size))
        first = self.head + 1
        wire = encode_entries(SES, 1, first, 5, [event] * count)
        batch = Batch(session=SES, epoch=1, first_seq=first, count=count, wire=wire)
        row = SessionRow(session=SES, agent="a", cwd="/") if first == 1 else None
        self.journal.commit(Write(session=SES, batches=[batch], row=row))
        self.head = batch.last_seq
        self.hub.publish(SES, batch, [])


async def test_a_client_gets_history_and_then_what_comes() -> None:
    stage, client = Stage(), ListClient()
    stage.publish(3)
    stage.hub.attach(client, SES, after=1, previews=True)
    await until(lambda: client.seqs() == [2, 3])
    stage.publish()
    assert client.seqs() == [2, 3, 4]
    assert client.views


async def test_a_client_attached_at_any_place_gets_each_event_once() -> None:
    for after in range(13):
        stage, client = Stage(), ListClient()
        for count in (3, 1, 2):
            stage.publish(count)
        stage.hub.attach(client, SES, after=min(after, stage.head), previews=True)
        stage.publish(4)
        await asyncio.sleep(0)
        stage.publish(2)
        await until(lambda stage=stage, client=client: (client.seqs() or [0])[-1] == stage.head)  # type: ignore[misc]
        assert client.seqs() == list(range(min(after, 6) + 1, stage.head + 1))


async def test_a_slow_client_waits_where_it_is_and_catches_up() -> None:
    stage, slow, quick = Stage(), ListClient(), ListClient()
    one = stage.hub.attach(slow, SES, after=0, previews=True)
    stage.hub.attach(quick, SES, after=0, previews=True)
    await until(lambda: one.live)
    slow.writable = False
    for _ in range(20):
        stage.publish()
    assert (slow.seqs(), len(quick.seqs())) == ([], 20)
    stage.source.open = [Preview(ItemId("i"), 0, 7, "so far")]
    slow.writable = True
    stage.hub.resume([one])
    await until(lambda: one.live)
    assert slow.seqs() == list(range(1, 21))
    assert slow.previews == [Preview(ItemId("i"), 0, 7, "so far")]


async def test_what_the_ring_has_lost_comes_from_the_journal() -> None:
    stage, client = Stage(), ListClient()
    for _ in range(6):
        stage.publish(size=RING_BYTES // 3)
    stage.hub.attach(client, SES, after=0, previews=False)
    await until(lambda: len(client.seqs()) == 6)
    assert client.seqs() == [1, 2, 3, 4, 5, 6]


async def test_previews_go_only_to_those_who_want_them() -> None:
    stage, plain, eager = Stage(), ListClient(), ListClient()
    a = stage.hub.attach(plain, SES, after=0, previews=False)
    b = stage.hub.attach(eager, SES, after=0, previews=True)
    await until(lambda: a.live and b.live)
    shown = [Shown(SES, Preview(ItemId("i"), 0, 1, "x")), Shown(SES, Gauge("g", msgspec.Raw(b"1")))]
    stage.hub.publish(SES, None, shown)
    assert (plain.previews, len(eager.previews)) == ([], 1)


async def test_open_texts_are_sent_whole_again_after_a_resync() -> None:
    stage, client = Stage(), ListClient()
    one = stage.hub.attach(client, SES, after=0, previews=True)
    await until(lambda: one.live)
    stage.source.open = [Preview(ItemId("i"), 0, 3, "abc")]
    stage.hub.resync(SES)
    await until(lambda: client.previews)
    assert client.previews == [Preview(ItemId("i"), 0, 3, "abc")]


async def test_a_detached_client_gets_nothing_more() -> None:
    stage, client = Stage(), ListClient()
    one = stage.hub.attach(client, SES, after=0, previews=True)
    await until(lambda: one.live)
    assert stage.hub.followers(SES) == 1
    stage.hub.detach(one)
    stage.hub.detach(one)
    stage.publish()
    assert client.seqs() == []
    assert stage.hub.followers(SES) == 0


async def test_what_the_gateway_follows_by_itself_counts_as_nobody() -> None:
    stage, client = Stage(), ListClient()
    one = stage.hub.attach(client, SES, after=0, previews=False, counts=False)
    await until(lambda: one.live)
    stage.publish()
    assert len(client.seqs()) == 1
    assert stage.hub.followers(SES) == 0


async def test_everyone_is_told_when_a_session_is_gone() -> None:
    stage, client = Stage(), ListClient()
    one = stage.hub.attach(client, SES, after=0, previews=True)
    stage.hub.drop(SES, "session_deleted")
    stage.hub.drop(SES, "session_deleted")
    assert client.ended == ["session_deleted"]
    stage.hub.publish(SES, None, [])
    stage.hub.resync(SES)
    stage.hub.detach(one)
    await asyncio.sleep(0)


async def test_a_session_that_comes_back_keeps_its_clients() -> None:
    stage, client = Stage(), ListClient()
    one = stage.hub.attach(client, SES, after=0, previews=True)
    await until(lambda: one.live)
    stage.hub.feed(SES, stage.head, stage.source)
    stage.publish()
    assert client.seqs() == [1]


async def test_a_client_waits_out_a_disk_that_cannot_be_read() -> None:
    class Ill(MemoryJournal):
        ill = True

        def read(self, session: SessionId, after: int, max_bytes: int) -> list[Batch]:
            if self.ill:
                raise StorageError("no")
            return list(super().read(session, after, max_bytes))

    stage = Stage()
    stage.publish(2)
    ill = Ill(stage.journal.disk)
    hub = Hub(ill)
    hub.feed(SES, 2, stage.source)
    client = ListClient()
    hub.attach(client, SES, after=0, previews=True)
    await asyncio.sleep(0.01)
    assert client.seqs() == []
    ill.ill = False
    await until(lambda: client.seqs() == [1, 2])


async def test_a_gap_in_what_is_published_is_filled_from_the_journal() -> None:
    stage, client = Stage(), ListClient()
    one = stage.hub.attach(client, SES, after=0, previews=True)
    await until(lambda: one.live)
    stage.publish()
    one.after = 0  # as if the first batch had been missed
    client.batches.clear()
    stage.publish()
    await until(lambda: client.seqs() == [1, 2])


@given(st.lists(st.one_of(st.integers(1, 4), st.booleans()), max_size=30))
def test_any_mix_of_pauses_and_batches_gives_the_same_log(script: list[int | bool]) -> None:
    async def play() -> None:
        stage, client = Stage(), ListClient()
        one = stage.hub.attach(client, SES, after=0, previews=True)
        for move in script:
            if isinstance(move, bool):
                client.writable = move
                stage.hub.resume([one])
                await asyncio.sleep(0)
            else:
                stage.publish(move)
        client.writable = True
        stage.hub.resume([one])
        await until(lambda: one.after == stage.head)
        assert client.seqs() == list(range(1, stage.head + 1))

    asyncio.run(play())


def test_deliveries_have_a_native_form() -> None:
    assert wire_of(View(SES, 3, msgspec.Raw(b"{}"))).startswith(b'{"type":"view"')
    assert wire_of(Shown(SES, Gauge("g", msgspec.Raw(b"1")))).startswith(b'{"type":"gauge"')
    assert wire_of(Shown(SES, Preview(ItemId("i"), 0, 1, "x"))).startswith(b'{"type":"preview"')


async def test_all_of_a_step_comes_in_order_and_what_is_shown_comes_last() -> None:
    stage, client = Stage(), ListClient()
    stage.publish()
    stage.hub.attach(client, SES, after=0, previews=True)
    await until(lambda: client.seqs() == [1])
    wires = [
        encode_entries(SES, 1, n, 5, [msgspec.json.encode(e.Notice(text="x"))]) for n in (2, 3)
    ]
    batches = [
        Batch(session=SES, epoch=1, first_seq=n, count=1, wire=wire)
        for n, wire in enumerate(wires, 2)
    ]
    text = Shown(SES, Preview(ItemId("i"), 0, 1, "a"))
    stage.hub.publish_step(SES, batches, [text])
    assert client.seqs() == [1, 2, 3]
    stage.hub.publish_step(SES, [], [text])
    assert [one.text for one in client.previews] == ["a", "a"]
