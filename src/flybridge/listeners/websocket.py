"""The WebSocket door: a class for uvicorn's ``ws=`` slot.

Framing is the library's (``websockets``, its part without I/O), without extensions: nothing is
ever compressed. The gate is asked before the upgrade, so that a stranger never has a socket. A
header at the upgrade says who is there, or the first message does, within ten seconds: with a
token, or with the key of the login whose cookie came along. Nothing else is looked at before.
From then on it is the native protocol: a text frame holds one message or several, one a line.

What a client can cost is bounded at every step: sockets in all and sockets of nobody in
particular, the size of a message and its pieces, frames that say nothing, what waits to be
written, and the time somebody has who does not answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, ClassVar

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from flybridge.auth.authority import Authority
from flybridge.auth.gate import Gate, Refused, check
from flybridge.auth.login import HalfLogin
from flybridge.auth.peer import TALK
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.listeners import frames, upgrade
from flybridge.listeners.connection import LINGER_S, NativeClient, NativeDoor, Requests, Speak
from flybridge.listeners.frames import Allowance, Ending, Pieces
from flybridge.listeners.upgrade import Room, Timing
from flybridge.model.audit import Record
from flybridge.session.authorisation import Caller

PATH = "/api/v1/ws"
MAX_MESSAGE_BYTES = 2**20  # bigger things go by HTTP
MAX_STRANGE_BYTES = 16 * 1024  # from somebody who has not said who they are
READ_BYTES = 16 * 1024  # looked at before we ask whether to go on: a frame may be six bytes

_log = logging.getLogger(__name__)
_frames_log = logging.getLogger(f"{__name__}.frames")
_frames_log.setLevel(logging.WARNING)  # below that the library writes down headers and contents


class WebSocketDoor(NativeDoor):
    """Everyone who came in by WebSocket, known or not yet."""

    def __init__(
        self,
        desk: Requests,
        *,
        gate: Gate,
        authority: Authority,
        speak: Speak,
        now_ms: Callable[[], int],
        changed: Callable[[], None] = lambda: None,
        audit: Callable[[Record], None] = lambda record: None,
        peers: TcpPeers | None = None,
        timing: Timing | None = None,
        room: Room | None = None,
    ) -> None:
        super().__init__(desk, join=frames.text_frame, speak=speak, now_ms=now_ms, changed=changed)
        self.gate = gate
        self.authority = authority
        self.audit = audit
        self.peers = peers or TcpPeers(tuple)
        self.timing = timing or Timing()
        self.room = room or Room()
        self.strangers: set[WebSocketClient] = set()
        self.path = gate.base_path + PATH

    def protocol_class(self) -> type[WebSocketClient]:
        """What uvicorn makes one of for each upgrade."""

        class ClientOfThisDoor(WebSocketClient):
            door = self

        return ClientOfThisDoor


class WebSocketClient(NativeClient):
    """One connection, from its upgrade on."""

    door: ClassVar[WebSocketDoor]

    def __init__(
        self,
        config: object,
        server_state: Any,  # theirs: we are one of its connections
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(self.door)
        self._connections: set[Any] = server_state.connections
        self._frames = ServerProtocol(logger=_frames_log)
        self._pieces = Pieces()
        self._idle_frames = Allowance(at_once=128, per_s=16)
        self._upgraded = False
        self._over = False  # no more is read or written
        self._answered = False  # since the last ping
        self._strange_bytes = 0
        self._source = ""
        self._timer: asyncio.TimerHandle | None = None
        self._judging: asyncio.Task[None] | None = None
        self._early = b""  # said before it was known who may say it
        self._early_messages: list[bytes] = []  # the same, out of their frames
        self._login: HalfLogin | None = None  # its key is the first message
        self._unwatch: Callable[[], None] = lambda: None

    # ---- the transport -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.open(transport)
        self._connections.add(self)
        peer = transport.get_extra_info("peername")
        self._source = str(peer[0]) if isinstance(peer, tuple) else ""
        upgrade.limit_unsent(transport.get_extra_info("socket"))

    def data_received(self, data: bytes) -> None:
        self._answered = True
        if self._judging is not None:
            self._early += data
            data = b""
            if len(self._early) > MAX_STRANGE_BYTES:
                self.end(frames.TOO_LONG)
        for start in range(0, len(data), READ_BYTES):
            if self._over:
                return
            self._receive(data[start : start + READ_BYTES])

    def _receive(self, data: bytes) -> None:
        if self._adapter is None and self._upgraded:
            self._strange_bytes += len(data)
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            try:
                self._handle(event)
            except Exception:
                _log.exception("a client's frame could not be handled")
                self.end(frames.BROKEN)
            if self._over:
                return
        if not self._upgraded:
            self._refuse(Refused(400, "bad_upgrade", "this is no upgrade to a WebSocket"))
            return
        if self._adapter is None and self._strange_bytes > MAX_STRANGE_BYTES:
            self.end(frames.TOO_LONG)
        self._pass_on()
        self._regulate()

    def eof_received(self) -> None:
        """It will say no more. The transport closes when what it gets is written, or never."""
        self._wait(LINGER_S, self._abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        self._connections.discard(self)
        self._go()

    def resume_writing(self) -> None:
        self._answered = True  # somebody takes what we send
        super().resume_writing()

    # ---- coming in ---------------------------------------------------------------------------

    def _handle(self, event: object) -> None:
        if isinstance(event, Request):
            self._upgrade(event)
        elif isinstance(event, Frame):
            self._frame(event)

    def _upgrade(self, request: Request) -> None:
        head = upgrade.head_of(request)
        response = self._frames.accept(request)
        origin = upgrade.glance(self.door.peers, self.transport)
        found: Caller | HalfLogin | Refused | None = (
            check(self.door.gate, head)
            or (origin and origin.refused)
            or upgrade.bad_form(head, self.door.path, response.status_code)
            or upgrade.identify(self.door.authority, head, source=self._source)
        )
        known = isinstance(found, Caller | HalfLogin)
        full = self.door.room.full(known, len(self.door.clients), len(self.door.strangers))
        refused = found if isinstance(found, Refused) else full
        if refused is not None:
            self._note(refused.code)
            self._refuse(refused)
            return
        self._upgraded = True
        self._frames.send_response(response)
        self._pass_on()
        # The one that read the request would keep it for good.
        self._frames = ServerProtocol(state=OPEN, max_size=MAX_MESSAGE_BYTES, logger=_frames_log)
        self._wait(self.door.timing.hello_s, self._too_slow)
        self.door.strangers.add(self)
        if isinstance(found, HalfLogin):
            self._login = found
        caller = found if isinstance(found, Caller) else None
        if caller and origin:
            self._recognise(caller)
        elif caller or origin is None:
            self._judging = asyncio.ensure_future(self._judge(caller))

    def _recognise(self, caller: Caller) -> None:
        self._login = None
        if caller.scopes <= TALK:
            self._come_in(caller)
        else:
            self._judging = asyncio.ensure_future(self._judge(caller))

    async def _judge(self, caller: Caller | None) -> None:
        """Read nothing before it is known which program is at the other end."""
        found = self.transport and await upgrade.judged(self.door.peers, caller, self.transport)
        early, self._early, self._judging = self._early, b"", None
        messages, self._early_messages = self._early_messages, []
        if isinstance(found, Refused):
            self._note(found.code)
            self.end(frames.NOT_ALLOWED)
        elif not self._over:
            if found:
                self._come_in(found)
            for message in messages:
                self._say(message)
            self._regulate()
            self.data_received(early)

    def _refuse(self, refused: Refused) -> None:
        """Answer as HTTP does. There never was a socket."""
        self._frames.data_to_send()  # its own words for it are not ours
        if self.transport is not None:
            self.transport.write(upgrade.problem(refused))
        self._finish()

    def _come_in(self, caller: Caller) -> None:
        self.door.strangers.discard(self)
        if not caller.scopes:
            self._note("not_allowed")
            self.end(frames.NOT_ALLOWED)
            return
        self._unwatch = self.door.authority.watch(caller, self._revoked)
        self.admit(caller, max_line=MAX_MESSAGE_BYTES)

    def _authenticate(self, message: bytes) -> None:
        found = upgrade.authenticate(self.door.authority, self._login, message, source=self._source)
        if isinstance(found, Caller):
            self._recognise(found)
            return
        if found is frames.LOGIN_INCOMPLETE:
            self._note("login_incomplete")
        self.end(found)

    def _revoked(self) -> None:
        self._note("revoked")
        self.end(frames.NOT_AUTHENTICATED)

    def may_ask(self) -> bool:
        if self.door.authority.holds(self.caller):
            return True
        self._revoked()
        return False

    # ---- frames ------------------------------------------------------------------------------

    def _frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.CLOSE:
            return  # answered by the library: what it gives us to send ends with our end
        if frame.opcode in (Opcode.PING, Opcode.PONG):
            self._allow_idle()
            return
        message = self._pieces.receive(frame)
        if isinstance(message, Ending):
            self.end(message)
        elif message:
            self._say(message)
        elif message is not None:
            self._allow_idle()

    def _allow_idle(self) -> None:
        if not self._idle_frames.take(asyncio.get_running_loop().time()):
            self.end(frames.FLOOD)

    def _say(self, message: bytes) -> None:
        if self._adapter is None and self._judging is None and not self._over:
            first, _, message = message.partition(b"\n")
            self._authenticate(first)
        if self._over or not message:
            return
        if self._judging is not None:
            self._early_messages.append(message)
            return
        was_greeted = self.greeted
        if not self.take(message + b"\n"):
            self.end(frames.BAD_MESSAGES)
        elif self.greeted and not was_greeted:
            self._wait(self.door.timing.ping_s, self._ping)

    def _pass_on(self) -> None:
        """Write the library's own frames: pongs, and the close that answers theirs or ours."""
        for data in self._frames.data_to_send():
            if self._over or self.transport is None:
                return
            if data:
                self.transport.write(data)
            else:  # theirs, or they broke the rules: what they asked for before is carried out
                self._finish()
                asyncio.get_running_loop().call_soon(self._go)

    # ---- is anybody there? -------------------------------------------------------------------

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        """One clock for each client: it waits for one thing at a time."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, then)

    def _too_slow(self) -> None:
        self._note("too_slow")
        self.end(frames.TOO_SLOW)

    def _ping(self) -> None:
        if not self.may_ask():  # a login may run out while nobody says anything
            return
        self._answered = False
        self._frames.send_ping(b"")
        self._pass_on()
        self._wait(self.door.timing.pong_s, self._pong_due)

    def _pong_due(self) -> None:
        """Anything it said will do; and while we do not read, we cannot hear it."""
        if self._answered or self._busy:
            self._wait(self.door.timing.ping_s, self._ping)
        else:
            self.end(frames.TOO_SLOW)

    # ---- the end -----------------------------------------------------------------------------

    def hang_up(self) -> None:
        self.end(frames.RESTART)

    shutdown = hang_up  # what uvicorn calls when the server ends

    def end(self, ending: Ending) -> None:
        """Say why, and hang up. Whoever does not take it is cut off."""
        if self._over:
            return
        self.flush()
        if self._frames.state is OPEN:
            self._frames.fail(ending.code, ending.reason)
        self._pass_on()
        self._finish()
        self._go()

    def _finish(self) -> None:
        """Write no more; wait a moment for the other side to hang up.

        Closing at once would make the kernel throw away our last words, if there is something
        of theirs that we have not read.
        """
        transport = self.transport
        if self._over or transport is None:
            return
        self._over = True
        if transport.can_write_eof():
            transport.write_eof()
            transport.resume_reading()
        else:
            transport.close()
        self._wait(LINGER_S, self._abort)

    def _go(self) -> None:
        self._unwatch()
        self.door.strangers.discard(self)
        self.leave()

    def _abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def flush(self) -> None:
        if not self._over:
            super().flush()

    def _note(self, code: str) -> None:
        who = self.caller if self._adapter is not None else None
        self.door.audit(upgrade.refusal(code, self._source, who))
