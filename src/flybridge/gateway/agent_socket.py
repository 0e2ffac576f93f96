"""The door for agents that connect to us: ``/ws/cli/{slot}?ticket=…`` on a port of its own.

It listens on loopback only, for nothing else, and only once such an agent is wanted. Who comes
needs the ticket of a life that is expected, under its name, and has to be the process that the
ticket was made for; the process may come back as often as it lost its connection. With that it
is the agent side of one session and nothing more: it can say what an agent says.

Inside it is lines, in text or binary frames, cut however the other side likes. Every line of
ours is one text frame with its newline, and a ping behind it whose answer says that it arrived.
What anybody can cost is bounded: strangers at a time, their heads in bytes and seconds, frames,
and frames that say nothing. Nothing that comes in raises: it is refused, or ends the connection.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
from websockets.http11 import Request
from websockets.server import ServerProtocol

from flybridge.auth.gate import Gate, Head, Refused, check, gate_for
from flybridge.auth.socket_holder import holder_of
from flybridge.errors import StorageError
from flybridge.gateway.agent_frames import AgentFrames
from flybridge.listeners import upgrade
from flybridge.listeners.frames import RESTART
from flybridge.model.audit import Record
from flybridge.runtime.keeper.keeper_program import Process
from flybridge.runtime.links.dial_in import PATH, DialIns
from flybridge.runtime.links.socket_link import SocketLink
from flybridge.store.private_file import read_private, write_private

HOST = "127.0.0.1"
DOOR = "agent_socket"
HEAD_BYTES = 16 * 1024
HEAD_S = 5.0
CLOSE_S, AGAIN_S = 1.0, 0.01
MAX_STRANGERS = 64
MAX_SLOTS = 16
_SLOT = re.compile(r"0|[1-9]\d{0,2}")
_SESSION = re.compile(r"ses_[0-9a-f]{20}")
NO_TICKET = Refused(401, "bad_ticket", "this ticket is for nobody we expect here")
WRONG_PROCESS = Refused(403, "wrong_process", "this ticket is for another process")
_log = logging.getLogger(__name__)
_frames_log = logging.getLogger(f"{__name__}.frames")
_frames_log.setLevel(logging.WARNING)  # below that the library writes down headers and contents


class Knock(msgspec.Struct, frozen=True):
    """What an agent says when it comes: where it wants to, and why it may."""

    place: str
    ticket: str
    last: str = ""


def read_knock(head: Head, slots: int = MAX_SLOTS) -> Knock | Refused:
    """Read an upgrade's head. The ticket is in the address, or in a header as a token."""
    parts = urlsplit(head.target)
    if not parts.path.startswith(PATH):
        return Refused(404, "not_found", "there is no such WebSocket here")
    place = parts.path.removeprefix(PATH)
    is_slot = _SLOT.fullmatch(place) is not None and int(place) < slots
    if not is_slot and not _SESSION.fullmatch(place):
        return Refused(400, "bad_slot", "there is no such slot")
    try:
        found = parse_qs(parts.query, max_num_fields=8).get("ticket", [])
    except ValueError:
        found = []
    token = head.one(b"authorization").removeprefix(b"Bearer ").decode("latin-1")
    ticket = found[0] if len(found) == 1 else token
    return Knock(place, ticket, head.one(b"x-last-request-id").decode("latin-1"))


class AgentSocketDoor:
    """Where agents of one gateway come in."""

    def __init__(
        self,
        dial_ins: DialIns,
        *,
        port_file: Path,
        now_ms: Callable[[], int],
        audit: Callable[[Record], None] = lambda record: None,
        max_frame: int = 128 * 2**20,
        head_s: float = HEAD_S,
    ) -> None:
        self.dial_ins = dial_ins
        self.audit = audit
        self.now_ms = now_ms
        self.max_frame = max_frame + 1  # a line and its newline
        self.head_s = head_s
        self.strangers: set[AgentConnection] = set()
        self.agents: set[AgentConnection] = set()
        self.gate = Gate(hosts=frozenset(), origins=frozenset())
        self._port_file = port_file
        self._server: asyncio.Server | None = None

    async def listen(self) -> int:
        """Open the door, where it was last time if that can be.

        Raises:
            OSError: there is no port to be had.
        """
        loop = asyncio.get_running_loop()
        wanted = self._last_port()
        try:
            server = await loop.create_server(self._connection, HOST, wanted)
        except OSError:
            if not wanted:
                raise
            _log.warning("port %d is taken: agents that wait for us there are lost", wanted)
            server = await loop.create_server(self._connection, HOST, 0)
        self._server = server
        port: int = server.sockets[0].getsockname()[1]
        bare = gate_for(port)
        self.gate = Gate(hosts=bare.hosts, origins=frozenset())  # no page has any business here
        if port != wanted:
            self._keep_port(port)
        return port

    def _last_port(self) -> int:
        try:
            kept = read_private(self._port_file) or b""
        except StorageError as error:
            _log.warning("%s", error)
            return 0
        return int(kept) if kept.isdigit() and int(kept) < 65536 else 0

    def _keep_port(self, port: int) -> None:
        try:
            write_private(self._port_file, b"%d" % port)
        except StorageError as error:  # agents are lost if we are started anew: no more than that
            _log.warning("%s", error)

    def _connection(self) -> AgentConnection:
        return AgentConnection(self)

    def note(self, code: str) -> None:
        """Audit a refusal."""
        self.audit(Record(event="connect", outcome="refused", code=code, door=DOOR))

    async def close(self) -> None:
        """Nobody comes in any more. Who is in was told before; who stays is hung up on."""
        if self._server is not None:
            self._server.close()
        deadline = asyncio.get_running_loop().time() + CLOSE_S
        while self.agents and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(AGAIN_S)
        for one in [*self.strangers, *self.agents]:
            one.abort()
        await asyncio.sleep(0)


