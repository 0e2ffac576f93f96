"""One session as a chat follows and steers it, whatever the chat looks like.

Everything that arrives is written on a paper; everything a person does goes out once, in the
order it was done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal

from flybridge.cli.attachments import Attachment
from flybridge.cli.chat.asking import Asking
from flybridge.cli.chat.commands import ChatCommands
from flybridge.cli.chat.following import (
    ContextState,
    Reconnecting,
    SessionState,
    context_of,
    old_agent,
    state_of,
)
from flybridge.cli.chat.outbox import PATIENCE_S, Outbox
from flybridge.cli.chat.prompts import Answer
from flybridge.cli.chat.slash import Do, Say, Usage, parse, settled
from flybridge.cli.rendering.render import Renderer
from flybridge.cli.rendering.screen import LivePaper
from flybridge.client import (
    Client,
    Detached,
    EventItem,
    GaugeItem,
    Item,
    PreviewItem,
    Reset,
    ViewItem,
    Watch,
)
from flybridge.errors import (
    FlybridgeError,
    PromptClosedError,
    PromptDecidedError,
    StaleTurnError,
)
from flybridge.model import events as ev
from flybridge.model.commands import Command, Interrupt, SendInput
from flybridge.model.content import Content
from flybridge.model.ids import TurnId

HISTORY_EVENTS = 1000
TWICE_S = 2.0  # a second Ctrl-C within this time leaves
MAX_SETTINGS = 100  # that are not confirmed yet

_GONE = {
    "gateway_stopped": "the gateway was stopped; the agent works on, come back any time",
    "session_deleted": "this session was deleted",
}


class Conversation:
    """Use :meth:`run`; ``changed`` is called whenever something below the text is different.

    ``edit`` lets a person write in an editor, where there is a line to put it into.
    """

    def __init__(
        self,
        client: Client,
        session: str,
        paper: LivePaper,
        *,
        size: Callable[[], tuple[int, int]],
        changed: Callable[[], None],
        come_back: str,
        inline: bool = False,
        edit: Callable[[], None] | None = None,
    ) -> None:
        self.paper = paper
        self.state = SessionState()
        self.context = ContextState()
        self.until_ms = 0  # when a retry or the end of a limit is due
        self.reconnecting = False
        self._client = client
        self._session = session
        self._changed = changed
        self._come_back = come_back
        self._edit = edit
        self._own: set[str] = set()
        self._settings: dict[str, str] = {}  # request id → what is so once it is confirmed
        welcome = client.welcome
        self._us = welcome.principal if welcome else ""
        self._renderer = Renderer(
            paper, own=self._own, lines=1, thinking=False, us=self._us, past=True
        )
        self.outbox = Outbox(client, session, self.complain)
        self.asking = Asking(
            paper,
            size=size,
            changed=changed,
            decide=lambda answer: self._start(self._decide(answer)),
            helper=self._renderer.helper,
            inline=inline,
        )
        self.asking.us = self._us
        self.commands = ChatCommands(
            client,
            session,
            paper,
            outbox=self.outbox,
            send=self._send,
            width=lambda: size()[0] - 3,
            state=lambda: self.state,
            tasks=self._renderer.task_lines,
            start=self._start,
            changed=changed,
        )
        self._live = asyncio.Event()
        self._seen_any = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._ctrl_c_at = -TWICE_S
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self, first: str = "", files: Sequence[Attachment] = ()) -> int:
        """Follow the session until somebody leaves; the exit status."""
        state = await self._client.ask("view", {"session": self._session})
        # a prompt may be older than what is usually shown of the past
        last = 0 if state.get("prompts") else HISTORY_EVENTS
        self._start(self._follow(last))
        self._start(self.outbox.run())
        self.commands.attached += files
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
            case GaugeItem(name="context", value=value):
                self.context = context_of(value)
            case ViewItem(state=state):
                self._view(state_of(state))
            case Reset():
                self.paper.line("the session's log began anew", "warning")
                self.asking.clear()
            case Detached(code=code):
                self.paper.line(_GONE.get(code, f"this session is gone ({code})"), "notice")
                self.leave(0)
            case _:
                pass
        self._changed()

    def _view(self, state: SessionState) -> None:
        self.state = state
        if gauge := state.gauges.get("context"):
            self.context = context_of(bytes(gauge))
        if not self._live.is_set():  # the first view comes after the past
            self._live.set()
            self._renderer.lines, self._renderer.thinking = 5, True
            self._renderer.past = False
            if advice := old_agent(state):
                self.paper.line(advice, "warning")
            self.asking.show_next()
            if state.status == "closed":
                self.leave(0)

    def _event(self, item: EventItem) -> None:
        self._show(item)
        if not self._live.is_set():
            return
        if isinstance(item.event, ev.SessionClosed):
            self.leave(0)
        self.asking.show_next()

    def _show(self, item: EventItem) -> None:
        if not self._seen_any and item.seq > 1:
            self.paper.line(f"… {item.seq - 1} earlier events", "notice")
        self._seen_any = True
        event = item.event
        match event:
            case ev.PermissionRequested() | ev.QuestionRequested():
                self.asking.opened(event)
            case ev.PermissionClosed() | ev.QuestionClosed():
                if self.asking.closed(event):
                    self._renderer.settled(event)
                    return
            case ev.InputAccepted(key=key):
                self.outbox.taken(key)
            case ev.AgentReady():
                self.commands.ready(event)
            case ev.Retry(at_ms=until_ms) | ev.RateLimit(resets_ms=until_ms):
                self.until_ms = until_ms
            case _:
                pass
        self._renderer.event(item)
        if isinstance(event, ev.InputOutcome):
            self._confirmed(event)

    def _confirmed(self, event: ev.InputOutcome) -> None:
        text = self._settings.pop(event.key.rpartition(":")[2], "")
        if text and event.outcome == "done":
            self.paper.aside(text, "notice")

    # ---- what goes out -------------------------------------------------------------------------

    async def _decide(self, answer: Answer) -> None:
        try:
            await self.outbox.submit(answer)
        except (PromptDecidedError, PromptClosedError):
            pass  # the event that closed it says how
        except FlybridgeError as error:
            self.asking.failed()
            self.complain(error)

    def line(self, text: str) -> None:
        """A finished line of a person."""
        if not text.strip():
            return
        match parse(text):
            case None:
                self._say(text)
            case Say(text=said):
                self._say(said)
            case Do(what="quit"):
                self.quit(0)
            case Do(what="interrupt"):
                self.interrupt()
            case Do(what="edit"):
                self._write()
            case Do() as asked:
                self.commands.do(asked)
            case Usage(text=usage):
                self.paper.aside(f"usage: {usage}", "warning")
            case command:
                self._set(command)
        self._changed()

    def _write(self) -> None:
        if self._edit is None:
            self.paper.aside("there is no line here to write in an editor", "warning")
        else:
            self._edit()

    def _set(self, command: Command) -> None:
        request = self.outbox.put(command)
        if request and (text := settled(command)) and len(self._settings) < MAX_SETTINGS:
            self._settings[request] = text

    async def _say_first(self, text: str) -> None:
        await self._live.wait()
        self._say(text)
        self._changed()

    def _say(self, text: str) -> None:
        content = self.commands.content(text)
        if content is None:
            self.outbox.returned = text
        else:
            self._send(content, text, "auto")

    def _send(
        self, content: tuple[Content, ...], text: str, mode: Literal["auto", "queue"]
    ) -> None:
        request = self.outbox.put(SendInput(content=content, mode=mode), text)
        if request:
            self._own.add(request)
        else:
            self.paper.aside("too much is waiting to be sent", "error")

    def interrupt(self) -> None:
        """Stop the turn that runs now, and no other."""
        if self.running:
            self._start(self._interrupt(self.state.turn))

    async def _interrupt(self, turn: str) -> None:
        try:
            await self.outbox.submit(Interrupt(turn=TurnId(turn)))
        except StaleTurnError:
            pass  # it was over already
        except FlybridgeError as error:
            self.complain(error)

    def complain(self, error: FlybridgeError) -> None:
        self.paper.aside(f"{error} ({error.code})", "error")
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
            self.paper.aside("Ctrl-C again, or Ctrl-D, leaves", "notice")
        self._changed()

    def quit(self, status: int) -> None:
        """Leave the chat, not the agent."""
        alive = self.state.status in ("starting", "idle", "running")
        goes_on = "the agent goes on without you; " if alive else ""
        self.paper.aside(f"{goes_on}come back with: {self._come_back}", "notice")
        self.leave(status)
