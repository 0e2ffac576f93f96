"""One connection against a real socket: replies by ref, feeds by session, and every bad end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Raw

from flybridge.client.transport.connection import Connection
from flybridge.client.transport.feed import LAGGED_BYTES
from flybridge.client.transport.link import LAGGED
from flybridge.client.transport.unix import UnixAddress
from flybridge.config.state_dir import StateDir
from flybridge.errors import (
    BusyError,
    GatewayError,
    GatewayUnreachableError,
    LocalProtocolError,
    RemoteProtocolError,
    SessionNotFoundError,
)
from flybridge.model.events import Notice
from flybridge.wire.native.messages import DetachedLine, EventLine, PreviewLine
from tests.harness.scripted_gateway import SESSION, ScriptedGateway, serving
from tests.harness.waiting import until

CLOSE = Raw(b'{"type":"close"}')


@pytest.fixture
async def connection(gateway: ScriptedGateway) -> AsyncIterator[Connection]:
    connection = await Connection.open(UnixAddress(gateway.state), client="test/1")
    yield connection
    await connection.close()


async def test_the_welcome_says_who_we_are(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    assert connection.welcome.principal == "uid:1"
    assert connection.welcome.generation == 1
    assert gateway.peers[0].adapter.client == "test/1"


async def test_replies_find_their_requests_in_any_order(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.silent.add("slow")
    gateway.asks["fast"] = lambda params: params
    slow = asyncio.create_task(connection.ask("slow"))
    await until(lambda: len(gateway.heard) == 1)
    reply = await connection.ask("fast", {"a": 1})
    assert isinstance(reply.value, Raw)
    assert bytes(reply.value) == b'{"a":1}'
    assert not slow.done()
    gateway.tell(b'{"type":"reply","ref":"77"}')  # nobody asked
    gateway.tell(b'{"type":"reply","ref":"1","value":{"at":"last"}}')
    late = await slow
    assert isinstance(late.value, Raw)
    assert bytes(late.value) == b'{"at":"last"}'


async def test_a_refusal_is_raised_as_what_it_is(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.refusal = BusyError("the queue is full")
    with pytest.raises(BusyError, match="the queue is full"):
        await connection.submit(SESSION, CLOSE, request="r", until="done", wait_ms=0)
    gateway.refusal = None
    with pytest.raises(SessionNotFoundError) as caught:
        await connection.attach("ses_none")
    assert caught.value.session == "ses_none"
    reply, _ = await connection.attach(SESSION)
    assert not reply.error


async def test_nobody_listening_is_unreachable(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "none")
    with pytest.raises(GatewayUnreachableError, match="no gateway answers at"):
        await Connection.open(UnixAddress(state))
    state.prepare()
    with pytest.raises(GatewayUnreachableError):
        await Connection.open(UnixAddress(state))
    async with serving(state) as gateway:
        await gateway.stop()
        gateway.state.socket.touch()  # a dead socket's file, as after kill -9, is the same
    with pytest.raises(GatewayUnreachableError):
        await Connection.open(UnixAddress(state))


async def test_a_directory_open_to_others_is_not_even_tried(gateway: ScriptedGateway) -> None:
    gateway.state.path.chmod(0o755)
    with pytest.raises(GatewayError, match="chmod 700"):
        await Connection.open(UnixAddress(gateway.state))
    assert gateway.connections == 0


async def test_a_gateway_that_hangs_up_before_the_welcome_is_unreachable(
    gateway: ScriptedGateway,
) -> None:
    gateway.budgets = [0, 10]
    for _ in range(2):
        with pytest.raises(GatewayUnreachableError):
            await Connection.open(UnixAddress(gateway.state))


async def test_a_gateway_of_another_protocol_is_named(gateway: ScriptedGateway) -> None:
    gateway.proto = 2
    with pytest.raises(GatewayError, match="speaks protocol 2, this client 1"):
        await Connection.open(UnixAddress(gateway.state))


async def test_everyone_who_waits_learns_of_a_lost_connection(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.silent.update({"slow", "submit"})
    _, feed = await connection.attach(SESSION)
    asked = asyncio.create_task(connection.ask("slow"))
    submitted = asyncio.create_task(
        connection.submit(SESSION, CLOSE, request="r", until="done", wait_ms=0)
    )
    await until(lambda: len(gateway.heard) == 3)
    gateway.publish(Notice(text="the last"))
    gateway.tell(b'{"type":"error","code":"shutdown","message":"going down"}')
    gateway.hang_up()
    for task in (asked, submitted):
        with pytest.raises(GatewayUnreachableError, match="lost: going down"):
            await task
    assert isinstance(await feed.get(), EventLine)  # what came before the end is not lost
    with pytest.raises(GatewayUnreachableError):
        await feed.get()
    assert connection.closed
    with pytest.raises(GatewayUnreachableError):
        await connection.ask("anything")


async def test_closing_fails_who_waits_and_leaves_no_task(gateway: ScriptedGateway) -> None:
    before = asyncio.all_tasks()
    connection = await Connection.open(UnixAddress(gateway.state))
    gateway.silent.add("slow")
    asked = asyncio.create_task(connection.ask("slow"))
    await until(lambda: len(gateway.heard) == 1)
    await connection.close()
    await connection.close()
    with pytest.raises(GatewayUnreachableError, match="closed"):
        await asked
    await until(lambda: asyncio.all_tasks() == before)


@pytest.mark.parametrize("line", [b"nonsense", b'{"type":"event"}', b"\xff"])
async def test_a_gateway_that_talks_nonsense_is_left(
    gateway: ScriptedGateway, connection: Connection, line: bytes
) -> None:
    gateway.silent.add("slow")
    asked = asyncio.create_task(connection.ask("slow"))
    await until(lambda: len(gateway.heard) == 1)
    gateway.tell(line)
    with pytest.raises(RemoteProtocolError, match="bad message from the gateway"):
        await asked
    assert connection.closed
    await until(lambda: not gateway.peers)


async def test_a_message_of_a_newer_gateway_is_passed_over(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.tell(b'{"type":"aurora","session":"ses_1"}')
    gateway.asks["fast"] = lambda params: 1
    assert (await connection.ask("fast")).error == ""


async def test_no_answer_in_time_is_unreachable_and_a_late_one_is_passed_over(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.silent.add("slow")
    with pytest.raises(GatewayUnreachableError, match="no answer within"):
        await connection.ask("slow", timeout_s=0.01)
    gateway.tell(b'{"type":"reply","ref":"1"}')
    gateway.asks["fast"] = lambda params: 1
    await connection.ask("fast")


async def test_a_session_is_attached_once_at_a_time(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    _, feed = await connection.attach(SESSION)
    with pytest.raises(LocalProtocolError, match="attached already"):
        await connection.attach(SESSION)
    await connection.detach(feed)
    await connection.detach(feed)
    with pytest.raises(LocalProtocolError, match="detached"):
        await feed.get()
    gateway.publish(Notice(text="one"))
    _, again = await connection.attach(SESSION)
    line = await again.get()
    assert isinstance(line, EventLine)
    assert line.seq == 1


async def test_what_was_on_its_way_to_an_old_attachment_is_not_seen_by_the_new_one(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.publish(*(Notice(text=str(n)) for n in range(3)))
    _, old = await connection.attach(SESSION)
    gateway.publish(Notice(text="late"))  # leaves before the gateway hears of the detach
    await connection.detach(old)
    _, new = await connection.attach(SESSION, after=3)
    line = await new.get()
    assert isinstance(line, EventLine)
    assert line.seq == 4
    gateway.grow("itm_1", "x")
    assert isinstance(await new.get(), PreviewLine)


async def test_a_cancelled_attach_is_taken_back(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    waiting = asyncio.create_task(connection.attach(SESSION))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    _, feed = await connection.attach(SESSION)
    gateway.publish(Notice(text="one"))
    assert isinstance(await feed.get(), EventLine)


async def test_a_detached_session_ends_its_feed_only(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    gateway.logs["ses_2"] = []
    _, first = await connection.attach(SESSION)
    _, second = await connection.attach("ses_2")
    gateway.detach_all("session_deleted")
    assert await first.get() == DetachedLine(session=SESSION, code="session_deleted")
    gateway.publish(Notice(text="still here"), session="ses_2")
    assert isinstance(await second.get(), EventLine)


def flood(gateway: ScriptedGateway, megabytes: int) -> None:
    for _ in range(megabytes):
        gateway.publish(Notice(text="x" * 2**20))


def buffered(gateway: ScriptedGateway) -> int:
    return sum(peer.writer.transport.get_write_buffer_size() for peer in gateway.peers)


async def test_a_lagging_reader_stops_the_socket_and_loses_nothing(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    _, feed = await connection.attach(SESSION)
    flood(gateway, 16)
    await until(lambda: feed.full)
    for _ in range(500):  # time enough to read it all, were it read
        await asyncio.sleep(0)
    assert buffered(gateway) > 8 * 2**20  # the gateway holds the rest, not we
    seqs = []
    for _ in range(16):
        line = await feed.get()
        assert isinstance(line, EventLine)
        seqs.append(line.seq)
    assert seqs == list(range(1, 17))


async def test_a_reader_that_asks_while_it_lags_does_not_wait_for_itself(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    _, feed = await connection.attach(SESSION)
    flood(gateway, 16)
    await until(lambda: feed.full)
    gateway.asks["fast"] = lambda params: 1
    await connection.ask("fast")
    assert isinstance(await feed.get(), EventLine)


async def test_what_piles_up_meanwhile_is_bounded(
    gateway: ScriptedGateway, connection: Connection
) -> None:
    _, feed = await connection.attach(SESSION)
    gateway.silent.add("slow")
    asked = asyncio.create_task(connection.ask("slow"))
    flood(gateway, LAGGED_BYTES // 2**20 + 4)
    gateway.tell(b'{"type":"reply","ref":"2"}')
    await asked
    lines = [await feed.get() for _ in range(LAGGED_BYTES // 2**20)]
    assert all(isinstance(line, EventLine) for line in lines)
    assert await feed.get() == DetachedLine(session=SESSION, code=LAGGED)
    await until(lambda: SESSION not in gateway.peers[0].attached)
