"""The gateway's side of a keeper: knock at one, speak its frames.

The keeper itself is ``keeper_program.py``; what it promises stands there. This side adds no
memory of its own: numbers and offsets come from the journal, so a gateway that dies at any
point leaves nothing here that its successor needs.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from flybridge.errors import KeeperError
from flybridge.runtime.keeper.keeper_program import (
    ACK,
    BODY_BYTES,
    END,
    EOF,
    ERR,
    EXIT,
    FRAME,
    HELLO,
    INPUT,
    INPUT_BYTES,
    KEEP,
    OUT,
    PROTO,
    REFUSED,
    SIGNAL,
    WELCOME,
    WROTE,
    short_path,
)

_READ_BYTES = 256 * 2**10
_BODY_BYTES = 1 * 2**20  # any frame but OUT, which is passed on as it comes


class KeeperUnreachableError(KeeperError):
    """No keeper answered. ``why``: "gone" (nobody listens there), "timeout" or "closed"."""

    code = "keeper_unreachable"

    def __init__(self, socket: str, why: Literal["gone", "timeout", "closed"]) -> None:
        super().__init__(f"no keeper answers at {socket}: {why}")
        self.why = why


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a keeper does not want us; the offsets are there when the output asked for is not."""

    code: str
    message: str = ""
    out_from: int = 0
    out_to: int = 0


class KeeperRefusedError(KeeperError):
    """The keeper lives and said no. ``refusal.code`` says why: "stale_generation", …"""

    code = "keeper_refused"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"the keeper refused: {refusal.code}: {refusal.message}")
        self.refusal = refusal


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """Who knocks. ``after``: the output is wanted from this offset on."""

    generation: int
    secret: str
    after: int
    proto: int = PROTO


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent ended: exit code or -signal, and how much of its input it had read."""

    status: int
    unread_bytes: int
    read_upto: int
    out_to: int


class Welcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the keeper holds. Numbers above ``took`` were not taken and never will be."""

    proto: int
    incarnation: str
    took: int
    wrote: int
    out_from: int
    out_to: int
    agent_pid: int
    agent_start: str
    boot: str
    exit: Exit | None
    kept: str | None = None  # what it was given to keep; None: a keeper that keeps nothing
    agent_io: str = "pipes"  # "sockets" or "none"; keepers before this field used pipes


class KeeperEvents(Protocol):
    """Who listens to a link. All calls come from the event loop; none comes after ``close``."""

    def on_output(self, offset: int, data: bytes) -> None:
        """The agent wrote this; ``offset`` is its first byte's. All of one read comes at once."""

    def on_stderr(self, data: bytes) -> None: ...

    def on_wrote(self, number: int) -> None:
        """Everything up to ``number`` was handed to the agent."""

    def on_exit(self, exit: Exit) -> None:
        """The agent is over and all its output came before this call."""

    def on_lost(self, reason: str) -> None:
        """The connection is gone, though neither ``end`` nor ``close`` was called."""