class AgentConnection(asyncio.Protocol):
    """One connection, from its first byte on; with a link, it is that link's wire."""

    def __init__(self, door: AgentSocketDoor) -> None:
        self._door = door
        self._handshake = ServerProtocol(logger=_frames_log)
        self._frames = AgentFrames(door.max_frame)
        self._transport: asyncio.Transport | None = None
        self._link: SocketLink | None = None
        self._head_bytes = 0
        self._judging: asyncio.Task[None] | None = None
        self._late: asyncio.TimerHandle | None = None

    # ---- the transport -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._door.strangers) >= MAX_STRANGERS:
            transport.abort()
            return
        self._door.strangers.add(self)
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(self._door.head_s, self.abort)

    def data_received(self, data: bytes) -> None:
        try:
            if self._link is None:
                self._knock(data)
            else:
                self._hear(self._link, data)
        except Exception:  # a bug of ours costs one connection: the agent comes back
            _log.exception("what an agent sent could not be handled")
            self.abort()

    def _knock(self, data: bytes) -> None:
        self._head_bytes += len(data)
        if self._judging is not None or self._head_bytes > HEAD_BYTES:
            self.abort()  # an agent waits for our answer, and then for our first word
            return
        self._handshake.receive_data(data)
        for event in self._handshake.events_received():
            if isinstance(event, Request):
                self._judging = asyncio.ensure_future(self._judge(event))
        if self._judging is None and self._handshake.handshake_exc is not None:
            self._refuse(Refused(400, "bad_upgrade", "this is no upgrade to a WebSocket"))

    def _hear(self, link: SocketLink, data: bytes) -> None:
        for one in self._frames.receive(data, asyncio.get_running_loop().time()):
            if isinstance(one, bytes):
                link.received(self, one)
            else:
                link.took(self, one)
        self._pass_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._settle_in()
        if self._judging is not None:
            self._judging.cancel()
        link, self._link = self._link, None
        self._door.agents.discard(self)
        if link is not None:
            link.detached(self)

    def abort(self) -> None:
        """Hang up without a word."""
        if self._transport is not None:
            self._transport.abort()

    def _settle_in(self) -> None:
        """It is no stranger any more, or not there any more."""
        self._door.strangers.discard(self)
        if self._late is not None:
            self._late.cancel()

    def _pass_on(self) -> None:
        if self._transport is None:
            return
        for data in self._frames.take():
            if data:
                self._transport.write(data)
        if not self._frames.open:
            self._transport.close()

    # ---- coming in ---------------------------------------------------------------------------

    async def _judge(self, request: Request) -> None:
        found = await self._look_at(request)
        self._judging = None
        if self._transport is None:
            return
        response = self._handshake.accept(request)
        if not isinstance(found, Refused) and response.status_code != 101:
            found = Refused(400, "bad_upgrade", "a WebSocket of version 13, by GET")
        if isinstance(found, Refused):
            self._refuse(found)
            return
        link, holder, last = found
        self._handshake.send_response(response)
        self._transport.writelines(self._handshake.data_to_send())
        self._settle_in()
        self._door.agents.add(self)
        self._link = link
        link.attach(self, holder, last)

    async def _look_at(self, request: Request) -> tuple[SocketLink, Process, str] | Refused:
        head = upgrade.head_of(request)
        knock = check(self._door.gate, head) or read_knock(head)
        if isinstance(knock, Refused):
            return knock
        link = self._door.dial_ins.find(knock.place, knock.ticket)
        if link is None or link.over:
            return NO_TICKET
        assert self._transport is not None
        client, server = (
            self._transport.get_extra_info(one)[:2] for one in ("peername", "sockname")
        )
        holder = await asyncio.to_thread(_find_holder, client, server, link)
        if link is not self._door.dial_ins.find(knock.place, knock.ticket) or link.over:
            return NO_TICKET  # its life has ended meanwhile
        if holder is None or link.holder not in (None, (holder.pid, holder.start)):
            return WRONG_PROCESS
        return link, holder, knock.last

    def _refuse(self, refused: Refused) -> None:
        """Answer as HTTP does. There never was a socket."""
        self._door.note(refused.code)
        if self._transport is not None:
            self._transport.write(upgrade.problem(refused))
            self._transport.close()

    # ---- as the link's wire ------------------------------------------------------------------

    def send(self, data: bytes, number: int) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._frames.line(data, number))

    def pause(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Hang up; the agent comes back if it has reason to."""
        self._link = None
        self._frames.close(RESTART)
        self._pass_on()


def _find_holder(
    client: tuple[str, int], server: tuple[str, int], link: SocketLink
) -> Process | None:
    """In a thread: the kernel's tables are long."""
    return holder_of(client, server, link.processes())
