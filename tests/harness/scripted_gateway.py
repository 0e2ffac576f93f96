"""A gateway without agents: a real socket, a log in memory, and a knack for hanging up.

It speaks through our own adapter, so both ends of the native protocol meet here. Run as a
program with a state directory it is a gateway process: one per directory, its log in a file.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.config.state_dir import StateDir
from flybridge.errors import FlybridgeError, SessionNotFoundError
from flybridge.frontends.native.adapter import NativeAdapter
from flybridge.model.commands import SendInput
from flybridge.model.deliveries import Reply
from flybridge.model.events import Event, Notice
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Detach, Request, Submit
from flybridge.wire.native.entries import encode_entries
from flybridge.wire.native.messages import DetachedLine, PreviewLine, Welcome, encode

Handler = Callable[[dict[str, Any]], object]
SESSION = "ses_1"


def lines(messages: Sequence[bytes]) -> bytes:
    return b"".join(message + b"\n" for message in messages)


class Peer:
    """One connected client. ``frame`` puts messages on the wire."""

    def __init__(
        self,
        gateway: ScriptedGateway,
        writer: asyncio.StreamWriter,
        frame: Callable[[Sequence[bytes]], bytes] = lines,
    ) -> None:
        welcome = Welcome(
            proto=gateway.proto,
            version="0.1.0",
            generation=gateway.generation,
            principal="uid:1",
            scopes=("view",),
        )
        self.adapter = NativeAdapter(welcome=welcome)
        self.attached: set[str] = set()
        self.writer = writer
        self.frame = frame
        self.budget = gateway.budgets.pop(0) if gateway.budgets else None

    def send(self, *frames: bytes) -> None:
        """Write; hang up in the middle of it where the budget ends."""
        if frames:
            self.write(self.frame(frames))

    def write(self, data: bytes) -> None:
        if self.budget is not None:
            data, left = data[: self.budget], self.budget - len(data)
            self.budget = max(left, 0)
        if not self.writer.is_closing():
            self.writer.write(data)
            if self.budget == 0:
                self.writer.close()


def _notice(request: Submit) -> list[Event]:
    return [Notice(text=request.request)] if isinstance(request.command, SendInput) else []


class ScriptedGateway:
    """``budgets``: how many bytes each coming connection may send; none left: no limit."""

    def __init__(self, state: StateDir) -> None:
        self.state = state
        self.proto = 1
        self.generation = 1
        self.epoch = 1
        self.logs: dict[str, list[bytes]] = {SESSION: []}
        self.open_texts: dict[str, list[str]] = {}  # item → deltas so far, of SESSION
        self.budgets: list[int] = []
        self.batch = 1  # a replay begins at the start of a batch of so many
        self.carried_out: dict[str, object] = {}  # request → command
        self.heard: list[Request] = []
        self.forgets = False  # whether the same request is carried out again
        self.silent: set[str] = set()  # names of asks, or "submit", that get no reply
        self.refusal: FlybridgeError | None = None
        self.asks: dict[str, Handler] = {}
        self.does: Callable[[Submit], Sequence[Event]] = _notice  # what a new command leads to
        self.peers: list[Peer] = []
        self.connections = 0
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self.state.prepare()
        with self.state.socket_address() as address:
            self._server = await asyncio.start_unix_server(self._serve, address)

    async def stop(self) -> None:
        """As if killed: the listener and every connection are gone, the log stays."""
        assert self._server is not None
        self._server.close()
        self.state.socket.unlink(missing_ok=True)
        self.hang_up()
        async with asyncio.timeout(60):
            while self.peers:
                await asyncio.sleep(0.005)
            await self._server.wait_closed()
        self._server = None

    async def restart(self) -> None:
        await self.stop()
        self.generation += 1
        await self.start()

    def hang_up(self) -> None:
        for peer in self.peers:
            peer.writer.close()

    # ---- what happens in the session --------------------------------------------------------

    def publish(self, *events: Event, session: str = SESSION) -> None:
        if not events:
            return
        log = self.logs[session]
        first = len(log) + 1
        log += [msgspec.json.encode(event) for event in events]
        for peer in self._followers(session):
            peer.send(self._lines(session, first))

    def publish_raw(self, event: bytes) -> None:
        self.logs[SESSION].append(event)
        for peer in self._followers(SESSION):
            peer.send(self._lines(SESSION, len(self.logs[SESSION])))

    def grow(self, item: str, *deltas: str) -> None:
        have = self.open_texts.setdefault(item, [])
        since = len(have)
        have += deltas
        for peer in self._followers(SESSION):
            peer.send(self._preview(item, since))

    def tell(self, line: bytes) -> None:
        for peer in self.peers:
            peer.send(line)

    def detach_all(self, code: str) -> None:
        for peer in self._followers(SESSION):
            peer.attached.discard(SESSION)
            peer.send(encode(DetachedLine(session=SESSION, code=code)))

    def _followers(self, session: str) -> list[Peer]:
        return [peer for peer in self.peers if session in peer.attached]

    def _preview(self, item: str, since: int) -> bytes:
        deltas = self.open_texts[item]
        text = "".join(deltas[since:])
        return encode(
            PreviewLine(session=SESSION, item=item, since=since, upto=len(deltas), text=text)
        )

    def _lines(self, session: str, first: int) -> bytes:
        return encode_entries(session, self.epoch, first, 1000, self.logs[session][first - 1 :])

    # ---- clients ------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(self, writer)
        self.greet(peer)
        try:
            while data := await reader.read(65536):
                self.hear(peer, data)
        except ConnectionError:
            pass
        finally:
            self.peers.remove(peer)
            writer.close()

    def greet(self, peer: Peer) -> None:
        self.peers.append(peer)
        self.connections += 1

    def hear(self, peer: Peer, data: bytes) -> None:
        """Answer whatever whole messages have come."""
        for request in peer.adapter.receive(data, 0):
            self._answer(peer, request)
        peer.send(*peer.adapter.take())

    def _answer(self, peer: Peer, request: Request) -> None:
        self.heard.append(request)
        peer.send(*peer.adapter.take())
        if isinstance(request, Detach):
            peer.attached.discard(request.session)
            return
        try:
            if self.refusal is not None:
                raise self.refusal
            reply = self._reply(request)
        except FlybridgeError as error:
            reply = Reply(ref=request.ref, error=error.code, message=str(error))
        if reply is not None:
            peer.adapter.deliver(reply, 0)
            peer.send(*peer.adapter.take())
            if isinstance(request, Attach) and not reply.error:
                self._replay(peer, request)

    def _reply(self, request: Submit | Attach | Ask) -> Reply | None:
        match request:
            case Submit():
                known = request.request in self.carried_out and not self.forgets
                if not known:
                    self.publish(*self.does(request))
                self.carried_out.setdefault(request.request, request.command)
                if "submit" in self.silent:
                    return None
                key = Raw(msgspec.json.encode({"key": f"uid:1:{request.request}"}))
                return Reply(ref=request.ref, stage=request.until, duplicate=known, value=key)
            case Attach(session=session):
                if session not in self.logs:
                    raise SessionNotFoundError(session)
                value: dict[str, object] = {"epoch": self.epoch, "head": len(self.logs[session])}
                if request.epoch not in (0, self.epoch):
                    value["reset"] = True
                return Reply(ref=request.ref, value=Raw(msgspec.json.encode(value)))
            case Ask(name=name):
                if name in self.silent:
                    return None
                params = request.params if isinstance(request.params, Raw) else b"{}"
                found = self.asks[name](msgspec.json.decode(params))
                return Reply(ref=request.ref, value=Raw(msgspec.json.encode(found)))

    def _replay(self, peer: Peer, request: Attach) -> None:
        head = len(self.logs[request.session])
        after = request.after if request.epoch in (0, self.epoch) else 0
        if request.last:
            after = max(after, head - request.last)
        first = after // self.batch * self.batch + 1
        if head > after:
            peer.send(self._lines(request.session, first))
        if request.previews and request.session == SESSION:
            peer.send(*(self._preview(item, 0) for item in self.open_texts))
        peer.attached.add(SessionId(request.session))


@asynccontextmanager
async def serving(state: StateDir, events: Sequence[Event] = ()) -> AsyncIterator[ScriptedGateway]:
    gateway = ScriptedGateway(state)
    gateway.logs[SESSION] = [msgspec.json.encode(event) for event in events]
    await gateway.start()
    try:
        yield gateway
    finally:
        if gateway._server is not None:
            await gateway.stop()


LIFE_S = 30.0  # a forgotten one ends by itself


async def main(state: StateDir) -> None:
    """Serve the log in ``events.jsonl`` until somebody says stop."""
    async with serving(state) as gateway:
        log = state.path / "events.jsonl"
        gateway.logs[SESSION] = log.read_bytes().splitlines() if log.exists() else []
        stopped = asyncio.Event()
        gateway.asks["status"] = lambda params: {"pid": os.getpid()}
        gateway.asks["stop"] = lambda params: stopped.set()  # and null
        async with asyncio.timeout(LIFE_S):
            await stopped.wait()


if __name__ == "__main__":
    directory = StateDir(sys.argv[1])
    with directory.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("another gateway runs")
        if (directory.path / "over").exists():  # late for the race, and for the test too
            sys.exit("the test is over")
        directory.socket.unlink(missing_ok=True)
        asyncio.run(main(directory))
