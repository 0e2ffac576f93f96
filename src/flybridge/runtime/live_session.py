"""A live session: the one place where its memory, its journal and its agent meet.

Every change is a step: decide or absorb, one commit, then publish, acknowledge and send.
Steps are synchronous, so nothing can come between a decision and its commit. When the disk
refuses, the memory is thrown away: the session is *down* until the journal works again and
is then loaded anew, while the keeper holds on to whatever the agent says.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from flybridge.errors import BusyError, FlybridgeError, LocalProtocolError, StorageError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.facts import Wrote
from flybridge.model.ids import IncarnationId, InputKey, SessionId
from flybridge.runtime.committed import note_committed, taken_by_others
from flybridge.runtime.late_interrupts import withdraw_late
from flybridge.runtime.links.keeper_link import AgentLink
from flybridge.runtime.live_view import Showing
from flybridge.runtime.methods.queries import Queries
from flybridge.runtime.services import Installed, Services
from flybridge.runtime.submit_policy import USUAL, Terms
from flybridge.runtime.unit_of_work import Memory, Step, load_memory
from flybridge.runtime.waiters import Submitted, Waiters
from flybridge.session import ledger
from flybridge.session.decide import Context
from flybridge.session.effects import Effect, Kill
from flybridge.session.incarnations import start_spec
from flybridge.session.ports import Driver, IncarnationRow, InputRow, OutLine
from flybridge.session.waiting import deadline_ms, expire
from flybridge.wire.lines import CutLine

BIG_LINE = 1 << 20
_log = logging.getLogger(__name__)
_WITHOUT_DRIVER = (c.Rename, c.Archive, c.Close, c.Delete)  # the gateway carries these out
UNSAVED = 64 << 20  # a quarter of what a keeper holds


class LiveSession:
    """One session in this gateway."""

    def __init__(self, memory: Memory, services: Services) -> None:
        self.memory = memory
        self.services = services
        self.installed: Installed | None = None
        self.link: AgentLink | None = None
        self.down: FlybridgeError | None = None
        self.stumbles = 0  # how often our own code failed on what the agent said
        self.waiters = Waiters()
        self.queries = Queries(self)
        self.gone = asyncio.Event()  # set by the supervisor while no agent lives
        self._barriers: set[asyncio.Task[None]] = set()
        self.effects: Callable[[Effect], None] = lambda _: None  # set by the supervisor
        self.on_down: Callable[[], None] = lambda: None
        self._outbox: dict[int, OutLine] = {}  # what the keeper has not reported written
        self._unsaved_bytes = 0
        self._save_timer: asyncio.TimerHandle | None = None
        self._expire_timer: asyncio.TimerHandle | None = None
        self._worker: asyncio.Task[None] | None = None
        self._backlog: deque[Callable[[], None]] = deque()
        self.showing = Showing(memory, services.now_ms())
        services.hub.feed(memory.session, memory.state.seq, self.showing)

    @property
    def session(self) -> SessionId:
        return self.memory.session

    # ---- commands ----------------------------------------------------------------------------

    def submit(
        self, command: c.Command, *, principal: str, request: str, terms: Terms = USUAL
    ) -> Submitted:
        """Carry out a command once. It is committed when this returns.

        Raises:
            RefusedError: it cannot be done now; nothing happened.
            StorageError: it could not be made durable; nothing happened.
        """
        key = ledger.key_of(command, principal, request)
        print_ = terms.fingerprint or ledger.fingerprint(command, principal, request)
        if self.down is not None:
            raise self.down
        row = self._row(key)
        if row is not None and ledger.is_repeat(row, print_):
            return Submitted(key, row.stage, duplicate=True)
        context = Context(
            now_ms=self.services.now_ms(),
            principal=principal,
            request=request,
            fingerprint=print_,
            attempt=row.attempt + 1 if row else 1,
            incarnation=IncarnationId(self.services.new_id("inc")),
            capabilities=self.installed.capabilities if self.installed else None,
            max_held=self.services.limits.held_inputs,
            may_start=self.services.agents < self.services.limits.agents,
        )
        self._check_agent(command)
        decision = terms.decide(self.memory.state, command, context)
        step = self.step()
        step.decided(decision)
        self.commit(step, urgent=ledger.grants_nothing(command))
        return Submitted(key, self.stage(key))

    def _check_agent(self, command: c.Command) -> None:
        """Refuse what only the agent's own driver could put into words, if there is none here.

        Raises:
            AgentUnavailableError: the session is read-only.
        """
        state = self.memory.state
        if isinstance(command, _WITHOUT_DRIVER) or state.closed:
            return
        if isinstance(command, c.Interrupt) and command.hard:
            return
        refusal = self.services.shelf.refusal(state.agent, state.kind, runs=state.phase != "none")
        if refusal is not None:
            raise refusal

    def stage(self, key: InputKey) -> str:
        """How far an input is, in the ledger's words."""
        row = self._row(key)
        return row.stage if row else ""

    def _row(self, key: InputKey) -> InputRow | None:
        return self.memory.rows.get(key) or self.services.journal.find(self.session, key)

    def new_driver(self) -> Driver:
        """A driver for the present incarnation that goes on from its last committed memo."""
        memory = self.memory
        assert self.installed is not None
        assert memory.incarnation is not None
        driver = self.installed.agent.driver(self.installed.capabilities)
        incarnation = memory.incarnation.incarnation
        driver.attach(self.session, incarnation, start_spec(memory.state), memory.memo)
        return driver

    async def free(self) -> None:
        """Wait until no worker has the driver in hand."""
        while self._worker is not None:
            await asyncio.wait({self._worker})

    async def settled(self, command: c.Command) -> None:
        """Wait until a command can be decided. A message also waits for the end of an agent
        that was told to end: it would be lost on it, and starts the next one."""
        await self.free()
        row = self.memory.incarnation
        ending = row is not None and row.asked_to_end and row.state != "ended"
        if ending and isinstance(command, c.SendInput):
            try:
                await asyncio.wait_for(self.gone.wait(), 4 * self.services.timing.grace_s)
            except TimeoutError:
                raise BusyError("the agent is ending, and has not ended yet") from None

    # ---- steps -------------------------------------------------------------------------------

    def step(self) -> Step:
        now_ms, taken = self.services.now_ms(), taken_by_others(self.services, self.session)
        modes = self.installed.capabilities.known_modes if self.installed else ()
        return Step(self.memory, now_ms, self.services.blobs, self._new_incarnation, modes, taken)

    def _new_incarnation(self, incarnation: IncarnationId) -> IncarnationRow:
        return IncarnationRow(
            incarnation=incarnation,
            session=self.session,
            state="starting",
            socket=str(self.services.keepers / f"{incarnation}.sock"),
            secret=self.services.new_secret(),
            boot=self.services.boot,
        )

    def commit(self, step: Step, *, urgent: bool = False) -> None:
        """Make a step durable, then let it out.

        Raises:
            StorageError: the disk refused. The session is down and will come back by itself.
        """
        try:
            write = step.write()
            self.services.journal.commit(write, urgent=urgent)
        except StorageError as error:
            self.go_down(error)
            raise
        except FlybridgeError as error:  # ours to fix; the memory cannot be trusted
            self.go_down(StorageError(f"step not committed: {error}"))
            raise
        step.committed()
        note_committed(self.services, write, step.entries)
        if write.place is not None:
            self.memory.memo = write.place.memo
        self._unsaved_bytes = 0
        self._let_out(step)

    def _let_out(self, step: Step) -> None:
        for number in step.outbox_done:
            self._outbox.pop(number, None)
        self._outbox.update((one.number, one) for one in step.lines)
        shown = self.showing.of_step(step)
        self.showing.refresh(self.memory, step.now_ms)
        self.services.hub.publish_step(self.session, step.batches(), shown)
        self._send(step.lines)
        for entry in step.entries:
            self.waiters.heard(entry.event)
        for effect in step.effects:
            self.effects(effect)
        if any(isinstance(entry.event, e.TurnEnded) for entry in step.entries):
            withdraw_late(self, self._outbox)
        self._watch_clock()
        self.queries.settle(step.answers)

    def _send(self, lines: list[OutLine]) -> None:
        if self.link is None:
            return
        self.link.ack(self.memory.consumed)
        if not lines:
            return
        if any(one.line.secret for one in lines):
            self.link.keep(self.memory.secrets.kept())
        self.link.put(lines)
        last = lines[-1].number
        if any(one.line.key is not None for one in self._outbox.values()):
            task = asyncio.ensure_future(self._allow_after_barrier(self.link, last))
            self._barriers.add(task)
            task.add_done_callback(self._barriers.discard)
        else:
            self.link.allow(last)

    async def _allow_after_barrier(self, link: AgentLink, upto: int) -> None:
        """No byte of an input or an answer leaves before a power cut could no longer undo it."""
        try:
            await self.services.journal.barrier()
        except StorageError as error:
            self.go_down(error)
            return
        if link is self.link and self.down is None:
            link.allow(upto)

    @property
    def _accept_ms(self) -> int:
        return int(self.services.timing.accept_s * 1000)

    def _watch_clock(self) -> None:
        if self._expire_timer is not None:
            self._expire_timer.cancel()
            self._expire_timer = None
        due = deadline_ms(self.memory.state, self._accept_ms)
        if due is not None:
            delay = max(0, due - self.services.now_ms()) / 1000
            self._expire_timer = asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        self._expire_timer = None
        if self.down is None:
            step = self.step()
            step.decided(expire(self.memory.state, step.now_ms, self._accept_ms))
            self.save_if_durable(step)

    def save_if_durable(self, step: Step) -> None:
        """Save a step, if there is anything in it that a restart must not forget."""
        if step.durable:
            self._save(step)
        else:
            self._watch_clock()

    # ---- what the agent says -----------------------------------------------------------------

    def on_lines(self, lines: list[bytes], consumed: int) -> None:
        if self.later(lambda: self.on_lines(lines, consumed)):
            return
        driver = self.memory.driver
        if driver is None:  # nobody here can read it: the keeper keeps it for the next gateway
            return
        if any(len(line) > BIG_LINE for line in lines):
            self._worker = asyncio.ensure_future(self._in_worker(driver, lines, consumed))
            return
        try:
            driver.receive(lines, self.services.now_ms())
            self._take_in(lines, consumed)
        except Exception:  # a bug of ours must not take the gateway or the session along
            self._stumble()

    def _stumble(self) -> None:
        """Something the agent said broke us. Try again from the journal; the supervisor gives
        the agent up when that does not help."""
        _log.exception("session %s could not take in what its agent said", self.session)
        self.stumbles += 1
        self.go_down(LocalProtocolError("what the agent said could not be taken in"))

    def _take_in(self, lines: list[bytes], consumed: int) -> None:
        step = self.step()
        self._unsaved_bytes += consumed - self.memory.consumed
        self.memory.consumed = consumed
        self.showing.heard(step.now_ms)
        step.drain()
        if any(type(line) is CutLine for line in lines):
            step.fact(e.Error(code="line_too_long", text="the agent wrote an endless line"))
            step.effects.append(Kill())
        if step.durable or self._unsaved_bytes >= self._save_after():
            self._save(step)
            return
        self.services.hub.publish(self.session, None, self.showing.of_step(step))
        self.queries.settle(step.answers)
        if self._save_timer is None:
            self._save_timer = asyncio.get_running_loop().call_later(
                self.services.timing.draft_s, self._save_later
            )

    def _save_after(self) -> int:
        """How much output may go unsaved. Saving writes every open text again from its start,
        so a long one is saved less often: all saving together stays linear in its length."""
        return max(self.services.timing.draft_bytes, min(8 * self.memory.drafts.size, UNSAVED))

    def _save(self, step: Step) -> None:
        """Commit where there is nobody to tell: going down says it all."""
        try:
            self.commit(step)
        except FlybridgeError:
            pass

    def _save_later(self) -> None:
        self._save_timer = None
        if self.down is None and self._worker is None and self._unsaved_bytes:
            self._save(self.step())

    async def _in_worker(self, driver: Driver, lines: list[bytes], consumed: int) -> None:
        """Decode a huge line beside the loop, with its link paused."""
        link = self.link
        if link is not None:
            link.pause()
        try:
            await asyncio.to_thread(driver.receive, lines, self.services.now_ms())
            if self.down is None:
                self._take_in(lines, consumed)
        except Exception:
            self._stumble()
        finally:
            self._worker = None
            if link is not None:
                link.resume()
        while self._backlog and self._worker is None:
            self._backlog.popleft()()

    def later(self, again: Callable[[], None]) -> bool:
        """Whether this must wait (for the worker) or come to nothing (the session is down)."""
        if self.down is not None:
            return True
        if self._worker is not None:
            self._backlog.append(again)
            return True
        return False

    def on_wrote(self, upto: int) -> None:
        if self.later(lambda: self.on_wrote(upto)):
            return
        step = self.step()
        self.note_written(step, upto)
        self.save_if_durable(step)

    def note_written(self, step: Step, upto: int) -> None:
        """The keeper has written every line up to here."""
        for number in sorted(number for number in self._outbox if number <= upto):
            key = self._outbox[number].line.key
            step.outbox_done.append(number)
            if key is not None:
                step.fact(Wrote(key=key))

    def outbox_numbers(self) -> list[int]:
        return sorted(self._outbox)

    # ---- when the disk refuses ---------------------------------------------------------------

    def go_down(self, error: FlybridgeError) -> None:
        """Forget everything uncommitted. The keeper keeps what the agent says from here on."""
        if self.down is None:
            self.down = error
            self.showing.freeze()
            self._backlog.clear()
            self.on_down()

    def come_back(self) -> list[OutLine]:
        """Load the session anew; returns the lines no keeper has reported written.

        It stays down until ``up``: a decision made before the agent is reached again would
        have nobody to put it into words.

        Raises:
            StorageError: the disk still refuses.
        """
        self.services.journal.recover()
        loaded = self.services.journal.load(self.session)
        if loaded is None:
            raise StorageError("the session was never stored")
        self.memory = load_memory(self.services.journal, loaded, self.memory.secrets)
        self.reset(loaded.outbox)
        return loaded.outbox

    def reset(self, outbox: list[OutLine]) -> None:
        """Start from what the journal holds."""
        self._outbox = {one.number: one for one in outbox}
        self._unsaved_bytes = 0
        self.showing.refresh(self.memory, self.services.now_ms())
        self.services.hub.feed(self.session, self.memory.state.seq, self.showing)

    def up(self) -> None:
        """The memory is good again, and its agent is at hand or known to be gone."""
        self.down = None

    def quiet(self) -> AgentLink | None:
        """Stop every timer and hang up; the session is being put away."""
        for timer in (self._save_timer, self._expire_timer):
            if timer is not None:
                timer.cancel()
        self._save_timer = self._expire_timer = None
        self.queries.close()
        link, self.link = self.link, None
        if link is not None:
            link.close()
        return link
