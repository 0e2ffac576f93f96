"""The loop behind ``flybridge ipc``: carries out what the adapter asks for, in its order."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from pathlib import Path
from typing import Any

import click

from flybridge.cli import early_signals
from flybridge.cli.ipc.last import LABEL, Wanted, holder_of, last_conversation
from flybridge.cli.ipc.pipes import Input, Output
from flybridge.cli.rendering.safe_text import visible
from flybridge.client import Client, Detached, EventItem, GaugeItem, Item, PreviewItem, connect
from flybridge.errors import BusyError, FlybridgeError, StaleTurnError
from flybridge.frontends.ipc.adapter import IpcAdapter
from flybridge.frontends.ipc.bodies import wanted as wanted_blobs
from flybridge.frontends.ipc.steps import Act, Show, Start, Step, Stop, Switch, SwitchTo
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.model.deliveries import Stage

CONNECT_S = 60.0  # for an agent to be there
LAST_S = 15.0  # for what was asked for before the input ended
FINISH_S = 60.0  # for messages that were taken before the input ended to be answered
LOOK_S = 0.5  # between two looks whether anybody still reads
CLOSING_S = 2.0  # for a reader that stands still to take the last lines
END_S = 12.0  # for an agent to be gone: it has 5 s, and 5 s more after a signal
SEEN_S = 2.0
PATIENCE_S = 3600.0
PAGE_EVENTS = 10_000
MAX_STEPS = 1000


async def bridge(wanted: Wanted, state: Path | None) -> int:
    """Talk with the program that started us until it is gone; the exit status."""
    adapter = IpcAdapter(
        new_id=lambda: str(uuid.uuid4()),
        cwd=wanted.cwd,
        mode=wanted.mode,
        mode_given=wanted.mode_given,
        model=wanted.model,
    )
    return await Bridge(adapter, wanted, state, Input(0), Output(1)).run()


class Bridge:
    def __init__(
        self, adapter: IpcAdapter, wanted: Wanted, state: Path | None, stdin: Input, stdout: Output
    ) -> None:
        self._adapter = adapter
        self._wanted = wanted
        self._state = state
        self._stdin = stdin
        self._stdout = stdout
        self._client: Client | None = None
        self._session = ""
        self._own = False  # opened here
        self._watcher: asyncio.Task[None] | None = None
        self._steps: asyncio.Queue[Step] = asyncio.Queue(MAX_STEPS)
        self._news = asyncio.Event()
        self._writing = asyncio.Lock()
        self._patient: set[asyncio.Task[Any]] = set()
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owed = False  # an interrupt that came before there was a turn

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        for number in early_signals.ending():
            loop.add_signal_handler(number, over.set)
        work, listening = asyncio.create_task(self._work()), asyncio.create_task(self._listen())
        ends: set[asyncio.Future[Any]] = {
            asyncio.create_task(over.wait()),
            asyncio.create_task(self._stdout.gone.wait()),
            self._broken,
        }
        try:
            await asyncio.wait({work, listening, *ends}, return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                listening.result()
                last: set[asyncio.Future[Any]] = {work, *ends}  # what came before is still done
                await asyncio.wait(last, timeout=LAST_S, return_when=asyncio.FIRST_COMPLETED)
                if work.done() and work.result() == 0:
                    await self._finish(ends)
            if self._broken.done():
                self._broken.result()
            return work.result() if work.done() else 0
        finally:
            tasks = (work, listening, *ends, *self._patient)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._leave()

    async def _listen(self) -> None:
        """Turn what comes into steps; ends with the input."""
        while True:
            data = await self._stdin.read()
            steps = self._adapter.receive(data) if data else self._adapter.ended()
            await self._flush()
            for step in steps:
                await self._steps.put(step)
            if not data:
                return

    async def _finish(self, ends: set[asyncio.Future[Any]]) -> None:
        """Wait until messages that were taken are answered, as long as somebody reads that.

        A prompt that opens ends the wait: nobody is left who could answer it.
        """
        work = asyncio.create_task(self._work())  # what is sent again is a step, too
        self._patient.add(work)
        until = asyncio.get_running_loop().time() + FINISH_S
        while (
            self._adapter.unfinished
            and not any(end.done() for end in ends)
            and not self._stdout.reader_is_gone()
            and asyncio.get_running_loop().time() < until
        ):
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), LOOK_S)

    async def _flush(self) -> None:
        async with self._writing:
            await self._stdout.write(self._adapter.take())
        for said in self._adapter.take_warnings():
            click.echo(f"flybridge: {visible(said)}", err=True)

    # ---- steps -----------------------------------------------------------------------------------

    async def _work(self) -> int:
        while True:
            step = await self._steps.get()
            if isinstance(step, Stop):
                return step.status
            try:
                await self._do(step)
            except FlybridgeError as error:
                if isinstance(step, Start | Switch):
                    self._adapter.fail(str(error), recoverable=isinstance(step, Switch))
                    await self._flush()
                    if isinstance(step, Start):
                        return 1
                elif isinstance(step, Act):
                    self._adapter.refused(step, str(error))
                else:
                    self._adapter.fail(str(error))
            await self._flush()

    async def _do(self, step: Step) -> None:
        match step:
            case Start():
                await self._start()
            case Switch(to=to):
                await self._switch(to)
            case Show(name=name):
                await self._show(name)
            case Act(patience_ms=patience) if patience:
                task = asyncio.create_task(self._patiently(step))
                self._patient.add(task)
                task.add_done_callback(self._patient.discard)
            case Act():
                await self._act(step)
            case _:
                pass

    async def _act(self, act: Act) -> None:
        if act.setting:
            await self._agent_there()
        try:
            await self._submit(act, Stage.WRITTEN if act.setting else Stage.ACCEPTED, 10_000)
        except StaleTurnError:
            self._owed = self._adapter.busy  # nothing runs yet: it is stopped when it does
        except FlybridgeError:
            if not act.quiet:
                raise

    async def _patiently(self, act: Act) -> None:
        """Wait a bounded time for the agent to have done it; others need not wait for that."""
        try:
            reply = await self._submit(act, Stage.DONE, act.patience_ms)
            if reply == "in_progress":
                self._adapter.unanswered(act)
        except FlybridgeError as error:
            self._adapter.refused(act, str(error))
        await self._flush()

    async def _submit(self, act: Act, until: Stage, wait_ms: int) -> str:
        reply = await self._here.submit_reliably(
            self._session,
            act.command,
            request=act.request,
            until=until,
            wait_ms=wait_ms,
            patience_s=PATIENCE_S,
        )
        return reply.error

    async def _show(self, name: str) -> None:
        modes: list[str] = []
        rows: list[dict[str, Any]] = []
        counted: dict[str, Any] | None = None
        if name == "context":
            with contextlib.suppress(FlybridgeError):  # one that is off, or too old to be asked
                counted = dict(await self._here.query(self._session, "context"))
        elif name == "settings":
            known = (await self._here.ask("agents"))["agents"]
            modes = next((one["modes"] for one in known if one["name"] == self._wanted.agent), [])
        elif name == "sessions":
            rows = [row for row in await self._here.list() if row["cwd"] == self._wanted.cwd]
        self._adapter.show(name, modes=modes, sessions=rows, counted=counted)

    @property
    def _here(self) -> Client:
        assert self._client is not None  # nothing is asked of it before Start
        return self._client

    # ---- sessions --------------------------------------------------------------------------------

    async def _start(self) -> None:
        self._client = await connect(self._state, name="ipc")
        wanted = self._wanted
        last = "" if wanted.new else wanted.session or await last_conversation(self._here, wanted)
        try:
            await self._open(resume=last, announce=last)
        except BusyError:
            holder = await holder_of(self._here, last) if last else ""
            if not holder:
                raise
            await self._join(holder, last)

    async def _open(
        self, *, resume: str = "", fork: bool = False, latest: bool = False, **names: str
    ) -> None:
        """Open a session of our own: who opened it may approve what its agent wants to do."""
        wanted = self._wanted
        session = await self._here.open(
            agent=wanted.agent,
            cwd=wanted.cwd,
            model=self._adapter.model,
            labels={LABEL: "1"},
            resume=resume,
            fork=fork,
            continue_latest=latest,
            agent_options=wanted.agent_options,
            folder=wanted.folder,
        )
        await self._unwatch()
        before, self._session, self._own = self._session if self._own else "", session, True
        steps = self._adapter.opened(names.get("announce", ""), to=names.get("to", ""))
        await self._flush()
        self._watch(after=0)
        for step in steps:
            await self._do(step)
        await self._archive(before)

    async def _archive(self, session: str) -> None:
        """A session of ours that is over stands in nobody's way; its conversation goes on in
        the next one."""
        if session:
            with contextlib.suppress(FlybridgeError):
                await self._here.submit(
                    session, c.Archive(), request="ipc.over", until=Stage.ACCEPTED
                )

    async def _join(self, session: str, conversation: str) -> None:
        """Others are in it: take part, and know what has happened so far."""
        self._session, after = session, 0
        self._adapter.opened(conversation)
        while True:
            page = await self._here.page(session, after, PAGE_EVENTS)
            for item in page.events:
                after = item.seq
                if item.event is not None:
                    self._adapter.remember(item.event, await self._blobs(item.event))
            if not page.events or after >= page.head:
                break
        self._adapter.joined()
        self._watch(after=after)

    async def _switch(self, to: SwitchTo) -> None:
        conversation = self._adapter.events.about.session if self._adapter.events.spoke else ""
        self._adapter.events.ending = True
        await self._stop_agent()
        await self._until(lambda: self._adapter.events.phase == "none", SEEN_S)
        if to == "new":
            await self._open(to=to)
        else:
            await self._open(resume=conversation, fork=to == "fork", latest=not conversation, to=to)

    async def _agent_there(self) -> None:
        """A setting needs a living agent; one that is gone is started again where it was."""
        events = self._adapter.events
        if events.phase == "none":
            conversation = events.about.session if events.spoke else ""
            await self._open(resume=conversation, announce=conversation)
        await self._until(lambda: events.phase in ("live", "none"), CONNECT_S)

    async def _stop_agent(self, *, unless_followed: bool = False) -> bool:
        """Whether it was ended."""
        params = {"session": self._session, "unless_followed": unless_followed}
        async with asyncio.timeout(END_S):
            return bool((await self._here.ask("stop_agent", params)).get("stopped"))

    # ---- what comes ------------------------------------------------------------------------------

    def _watch(self, *, after: int) -> None:
        self._watcher = asyncio.create_task(self._follow(self._session, after))

    async def _unwatch(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.gather(self._watcher, return_exceptions=True)
            self._watcher = None

    async def _follow(self, session: str, after: int) -> None:
        try:
            async with self._here.watch(session, after=after, patience_s=PATIENCE_S) as items:
                async for item in items:
                    await self._take(item)
                    self._news.set()
        except FlybridgeError as error:
            self._adapter.fail(f"The session cannot be followed: {error}")
            await self._flush()
        except Exception as error:
            if not self._broken.done():
                self._broken.set_exception(error)

    async def _take(self, item: Item) -> None:
        match item:
            case EventItem(event=event) if event is not None:
                steps = self._adapter.apply(event, await self._blobs(event))
                self._owed = self._owed and self._adapter.busy
                if isinstance(event, ev.TurnStarted) and self._owed:
                    self._owed = False
                    steps.append(Act(command=c.Interrupt(), request=str(uuid.uuid4())))
                for step in steps:
                    await self._steps.put(step)
            case PreviewItem():
                self._adapter.preview(item.item, item.since, item.upto, item.text)
            case GaugeItem(name=name, value=value):
                self._adapter.gauge(name, value)
            case Detached(code=code):
                self._adapter.fail(f"The session is gone: {code}")
            case _:
                pass
        await self._flush()

    async def _blobs(self, event: ev.Event) -> dict[str, bytes]:
        return {digest: await self._here.blob(digest) for digest in wanted_blobs(event)}

    async def _until(self, is_so: Any, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not is_so():
                    self._news.clear()
                    await self._news.wait()

    # ---- the end ---------------------------------------------------------------------------------

    async def _leave(self) -> None:
        """Close what is open, end the agent, unless others are attached to it; then hang up."""
        if self._client is None:
            return
        await self._unwatch()
        self._adapter.leave()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._flush(), CLOSING_S)
        if self._session:
            with contextlib.suppress(FlybridgeError, TimeoutError):
                if await self._stop_agent(unless_followed=True) and self._own:
                    await self._archive(self._session)
        await self._client.close()
