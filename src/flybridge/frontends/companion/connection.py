"""One connection of the device door: from the first byte to the last.

Whoever is not paired sees one status and is not listened to, except for a token. Whatever a
device says that makes no sense is written into the log, and nothing else happens.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import msgspec
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from flybridge.auth.peer import restricted
from flybridge.errors import FlybridgeError, InvalidRequestError, RefusedError
from flybridge.frontends.companion.device import AutoEdit, DeviceAdapter, Ignored, Pressed, Spawn
from flybridge.frontends.companion.devices import Waiting
from flybridge.frontends.companion.http import answer_to, refused, token_of
from flybridge.frontends.companion.wire.budget import encode
from flybridge.frontends.companion.wire.decode import decode
from flybridge.frontends.companion.wire.messages import MAX_SAID_BYTES, AgentStatus, Auth
from flybridge.listeners import frames, upgrade
from flybridge.listeners.frames import Allowance, Ending, Pieces
from flybridge.session.authorisation import Caller, Verdict
from flybridge.store.devices import Device
from flybridge.wire import strict_json

if TYPE_CHECKING:
    from flybridge.frontends.companion.listener import CompanionDoor

HEAD_S = 10.0
MAX_SOCKETS = 128
MAX_STRANGERS = 64  # of those, whom nobody has paired
OF_ONE_SOURCE = 16
BUFFER_BYTES = 16 * 1024  # beyond it a device gets nothing but the latest
PAIRING = "Pairing"
NAME = "flybridge"
_log = logging.getLogger(__name__)
_frames_log = logging.getLogger(f"{__name__}.frames")
_frames_log.setLevel(logging.WARNING)  # below that the library writes down contents


class Connection(asyncio.Protocol):
    """One device, or whoever says that it is one."""

    def __init__(self, door: CompanionDoor) -> None:
        self._door = door
        self.transport: asyncio.Transport | None = None
        self.source = ""
        self.device: Device | None = None
        self.adapter: DeviceAdapter | None = None
        self._frames = ServerProtocol(logger=_frames_log)
        self._upgraded = False
        self._over = False
        self._paused = False
        self._verdict: Verdict = "remote"
        self._pieces = Pieces()
        self._said = Allowance(at_once=32, per_s=8)
        self._flooding = False
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._counted = False

    # ---- the transport -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=BUFFER_BYTES)
        peer = transport.get_extra_info("peername")
        self.source = address_of(str(peer[0])) if isinstance(peer, tuple) else ""
        door = self._door
        full = len(door.connections) >= MAX_SOCKETS
        if full or door.sources[self.source] >= OF_ONE_SOURCE:
            transport.abort()
            return
        strangers = [one for one in door.connections if one.device is None]
        if len(strangers) >= MAX_STRANGERS:
            strangers[0].cut_off()  # for one that may be a device we know
        self._counted = True
        door.connections[self] = None
        door.sources[self.source] += 1
        keep_alive(transport.get_extra_info("socket"))
        upgrade.limit_unsent(transport.get_extra_info("socket"))
        self._wait(HEAD_S, self.cut_off)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport, self._over, self.adapter = None, True, None
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        if not self._counted:
            return
        self._counted = False
        self._door.connections.pop(self, None)
        self._door.sources[self.source] -= 1
        if not self._door.sources[self.source]:
            del self._door.sources[self.source]
            self._door.devices.leave(self.source)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self.flush()

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Request):
                self._knock(event)
            elif isinstance(event, Frame):
                self._frame(event)
            if self._over:
                return
        if not self._upgraded and isinstance(self._frames.handshake_exc, WebSocketException):
            self._reply(refused(400))
            return
        self._pass_on()

    # ---- coming in -----------------------------------------------------------------------------

    def _knock(self, request: Request) -> None:
        plain = answer_to(request)
        here = self._door.devices.here(self.source)
        origin = upgrade.glance(self._door.peers, self.transport) if here else None
        if origin and origin.refused:
            plain = refused(origin.refused.status)
        if plain is not None:
            self._reply(plain)
            return
        response = self._frames.accept(request)
        if response.status_code != 101:
            self._reply(refused(response.status_code))
            return
        self._upgraded = True
        self._frames.send_response(response)
        self._pass_on()
        self._frames = ServerProtocol(state=OPEN, max_size=MAX_SAID_BYTES, logger=_frames_log)
        if self.transport is not None:
            self.transport.pause_reading()  # nothing is heard before it is known who is there
        self._start(self._judge(token_of(request)))

    async def _judge(self, token: str) -> None:
        """Show nothing before it is known which program is at the other end."""
        transport = self.transport
        if transport is None:
            return
        if self._door.devices.here(self.source):
            ends = upgrade.ends_of(transport)
            self._verdict = await self._door.peers.verdict(*ends, login=f"device:{self.source}")
        if self._over or self.transport is None:
            return
        if self._verdict == "refused":
            self.end(frames.NOT_ALLOWED)
            return
        transport.resume_reading()
        if not (token and self._authenticate(token)):
            self.recognise()

    def _authenticate(self, token: str) -> bool:
        device = self._door.devices.by_token(token)
        if device is None:
            _log.warning("device at %s: no device has this token", self.source)
            return False
        self._come_in(device)
        return True

    def recognise(self) -> None:
        """Let a device in by its address, or show that it has to be paired."""
        if self.adapter is not None or self._over or not self._upgraded:
            return
        device = self._door.devices.by_address(self.source)
        if device is not None:
            self._come_in(device)
            return
        waiting = self._door.devices.wait(self.source)
        here = self._door.devices.here(self.source)
        self._write(encode(pairing_status(waiting, here=here)))
        left_ms = waiting.until_ms - self._door.now_ms() if waiting else 60_000
        self._wait(max(left_ms, 1) / 1000 + 0.01, self.recognise)

    def _come_in(self, device: Device) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.device = device
        self.adapter = DeviceAdapter(
            self._door.host.board,
            name=device.name,
            slots=frozenset(device.slots),
            prefix=f"{device.id}:{id(self):x}:{self._door.now_ms():x}",
        )
        _log.info("device %r came in from %s", device.name, self.source)
        self.flush()

    def _caller(self, device: Device, session: str = "") -> Caller:
        """An agent that got hold of a device's token may look, and nothing else."""
        caller = self._door.devices.caller(device, source=self.source, session=session)
        caller = restricted(caller, self._verdict)
        if caller.of_agent:
            return msgspec.structs.replace(caller, scopes=caller.scopes & {"view"})
        return caller

    # ---- frames --------------------------------------------------------------------------------

    def _frame(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.CLOSE, Opcode.PING, Opcode.PONG):
            return  # answered by the library
        if frame.opcode is Opcode.BINARY:
            frame = Frame(Opcode.TEXT, frame.data, frame.fin)
        message = self._pieces.receive(frame)
        if isinstance(message, Ending):
            self.end(message)
        elif message is not None:
            self._hear(bytes(message))

    def _hear(self, message: bytes) -> None:
        if not self._said.take(asyncio.get_running_loop().time()):
            if not self._flooding:
                _log.warning("device at %s says too much; ignored", self.source)
            self._flooding = True
            return
        self._flooding = False
        if self.adapter is None:
            said = decode(message)
            if not (isinstance(said, Auth) and self._authenticate(said.token)):
                _log.info("device at %s is not paired: %s ignored", self.source, short(message))
            return
        self._carry_out(message)

    def _carry_out(self, message: bytes) -> None:
        adapter, device = self.adapter, self.device
        assert adapter is not None
        assert device is not None
        for wish in adapter.receive(message if is_plain(message) else b"", self._door.now_ms()):
            match wish:
                case Ignored(reason=reason):
                    said = short(message)
                    _log.info("device %r: %s ignored (%r)", device.name, said, reason)
                case AutoEdit(on=on):
                    self._auto_edit(adapter, device, on=on)
                case Spawn(slot=slot):
                    self._start(self._spawn(adapter, device, slot))
                case Pressed():
                    self._start(self._press(device, wish))
        self.flush()

    def _auto_edit(self, adapter: DeviceAdapter, device: Device, *, on: bool) -> None:
        trusted = self._verdict in ("person", "remote")
        may = trusted and self._door.host.auto_edit(device, adapter.slots, on=on)
        if may:
            _log.info("device %r: auto-edit %s", device.name, "on" if on else "off")
        else:
            _log.warning("device %r: ignored: it may not switch auto-edit on", device.name)

    async def _spawn(self, adapter: DeviceAdapter, device: Device, slot: int | None) -> None:
        number, error = await self._door.host.spawn(self._caller(device), slot, adapter.slots)
        if error:
            adapter.spawned(number, error)
        self.flush()

    async def _press(self, device: Device, wish: Pressed) -> None:
        """The desk decides whether the device may, and who was first."""
        slot = wish.slot
        if self._door.devices.get(device.id) is None:
            return  # revoked in this very moment
        try:
            reply = await self._door.desk.submit(self._caller(device, slot.session), wish.submit)
        except RefusedError as error:
            _log.info("device %r: slot %d: %s", device.name, slot.number, error)
        except FlybridgeError as error:
            _log.warning("device %r: slot %d: %s", device.name, slot.number, error)
        else:
            done = not reply.error and not reply.duplicate
            if wish.rule and done:
                slot.rules[wish.rule] = device.id
            if wish.note and done:
                _log.info("device %r: slot %d: %s", device.name, slot.number, wish.note)
                if self.adapter is not None:
                    self.adapter.note(slot.number, wish.note, self._door.now_ms())
        if self.adapter is not None:
            self.adapter.changed(slot.number)
            self.flush()

    def flush(self) -> None:
        """Send what is due, unless the device has not taken what it was sent."""
        adapter = self.adapter
        if adapter is None or self._over or self._paused:
            return
        now_ms = self._door.now_ms()
        for payload in adapter.take(now_ms):
            self._write(payload)
        if adapter.deadline_ms is not None:
            self._wait(max(adapter.deadline_ms - now_ms, 1) / 1000, self.flush)

    # ---- the end -------------------------------------------------------------------------------

    def end(self, ending: Ending) -> None:
        """Say why, as far as that helps, and hang up: that is what a device understands."""
        if self._over:
            return
        if self._upgraded and self._frames.state is OPEN:
            self._frames.fail(ending.code, ending.reason)
            self._pass_on()
        self._hang_up()

    def _hang_up(self) -> None:
        self._over, self.adapter = True, None
        if self.transport is not None:
            self.transport.close()
            self._wait(1.0, self.cut_off)

    def cut_off(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def _reply(self, data: bytes) -> None:
        """Answer as HTTP does."""
        if self.transport is not None:
            self.transport.write(data)
        self._hang_up()

    def _write(self, payload: bytes) -> None:
        if self.transport is not None and not self._over:
            self.transport.write(frames.text_frame([payload]))

    def _pass_on(self) -> None:
        for data in self._frames.data_to_send():
            if self.transport is None or self._over:
                return
            if data:
                self.transport.write(data)
            else:
                self._hang_up()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, then)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def pairing_status(waiting: Waiting | None, *, here: bool) -> AgentStatus:
    """The one thing that somebody sees whom nobody has paired."""
    if waiting is not None:
        detail = f"Code {waiting.code} - say it to: flybridge devices pair"
    elif here:
        detail = "On this machine a device needs a token: flybridge devices pair --token"
    else:
        detail = "Too many devices wait to be paired; try again later"
    return AgentStatus(
        agent=NAME,
        state="idle",
        message=detail,
        prompt_tool_type=PAIRING,
        prompt_tool_detail=detail,
        slot=0,
        active=False,
    )


def address_of(host: str) -> str:
    """An address, as it is written down: without the form that IPv6 sockets give to IPv4."""
    return host.removeprefix("::ffff:") if "." in host else host


def keep_alive(sock: socket.socket | None) -> None:
    """Let the kernel find out whether the other machine is still there."""
    if sock is None:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 8)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def short(message: bytes) -> str:
    """What somebody said, for the log: never the words, they may be a secret or a prompt."""
    return f"a frame of {len(message)} bytes"


def is_plain(message: bytes) -> bool:
    """Whether every reader would understand the same."""
    try:
        strict_json.check(message)
    except InvalidRequestError:
        return False
    return True
