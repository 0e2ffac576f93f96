"""The bytes to and from one agent: whole lines in, numbered lines out, one in flight.

A line may leave when the journal says that it is safe (``allow``), when everything before
it has been written, and not before. What arrives before ``begin`` waits: a session first
settles what an earlier gateway left behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from flybridge.runtime.keeper.client import Exit, Hello, KeeperEvents, KeeperLink, Welcome
from flybridge.session.ports import OutLine
from flybridge.wire.lines import LineSplitter

URGENT = 0  # the number of frames that are not counted: carried out at once, never repeated
STDERR_TAIL = 4096
CLOSE_S = 5.0


class LinkEvents(Protocol):
    """What a session hears from its agent's link; all in the loop, in order."""

    def on_lines(self, lines: list[bytes], consumed: int) -> None:
        """Whole lines, all of one read; ``consumed`` is the offset behind the last one."""

    def on_wrote(self, upto: int) -> None: ...
    def on_exit(self, exit_: Exit, rest: bytes) -> None: ...
    def on_lost(self, reason: str) -> None: ...


class Pipes(Protocol):
    """A way to the agent: its keeper's, or a socket that the agent dialled in on."""

    welcome: Welcome

    def send_input(self, number: int, data: bytes) -> None: ...
    def send_eof(self, number: int) -> None: ...
    def send_signal(self, number: int, signum: int) -> None: ...
    def ack(self, offset: int) -> None: ...
    def keep(self, data: bytes) -> None: ...
    def end(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


Reach: TypeAlias = Callable[[str, Hello, KeeperEvents], Awaitable[Pipes]]


class AgentLink:
    """One connection to one keeper, or to what stands in its place (``reach``)."""

    def __init__(
        self,
        events: LinkEvents,
        *,
        consumed: int,
        max_line: int,
        reach: Reach = KeeperLink.connect,
    ) -> None:
        self._events = events
        self._reach = reach
        self._keeper: Pipes | None = None
        self._splitter = LineSplitter(max_line=max_line)
        self._received = consumed
        self._queue: deque[tuple[int, bytes | None]] = deque()  # None: end of input
        self._allowed = 0
        self._in_flight = 0
        self._waiting: list[Callable[[], None]] | None = []
        self._stderr = b""
        self._closing: Pipes | None = None
        self.sent_upto = 0

    @property
    def stderr_tail(self) -> str:
        return self._stderr.decode(errors="replace")

    async def connect(self, socket: str, hello: Hello) -> Welcome:
        """Reach the keeper. Nothing is passed on until ``begin``.

        Raises:
            KeeperError: nobody is there, or it will not have us.
        """
        self._keeper = await self._reach(socket, hello, self)
        welcome = self._keeper.welcome
        self.sent_upto = welcome.took
        if welcome.took > welcome.wrote:
            self._in_flight = welcome.took
        return welcome

    def begin(self) -> None:
        """Let what has arrived, and all that will, through."""
        waiting, self._waiting = self._waiting or [], None
        for event in waiting:
            event()

    # ---- to the agent ------------------------------------------------------------------------

    def put(self, lines: list[OutLine]) -> None:
        """Queue lines in the order of their numbers; each waits to be allowed."""
        self._queue += [(one.number, one.line.data + b"\n") for one in lines]

    def withdraw(self, number: int) -> bool:
        """Send nothing under this number; False if its line has left already.

        The number itself is still used: a keeper accepts no gap.
        """
        for index, (queued, data) in enumerate(self._queue):
            if queued == number and data is not None:
                self._queue[index] = (number, b"")
                return True
        return False

    def put_end(self, number: int) -> None:
        """Queue the end of input behind everything else."""
        self._queue.append((number, None))
        self.allow(number)

    def allow(self, upto: int) -> None:
        """Everything up to this number is durable: it may leave."""
        self._allowed = max(self._allowed, upto)
        self._pump()

    def urgent(self, data: bytes) -> None:
        """Write a line that is not counted, behind the one in flight."""
        if self._keeper is not None:
            self._keeper.send_input(URGENT, data + b"\n")

    def signal(self, signum: int) -> None:
        """Signal the agent's group now, whatever waits in the queue."""
        if self._keeper is not None:
            self._keeper.send_signal(URGENT, signum)

    def ack(self, offset: int) -> None:
        """The journal has everything up to here: the keeper may forget it."""
        if self._keeper is not None:
            self._keeper.ack(offset)

    def keep(self, data: bytes) -> None:
        """What only the next gateway may know, and no disk: it outlives us with the agent."""
        if self._keeper is not None:
            self._keeper.keep(data)

    def end(self) -> None:
        """The agent is over and everything is committed: the keeper may go."""
        if self._keeper is not None:
            self._keeper.end()

    def pause(self) -> None:
        if self._keeper is not None:
            self._keeper.pause()

    def resume(self) -> None:
        if self._keeper is not None:
            self._keeper.resume()

    def close(self) -> None:
        if self._keeper is not None:
            self._keeper.close()
            self._closing, self._keeper = self._keeper, None

    async def closed(self, within_s: float = CLOSE_S) -> None:
        """Wait until the connection is gone; one that lingers is closed from here."""
        keeper = self._keeper or self._closing
        if keeper is None:
            return
        try:
            await asyncio.wait_for(keeper.wait_closed(), within_s)
        except TimeoutError:
            pass
        finally:
            self.close()

    def _pump(self) -> None:
        if self._keeper is None or self._in_flight or not self._queue:
            return
        number, data = self._queue[0]
        if number > self._allowed:
            return
        self._queue.popleft()
        self._in_flight = self.sent_upto = number
        if data is None:
            self._keeper.send_eof(number)
        else:
            self._keeper.send_input(number, data)

    # ---- from the keeper ---------------------------------------------------------------------

    def on_output(self, offset: int, data: bytes) -> None:
        if self._waiting is not None:
            self._waiting.append(lambda: self.on_output(offset, data))
            return
        if offset != self._received:
            self.on_lost(f"output continues at {offset} instead of {self._received}")
            return
        self._received += len(data)
        lines = self._splitter.receive(data)
        if lines:
            self._events.on_lines(lines, self._received - self._splitter.pending)

    def on_stderr(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-STDERR_TAIL:]

    def on_wrote(self, number: int) -> None:
        if self._waiting is not None:
            self._waiting.append(lambda: self.on_wrote(number))
            return
        if number >= self._in_flight:
            self._in_flight = 0
        self._events.on_wrote(number)
        self._pump()

    def on_exit(self, exit: Exit) -> None:
        if self._waiting is not None:
            self._waiting.append(lambda: self.on_exit(exit))
            return
        self._events.on_exit(exit, self._splitter.rest)

    def on_lost(self, reason: str) -> None:
        if self._waiting is not None:
            self._waiting.append(lambda: self.on_lost(reason))
            return
        self.close()
        self._events.on_lost(reason)
