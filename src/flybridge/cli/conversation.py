"""One session as a chat follows and steers it, whatever the chat looks like.

Everything that arrives is written on a paper; everything a person does goes out once, in the
order it was done. A prompt gets keys only after it has been on the screen for a moment with
nothing being typed: what was meant as a message never becomes a permission.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from flybridge.cli.following import Reconnecting, SessionState, state_of
from flybridge.cli.prompts import Answer, Box, PermissionBox, QuestionBox, Rows
from flybridge.cli.render import Renderer, closing
from flybridge.cli.screen import Paper
from flybridge.cli.sessions_text import session_lines
from flybridge.cli.slash import HELP, Do, Usage, parse
from flybridge.client import Client, Detached, EventItem, Item, PreviewItem, Reset, ViewItem, Watch
from flybridge.errors import (
    FlybridgeError,
    PromptClosedError,
    PromptDecidedError,
    StaleTurnError,
)
from flybridge.model import events as ev
from flybridge.model.commands import AnswerPermission, Command, Interrupt, SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.ids import TurnId

HISTORY_EVENTS = 1000
SETTLE_S = 0.5  # how long a prompt is only looked at
TWICE_S = 2.0  # a second Ctrl-C within this time leaves
MAX_UNSENT = 100
PATIENCE_S = 3600.0  # a chat waits for its gateway; a person can always leave

_GONE = {
    "gateway_stopped": "the gateway was stopped; the agent works on, come back any time",
    "session_deleted": "this session was deleted",
}


class Conversation:
    """Use :meth:`run`; ``changed`` is called whenever something below the text is different.

    An open prompt is in ``box`` and ``box_rows``, not on the paper, until it is answered;
    with ``inline`` it is written on the paper at once.
    """

    def __init__(
        self,
        client: Client,
        session: str,
        paper: Paper,
        *,
        size: Callable[[], tuple[int, int]],
        changed: Callable[[], None],
        come_back: str,
        inline: bool = False,
    ) -> None:
        self.paper = paper
        self.state = SessionState()
        self.box: Box | None = None
        self.box_rows: Rows = []
        self.sending = False  # an answer is on its way
        self.reconnecting = False
        self.unsent: dict[str, str] = {}  # request id → text that the gateway has not taken
        self.typed_at = 0.0
        self.returned = ""  # a text that could not be sent, to be typed again
        self._client = client
        self._session = session
        self._size = size
        self._changed = changed
        self._come_back = come_back
        self._inline = inline
        self._own: set[str] = set()
        self._renderer = Renderer(paper, own=self._own, lines=1, thinking=False)
        self._open: dict[str, ev.PermissionRequested | ev.QuestionRequested] = {}
        self._answer: Answer | None = None
        self._shown_at = 0.0
        self._has_keys = False
        self._live = asyncio.Event()
        self._seen_any = False
        self._outbox: asyncio.Queue[tuple[str, Command]] = asyncio.Queue(MAX_UNSENT)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ctrl_c_at = -TWICE_S
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self, first: str = "") -> int:
        """Follow the session until somebody leaves; the exit status."""
        state = await self._client.ask("view", {"session": self._session})
        # a prompt may be older than what is usually shown of the past
        last = 0 if state.get("prompts") else HISTORY_EVENTS
        self._start(self._follow(last))
        self._start(self._send())
        if first:
            self._start(self._say_first(first))
        try:
            return await self._left
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def leave(self, status: int) -> None:
        if not self._left.done():
            self._left.set_result(status)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self._left.done():
            self._left.set_exception(error)

    # ---- what arrives --------------------------------------------------------------------------

    async def _follow(self, last: int) -> None:
        source = Reconnecting(self._client, self._set_reconnecting)
        async with Watch(source, self._session, last=last, patience_s=PATIENCE_S) as items:
            async for item in items:
                self._take(item)

    def _set_reconnecting(self, lost: bool) -> None:
        self.reconnecting = lost
        self._changed()

    def _take(self, item: Item) -> None:
        match item:
            case EventItem():
                self._event(item)
            case PreviewItem():
                self._renderer.preview(item)
            case ViewItem(state=state):
                self.state = state_of(state)
                self._catch_up()
            case Reset():
                self.paper.line("the session's log began anew", "warning")
                self._open.clear()
                self.box, self.box_rows = None, []
            case Detached(code=code):
                self.paper.line(_GONE.get(code, f"this session is gone ({code})"), "notice")
                self.leave(0)
            case _:
                pass
        self._changed()

    def _catch_up(self) -> None:
        """The first view comes after the past: from here on everything is live."""
        if self._live.is_set():
            return
        self._live.set()
        self._renderer.lines, self._renderer.thinking = 5, True
        self._show_next()
        if self.state.status == "closed":
            self.leave(0)

    def _event(self, item: EventItem) -> None:
        self._show(item)
        if isinstance(item.event, ev.SessionClosed) and self._live.is_set():
            self.leave(0)
        self._show_next()

    def _show(self, item: EventItem) -> None:
        if not self._seen_any and item.seq > 1:
            self.paper.line(f"… {item.seq - 1} earlier events", "notice")
        self._seen_any = True
        event = item.event
        match event:
            case ev.PermissionRequested() | ev.QuestionRequested():
                self._open[event.prompt] = event
            case ev.PermissionClosed() | ev.QuestionClosed():
                self._open.pop(event.prompt, None)
                if self.box is not None and self.box.prompt == event.prompt:
                    self._end_box(self.box, event)
                    return
            case ev.InputAccepted(key=key):
                self.unsent.pop(key.rpartition(":")[2], None)
            case _:
                pass
        self._renderer.event(item)

    # ---- prompts -------------------------------------------------------------------------------

    def _show_next(self) -> None:
        if self.box is not None or not self._open or not self._live.is_set():
            return
        self.sending = False
        self._answer = None
        if self._inline:
            self.paper.gap()
        self.redraw_box()

    def redraw_box(self) -> None:
        """Show the oldest open prompt from its beginning, for the size the terminal has now."""
        event = next(iter(self._open.values()), None)
        if event is None or self.sending:
            return
        columns, lines = self._size()
        width, height = columns - 6, lines - 8
        if isinstance(event, ev.PermissionRequested):
            self.box = PermissionBox(event, width=width, height=height)
        else:
            self.box = QuestionBox(event, width=width)
        self._draw(self.box.page())
        self._has_keys = False
        self._shown_at = time.monotonic()
        asyncio.get_running_loop().call_later(SETTLE_S + 0.01, self._changed)

    def _draw(self, rows: Rows) -> None:
        self.box_rows = rows
        if self._inline:
            for style, text in rows:
                self.paper.line(text, style)

    def _end_box(self, box: Box, event: ev.PermissionClosed | ev.QuestionClosed) -> None:
        if not self._inline:
            self.paper.gap()
            for style, text in box.record():
                self.paper.line(text, style)
        mine = self._answer is not None and _is_mine(self._answer, event)
        always = ", and always from now on" if mine and _is_rule(self._answer) else ""
        self.paper.line(("" if mine else "not by you: ") + closing(event) + always, "box_end")
        self.paper.gap()
        self._renderer.forget(event.prompt)
        self.box = self._answer = None
        self.box_rows = []
        self.sending = False

    def has_keys(self, *, typing: bool) -> bool:
        """Whether keys belong to the prompt now; ``typing``: there is text in the line."""
        if self.box is None or self.sending:
            return False
        rested = time.monotonic() - max(self._shown_at, self.typed_at) >= SETTLE_S
        if rested and not typing:
            self._has_keys = True
        return self._has_keys

    def press(self, char: str) -> None:
        """A key for the prompt."""
        if self.box is not None:
            self._react(self.box.press(char))

    def enter(self, text: str) -> None:
        """A line for the prompt."""
        if self.box is not None:
            self._react(self.box.enter(text))

    def _react(self, reaction: Answer | Rows | None) -> None:
        if isinstance(reaction, list):
            self._draw(reaction)
        elif reaction is not None:
            self._answer, self.sending = reaction, True
            self._start(self._decide(reaction))
        self._changed()

    async def _decide(self, answer: Answer) -> None:
        try:
            await self._submit(answer)
        except (PromptDecidedError, PromptClosedError):
            pass  # the event that closed it says how
        except FlybridgeError as error:
            self._answer, self.sending = None, False
            self.complain(error)

    # ---- what goes out -------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """A finished line of a person."""
        if not text.strip():
            return
        match parse(text):
            case None:
                self._say(text)
            case Do("quit"):
                self.quit(0)
            case Do("interrupt"):
                self.interrupt()
            case Do("sessions"):
                self._start(self._list())
            case Do():
                self.paper.line(HELP, "notice")
            case Usage(text=usage):
                self.paper.line(f"usage: {usage}", "warning")
            case command:
                self._queue(command)
        self._changed()

    async def _say_first(self, text: str) -> None:
        await self._live.wait()
        self._say(text)
        self._changed()

    def _say(self, text: str) -> None:
        request = self._queue(SendInput(content=(Text(text),)))
        if request:
            self._own.add(request)
            self.unsent[request] = text
        else:
            self.returned = text

    def _queue(self, command: Command) -> str:
        request = str(uuid.uuid4())
        try:
            self._outbox.put_nowait((request, command))
        except asyncio.QueueFull:
            self.paper.line("too much is waiting to be sent", "error")
            return ""
        return request

    async def _send(self) -> None:
        """One after the other: what was typed first arrives first."""
        while True:
            request, command = await self._outbox.get()
            try:
                await self._submit(command, request)
            except FlybridgeError as error:
                self.returned = self.unsent.pop(request, "")
                self.complain(error)

    async def _submit(self, command: Command, request: str | None = None) -> None:
        await self._client.submit_reliably(
            self._session,
            command,
            request=request,
            until=Stage.ACCEPTED,
            wait_ms=10_000,
            patience_s=PATIENCE_S,
        )

    def interrupt(self) -> None:
        """Stop the turn that runs now, and no other."""
        if self.running:
            self._start(self._interrupt(self.state.turn))

    async def _interrupt(self, turn: str) -> None:
        try:
            await self._submit(Interrupt(turn=TurnId(turn)))
        except StaleTurnError:
            pass  # it was over already
        except FlybridgeError as error:
            self.complain(error)

    async def _list(self) -> None:
        try:
            rows = await self._client.list()
        except FlybridgeError as error:
            self.complain(error)
            return
        for line in session_lines(rows, width=self._size()[0] - 3):
            self.paper.line(line, "notice")
        self._changed()

    def complain(self, error: FlybridgeError) -> None:
        self.paper.line(f"{error} ({error.code})", "error")
        self._changed()

    # ---- leaving -------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self.state.status == "running"

    def ctrl_c(self) -> None:
        """Once: stop the turn. Twice: leave."""
        now = time.monotonic()
        if now - self._ctrl_c_at < TWICE_S:
            self.quit(130)
            return
        self._ctrl_c_at = now
        if self.running:
            self.interrupt()
        else:
            self.paper.line("Ctrl-C again, or Ctrl-D, leaves", "notice")
        self._changed()

    def quit(self, status: int) -> None:
        """Leave the chat, not the agent."""
        alive = self.state.status in ("starting", "idle", "running")
        goes_on = "the agent goes on without you; " if alive else ""
        self.paper.line(f"{goes_on}come back with: {self._come_back}", "notice")
        self.leave(status)


def _is_rule(answer: Answer | None) -> bool:
    return isinstance(answer, AnswerPermission) and bool(answer.remember)


def _is_mine(answer: Answer, event: ev.PermissionClosed | ev.QuestionClosed) -> bool:
    """Whether the prompt ended as it was answered here."""
    if isinstance(answer, AnswerPermission):
        return event.how == {"allow": "allowed", "deny": "denied"}[answer.decision]
    return event.how == ("declined" if answer.declined else "answered")
