"""A WebSocket door on a real port, and a client that says exactly the bytes it is told to.

Nothing here uses a WebSocket library: what is sent may be wrong on purpose, and what comes is
checked to the byte.
"""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from flybridge.auth.authority import ALL_SCOPES, FILE_SCOPES, Authority
from flybridge.auth.gate import gate_for
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.frontends.native.adapter import speak_native
from flybridge.listeners.connection import Requests
from flybridge.listeners.upgrade import Room, Timing
from flybridge.listeners.websocket import PATH, WebSocketDoor
from flybridge.model.audit import Record
from flybridge.model.deliveries import Reply
from flybridge.model.requests import Ask, Attach, Detach, Request, Submit
from flybridge.runtime.dispatcher import Client
from flybridge.session.authorisation import Caller, Scope
from flybridge.store.credentials import CredentialFile
from flybridge.wire.native.messages import Welcome
from tests.harness.frames import CLOSE, PING, PONG, TEXT, frame, upgrade_request
from tests.harness.login import headers_for
from tests.harness.waiting import WAIT_S, until


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def welcome(caller: Caller) -> Welcome:
    return Welcome(
        proto=1,
        version="0",
        generation=1,
        principal=caller.principal,
        scopes=tuple(sorted(caller.scopes)),
    )


class EchoDesk:
    """Answers every request at once, with what it was asked; notes all of them."""

    def __init__(self) -> None:
        self.handled: list[Request] = []
        self.left: list[Client] = []
        self.drains = 0

    async def handle(self, client: Client, request: Request) -> None:
        self.handled.append(request)
        match request:
            case Ask(ref=ref, params=params):
                client.reply(Reply(ref=ref, value=params))
            case Submit(ref=ref) | Attach(ref=ref):
                client.reply(Reply(ref=ref))
            case Detach():
                pass

    def gone(self, client: Client) -> None:
        self.left.append(client)

    def drained(self, client: Client) -> None:
        self.drains += 1


async def hello_app(scope: Any, receive: Any, send: Any) -> None:
    """The least there can be behind HTTP."""
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


class OpenDoor:
    """Everything a guest needs to know."""

    def __init__(self, folder: Path, desk: Requests | None = None, **more: Any) -> None:
        self.echo = EchoDesk()
        self.desk: Requests = desk or self.echo
        self.audited: list[Record] = []
        self.ahead_ms = 0  # of the clock; a test adds to it instead of waiting
        self.authority = Authority(
            CredentialFile(folder / "tokens"), owner="me", cookie="fb", now_ms=self.now_ms
        )
        self.token = self.authority.create_token("test", FILE_SCOPES)
        self.timing: Timing = more.get("timing", Timing())
        self.room: Room = more.get("room", Room())
        self.keepers: list[tuple[int, str]] = []  # whoever descends from these is an agent
        self.port = 0
        self.guests: list[Guest] = []

    def now_ms(self) -> int:
        return now_ms() + self.ahead_ms

    def listen_on(self, port: int) -> WebSocketDoor:
        self.port = port
        self.door = WebSocketDoor(
            self.desk,
            gate=gate_for(port),
            authority=self.authority,
            speak=speak_native(welcome),
            now_ms=self.now_ms,
            audit=self.audited.append,
            peers=TcpPeers(lambda: self.keepers),
            timing=self.timing,
            room=self.room,
        )
        return self.door

    def login(self, scopes: frozenset[Scope] = ALL_SCOPES) -> dict[str, str]:
        """Both halves of a login, as headers of an upgrade; by default it may do everything."""
        ticket = self.authority.ticket(scopes)
        return headers_for("fb", self.authority.login(ticket, door="http", source="test"))

    async def dial(self) -> Guest:
        streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)
        self.guests.append(Guest(self, *streams))
        return self.guests[-1]

    async def upgraded(self, **headers: str) -> Guest:
        """A guest with a socket, whom nobody knows yet unless the headers say so."""
        guest = await self.dial()
        assert await guest.upgrade(**headers) == 101
        return guest

    async def guest(self) -> Guest:
        """A guest who was welcomed."""
        guest = await self.upgraded()
        guest.say({"type": "auth", "token": self.token})
        await guest.greet()
        return guest


