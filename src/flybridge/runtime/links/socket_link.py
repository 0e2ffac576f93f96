"""A way to an agent that connected to us: what a keeper does with pipes, done with a socket.

The agent's process still has its keeper, which tells how it ends. What it says and hears goes
over a socket of its own, which may be lost and come back while the process lives on. To the
session this looks like a keeper: numbered lines, of which one is in flight, and output that is
kept until it is acknowledged.

A line counts as written when the agent's side has answered the ping that followed it: frames
are handled in their order, so by then the line is inside the process. A line without that
answer is sent again when the agent is back; it may get it twice, and drops what it had by id.
"""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from flybridge.errors import KeeperError
from flybridge.model.capabilities import Transport
from flybridge.runtime.keeper.client import Exit, Hello, KeeperEvents, KeeperLink, Welcome
from flybridge.runtime.keeper.keeper_program import Process, descendants, process

KEPT_BYTES = 64 * 2**20  # of output that is not acknowledged; beyond it nothing more is read
LAST_S = 2.0  # for what a process that ended had said before
URGENT = 16  # uncounted lines that wait for the agent to come back


class Wire(Protocol):
    """One connection of the agent's, as its door holds it."""

    def send(self, data: bytes, number: int) -> None:
        """Write a line, and ask for a sign (``SocketLink.took``) that it has arrived."""

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None: ...


