"""The client's side of a WebSocket: joined to a server's side through bytes, then for real."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Close, CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from flybridge.client.gateway import Client
from flybridge.client.items import EventItem, PreviewItem
from flybridge.client.transport.tokens import Token
from flybridge.client.transport.url import UrlAddress
from flybridge.client.transport.websocket import MAX_MESSAGE_BYTES, Frames, to_end
from flybridge.errors import (
    FlybridgeError,
    GatewayUnreachableError,
    LocalProtocolError,
    NotAllowedError,
    NotAuthenticatedError,
    RemoteProtocolError,
    TooManyTriesError,
)
from flybridge.model.events import Notice
from tests.harness.scripted_gateway import SESSION, ScriptedGateway
from tests.harness.scripted_url import TOKEN, ScriptedUrl, closing, text_frame
from tests.harness.waiting import until


class Pair:
    """A client's frames and a server's, with nothing but bytes between them."""

    def __init__(self, *, upgraded: bool = True) -> None:
        self.client = Frames("wss://boat.example/api/v1/ws", Token(TOKEN))
        self.server = ServerProtocol()
        self.heard: list[bytes] = []
        if upgraded:
            self.server.receive_data(self.client.take())
            [request] = self.server.events_received()
            assert isinstance(request, Request)
            self.server.send_response(self.server.accept(request))
            self.client.receive(self.from_server())
            self.to_server()

    def to_server(self) -> list[Frame]:
        self.server.receive_data(self.client.take())
        frames = [one for one in self.server.events_received() if isinstance(one, Frame)]
        self.heard += [bytes(one.data) for one in frames if one.opcode is Opcode.TEXT]
        return frames

    def from_server(self) -> bytes:
        return b"".join(self.server.data_to_send())


def test_the_token_is_the_first_thing_said_after_the_upgrade() -> None:
    pair = Pair(upgraded=False)
    pair.client.send(b'{"type":"hello"}')  # before anybody could hear it
    head = pair.client.take()
    assert TOKEN.encode() not in head
    assert b"hello" not in head
    pair.server.receive_data(head)
    [request] = pair.server.events_received()
    assert isinstance(request, Request)
    assert request.headers["Host"] == "boat.example"
    assert "Sec-WebSocket-Extensions" not in request.headers
    pair.server.send_response(pair.server.accept(request))
    pair.client.receive(pair.from_server())
    pair.to_server()
    assert [json.loads(one) for one in pair.heard] == [
        {"type": "auth", "token": TOKEN},
        {"type": "hello"},
    ]


messages = st.lists(st.binary(min_size=1, max_size=300).filter(lambda one: b"\n" not in one))


@given(batches=st.lists(messages.filter(bool), max_size=5), size=st.integers(1, 100))
def test_messages_do_not_depend_on_frames_or_reads(batches: list[list[bytes]], size: int) -> None:
    pair = Pair()
    stream = b"".join(map(text_frame, batches))
    reads = [stream[at : at + size] for at in range(0, len(stream), size)]
    got = [one for read in reads for one in pair.client.receive(read)]
    assert got == [one for batch in batches for one in batch]
    assert pair.client.over is None


def test_a_message_in_pieces_is_put_together() -> None:
    pair = Pair()
    pieces = [
        (Opcode.TEXT, b"a\nb", False),
        (Opcode.CONT, b"c", False),
        (Opcode.CONT, b"\nd", True),
    ]
    got = [
        one
        for opcode, data, fin in pieces
        for one in pair.client.receive(Frame(opcode, data, fin=fin).serialize(mask=False))
    ]
    assert got == [b"a", b"bc", b"d"]


def test_what_we_say_is_masked_and_comes_through() -> None:
    pair = Pair()
    pair.client.send(b'{"a":"\xc3\xa9"}')
    data = pair.client.take()
    assert data[1] & 0x80
    assert b'"a"' not in data
    pair.server.receive_data(data)
    [frame] = pair.server.events_received()
    assert isinstance(frame, Frame)
    assert bytes(frame.data) == b'{"a":"\xc3\xa9"}'


def test_a_ping_is_answered_and_ours_are_sent() -> None:
    pair = Pair()
    pair.server.send_ping(b"there?")
    pair.client.receive(pair.from_server())
    [pong] = pair.to_server()
    assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"there?")
    assert pair.client.ping()
    [ping] = pair.to_server()
    assert ping.opcode is Opcode.PING


def test_a_message_that_is_too_long_is_refused_before_it_leaves() -> None:
    pair = Pair()
    with pytest.raises(LocalProtocolError, match="too long"):
        pair.client.send(b"x" * (MAX_MESSAGE_BYTES + 1))
    assert pair.client.take() == b""
    pair.client.send(b"x" * MAX_MESSAGE_BYTES)
    assert pair.client.take()


def test_what_came_before_a_close_still_counts() -> None:
    pair = Pair()
    got = pair.client.receive(text_frame([b"the last"]) + closing(1012))
    assert got == [b"the last"]
    assert isinstance(pair.client.over, GatewayUnreachableError)
    assert [one.opcode for one in pair.to_server()] == [Opcode.CLOSE]


def test_closing_says_goodbye() -> None:
    pair = Pair()
    pair.client.close()
    [goodbye] = pair.to_server()
    assert Close.parse(goodbye.data) == Close(CloseCode.NORMAL_CLOSURE, "")
    early = Pair(upgraded=False)
    early.client.take()
    early.client.close()
    assert early.client.take() == b""


@pytest.mark.parametrize(
    "data",
    [
        Frame(Opcode.TEXT, b"x").serialize(mask=True),
        b"\xf1\x01x",
        b"\x83\x00",
        b"\x80\x01x",
        closing(1005),
    ],
    ids=["masked", "reserved bits", "unknown opcode", "no beginning", "a code nobody may send"],
)
def test_a_frame_against_the_rules_ends_it(data: bytes) -> None:
    pair = Pair()
    pair.client.receive(data)
    assert isinstance(pair.client.over, RemoteProtocolError)


def test_only_text_is_taken() -> None:
    with pytest.raises(RemoteProtocolError, match="no text"):
        Pair().client.receive(Frame(Opcode.BINARY, b"x").serialize(mask=False))


def test_a_frame_that_promises_too_much_is_not_waited_for() -> None:
    pair = Pair()
    pair.client.receive(b"\x81\x7f" + (2**40).to_bytes(8, "big"))
    assert isinstance(pair.client.over, RemoteProtocolError)


@given(data=st.binary(max_size=300))
def test_any_bytes_give_messages_or_an_end(data: bytes) -> None:
    pair = Pair()
    try:
        pair.client.receive(data)
    except RemoteProtocolError:
        pass
    pair.client.take()


@given(data=st.binary(max_size=300))
def test_any_answer_to_the_upgrade_is_an_upgrade_or_an_end(data: bytes) -> None:
    pair = Pair(upgraded=False)
    try:
        pair.client.receive(b"HTTP/1.1 " + data + b"\r\n\r\n")
    except RemoteProtocolError:
        pass
    assert TOKEN.encode() not in pair.client.take()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (4401, NotAuthenticatedError),
        (4403, NotAllowedError),
        (4429, TooManyTriesError),
        (4408, GatewayUnreachableError),
        (1000, GatewayUnreachableError),
        (1001, GatewayUnreachableError),
        (1011, GatewayUnreachableError),
        (1012, GatewayUnreachableError),
        (1002, LocalProtocolError),
        (1008, LocalProtocolError),
        (1009, LocalProtocolError),
    ],
)
def test_every_close_code_is_named(code: int, kind: type[FlybridgeError]) -> None:
    error = to_end(Close(code, "because"))
    assert type(error) is kind
    assert type(to_end(None)) is GatewayUnreachableError
    assert "\x1b" not in str(to_end(Close(code, "\x1b[2J")))


def test_the_library_never_logs_what_passes_by() -> None:
    assert logging.getLogger("flybridge.client.transport.websocket").level >= logging.WARNING


# ---- for real ------------------------------------------------------------------------------------


@pytest.fixture
async def client(door: ScriptedUrl) -> AsyncIterator[Client]:
    async with Client(UrlAddress(door.url, Token(TOKEN), ping_s=0.05), name="test") as client:
        yield client


async def test_everything_works_as_it_does_over_the_socket(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.asks["echo"] = lambda params: params
    assert await client.ask("echo", {"text": "é" * 1000}) == {"text": "é" * 1000}
    async with client.watch(SESSION) as items:
        gateway.publish(Notice(text="one"))
        assert isinstance(await anext(items), EventItem)
        gateway.grow("itm", "x")
        assert await anext(items) == PreviewItem("itm", 0, 1, "x")


@pytest.mark.parametrize("code", [1001, 1006, 1011, 1012])
async def test_who_watches_comes_back_after_a_restart(
    gateway: ScriptedGateway, door: ScriptedUrl, client: Client, code: int
) -> None:
    async with client.watch(SESSION) as items:
        gateway.publish(Notice(text="one"))
        assert isinstance(await anext(items), EventItem)
        for peer in gateway.peers:
            peer.write(closing(code) if code != 1006 else b"")
        await door.restart()
        gateway.publish(Notice(text="two"))
        item = await anext(items)
        assert isinstance(item, EventItem)
        assert item.seq == 2


@pytest.mark.parametrize(
    ("code", "kind"),
    [(4401, NotAuthenticatedError), (4403, NotAllowedError), (4429, TooManyTriesError)],
)
async def test_who_is_not_wanted_is_told_and_does_not_come_back(
    gateway: ScriptedGateway, door: ScriptedUrl, client: Client, code: int, kind: type[Exception]
) -> None:
    async with client.watch(SESSION) as items:
        gateway.publish(Notice(text="one"))
        await anext(items)
        door.end = code
        gateway.peers[0].write(closing(code))  # a token that is taken back ends its sockets
        with pytest.raises(kind):
            await anext(items)
    assert gateway.connections == 1
    with pytest.raises(kind):
        await client.status()
    assert gateway.connections == 2


async def test_a_gateway_that_gives_no_sign_of_life_is_left(
    gateway: ScriptedGateway, door: ScriptedUrl, client: Client
) -> None:
    connection = await client.connection()
    await until(lambda: door.pings >= 3)  # a sign of life each time: we stay
    assert not connection.closed
    gateway.silent.add("slow")
    asked = asyncio.create_task(client.ask("slow"))
    door.deaf = True
    with pytest.raises(GatewayUnreachableError, match="no sign of life"):
        await asked
    door.deaf = False
