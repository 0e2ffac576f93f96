"""A run before a person: streamed text, a live line of status, questions in place.

The screen is the chat's own. It is left when the run is over, and for the moment in which a
secret is typed.
"""

from __future__ import annotations

import asyncio
import getpass
import sys
import time
from collections.abc import Callable
from typing import Any

import click

from flybridge.cli.chat.conversation import Conversation
from flybridge.cli.chat.interactive import Interactive
from flybridge.cli.opening.trust import Folder, open_in
from flybridge.cli.output import look_of
from flybridge.cli.rendering.safe_text import one_line, visible
from flybridge.cli.runs.session import open_run, resolved, whole
from flybridge.cli.runs.text import failure, start_frame
from flybridge.cli.terminal import size_of
from flybridge.client import Client, EventItem, Item
from flybridge.errors import FlybridgeError, SessionClosedError
from flybridge.frontends.runs.adapter import OpenRun, RunAdapter, Tell, prompt_of
from flybridge.frontends.runs.questions import Open, check
from flybridge.frontends.runs.wire.messages import Cancelled, Failed, Input, RunConfig
from flybridge.model.deliveries import Stage

PAGE = 1000
WAIT_MS = 10_000
STOP_S = 10.0


class RunConversation(Conversation):
    """A conversation that hands on what it has shown."""

    def __init__(self, *args: Any, shown: Callable[[Item], None], **more: Any) -> None:
        super().__init__(*args, **more)
        self._shown = shown

    def _take(self, item: Item) -> None:
        super()._take(item)
        self._shown(item)


class RunScreen(Interactive):
    """The chat's screen, for as long as a run lasts."""

    def __init__(
        self, client: Client, session: str, *, come_back: str, shown: Callable[[Item], None]
    ) -> None:
        stdout = sys.stdout.fileno()
        look = look_of(sys.stdout)
        stdin = sys.stdin.fileno()
        super().__init__(
            client, session, stdin=stdin, stdout=stdout, look=look, come_back=come_back
        )
        self._talk = RunConversation(
            client,
            session,
            self._screen,
            size=lambda: size_of(stdout),
            changed=self._refresh,
            come_back=come_back,
            edit=lambda: self._write_elsewhere(""),
            shown=shown,
        )

    def end(self) -> None:
        """The last words are on the screen when it is left."""
        self._screen.flush()
        self._talk.leave(0)

    def tell(self, text: str, style: str) -> None:
        self._talk.paper.line(text, style)
        self._refresh()


