"""Following a session: each event once and in order, wherever and however often it is cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.client.gateway import Client
from flybridge.client.items import Detached, EventItem, Item, PreviewItem, Reset
from flybridge.client.session import Attachment, Watch
from flybridge.client.transcript import Transcript
from flybridge.client.transport.connection import Connection
from flybridge.client.transport.feed import LAGGED_BYTES
from flybridge.client.transport.unix import UnixAddress
from flybridge.config.state_dir import StateDir
from flybridge.errors import (
    GatewayError,
    GatewayUnreachableError,
    RemoteProtocolError,
    SessionNotFoundError,
)
from flybridge.model.events import (
    Event,
    InputAccepted,
    ItemStarted,
    Notice,
    TextDone,
    TurnEnded,
    TurnStarted,
)
from flybridge.model.ids import InputKey, ItemId, TurnId
from tests.harness.scripted_gateway import SESSION, ScriptedGateway, serving
from tests.harness.waiting import WAIT_S, until


def notices(count: int, first: int = 1) -> list[Event]:
    return [Notice(text=f"event {first + n}") for n in range(count)]


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[ScriptedGateway]:
    async with serving(StateDir(short_tmp / "s"), notices(10)) as gateway:
        yield gateway


@pytest.fixture
async def client(gateway: ScriptedGateway) -> AsyncIterator[Client]:
    async with Client(UnixAddress(gateway.state), name="test") as client:
        yield client


async def take_events(items: Attachment | Watch, upto: int) -> list[int]:
    """The numbers of the events that come, until ``upto`` has come."""
    seqs: list[int] = []
    async with asyncio.timeout(WAIT_S):
        async for item in items:
            if isinstance(item, EventItem):
                seqs.append(item.seq)
                if item.seq >= upto:
                    break
    return seqs


# ---- Attachment ----------------------------------------------------------------------------------


async def test_history_comes_first_and_then_what_happens(
    gateway: ScriptedGateway, client: Client
) -> None:
    async with await client.attach(SESSION) as items:
        assert (items.epoch, items.head, items.reset) == (1, 10, False)
        assert await take_events(items, 10) == list(range(1, 11))
        gateway.publish(*notices(2, 11))
        assert await take_events(items, 12) == [11, 12]
    await until(lambda: SESSION not in gateway.peers[0].attached)


@pytest.mark.parametrize(("after", "last", "first"), [(4, 0, 5), (0, 3, 8), (9, 3, 10), (2, 99, 3)])
@pytest.mark.parametrize("batch", [1, 4])
async def test_it_begins_where_it_was_asked_to(
    gateway: ScriptedGateway, client: Client, after: int, last: int, first: int, batch: int
) -> None:
    gateway.batch = batch  # what was asked for may lie inside a stored batch
    async with await client.attach(SESSION, after=after, last=last) as items:
        assert await take_events(items, 10) == list(range(first, 11))


async def test_another_epoch_is_told_and_begins_from_the_start(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.epoch = 2
    async with await client.attach(SESSION, epoch=1, after=7) as items:
        assert items.reset
        assert await take_events(items, 10) == list(range(1, 11))


async def test_it_ends_after_the_gateway_detached_it(
    gateway: ScriptedGateway, client: Client
) -> None:
    items = await client.attach(SESSION, after=10)
    gateway.detach_all("session_deleted")
    assert [item async for item in items] == [Detached("session_deleted")]


async def test_a_lost_connection_is_raised(gateway: ScriptedGateway, client: Client) -> None:
    items = await client.attach(SESSION)
    await take_events(items, 10)
    gateway.hang_up()
    with pytest.raises(GatewayUnreachableError):
        await anext(items)


async def test_a_gap_is_the_gateways_fault(gateway: ScriptedGateway, client: Client) -> None:
    items = await client.attach(SESSION, after=10)
    gateway.tell(
        b'{"type":"event","session":"ses_1","epoch":1,"seq":13,"at_ms":1,"event":{"type":"x"}}'
    )
    with pytest.raises(RemoteProtocolError, match="events 11 to 12 did not come"):
        await anext(items)


async def test_a_reply_that_makes_no_sense_is_the_gateways_fault(
    gateway: ScriptedGateway, client: Client
) -> None:
    connection = await client.connection()
    gateway.refusal = None
    waiting = asyncio.create_task(client.attach("ses_odd"))
    gateway.logs["ses_odd"] = []
    gateway.epoch = "one"  # type: ignore[assignment]
    with pytest.raises(RemoteProtocolError, match="bad reply to attach"):
        await waiting
    assert not connection.closed


# ---- Watch ---------------------------------------------------------------------------------------


async def test_a_restarted_gateway_is_not_noticed(gateway: ScriptedGateway, client: Client) -> None:
    async with client.watch(SESSION) as items:
        assert await take_events(items, 10) == list(range(1, 11))
        await gateway.stop()
        gateway.logs[SESSION] += [b'{"type":"some.day"}']
        again = asyncio.create_task(take_events(items, 12))
        await asyncio.sleep(0)
        await gateway.start()
        gateway.publish(*notices(1, 12))
        assert await again == [11, 12]
        assert items.last_seq == 12


async def test_after_a_loss_previews_begin_anew(gateway: ScriptedGateway, client: Client) -> None:
    gateway.grow("itm_1", "He", "l")
    async with client.watch(SESSION, after=10) as items:
        assert await anext(items) == PreviewItem("itm_1", 0, 2, "Hel")
        gateway.grow("itm_1", "lo")
        assert await anext(items) == PreviewItem("itm_1", 2, 3, "lo")
        await gateway.restart()
        assert await anext(items) == PreviewItem("itm_1", 0, 3, "Hello")


async def test_a_new_epoch_after_a_loss_is_told(gateway: ScriptedGateway, client: Client) -> None:
    async with client.watch(SESSION, after=7) as items:
        assert await take_events(items, 10) == [8, 9, 10]
        await gateway.stop()
        gateway.epoch = 2
        del gateway.logs[SESSION][5:]
        await gateway.start()
        assert await anext(items) == Reset(2)
        assert await take_events(items, 5) == [1, 2, 3, 4, 5]
        assert (items.epoch, items.last_seq) == (2, 5)


async def test_a_shortened_history_is_not_shortened_again(
    gateway: ScriptedGateway, client: Client
) -> None:
    async with client.watch(SESSION, last=2) as items:
        assert await take_events(items, 10) == [9, 10]
        await gateway.stop()
        gateway.publish(*notices(5, 11))
        await gateway.start()
        assert await take_events(items, 15) == [11, 12, 13, 14, 15]


async def test_a_shortened_history_that_is_cut_before_it_came_leaves_no_gap(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.budgets = [230]  # the welcome and the reply, but no event
    async with client.watch(SESSION, last=4) as items:
        assert await take_events(items, 10) == [7, 8, 9, 10]
    assert gateway.connections == 2


async def test_it_ends_when_the_gateway_ends_it(gateway: ScriptedGateway, client: Client) -> None:
    async with client.watch(SESSION, after=9) as items:
        assert await take_events(items, 10) == [10]
        gateway.detach_all("session_deleted")
        assert [item async for item in items] == [Detached("session_deleted")]


async def test_a_refusal_is_raised_at_once(gateway: ScriptedGateway, client: Client) -> None:
    with pytest.raises(SessionNotFoundError):
        await anext(client.watch("ses_none"))


async def test_patience_ends(gateway: ScriptedGateway, client: Client) -> None:
    async with client.watch(SESSION, after=9, patience_s=0.1) as items:
        await take_events(items, 10)
        await gateway.stop()
        with pytest.raises(GatewayUnreachableError):
            await anext(items)


async def test_a_gateway_that_hangs_up_again_and_again_is_given_up(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.budgets = [300] * 1000
    async with client.watch(SESSION, after=10, patience_s=0.2) as items:
        gateway.open_texts["itm_1"] = ["x" * 400]
        with pytest.raises(GatewayUnreachableError):
            await anext(items)


async def test_patience_begins_anew_with_every_event_that_came(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.budgets = [300] * 8  # the welcome, the reply, and a whole event or two
    async with client.watch(SESSION, patience_s=0.1) as items:
        assert await take_events(items, 10) == list(range(1, 11))
    assert gateway.connections > 4  # in one outage the fourth attempt would be too late


async def test_patience_begins_anew_when_all_was_quiet_for_a_while(
    gateway: ScriptedGateway, client: Client
) -> None:
    items = Watch(client, SESSION, after=10, patience_s=0.1, steady_s=0.0)
    waiting = asyncio.create_task(_next(items))
    for times in range(1, 6):  # in one outage the fourth attempt would be too late
        await until(lambda n=times: gateway.connections == n and _attached(gateway))  # type: ignore[misc]
        gateway.hang_up()
    gateway.publish(*notices(1, 11))
    assert isinstance(await waiting, EventItem)


def _attached(gateway: ScriptedGateway) -> bool:
    return any(peer.attached for peer in gateway.peers)


async def test_a_closed_client_ends_its_watches(gateway: ScriptedGateway, client: Client) -> None:
    items = client.watch(SESSION, after=10)
    waiting = asyncio.create_task(_next(items))
    await until(lambda: bool(gateway.peers and gateway.peers[0].attached))
    await client.close()
    with pytest.raises(GatewayError, match="this client was closed"):
        await waiting


async def _next(items: Watch) -> Item:
    return await anext(items)


async def test_who_lagged_goes_on_where_it_stopped(
    gateway: ScriptedGateway, client: Client
) -> None:
    megabytes = LAGGED_BYTES // 2**20 + 4
    async with client.watch(SESSION, after=9) as items:
        await take_events(items, 10)
        gateway.silent.add("slow")
        asked = asyncio.create_task(client.ask("slow"))
        await until(lambda: len(gateway.heard) == 2)
        for _ in range(megabytes):
            gateway.publish(Notice(text="x" * 2**20))
        gateway.tell(b'{"type":"reply","ref":"2"}')
        await asked
        seqs = await take_events(items, 10 + megabytes)
        assert seqs == list(range(11, 11 + megabytes))
    assert gateway.connections == 1


# ---- cut anywhere --------------------------------------------------------------------------------

CONVERSATION: list[Event] = [
    TurnStarted(turn=TurnId("trn_1")),
    InputAccepted(key=InputKey("k"), kind="message", by="uid:1", fingerprint="f"),
    ItemStarted(item=ItemId("itm_0"), kind="text", turn=TurnId("trn_1")),
    TextDone(item=ItemId("itm_0"), text="é" * 30),
    TurnEnded(turn=TurnId("trn_1")),
    ItemStarted(item=ItemId("itm_1"), kind="text"),
]


async def watch_all(
    state: StateDir, budgets: list[int], batch: int
) -> tuple[list[int], Transcript]:
    """Follow a conversation to its end over connections of which each sends so many bytes."""
    seqs: list[int] = []
    transcript = Transcript()
    async with (
        serving(state, CONVERSATION) as gateway,
        Client(UnixAddress(state), name="test") as client,
        client.watch(SESSION) as items,
        asyncio.timeout(WAIT_S),
    ):
        gateway.budgets, gateway.batch = budgets, batch
        gateway.open_texts["itm_1"] = ["so ", "far ☂"]
        async for item in items:
            transcript.apply(item)
            if isinstance(item, EventItem):
                seqs.append(item.seq)
            if isinstance(item, PreviewItem) and item.upto == 2:
                gateway.grow("itm_1", ", so good")
            if isinstance(item, PreviewItem) and item.upto == 3 and len(gateway.logs[SESSION]) == 6:
                del gateway.open_texts["itm_1"]
                gateway.publish(TextDone(item=ItemId("itm_1"), text="so far ☂, so good"))
            if seqs and seqs[-1] == 7:
                return seqs, transcript
    raise AssertionError("ended early")


async def test_nothing_is_doubled_or_lost_wherever_the_connection_is_cut(short_tmp: Path) -> None:
    _, whole = await watch_all(StateDir(short_tmp / "whole"), [], 1)
    for cut in range(0, 1500, 37):
        seqs, transcript = await watch_all(StateDir(short_tmp / f"{cut}"), [cut], 3)
        assert seqs == [1, 2, 3, 4, 5, 6, 7], cut
        assert transcript == whole, cut


@settings(max_examples=25)
@given(budgets=st.lists(st.integers(0, 1600), max_size=4), batch=st.integers(1, 4))
def test_nothing_is_doubled_or_lost_however_often_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, budgets: list[int], batch: int
) -> None:
    state = StateDir(tmp_path_factory.mktemp("s") / "s")
    seqs, transcript = asyncio.run(watch_all(state, budgets, batch))
    assert seqs == [1, 2, 3, 4, 5, 6, 7]
    assert transcript.text == "é" * 30 + "\nso far ☂, so good"


async def test_a_connection_alone_is_enough_to_attach(gateway: ScriptedGateway) -> None:
    connection = await Connection.open(UnixAddress(gateway.state))
    items = await Attachment.open(connection, SESSION)
    assert await take_events(items, 10) == list(range(1, 11))
    await connection.close()
