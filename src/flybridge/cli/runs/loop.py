"""The loop around a run: standard input, the session and signals in; standard output out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

import click

from flybridge.cli import early_signals
from flybridge.cli.opening.trust import Folder
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.runs.session import (
    RunTakenError,
    claim,
    code_of,
    find,
    new_key,
    new_run_id,
    open_run,
    resolved,
    whole,
)
from flybridge.cli.runs.streams import InputThread, OutputThread
from flybridge.cli.runs.text import Written, as_frame
from flybridge.client import Client, Detached, EventItem, Item, PreviewItem, Reset
from flybridge.errors import (
    FlybridgeError,
    GatewayUnreachableError,
    NotAllowedError,
    SessionClosedError,
    SessionNotFoundError,
)
from flybridge.frontends.runs.adapter import OpenRun, RunAdapter, Tell, prompt_of
from flybridge.frontends.runs.wire.messages import Cancelled, Failed, RunConfig, Started
from flybridge.model.commands import Close
from flybridge.model.deliveries import Stage

WAIT_MS = 10_000
NAMED_S = 0.3  # for a run.start that was written before a signal
STARTED_S = 0.7  # a script hears after a second that its run exists
STOP_S = 10.0
FLUSH_S = 5.0  # for a reader that stands still, once we were told to end
AGAIN_S = 0.2
News: TypeAlias = "bytes | Item | FlybridgeError | str"


class RunLoop:
    """Drives one :class:`RunAdapter` until its run is over.

    ``stdin``: where frames are read, or all there will ever be of them. ``show`` makes what is
    written out of a frame. ``key``: with it, what another script began is decided here, too.
    ``ci_key``: allows a permission mode that asks less.
    """

    def __init__(
        self,
        client: Client,
        adapter: RunAdapter,
        *,
        stdin: int | bytes,
        stdout: int,
        flags: RunConfig,
        show: Callable[[bytes], Written] = as_frame,
        folder: Folder = "ask",
        detach: bool = False,
        key: str = "",
        ci_key: str = "",
    ) -> None:
        self._client = client
        self._adapter = adapter
        self._stdin = stdin
        self._flags = flags
        self._show = show
        self._folder: Folder = folder
        self._detach = detach
        self._key = key  # of a run that was begun before
        self._ci_key = ci_key
        self._session = ""
        self._ours = False  # begun here, and not before
        self._attached = False  # begun before, and not here
        self._previews = True
        self._head = 0
        self._news: asyncio.Queue[News] = asyncio.Queue(maxsize=64)
        self._told = False  # a signal came
        self._unbegun = ""  # its name, where it came before the run.start
        self._out = OutputThread(stdout, lambda: self._ended("nobody reads the output any more"))
        self._watching: asyncio.Task[None] | None = None

    async def run(self, session: str = "", *, signalled: str = "") -> int:
        """Return the exit status. ``session``: of a run that was begun before; ``signalled``: the
        name of a signal that came before."""
        loop = asyncio.get_running_loop()
        for number in early_signals.ending():
            loop.add_signal_handler(number, self._signalled, number.name)
        if signalled:
            self._signalled(signalled)
        if session:
            self._adapter.begun = self._attached = True
            self._follow(session)
        self._read()
        try:
            while self._adapter.terminal is None and not (self._detach and self._session):
                await self._turn()
        finally:
            if self._watching is not None:
                self._watching.cancel()
                await asyncio.gather(self._watching, return_exceptions=True)
        await self._leave()
        failed = isinstance(self._adapter.terminal, Failed) or self._out.broken
        return 1 if failed else 0

    def _read(self) -> None:
        if isinstance(self._stdin, int):
            InputThread(self._stdin, self._news.put)
            return
        for data in (self._stdin, b""):
            if data or not self._adapter.begun:
                self._news.put_nowait(data)

    def _signalled(self, name: str) -> None:
        self._told = True
        if self._adapter.begun:
            self._ended(name)
        elif not self._unbegun:  # the script's run.start may be on its way: it names the run
            self._unbegun = name
            asyncio.get_running_loop().call_later(NAMED_S, self._cancel_unbegun)

    def _cancel_unbegun(self) -> None:
        """End a run that a signal has cancelled before anything was done for it."""
        self._adapter.cancel(self._unbegun, _now())
        self._wake()

    def _ended(self, reason: str) -> None:
        """Somebody does not want it any more; a script that never began has nothing to end."""
        if self._adapter.begun:
            self._adapter.end(Cancelled(reason=reason))
        else:
            self._adapter.fail("protocol_error", f"ended before a run.start came: {reason}", _now())
        self._wake()

    def _wake(self) -> None:
        try:
            self._news.put_nowait("")
        except asyncio.QueueFull:
            pass

    # ---- one turn of the loop ------------------------------------------------------------------

    async def _turn(self) -> None:
        await self._take(await self._next())
        if self._unbegun and self._adapter.begun:
            self._cancel_unbegun()
        self._adapter.act(_now())
        for want in self._adapter.wants():
            if self._adapter.terminal is None:
                await self._do(want)
        self._flush()
        if not self._told:
            await self._out.drained()

    async def _next(self) -> News:
        due = self._adapter.deadline_ms
        if due is None or not self._news.empty():
            return await self._news.get()
        try:
            return await asyncio.wait_for(self._news.get(), max(due - _now(), 0) / 1000)
        except TimeoutError:
            return ""

    async def _take(self, news: News) -> None:
        adapter = self._adapter
        match news:
            case bytes():
                adapter.receive(news, _now())
            case EventItem(seq=seq, at_ms=at_ms):
                adapter.event(seq, at_ms, await whole(self._client, news))
                adapter.caught_up = seq >= self._head
            case PreviewItem(item=item, since=since, upto=upto, text=text):
                adapter.preview(item, since, upto, text, _now())
            case Detached() | Reset():
                adapter.fail("internal_error", "the session of this run is gone", _now())
            case FlybridgeError():
                self._fail(news)
            case _:
                pass

    def _flush(self) -> None:
        for line in self._adapter.take():
            written = self._show(line)
            self._out.put(written.output)
            self._out.put(written.beside, beside=True)
        for text in self._adapter.warnings:
            warn(text)
        self._adapter.warnings.clear()

    # ---- what is to be done --------------------------------------------------------------------

    async def _do(self, want: OpenRun | Tell) -> None:
        try:
            if isinstance(want, OpenRun):
                await self._begin(want)
            else:
                await self._tell(want)
        except FlybridgeError as error:
            self._fail(error)

    def _fail(self, error: FlybridgeError) -> None:
        """End with a frame that tells of the error.

        A run that somebody else began has its own end in its log. What fails here is only the
        attempt to begin or to follow it, and is told under another run's id.
        """
        if self._attached or isinstance(error, RunTakenError):
            self._adapter.disown(new_run_id())
        self._adapter.fail(code_of(error), str(error), _now())

    async def _begin(self, want: OpenRun) -> None:
        adapter = self._adapter
        if await find(self._client, adapter.run) is not None:
            raise RunTakenError(adapter.run)
        wanted = resolved(want.start.config, self._flags)
        self._ours, self._previews = True, wanted.stream
        adapter.attach_key = new_key()
        opening = asyncio.create_task(self._open(want, wanted))
        if self._detach or not (await asyncio.wait({opening}, timeout=STARTED_S))[0]:
            started = Started(provider=wanted.agent, model=wanted.model, config=wanted)
            adapter.begin(started, _now())
            self._flush()
        self._follow(await opening)

    async def _open(self, want: OpenRun, wanted: RunConfig) -> str:
        adapter = self._adapter
        session = await open_run(
            self._client,
            adapter.run,
            wanted,
            self._folder,
            key=adapter.attach_key,
            ci_key=self._ci_key,
        )
        adapter.said_prompt()
        await self._submit(session, prompt_of(want.start))
        return session

    async def _tell(self, want: Tell) -> None:
        if not self._session:  # it was never opened
            self._adapter.fail("internal_error", "the run was never begun", _now())
            return
        try:
            await self._submit_as_opener(want)
        except SessionClosedError:
            pass  # the log says how
        except (GatewayUnreachableError, SessionNotFoundError):
            raise
        except FlybridgeError as error:
            if isinstance(want.command, Close):
                raise
            self._adapter.refused(want, f"not taken: {error} ({error.code})")

    async def _submit_as_opener(self, want: Tell) -> None:
        try:
            await self._submit(self._session, want)
        except NotAllowedError:  # a gateway that was started since has not seen the key
            if not self._key:
                raise
            await claim(self._client, self._session, self._key)
            await self._submit(self._session, want)

    async def _submit(self, session: str, want: Tell) -> None:
        await self._client.submit_reliably(
            session, want.command, request=want.request, until=Stage.ACCEPTED, wait_ms=WAIT_MS
        )

    def _follow(self, session: str) -> None:
        self._session = session
        self._watching = asyncio.create_task(self._watch(session))

    async def _watch(self, session: str) -> None:
        """Everything the session says, across gateways that come and go."""
        after, epoch = 0, 0
        try:
            while True:
                async with self._client.watch(
                    session, after=after, epoch=epoch, previews=self._previews
                ) as items:
                    await items.begin()
                    if self._key:
                        await claim(self._client, session, self._key)
                    self._head = max(self._head, items.head)
                    async for item in items:
                        if isinstance(item, Detached) and item.code == "gateway_stopped":
                            break
                        await self._news.put(item)
                    after, epoch = items.last_seq, items.epoch
                await asyncio.sleep(AGAIN_S)
        except FlybridgeError as error:
            await self._news.put(error)

    # ---- the end -------------------------------------------------------------------------------

    async def _leave(self) -> None:
        """Everything is written, and the agent is put away; the log stays.

        The agent of a session that was closed is ended by the gateway, in its own time.
        """
        self._flush()
        try:
            async with asyncio.timeout(FLUSH_S if self._told else None):
                await self._out.drained(0)
        except TimeoutError:
            pass
        over = self._adapter.terminal is not None and not self._adapter.ending
        if self._session and over and (self._ours or self._adapter.log.seq > self._head):
            try:
                async with asyncio.timeout(STOP_S):
                    await self._client.ask("stop_agent", {"session": self._session})
            except (FlybridgeError, TimeoutError) as error:
                warn(f"the agent was not ended: {error}")


def warn(text: str) -> None:
    """Say something beside the protocol, if anybody listens."""
    try:
        click.echo(f"flybridge: {one_line(text)}", err=True)
    except OSError:
        pass


def _now() -> int:
    return time.time_ns() // 1_000_000
