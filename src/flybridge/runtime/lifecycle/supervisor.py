"""Brings a session's agent up, takes over one that lives, and sees to its end.

Everything is bounded and escalates. One thing at a time: starting, taking over and reviving
a session never overlap.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Coroutine
from uuid import UUID, uuid5

import msgspec

from flybridge.errors import AgentError, AgentStartError, FlybridgeError, KeeperError
from flybridge.model.capabilities import LinkEnd, OpenSpec
from flybridge.model.events import ConversationLost, Gap
from flybridge.model.facts import Fate, LinkEnded
from flybridge.model.ids import InputKey
from flybridge.runtime.access.folders import check_start
from flybridge.runtime.keeper.client import Exit, Hello, KeeperUnreachableError, Welcome
from flybridge.runtime.keeper.process import alive, fence
from flybridge.runtime.keeper.start import KeeperSpec, start_keeper
from flybridge.runtime.keeper.starter import KeeperStarter
from flybridge.runtime.lifecycle.adoption import settle
from flybridge.runtime.lifecycle.past import sole_writer
from flybridge.runtime.lifecycle.redact import redact
from flybridge.runtime.links.dialling import Dialling
from flybridge.runtime.links.keeper_link import AgentLink
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.unit_of_work import Step
from flybridge.session import ledger
from flybridge.session.effects import Effect, Forget, Kill, Start, Stop
from flybridge.session.ports import (
    CONVERSATION_ENV,
    INCARNATION_ENV,
    KEEPERS_ENV,
    SESSION_ENV,
    IncarnationRow,
    OutLine,
)

FENCE_S = 10.0
MAX_STUMBLES = 3
REACH_S, START_S, AGAIN_S = 30.0, 0.5, 0.05
REVIVE_FIRST_S, REVIVE_LAST_S = 0.05, 2.0
UNNAMED = "the agent never told the id of its conversation: it starts a new one"
_log = logging.getLogger(__name__)
_AGENT_SESSIONS = UUID("5b1d2c9e-6f0e-4c55-9a3c-0f3a51c1f2aa")


class Supervisor:
    """One session's agent process, from start to end."""

    def __init__(self, session: LiveSession) -> None:
        self.session = session
        self.services = session.services
        self._dialling = Dialling(session)
        self.gone = session.gone  # set while no agent lives
        self.gone.set()
        self.forgotten = asyncio.Event()
        self._unread_exit: tuple[Exit, bytes] | None = None  # of an agent that nobody here reads
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        session.effects = self.carry_out
        session.on_down = lambda: self._spawn(self._revive())

    def carry_out(self, effect: Effect) -> None:
        """What a committed decision asks for. Returns at once."""
        match effect:
            case Start():
                self._alive()
                self._spawn(self._start(effect))
            case Stop():
                self._spawn(self.stop())
            case Kill():
                self._signal(signal.SIGKILL)
                self._end_unread()
            case Forget():
                self._spawn(self._forget())
            case _:
                pass

    def _alive(self) -> None:
        self.services.agents += self.gone.is_set()
        self.gone.clear()

    def _dead(self) -> None:
        self._dialling.forget()
        self.services.agents -= not self.gone.is_set()
        self.gone.set()

    async def close(self) -> None:
        """Let go of the agent without touching it: its keeper has it."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        link = self.session.quiet()
        if link is not None:
            await link.closed()

    # ---- up ----------------------------------------------------------------------------------

    async def _start(self, effect: Start) -> None:
        async with self._one_at_a_time:
            row = self.session.memory.incarnation
            if row is None or row.incarnation != effect.incarnation:
                return  # the session came back from the journal meanwhile, and was seen to
            try:
                await self._start_keeper(row, effect.spec)
            except (AgentError, KeeperError, OSError) as error:
                await self._bury(str(error))
                return
            if self.session.down is None:
                await self._connect([], restarted=False)

    async def _start_keeper(self, row: IncarnationRow, spec: OpenSpec) -> None:
        session = self.session
        shelf = self.services.shelf
        refusal = shelf.refusal(spec.agent, session.memory.state.kind, runs=False)
        if refusal is not None:  # before ``installed`` is set: its driver reports the end
            raise AgentStartError(spec.agent, reason=refusal.reason)
        session.installed = await shelf.get(spec.agent)
        trusted, policy = self.services.trusted, self.services.folder_settings
        agent = session.installed.agent
        asked = bool(session.memory.state.kind)  # recorded since folders are asked about
        spec = await asyncio.to_thread(check_start, trusted, agent, spec, policy, asked=asked)
        spec = await self._dialling.announced(self._named(spec), row)
        launch = session.installed.agent.launch(spec, session.installed.capabilities)
        marks = {
            SESSION_ENV: session.session,
            INCARNATION_ENV: row.incarnation,
            KEEPERS_ENV: str(self.services.keepers),
            CONVERSATION_ENV: spec.fork_session or spec.agent_session,
        }
        timing = self.services.timing
        argv, pipes = self._dialling.program(row, launch.argv)
        keeper = KeeperSpec(
            argv=argv,
            pipes=pipes,
            env={**launch.env, **session.installed.environment, **marks},
            cwd=launch.cwd,
            incarnation=row.incarnation,
            secret=row.secret,
            socket=row.socket,
            hello_s=timing.hello_s,
            orphan_s=timing.orphan_s,
            grace_s=timing.grace_s,
        )
        first = session.memory.state.lives == 1
        async with sole_writer(self.services, spec, session.session, first=first):
            started = await start_keeper(keeper, self.services.starter)
        row.keeper_pid, row.keeper_start = started.pid, started.start

    def _named(self, spec: OpenSpec) -> OpenSpec:
        """Return the spec with the id of the conversation, for agents that take it from us.

        Any other agent chooses its own: it is given only an id that it has told before.
        """
        installed = self.session.installed
        if installed is None or not installed.capabilities.names_conversations:
            if spec.resume and not spec.agent_session:
                self._note_unnamed()
                return msgspec.structs.replace(spec, resume=False, fork=False)
            return spec if spec.resume else msgspec.structs.replace(spec, agent_session="")
        # After the life, not the session: two gateways may have sessions of one name.
        row = self.session.memory.incarnation
        new = str(uuid5(_AGENT_SESSIONS, row.incarnation if row else ""))
        if spec.fork:
            return msgspec.structs.replace(spec, fork_session=spec.fork_session or new)
        return msgspec.structs.replace(spec, agent_session=spec.agent_session or new)

    def _note_unnamed(self) -> None:
        """Record that the agent starts anew, because it never told the id of its conversation."""
        step = self.session.step()
        step.fact(ConversationLost(reason=UNNAMED))
        self.session.save_if_durable(step)

    async def take_over(self, outbox: list[OutLine]) -> None:
        """A new gateway has loaded this session: adopt its agent, or see that it is gone."""
        row = self.session.memory.incarnation
        if row is None or row.state == "ended":
            return
        self._alive()
        async with self._one_at_a_time:
            self._prepare()
            if row.boot != self.services.boot:
                await self._bury("the machine was restarted")
            else:
                await self._connect(outbox, restarted=True)
        if row.asked_to_end and not self.gone.is_set():
            self._spawn(self.stop(firm=True))  # somebody wanted that before

    def _prepare(self) -> None:
        state = self.session.memory.state
        shelf = self.services.shelf
        self.session.installed = shelf.running(state.agent, state.kind, state.version)

    async def _connect(self, outbox: list[OutLine], *, restarted: bool) -> None:
        session = self.session
        row = session.memory.incarnation
        assert row is not None
        link = self._dialling.new_link(self, row, outbox)
        try:
            welcome = await self._reach(link, row)
        except KeeperError as error:
            await self._bury(str(error))
            return
        session.link = link
        if session.installed is None:
            self._hold(link)
            return
        try:
            settle(session, welcome, outbox, restarted=restarted)
        except FlybridgeError:
            return  # the session is down and will try again
        link.begin()

    def _hold(self, link: AgentLink) -> None:
        """Stay connected to an agent whose kind this gateway does not know.

        The connection keeps the keeper from ending the agent as an orphan. Nothing is sent, read
        or acknowledged: a gateway that knows the kind finds everything the agent wrote.
        """
        kind = self.session.memory.state.kind
        _log.warning("session %s: no driver for agents of kind %s", self.session.session, kind)
        self.session.up()
        self.services.hub.resync(self.session.session)
        link.begin()

    @property
    def _held(self) -> bool:
        return self.session.installed is None and not self.gone.is_set()

    def _end_unread(self) -> None:
        """Close a held agent that exited by itself, now that somebody asked for its end."""
        if self._unread_exit is not None:
            self.on_exit(*self._unread_exit)

    async def _reach(self, link: AgentLink, row: IncarnationRow) -> Welcome:
        """Knock until the keeper answers, for as long as there is reason to hope.

        One that lives may be slow; one that an earlier gateway was just starting may not
        listen yet. Nothing is given up that can be adopted.
        """
        patience_s = REACH_S if row.keeper_pid else START_S
        deadline = asyncio.get_running_loop().time() + patience_s
        while True:
            try:
                return await link.connect(row.socket, self._hello(row))
            except KeeperUnreachableError:
                lives = not row.keeper_pid or alive(row.keeper_pid, row.keeper_start)
                if not lives or asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(AGAIN_S)

    def _hello(self, row: IncarnationRow) -> Hello:
        return Hello(
            generation=self.services.journal.generation,
            secret=row.secret,
            after=self.session.memory.consumed,
        )

    async def _revive(self) -> None:
        """Try until the journal works again, then go on where it left off."""
        async with self._one_at_a_time:
            delay = REVIVE_FIRST_S
            while True:
                await asyncio.sleep(delay)
                delay = min(delay * 2, REVIVE_LAST_S)
                old, self.session.link = self.session.link, None
                try:
                    outbox = self.session.come_back()
                except FlybridgeError:
                    self.session.link = old  # still of use for an urgent line
                    continue
                break
            if old is not None:
                old.close()
                self._spawn(old.closed())
            row = self.session.memory.incarnation
            if row is None or row.state == "ended":
                self.session.up()
                self._dead()
                self.services.hub.resync(self.session.session)
                return
            if self.session.stumbles >= MAX_STUMBLES:
                self.session.stumbles = 0
                self._prepare()
                await self._bury("it said something that could not be taken in; see the log")
            else:
                await self._connect(outbox, restarted=False)

    # ---- what the link says ------------------------------------------------------------------

    def on_lines(self, lines: list[bytes], consumed: int) -> None:
        self.session.on_lines(lines, consumed)

    def on_wrote(self, upto: int) -> None:
        self.session.on_wrote(upto)

    def on_exit(self, exit_: Exit, rest: bytes) -> None:
        session = self.session
        if session.later(lambda: self.on_exit(exit_, rest)):
            return
        link, driver = session.link, session.memory.driver
        row = session.memory.incarnation
        if self._held and row is not None and not row.asked_to_end:
            self._unread_exit = exit_, rest  # the keeper keeps both for a gateway that can read it
            return
        self._unread_exit = None
        step = session.step()
        if self._held and exit_.out_to > session.memory.consumed:
            step.fact(Gap(reason="unknown_kind"))
        if rest and driver is not None:  # a last line that was cut short
            driver.receive([rest], step.now_ms)
            step.drain()
        session.memory.consumed = exit_.out_to
        fates: dict[InputKey, Fate] = {
            key: ledger.fate(row.number, took=exit_.read_upto, read_upto=exit_.read_upto)
            if row.stage == "dispatching"
            else ledger.fate(row.number, took=row.number, read_upto=exit_.read_upto)
            for key, row in session.memory.rows.items()
        }
        tail = link.stderr_tail if link else ""
        end = LinkEnd(why="exit", status=exit_.status, read_upto=exit_.read_upto)
        if self._end(step, end, fates, tail) and link is not None:
            link.end()
            self._spawn(link.closed())

    def on_lost(self, reason: str) -> None:
        """The keeper hung up. Ask it once more; if it is dead, that will show."""
        self.session.go_down(KeeperError(reason))

    # ---- the end -----------------------------------------------------------------------------

    async def _bury(self, reason: str) -> None:
        """No keeper answers: make sure that nothing of the agent is left, then say so."""
        session = self.session
        row = session.memory.incarnation
        assert row is not None
        same_boot = row.boot == self.services.boot
        if same_boot:
            _kill_keeper(row, self.services.starter)
            await fence(
                group=row.agent_pid,
                start=row.agent_start,
                boot=row.boot,
                marker=(INCARNATION_ENV, row.incarnation),
                timeout_s=FENCE_S,
            )
        session.up()
        step = session.step()
        if row.state == "starting":
            end = LinkEnd(why="not_started", status=-1)
        else:
            end = LinkEnd(why="keeper_died" if same_boot else "reboot", status=-1)
        rows = session.memory.rows
        kept: dict[InputKey, Fate] = {
            key: "not_taken" for key, known in rows.items() if known.number == 0
        }
        self._end(step, end, kept, reason)

    def _end(self, step: Step, end: LinkEnd, fates: dict[InputKey, Fate], stderr_tail: str) -> bool:
        """Close everything in one step; True once that is committed."""
        session, memory = self.session, self.session.memory
        row = memory.incarnation
        assert row is not None
        if memory.driver is None and session.installed is not None:
            memory.driver = session.new_driver()
        environment = session.installed.environment if session.installed else {}
        step.fact(
            LinkEnded(
                incarnation=row.incarnation,
                why=end.why,
                status=end.status,
                stderr_tail=redact(stderr_tail, environment),
                asked=row.asked_to_end,
                fates=fates,
            )
        )
        if memory.driver is not None:
            memory.driver.lost(end, step.now_ms)
            step.drain()
        row.state = "ended"
        memory.agent_io = ""
        step.incarnation_changed = True
        step.lines.clear()
        step.outbox_done = session.outbox_numbers()
        try:
            session.commit(step)
        except FlybridgeError:
            return False
        memory.driver, session.link = None, None
        self._dead()
        return True

    async def stop(self, *, firm: bool = False) -> None:
        """End of input, then TERM, then KILL, then whatever it takes: each with a deadline.

        ``firm``: it has been asked to end before; begin with TERM.
        """
        async with self._one_at_a_time:
            pass  # an agent that is being started is stopped once it is there
        session, grace = self.session, self.services.timing.grace_s
        row = session.memory.incarnation
        if row is None or self.gone.is_set():
            return
        if not row.asked_to_end:
            row.asked_to_end = True
            step = session.step()
            step.incarnation_changed = True
            try:
                session.commit(step)
            except FlybridgeError:
                pass  # it ends all the same; only the note that it was asked to is lost
        self._end_unread()
        firm = firm or self._held  # the end of input would need a number of our own
        if session.link is not None and not firm:
            session.link.put_end(session.memory.take_number())
        for signum in (signal.SIGTERM, signal.SIGKILL):
            if not firm and await self._is_gone(grace):
                return
            firm = False
            self._signal(signum)
        if not await self._is_gone(grace) and session.down is None:
            session.go_down(KeeperError("the agent did not end"))

    def _signal(self, signum: int) -> None:
        if self.session.link is not None:
            self.session.link.signal(signum)

    async def _is_gone(self, within_s: float) -> bool:
        try:
            await asyncio.wait_for(self.gone.wait(), within_s)
        except TimeoutError:
            return False
        return True

    async def _forget(self) -> None:
        await self.gone.wait()
        self.services.journal.delete(self.session.session)
        if self.services.conversation_ids is not None:
            self.services.conversation_ids.forget(self.session.session)
        self.services.hub.drop(self.session.session, "session_deleted")
        self.forgotten.set()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _kill_keeper(row: IncarnationRow, starter: KeeperStarter | None) -> None:
    """One that lives but will not talk is of no use, and its agent dies with it."""
    if row.keeper_pid and alive(row.keeper_pid, row.keeper_start):
        if starter is not None:
            starter.expect_end(row.keeper_pid, row.keeper_start)
        os.kill(row.keeper_pid, signal.SIGKILL)
