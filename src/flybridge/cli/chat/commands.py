"""What the slash lines of a chat do that are no command to the agent: show, attach, queue, export.

Everything that is shown here was asked for by the person before the screen; nothing of it goes
into the session's log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from flybridge.cli.attachments import MAX_FILES, Attachment, mentioned, read_attachment, size_text
from flybridge.cli.chat.agent_facts import AgentFacts
from flybridge.cli.chat.agent_text import context_lines, cost_lines, gauge_line, server_lines
from flybridge.cli.chat.following import SessionState, context_of
from flybridge.cli.chat.outbox import Outbox
from flybridge.cli.chat.slash import REST, Do, help_lines, parse
from flybridge.cli.export.log import FORMATS, export_file
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import LivePaper
from flybridge.cli.sessions.text import session_lines
from flybridge.client import Client
from flybridge.errors import FlybridgeError, InvalidRequestError
from flybridge.model import events as ev
from flybridge.model.commands import CancelQueued, EditQueued
from flybridge.model.content import Content, Text

SOON_S = 2.0
FIRST_EVENTS = 50  # among them the agent says what it can do


class ChatCommands:
    """Made for one chat; :meth:`do` starts what a line asks for and never waits for it."""

    def __init__(
        self,
        client: Client,
        session: str,
        paper: LivePaper,
        *,
        outbox: Outbox,
        send: Callable[[tuple[Content, ...], str, Literal["auto", "queue"]], None],
        width: Callable[[], int],
        state: Callable[[], SessionState],
        tasks: Callable[[], list[str]],
        start: Callable[[Coroutine[Any, Any, None]], None],
        changed: Callable[[], None],
    ) -> None:
        self.facts = AgentFacts()
        self.attached: list[Attachment] = []
        self._told = asyncio.Event()
        self._client = client
        self._session = session
        self._paper = paper
        self._outbox = outbox
        self._send = send
        self._width = width
        self._state = state
        self._tasks = tasks
        self._start = start
        self._changed = changed

    def do(self, asked: Do) -> None:
        match asked.what:
            case "tasks":
                self._show(self._tasks() or ["no tasks"])
            case "attach":
                self.attach(Path(asked.rest))
            case "detach":
                self._show(["nothing is attached" if not self.attached else "taken off again"])
                self.attached.clear()
            case "queue":
                self._queue(asked.rest)
            case "export":
                path = Path(asked.rest or f"{self._session[:12]}.md").expanduser()
                self._start(self._export(path))
            case "modes":
                mode = self._state().mode or "not known"
                self._show([f"mode: {one_line(mode)}; /mode NAME changes it"])
            case _:
                self._start(self._ask(asked))

    def _show(self, lines: list[str], style: str = "notice") -> None:
        self._paper.aside("\n".join(lines), style)
        self._changed()

    def _complain(self, error: FlybridgeError) -> None:
        self._show([f"{error} ({error.code})"], "error")

    async def _ask(self, asked: Do) -> None:
        """Whatever needs the gateway or the agent for an answer."""
        try:
            match asked.what:
                case "help":
                    await self._help()
                case "models":
                    await self._models()
                case "sessions":
                    rows = await self._client.list()
                    self._show(session_lines(rows, width=self._width()))
                case "mcp":
                    answer = await self._client.query(self._session, "mcp")
                    self._show(server_lines(answer, self._width()))
                case "context":
                    await self._context()
                case "cost":
                    view = await self._client.ask("view", {"session": self._session})
                    self._show(cost_lines(view))
                case _:
                    pass
        except FlybridgeError as error:
            self._complain(error)

    # ---- the agent -----------------------------------------------------------------------------

    def ready(self, event: ev.AgentReady) -> None:
        """The agent says what it can do."""
        self.facts.apply(event)
        self._told.set()

    async def _learn(self) -> None:
        """What the agent said of itself may be older than this chat, or about to be said."""
        if self.facts.commands:
            return
        page = await self._client.page(self._session, 0, FIRST_EVENTS)
        for item in page.events:
            if isinstance(item.event, ev.AgentReady):
                self.facts.apply(item.event)
        if not self.facts.commands and self._state().status in ("starting", "idle"):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), SOON_S)

    async def _help(self) -> None:
        await self._learn()
        own = self.facts.command_lines(lambda name: parse(f"/{name}") is not None, self._width())
        self._show([*help_lines(), REST])
        if own:
            self._show(["the agent's own:", *own])

    async def _models(self) -> None:
        await self._learn()
        now = one_line(self._state().model) or "not known"
        self._show(
            [f"model: {now}; /model NAME changes it", *self.facts.model_lines(self._width())]
        )

    async def _context(self) -> None:
        """As the agent counts it; where it cannot be asked, as it last told."""
        try:
            answer = await self._client.query(self._session, "context")
            self._show(context_lines(answer, self._width()))
        except FlybridgeError:
            gauge = self._state().gauges.get("context")
            context = context_of(bytes(gauge) if gauge is not None else b"{}")
            told = context.tokens or context.window
            line = gauge_line(context.tokens, context.window) if told else "nothing was told yet"
            self._show([line])

    # ---- files ---------------------------------------------------------------------------------

    def attach(self, path: Path) -> bool:
        """Put a file with the next message; False, and why: it cannot be."""
        try:
            if len(self.attached) >= MAX_FILES:
                raise InvalidRequestError(f"a message takes at most {MAX_FILES} files")
            self.attached.append(read_attachment(path))
        except InvalidRequestError as error:
            self._complain(error)
            return False
        self._changed()
        return True

    def attached_lines(self) -> list[str]:
        return [f"attached: {one_line(one.name)}, {size_text(one.size)}" for one in self.attached]

    def content(self, text: str) -> tuple[Content, ...] | None:
        """A message with what goes along; None: a file that it names cannot go along."""
        before = list(self.attached)
        if not all(self.attach(path) for path in mentioned(text)):
            self.attached = before
            return None
        files = tuple(one.content for one in self.attached)
        self.attached.clear()
        return (*files, Text(text))

    async def _export(self, path: Path) -> None:
        kind = FORMATS.get(path.suffix.lower(), "markdown")
        try:
            size = await export_file(self._client, self._session, path, kind=kind)
        except FlybridgeError as error:
            self._complain(error)
        else:
            self._show([f"written to {one_line(str(path))}, {size_text(size)}"])

    # ---- the queue -----------------------------------------------------------------------------

    def queue_lines(self) -> list[str]:
        waiting = enumerate(self._state().queue, 1)
        return [f"waits ({number}): {one_line(one.head)}" for number, one in waiting]

    def _queue(self, rest: str) -> None:
        verb, _, more = rest.partition(" ")
        number, _, text = more.strip().partition(" ")
        if not rest:
            self._show(self.queue_lines() or ["nothing waits"])
        elif verb in ("edit", "cancel") and number.isdecimal():
            self._change(verb, int(number), text.strip())
        else:
            content = self.content(rest)
            if content is not None:
                self._send(content, rest, "queue")

    def _change(self, verb: str, number: int, text: str) -> None:
        waiting = self._state().queue
        if not 0 < number <= len(waiting):
            self._show([f"there is no number {number} in the queue"], "warning")
        elif verb == "cancel":
            self._outbox.put(CancelQueued(key=waiting[number - 1].key))
        elif not text:  # change it where it can be changed
            self._outbox.returned = f"/queue edit {number} {waiting[number - 1].head}"
        else:
            self._outbox.put(EditQueued(key=waiting[number - 1].key, content=(Text(text),)))