class KeeperLink(asyncio.BufferedProtocol):
    """One connection to one keeper. Made by :meth:`connect`; frames out, events in.

    Numbers are the caller's: rising by one from ``welcome.took + 1``, and an input is sent only
    when the one before it was reported written.
    """

    welcome: Welcome

    @classmethod
    async def connect(
        cls, socket: str, hello: Hello, events: KeeperEvents, *, timeout_s: float = 10
    ) -> KeeperLink:
        """Knock, say HELLO and return once the keeper said WELCOME.

        Events may come before this returns. It takes the place of an older gateway's link.

        Raises:
            KeeperUnreachableError: nobody answers there.
            KeeperRefusedError: the keeper said no.
        """
        link = cls(socket, hello, events)
        try:
            async with asyncio.timeout(timeout_s):
                await _open(socket, link)
                link.welcome = await link._welcomed
        except TimeoutError:
            link.close()
            raise KeeperUnreachableError(socket, "timeout") from None
        except OSError as error:
            link.close()
            raise KeeperUnreachableError(socket, "gone") from error
        except BaseException:
            link.close()
            raise
        return link

    def __init__(self, socket: str, hello: Hello, events: KeeperEvents) -> None:
        loop = asyncio.get_running_loop()
        self._socket = socket
        self._hello = hello
        self._events = events
        self._transport: asyncio.Transport | None = None
        self._welcomed: asyncio.Future[Welcome] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self._refusal: Refusal | None = None
        self._silent = False
        self._ending = False
        self._buffer = bytearray(_READ_BYTES)
        self._view = memoryview(self._buffer)
        self._head = bytearray()  # of a frame whose header is not whole
        self._body = bytearray()  # of a frame, not OUT, whose body is not whole
        self._kind = self._number = self._left = 0  # the frame being read
        self._output: list[bytes] = []  # of this read, contiguous
        self._output_at = 0

    # -- to the keeper

    def send_input(self, number: int, data: bytes) -> None:
        """Hand over one line, its newline included; it goes to the agent byte for byte."""
        if len(data) > INPUT_BYTES:
            raise ValueError(f"a line of {len(data)} bytes")
        self._send(INPUT, number, data)

    def send_eof(self, number: int) -> None:
        """Close the agent's stdin, after the line in flight."""
        self._send(EOF, number)

    def send_signal(self, number: int, signum: int) -> None:
        """Signal the agent's group, at once, even when a line is in flight."""
        self._send(SIGNAL, number, b"%d" % signum)

    def ack(self, offset: int) -> None:
        """Output before ``offset`` is safe elsewhere; the keeper may forget it."""
        self._send(ACK, offset)

    def keep(self, data: bytes) -> None:
        """Have it in the keeper's memory for the next gateway, instead of what was there."""
        if self.welcome.kept is not None and len(data) <= BODY_BYTES:
            self._send(KEEP, 0, data)

    def end(self) -> None:
        """Kill what is left of the agent and let the keeper go; then the link closes."""
        self._ending = True
        self._send(END, 0)

    def pause(self) -> None:
        """Stop reading; what the present read holds still comes."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Let go of the keeper; the agent works on. No event comes after this."""
        self._silent = True
        if self._transport is not None:
            self._transport.abort()
        elif not self._closed.done():
            self._closed.set_result(None)

    async def wait_closed(self) -> None:
        """Return when the connection is gone; after ``end``: when the keeper is done."""
        await asyncio.shield(self._closed)

    def _send(self, kind: int, number: int, body: bytes = b"") -> None:
        if self._transport is None or self._transport.is_closing():
            return  # on_lost says so; what was not taken is known at the next WELCOME
        self._transport.writelines((FRAME.pack(kind, number, len(body)), body))

    # -- from the keeper

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send(HELLO, 0, msgspec.json.encode(self._hello))

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, count: int) -> None:
        at = 0
        while at < count and not self._silent:
            if self._left:
                at += self._take_body(self._view[at:count])
            else:
                at += self._take_head(self._view[at:count])
        self._hand_over_output()

    def _take_head(self, data: memoryview) -> int:
        used = min(FRAME.size - len(self._head), len(data))
        self._head += data[:used]
        if len(self._head) == FRAME.size:
            self._kind, self._number, self._left = FRAME.unpack(self._head)
            self._head.clear()
            if self._kind != OUT and self._left > _BODY_BYTES:
                self._fail(f"a frame of type {self._kind} and {self._left} bytes")
            elif not self._left:
                self._finish_frame()
        return used

    def _take_body(self, data: memoryview) -> int:
        used = min(self._left, len(data))
        self._left -= used
        if self._kind == OUT:  # passed on as it comes: half a frame is as good as a whole one
            self._add_output(bytes(data[:used]))
        else:
            self._body += data[:used]
            if not self._left:
                self._finish_frame()
        return used

    def _add_output(self, data: bytes) -> None:
        if not self._output:
            self._output_at = self._number
        self._output.append(data)
        self._number += len(data)

    def _hand_over_output(self) -> None:
        if self._output and not self._silent:
            whole = self._output[0] if len(self._output) == 1 else b"".join(self._output)
            self._output.clear()
            self._events.on_output(self._output_at, whole)

    def _finish_frame(self) -> None:
        body = bytes(self._body)
        self._body.clear()
        if self._kind == WROTE:  # may overtake the output of this read: they are not related
            self._events.on_wrote(self._number)
        elif self._kind == ERR:
            self._events.on_stderr(body)
        elif self._kind != OUT:
            self._rare_frame(body)

    def _rare_frame(self, body: bytes) -> None:
        try:
            if self._kind == WELCOME:
                self._set_welcome(msgspec.json.decode(body, type=Welcome))
            elif self._kind == EXIT:
                over = msgspec.json.decode(body, type=Exit)
                self._hand_over_output()
                if not self._silent:
                    self._events.on_exit(over)
            elif self._kind == REFUSED:
                self._refusal = msgspec.json.decode(body, type=Refusal)
            else:
                self._fail(f"a frame of type {self._kind}")
        except msgspec.DecodeError as error:
            self._fail(str(error))

    def _set_welcome(self, welcome: Welcome) -> None:
        if not self._welcomed.done():
            self.welcome = welcome
            self._welcomed.set_result(welcome)

    def _fail(self, why: str) -> None:
        self._refusal = Refusal(code="bad_frame", message=f"the keeper sent {why}")
        self._left = 0
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)
        if not self._welcomed.done():
            self._fail_welcome()
        elif not self._silent and not self._ending:
            self._silent = True
            self._events.on_lost(
                f"{self._refusal.code}: {self._refusal.message}" if self._refusal else "closed"
            )

    def _fail_welcome(self) -> None:
        if self._silent:
            self._welcomed.cancel()  # nobody waits for it any more
        elif self._refusal is not None:
            self._welcomed.set_exception(KeeperRefusedError(self._refusal))
        else:
            self._welcomed.set_exception(KeeperUnreachableError(self._socket, "closed"))


async def _open(socket: str, link: KeeperLink) -> None:
    """Connect, through the open folder when the path is longer than an address can be."""
    loop = asyncio.get_running_loop()
    path = Path(socket)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        await loop.create_unix_connection(lambda: link, short_path(socket, folder, path.name))
    finally:
        os.close(folder)