class RunAtTerminal:
    """Begins a run, or comes back to one, and stays until it is over or the person leaves."""

    def __init__(
        self, client: Client, adapter: RunAdapter, flags: RunConfig, folder: Folder
    ) -> None:
        self._client = client
        self._adapter = adapter
        self._flags = flags
        self._folder: Folder = folder
        self._session = ""
        self._items: asyncio.Queue[Item] = asyncio.Queue()
        self._told: set[str] = set()  # questions that were put on the screen

    async def run(self, session: str, prompt: str) -> int:
        """The exit status."""
        self._session = session or await self._begin(prompt)
        await self._catch_up()
        while self._adapter.terminal is None:
            status = await self._at_screen()
            if secret := self._secret():
                await self._ask_secretly(secret)
            elif self._adapter.terminal is None:
                return status  # the person left, the run did not end
        return await self._over()

    async def _begin(self, prompt: str) -> str:
        adapter = self._adapter
        adapter.receive(start_frame(prompt), _now())
        (want,) = adapter.wants()
        assert isinstance(want, OpenRun)
        wanted = resolved(want.start.config, self._flags)
        session = await open_in(
            self._folder, lambda folder: open_run(self._client, adapter.run, wanted, folder)
        )
        adapter.said_prompt()
        await self._submit(session, prompt_of(want.start))
        return session

    async def _submit(self, session: str, want: Tell) -> None:
        await self._client.submit_reliably(
            session, want.command, request=want.request, until=Stage.ACCEPTED, wait_ms=WAIT_MS
        )

    async def _catch_up(self) -> None:
        """The screen shows only the newest of a long log; the run is made of all of it."""
        while True:
            page = await self._client.page(self._session, self._adapter.log.seq, PAGE)
            for item in page.events:
                await self._event(item)
            if not page.events or self._adapter.log.seq >= page.head:
                break
        self._adapter.begun = self._adapter.caught_up = True

    async def _event(self, item: EventItem) -> None:
        if item.seq > self._adapter.log.seq:
            self._adapter.event(item.seq, item.at_ms, await whole(self._client, item))
            self._adapter.take()  # frames are for scripts

    # ---- the screen ----------------------------------------------------------------------------

    async def _at_screen(self) -> int:
        come_back = f"flybridge adhoc --attach {self._adapter.run}"
        screen = RunScreen(
            self._client, self._session, come_back=come_back, shown=self._items.put_nowait
        )
        following = asyncio.create_task(self._follow(screen))
        try:
            return await screen.run()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow(self, screen: RunScreen) -> None:
        """Look at everything once it was shown; leave the screen when there is a reason."""
        while self._adapter.terminal is None and not self._secret():
            self._put_questions(screen)
            await self._act(screen)
            item = await self._next()
            if isinstance(item, EventItem):
                await self._event(item)
        screen.end()

    async def _next(self) -> Item | None:
        due = self._adapter.deadline_ms
        try:
            wait_s = None if due is None else max(due - _now(), 0) / 1000
            return await asyncio.wait_for(self._items.get(), wait_s)
        except TimeoutError:
            return None

    async def _act(self, screen: RunScreen) -> None:
        self._adapter.act(_now())
        for want in self._adapter.wants():
            if isinstance(want, Tell):
                try:
                    await self._submit(self._session, want)
                except SessionClosedError:
                    pass  # the log says how
                except FlybridgeError as error:
                    self._adapter.refused(want, str(error))
                    screen.tell(f"{error} ({error.code})", "error")

    def _put_questions(self, screen: RunScreen) -> None:
        """What the agent asks in its text is answered by the next line."""
        for name, asked in self._adapter.log.open.items():
            if asked.source == "marker" and name not in self._told:
                self._told.add(name)
                screen.tell(f"? {visible(asked.question.text)}", "box")
                for option in asked.question.options:
                    about = f": {option.description}" if option.description else ""
                    screen.tell(f"  - {one_line(option.label + about)}", "box")

    # ---- secrets -------------------------------------------------------------------------------

    def _secret(self) -> Open | None:
        """A secret that is wanted now: it is typed where nobody sees it."""
        log = self._adapter.log
        waiting = [one for one in log.open.values() if one.question.kind == "secret"]
        return waiting[0] if waiting and log.idle else None

    async def _ask_secretly(self, asked: Open) -> None:
        text = f"{one_line(asked.question.text)} (not shown): "
        try:
            value = await asyncio.to_thread(getpass.getpass, text)
            while isinstance(problem := check(asked, value), str):
                click.echo(f"flybridge: {problem}", err=True)
                value = await asyncio.to_thread(getpass.getpass, text)
        except (EOFError, KeyboardInterrupt):
            self._adapter.end(Cancelled(reason="no secret was given"))
        else:
            group = [one for one in self._adapter.log.open.values() if one.group == asked.group]
            given = {asked.question.question_id: value}
            for one in group:
                name = one.question.question_id
                if name not in given:
                    given[name] = await asyncio.to_thread(input, f"{one_line(one.question.text)}: ")
            for name, said in given.items():
                self._adapter.answer(Input(question_id=name, value=said), _now())
        self._adapter.act(_now())
        for want in self._adapter.wants():
            if isinstance(want, Tell):
                await self._submit(self._session, want)
        await self._catch_up()

    # ---- the end -------------------------------------------------------------------------------

    async def _stop_agent(self) -> None:
        try:
            async with asyncio.timeout(STOP_S):
                await self._client.ask("stop_agent", {"session": self._session})
        except (FlybridgeError, TimeoutError):
            pass  # it is put away when it was idle for long

    async def _over(self) -> int:
        if not self._adapter.ending:  # else the gateway ends it
            await self._stop_agent()
        match self._adapter.terminal:
            case Failed(code=code, message=message):
                click.echo(failure(code, message), err=True)
                return 1
            case Cancelled(reason=reason):
                click.echo(f"flybridge: cancelled: {one_line(reason)}", err=True)
            case _:
                pass
        return 0


def _now() -> int:
    return time.time_ns() // 1_000_000