class SocketLink:
    """One life of one agent that dials in. It outlives its session's coming and going, and ends
    with the gateway or with the agent's process."""

    welcome: Welcome

    def __init__(
        self,
        *,
        transport: Transport,
        settled: int,
        met: bool,
        rejoined: Callable[[str, bool], bool],
        late: Callable[[], None],
        dial_in_s: float,
    ) -> None:
        self.transport = transport
        # Called with the last it said, and whether half a line came; False: not now.
        self._rejoined = rejoined
        self._late = late  # called when nobody has come
        self._met = met  # it was here before
        self._dial_in_s = dial_in_s
        self._keeper: KeeperLink | None = None
        self._events: KeeperEvents | None = None  # of the session, while it listens
        self._wire: Wire | None = None
        self._holder: tuple[int, str] | None = None  # the process that came, by pid and start
        self._took = self._wrote = self._left = settled  # numbers; the last that left us
        self._flight: tuple[int, bytes] | None = None
        self._urgent: deque[bytes] = deque(maxlen=URGENT)
        self._kept: deque[bytes] = deque()
        self._start = self._end = -1  # offsets of what is kept; -1: nobody has listened yet
        self._whole = True  # what came last ended a line
        self._cut = False  # half a line came, and never its end
        self._back: str | None = None  # it came back, and the session has not been told
        self._paused = False
        self._reads = True  # from the wire
        self._stderr = b""
        self._exit: Exit | None = None
        self._over = False  # and everything was heard that it said
        self._timer: asyncio.TimerHandle | None = None

    # ---- as a keeper, for the session --------------------------------------------------------

    async def connect(self, socket: str, hello: Hello, events: KeeperEvents) -> SocketLink:
        """Let a session listen from its offset on; whoever listened before does no more.

        Raises:
            KeeperError: the keeper is not there, or what is asked for is gone.
        """
        if self._keeper is None:
            first = msgspec.structs.replace(hello, after=0)  # its own pipes say nothing of note
            self._keeper = await KeeperLink.connect(socket, first, self)
            if not self._met:
                self._wait(self._dial_in_s, self._nobody_came)
        if self._start < 0:
            self._start = self._end = hello.after
        if not self._start <= hello.after <= self._end:
            raise KeeperError(f"output from {hello.after} on is gone")
        self._events = events
        self.welcome = msgspec.structs.replace(
            self._keeper.welcome,
            took=self._took,
            wrote=self._wrote,
            out_from=self._start,
            out_to=self._end,
        )
        self.ack(hello.after)
        self._replay(events)
        return self

    def _replay(self, events: KeeperEvents) -> None:
        at = self._start
        for piece in self._kept:
            events.on_output(at, piece)
            at += len(piece)
        if self._stderr:
            events.on_stderr(self._stderr)
        if self._back is not None:
            asyncio.get_running_loop().call_soon(self._tell_back)
        if self._exit is not None and self._over:
            events.on_exit(self._exit)

    def send_input(self, number: int, data: bytes) -> None:
        if number and not data:  # it was withdrawn: there is nothing to send
            self._count(number)
            return
        if number:
            self._took = number
            self._flight = (number, data)
        if self._wire is not None:
            self._send(self._wire, data, number)
        elif not number:
            self._urgent.append(data)

    def _send(self, wire: Wire, data: bytes, number: int) -> None:
        self._left = max(self._left, number)
        wire.send(data, number)

    def send_eof(self, number: int) -> None:
        """It has no input that could end: it is asked to go."""
        self.send_signal(0, signal.SIGTERM)
        self._count(number)

    def _count(self, number: int) -> None:
        """Report a number as written that stands for no bytes."""
        self._took = self._wrote = self._left = number
        if self._events is not None:
            asyncio.get_running_loop().call_soon(self._events.on_wrote, number)

    def send_signal(self, number: int, signum: int) -> None:
        if self._keeper is not None:
            self._keeper.send_signal(number, signum)

    def ack(self, offset: int) -> None:
        while self._kept and self._start + len(self._kept[0]) <= offset:
            self._start += len(self._kept.popleft())
        if self._kept and self._start < offset:
            self._kept[0] = self._kept[0][offset - self._start :]
            self._start = offset
        self._regulate()

    def keep(self, data: bytes) -> None:
        if self._keeper is not None:
            self._keeper.keep(data)

    def end(self) -> None:
        self.hang_up()
        if self._keeper is not None:
            self._keeper.end()

    def pause(self) -> None:
        self._paused = True
        self._regulate()

    def resume(self) -> None:
        self._paused = False
        self._regulate()

    def close(self) -> None:
        """The session listens no more; an agent that lives keeps its connection."""
        self._events = None
        if self._over and self._keeper is not None:
            self._keeper.close()

    async def wait_closed(self) -> None:
        if self._exit is not None and self._keeper is not None:
            await self._keeper.wait_closed()

    async def let_go(self) -> None:
        """The gateway ends: hang up on the agent and on its keeper."""
        self._events = None
        self.hang_up()
        if self._timer is not None:
            self._timer.cancel()
        if self._keeper is not None:
            self._keeper.close()
            await self._keeper.wait_closed()

    # ---- what the agent's door says ----------------------------------------------------------

    def processes(self) -> Iterable[Process] | None:
        """Which processes may come; None: whichever comes first."""
        if self._holder is not None:
            found = process(self._holder[0])
            return [found] if found is not None and found.start == self._holder[1] else []
        if self.transport == "by_hand":
            return None
        pid = self._keeper.welcome.agent_pid if self._keeper is not None else 0
        root = process(pid)
        return [] if root is None else [root, *descendants(pid)]

    @property
    def holder(self) -> tuple[int, str] | None:
        """The process that came, by pid and start time: no other may come in its place."""
        return self._holder

    @property
    def over(self) -> bool:
        return self._exit is not None

    @property
    def met(self) -> bool:
        """Whether the agent has been here."""
        return self._met

    def attach(self, wire: Wire, holder: Process, last: str) -> None:
        """The agent is there. ``last`` names the last it said, if it was here before."""
        old, self._wire, self._reads = self._wire, wire, True
        if old is not None:
            old.close()  # it knows better than we whether that one still works
            self._end_line()
        if self._timer is not None and self._exit is None:
            self._timer.cancel()
        self._bind(holder)
        again, self._met = self._met, True
        if self._flight is not None:
            self._send(wire, self._flight[1], self._flight[0])
        while self._urgent:
            wire.send(self._urgent.popleft(), 0)
        if again:
            self._back = last
            self._tell_back()
        self._regulate()

    def _bind(self, holder: Process) -> None:
        if self._holder is None:
            self._holder = (holder.pid, holder.start)
            told = self._keeper is None or self._keeper.welcome.took
            if self.transport == "by_hand" and self._keeper is not None and not told:
                self._keeper.send_input(1, f"{holder.pid} {holder.start}\n".encode())

    def received(self, wire: Wire, data: bytes) -> None:
        """The payload of one or several frames, whatever lines they hold."""
        if wire is not self._wire or not data:
            return
        self._whole = data.endswith(b"\n")
        self._take(data)

    def _take(self, data: bytes) -> None:
        if self._start < 0:
            self._start = self._end = 0
        offset = self._end
        self._kept.append(data)
        self._end += len(data)
        if self._events is not None:
            self._events.on_output(offset, data)
        self._regulate()

    def took(self, wire: Wire, number: int) -> None:
        """Everything up to the line of this number has arrived."""
        if wire is not self._wire or self._flight is None or self._flight[0] != number:
            return
        self._flight = None
        self._wrote = number
        if self._events is not None:
            self._events.on_wrote(number)

    def detached(self, wire: Wire) -> None:
        """A connection is gone; the process may still be there."""
        if wire is not self._wire:
            return
        self._wire = None
        self._end_line()
        if self._exit is not None and not self._over:
            self._tell_exit()

    def _end_line(self) -> None:
        """Half a line is kept as it is: what comes next begins a new one."""
        if not self._whole:
            self._whole = self._cut = True
            self._take(b"\n")

    def _tell_back(self) -> None:
        if self._back is None or self._events is None:
            return
        if self._rejoined(self._back, self._cut):
            self._back, self._cut = None, False

    def _regulate(self) -> None:
        reads = not self._paused and self._end - self._start <= KEPT_BYTES
        if self._wire is None or reads is self._reads:
            return
        self._reads = reads
        if reads:
            self._wire.resume()
        else:
            self._wire.pause()

    def hang_up(self) -> None:
        """Close the connection of the agent's, if there is one."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()

    # ---- what the keeper says ----------------------------------------------------------------

    def on_output(self, offset: int, data: bytes) -> None:
        """Only the one that stands in for a process of somebody's own says anything: which."""
        words = data.split(b"\n")[0].split()
        if self.transport == "by_hand" and offset == 0 and len(words) == 2 and words[0].isdigit():
            self._holder = (int(words[0]), words[1].decode("ascii", "replace"))

    def on_stderr(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-4096:]
        if self._events is not None:
            self._events.on_stderr(data)

    def on_wrote(self, number: int) -> None:
        """Lines do not go that way."""

    def on_exit(self, exit: Exit) -> None:
        """The process is over. What it said before may still be on its way to us."""
        self._exit = exit
        if self._wire is None:
            self._tell_exit()
        else:
            self._wait(LAST_S, self._tell_exit)

    def _tell_exit(self) -> None:
        """A line that left us may have been read, whether or not there was a sign of it."""
        assert self._exit is not None
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        self.hang_up()
        self._end_line()
        self._exit = msgspec.structs.replace(self._exit, read_upto=self._left, out_to=self._end)
        if self._events is not None:
            self._events.on_exit(self._exit)

    def on_lost(self, reason: str) -> None:
        self._keeper = None
        if self._events is not None:
            self._events.on_lost(reason)

    # ---- time --------------------------------------------------------------------------------

    def _wait(self, delay_s: float, then: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay_s, then)

    def _nobody_came(self) -> None:
        if not self._met and self.transport == "socket":
            self._late()
            self.send_signal(0, signal.SIGTERM)