class Guest:
    """One connection, byte by byte."""

    def __init__(
        self, place: OpenDoor, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.place = place
        self.reader = reader
        self.writer = writer
        self.body = b""
        self.headers: dict[str, str] = {}
        self._messages: list[Any] = []

    async def upgrade(self, *, target: str = PATH, method: str = "GET", **headers: str) -> int:
        """Ask for a WebSocket; the status. A header given as "" is left out."""
        given = {name.replace("_", "-"): value or None for name, value in headers.items()}
        host = f"127.0.0.1:{self.place.port}"
        self.writer.write(upgrade_request(host, target, given, method=method))
        return await self.response()

    async def response(self) -> int:
        head = await self._within(self.reader.readuntil(b"\r\n\r\n"))
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        self.headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        if size := int(self.headers.get("content-length", 0)):
            self.body = await self._within(self.reader.readexactly(size))
        return int(first.split(" ")[1])

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    def say(self, *messages: dict[str, Any]) -> None:
        self.send(frame("\n".join(map(json.dumps, messages)).encode()))

    async def greet(self) -> None:
        self.say({"type": "hello", "proto": 1, "client": "test"})
        assert (await self.hear())["type"] == "welcome"

    async def next_frame(self) -> tuple[int, bytes]:
        """The next frame from the server, which must be a whole and well-formed one."""
        first, second = await self._within(self.reader.readexactly(2))
        assert first & 0x80, "a fragment"
        assert not first & 0x70, "reserved bits"
        assert not second & 0x80, "a mask"
        size = second
        if second == 126:
            (size,) = struct.unpack("!H", await self._within(self.reader.readexactly(2)))
            assert size > 125, "not the shortest form"
        elif second == 127:
            (size,) = struct.unpack("!Q", await self._within(self.reader.readexactly(8)))
            assert size > 65535, "not the shortest form"
        return first & 15, await self._within(self.reader.readexactly(size))

    async def hear(self) -> Any:
        """The next message, answering pings on the way."""
        while not self._messages:
            opcode, payload = await self.next_frame()
            if opcode == PING:
                self.send(frame(payload, PONG))
                continue
            assert opcode == TEXT, (opcode, payload)
            self._messages = [json.loads(line) for line in payload.decode().split("\n")]
        return self._messages.pop(0)

    async def hear_until(self, **wanted: Any) -> list[Any]:
        heard: list[Any] = []
        while not heard or any(heard[-1].get(key) != value for key, value in wanted.items()):
            heard.append(await self.hear())
        return heard

    async def ending(self) -> tuple[int, str]:
        """Read on to the close frame and the end of the stream: its code and reason."""
        while True:
            opcode, payload = await self.next_frame()
            if opcode == CLOSE:
                break
        assert await self._within(self.reader.read()) == b"", "words after the last one"
        code = struct.unpack("!H", payload[:2])[0] if payload else 1005
        return code, payload[2:].decode()

    async def gone(self) -> bytes:
        """Read to the end of the stream."""
        return await self._within(self.reader.read())

    async def close(self) -> None:
        self.writer.transport.abort()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            pass

    @staticmethod
    async def _within(awaitable: Any) -> bytes:
        data: bytes = await asyncio.wait_for(awaitable, WAIT_S)
        return data


def echo(ref: str, value: object = None) -> bytes:
    """An ask that the desk answers with what it was asked."""
    message = {"type": "ask", "ref": ref, "name": "echo", "params": value}
    return msgspec.json.encode(message)


@asynccontextmanager
async def opened(
    folder: Path, desk: Requests | None = None, **more: Any
) -> AsyncIterator[OpenDoor]:
    """A door behind uvicorn's HTTP protocol, on a port of its own."""
    place = OpenDoor(folder, desk, **more)
    loop = asyncio.get_running_loop()
    state = ServerState()
    config: list[Config] = []
    server = await loop.create_server(
        lambda: H11Protocol(config[0], state, {}, loop), "127.0.0.1", 0, backlog=1024
    )
    door = place.listen_on(server.sockets[0].getsockname()[1])
    ws = door.protocol_class()
    config.append(Config(hello_app, ws=ws, log_config=None, lifespan="off", proxy_headers=False))
    config[0].load()
    try:
        yield place
    finally:
        server.close()
        for guest in place.guests:
            await guest.close()
        for connection in list(state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()
        await until(lambda: not state.connections)
        assert not door.clients
        assert not door.strangers
