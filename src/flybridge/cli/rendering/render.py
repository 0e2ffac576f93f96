"""A session's items as text: what was said, what was done, what went wrong."""

from __future__ import annotations

from collections.abc import Container

from flybridge.cli.attachments import label
from flybridge.cli.rendering.calls import Calls
from flybridge.cli.rendering.closings import changed_rows, closing
from flybridge.cli.rendering.growing import GrowingTexts
from flybridge.cli.rendering.remarks import (
    compacted_text,
    limit_text,
    retry_text,
    turn_text,
    unrecognised_text,
)
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import LivePaper
from flybridge.cli.rendering.tool_text import joined
from flybridge.cli.rendering.who import PAST, by, name_of
from flybridge.client.items import EventItem, PreviewItem
from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from flybridge.model.content import Content, Text

MAX_NOTE, HEAD = 2000, 200
BEFORE = "past"  # who said what is told between two history events
TAKEN_BACK = ("cancelled", "discarded")  # by an interrupt
UNDELIVERED = {
    "refused": "the agent refused it",
    "cancelled": "it was withdrawn",
    "expired": "it was too late",
    "not_delivered": "it did not reach the agent; send it again",
    "lost": "the agent ended before it read it; send it again",
    "unknown": "nobody knows whether the agent had read it when it ended; look before repeating",
}


class Renderer:
    """Pass every event and preview; it writes them on ``paper``.

    ``own`` are the request ids of inputs typed here; ``lines`` is how many lines of a tool's
    result are shown, ``width`` how long the line of a call may be. ``us`` is who the gateway
    takes us for, ``past`` that what is told happened before we came.
    """

    def __init__(
        self,
        paper: LivePaper,
        *,
        own: Container[str] = (),
        lines: int = 5,
        width: int = 100,
        thinking: bool = True,
        us: str = "",
        past: bool = False,
    ) -> None:
        self.thinking = thinking
        self.us = us
        self.past = past
        self._paper = paper
        self._own = own
        self._calls = Calls(paper, lines=lines, width=width)
        self._texts = GrowingTexts(paper, self._calls.interrupted)
        self._later: list[str] = []  # notices that came in the middle of a sentence
        self._asked: dict[str, ev.PermissionRequested | ev.QuestionRequested] = {}
        self._messages: dict[str, str] = {}  # without an outcome yet: how they begin
        self._held: dict[str, tuple[str, tuple[Content, ...]]] = {}  # until they leave
        self._turn_since_ms = 0
        self._last_error = ""  # a turn that ends with it does not say it again

    @property
    def lines(self) -> int:
        return self._calls.lines

    @lines.setter
    def lines(self, lines: int) -> None:
        self._calls.lines = lines

    def preview(self, preview: PreviewItem) -> None:
        """More of an open text; of a tool's input or output nothing is shown."""
        self._texts.preview(preview)

    # ---- events --------------------------------------------------------------------------------

    def event(self, item: EventItem) -> None:
        """Show one event of the log."""
        event = item.event
        match event:
            case None:
                self._line(f"from a newer gateway: {item.raw.decode(errors='replace')}", "notice")
            case (
                ev.ItemStarted()
                | ev.TextDone()
                | ev.ThinkingDone()
                | ev.ToolStarted()
                | ev.ToolResult()
                | ev.Diff()
                | ev.Plan()
                | ev.Tasks()
            ):
                self._item(event)
            case ev.TurnStarted():
                self._turn_since_ms = item.at_ms
            case ev.TurnEnded():
                self._turn_ended(event, item.at_ms)
            case (
                ev.InputAccepted()
                | ev.InputDispatched()
                | ev.InputOutcome()
                | ev.InputRefused()
                | ev.QueueChanged()
            ):
                self._input(event)
            case (
                ev.PermissionRequested()
                | ev.PermissionClosed()
                | ev.PermissionAuto()
                | ev.QuestionRequested()
                | ev.QuestionClosed()
            ):
                self._prompt(event)
            case ev.SessionOpened() | ev.SessionChanged() | ev.SessionClosed():
                self._session(event)
            case ev.AgentConnected() | ev.AgentExited() | ev.ConversationLost() | ev.History():
                self._agent(event)
            case _:
                self._remark(event, item.at_ms)

    def _item(
        self,
        event: ev.ItemStarted
        | ev.TextDone
        | ev.ThinkingDone
        | ev.ToolStarted
        | ev.ToolResult
        | ev.Diff
        | ev.Plan
        | ev.Tasks,
    ) -> None:
        match event:
            case ev.ItemStarted(item=item, kind="text", parent=""):
                self._texts.begin(item, "text")
            case ev.ItemStarted(item=item, kind="thinking", parent=""):
                if self.thinking:
                    self._texts.begin(item, "thinking")
            case ev.ItemStarted():
                pass  # a tool shows when its input is whole, a subagent's text when it is whole
            case ev.TextDone():
                style = "sub_text" if event.parent else "text"
                text = self._calls.name_of(event.parent, ": ") + event.text
                self._texts.close(event.item, style, text, event.status, cut=bool(event.blob))
                self._catch_up()
            case ev.ThinkingDone():
                self._thought(event)
            case ev.ToolStarted():
                self._calls.started(event)
            case ev.ToolResult():
                self._calls.returned(event)
            case ev.Diff():
                self._calls.changed(event)
            case ev.Plan(text=text):
                self._calls.planned(text)
            case ev.Tasks():
                if news := self._calls.tasks(event):
                    self._line("\n".join(news), "notice")

    def _thought(self, event: ev.ThinkingDone) -> None:
        if event.parent or not self.thinking:
            return
        text = "(thinking is hidden)" if event.redacted and not event.text else event.text
        self._texts.close(event.item, "thinking", text, event.status, cut=bool(event.blob))
        self._catch_up()

    def _catch_up(self) -> None:
        later, self._later = self._later, []
        for text in later:
            self._line(text, "notice")

    def _turn_ended(self, event: ev.TurnEnded, at_ms: int) -> None:
        took_ms = at_ms - self._turn_since_ms if self._turn_since_ms else 0
        self._turn_since_ms = 0
        if event.reason == "error" and event.message != self._last_error:
            self._line(event.message or "the turn ended with an error", "error")
        self._last_error = ""
        if text := turn_text(event, took_ms):
            self._line(text, "turn")
        self._paper.gap()
        self._texts.clear()
        self._calls.turn_over()
        self._catch_up()

    # ---- inputs, prompts, the session ------------------------------------------------------------

    def _input(
        self,
        event: ev.InputAccepted
        | ev.InputDispatched
        | ev.InputOutcome
        | ev.InputRefused
        | ev.QueueChanged,
    ) -> None:
        match event:
            case ev.InputAccepted(kind="message") if event.attempt == 1:
                self._messages[event.key] = one_line(plain(event.content))[:HEAD]
                self._held[event.key] = (self._speaker(event), event.content)
                if event.mode != "queue":
                    self._said(event.key)
            case ev.InputDispatched(key=key):
                self._said(key)  # what waited is told where it was handed over
            case ev.QueueChanged(key=key, content=content) if key in self._held:
                self._held[key] = (self._held[key][0], content)
            case ev.InputOutcome():
                self._outcome(event)
            case ev.QueueChanged(content=content):
                self._line(f"changed: {plain(content)}", "input")
            case _:
                pass

    def _speaker(self, event: ev.InputAccepted) -> str:
        if event.by == BEFORE:
            return ""
        mine = event.key.rpartition(":")[2] in self._own or event.by == PAST
        if mine or (self.past and event.by == self.us):
            return ""
        us = not self.us or event.by == self.us
        return "you (other client): " if us else f"{name_of(event.by)}: "

    def _said(self, key: str) -> None:
        if said := self._held.pop(key, None):
            self._block(said[0] + plain(said[1]), "input")

    def _outcome(self, event: ev.InputOutcome) -> None:
        message = self._messages.pop(event.key, None)
        held = self._held.pop(event.key, None)
        if held and event.outcome == "cancelled":
            self._line(f"not sent any more: {one_line(plain(held[1]))}", "notice")
        elif message is not None and event.reason in TAKEN_BACK:
            self._line(f"taken back before the agent read it: {message}", "notice")
        elif message is not None and event.outcome in UNDELIVERED:
            why = f" ({one_line(event.reason)})" if event.reason else ""
            self._line(f"your message: {UNDELIVERED[event.outcome]}{why}", "error")
        elif event.outcome == "refused":
            self._line(f"refused by the agent: {event.reason or 'no reason given'}", "error")

    def _prompt(
        self,
        event: ev.PermissionRequested
        | ev.PermissionClosed
        | ev.PermissionAuto
        | ev.QuestionRequested
        | ev.QuestionClosed,
    ) -> None:
        match event:
            case ev.PermissionRequested(prompt=prompt) | ev.QuestionRequested(prompt=prompt):
                self._asked[prompt] = event
            case ev.PermissionClosed():
                self._permission(event)
            case ev.QuestionClosed():
                self.settled(event)
                self._line(f"a question: {closing(event, self._who(event.by))}", "notice")
            case ev.PermissionAuto(tool=tool, decision=decision, rule=rule):
                done = "allowed" if decision == "allow" else "denied"
                self._line(f"{tool} {done} without asking{f': {rule}' if rule else ''}", "notice")

    def _permission(self, event: ev.PermissionClosed) -> None:
        asked, tool, given = self.settled(event), "a tool", b""
        if isinstance(asked, ev.PermissionRequested):
            tool, given = one_line(asked.tool), bytes(asked.input)
        if event.how != "allowed" or event.edited:
            said = f"{tool}: {closing(event, self._who(event.by))}"
            rows = changed_rows(given, event, limit=self.lines)
            self._line("\n".join([said, *rows]), "notice")

    def _who(self, principal: str) -> str:
        return by(principal, here=self.past and principal == self.us, us=self.us)

    def settled(
        self, event: ev.PermissionClosed | ev.QuestionClosed
    ) -> ev.PermissionRequested | ev.QuestionRequested | None:
        """A prompt ended: what it was. All to be told where somebody else shows how it did."""
        asked = self._asked.pop(event.prompt, None)
        if asked is not None and isinstance(event, ev.PermissionClosed):
            self._calls.allowed(asked.item, event.input)
        return asked

    def helper(self, parent: str) -> str:
        """What the subagent is called that this call started; empty if nobody knows."""
        return self._calls.name_of(parent, "")

    def task_lines(self) -> list[str]:
        """All tasks, as they are now."""
        return self._calls.task_lines()

    def _session(self, event: ev.SessionOpened | ev.SessionChanged | ev.SessionClosed) -> None:
        match event:
            case ev.SessionOpened():
                self._calls.cwd = one_line(event.cwd.rstrip("/"))
                self._line(joined([event.agent, event.cwd, event.title]), "notice")
            case ev.SessionChanged(title=str(title)):
                self._line(f"title: {title}", "notice")
            case ev.SessionChanged(effort=str()) | ev.SessionChanged(options=Options()):
                self._line("the agent starts anew with your next message", "notice")
            case ev.SessionChanged(archived=bool(archived)):
                self._line("archived" if archived else "not archived any more", "notice")
            case ev.SessionClosed():
                self._line("the session was closed; it takes no more input", "notice")
            case _:
                pass

    def _agent(
        self, event: ev.AgentConnected | ev.AgentExited | ev.ConversationLost | ev.History
    ) -> None:
        match event:
            case ev.AgentConnected(adopted=True):
                self._line("another gateway took the agent over", "notice")
            case ev.ConversationLost():
                self._line("the agent has no record of the conversation any more", "warning")
            case ev.History(phase="started"):
                self._line("said before this session:", "turn")
            case ev.History(left_out=left_out):
                older = f"; {left_out} older turns are not told" if left_out else ""
                self._line(f"from here on in this session{older}", "turn")
            case ev.AgentExited(asked=True):
                self._line("the agent was ended", "notice")
            case ev.AgentExited():
                tail = f"\n{event.stderr_tail[-MAX_NOTE:]}" if event.stderr_tail else ""
                how = f"status {event.status}" if event.why == "exit" else event.why
                self._line(
                    f"the agent ended by itself ({how}); your next message starts it again{tail}",
                    "error",
                )
            case _:
                pass

    def _remark(self, event: ev.Event, at_ms: int) -> None:
        match event:
            case ev.Notice(text=text, level=level):
                self._line(text, "warning" if level == "warning" else "notice")
            case ev.Error(code=code, text=text):
                self._last_error = text
                self._line(f"{text} ({code})", "error")
            case ev.AlarmRaised(text=text, advice=advice):
                self._line(f"ALARM: {text} {advice}".rstrip(), "error")
            case ev.Gap(reason=reason):
                self._line(f"some output of the agent is lost here: {reason}", "error")
            case ev.Unrecognised(source=source, text=text):
                self._line(unrecognised_text(source, text), "notice")
            case ev.Retry():
                self._line(retry_text(event, at_ms), "notice")
            case ev.RateLimit():
                if text := limit_text(event, at_ms):
                    self._line(text, "warning")
            case ev.ContextCompacted():
                self._line(compacted_text(event), "notice" if event.phase == "started" else "turn")
            case ev.ModeChanged(mode=mode):
                self._line(f"mode: {mode}", "notice")
            case ev.ModelChanged(model=model):
                self._line(f"model: {model}", "notice")
            case _:
                pass  # agent.started, agent.ready, input.dispatched, input.written

    # ---- rows ------------------------------------------------------------------------------------

    def _line(self, text: str, style: str) -> None:
        if style == "notice" and self._texts.growing:
            self._later.append(text)
            return
        self._calls.interrupted()
        self._paper.aside(text if len(text) <= MAX_NOTE else text[:MAX_NOTE] + " …", style)

    def _block(self, text: str, style: str) -> None:
        """Something between empty rows; in the middle of a sentence there is no room for them."""
        self._calls.interrupted()
        if self._texts.growing:
            self._paper.aside(text, style)
            return
        self._paper.gap()
        self._paper.line(text, style)
        self._paper.gap()


def plain(content: tuple[Content, ...]) -> str:
    return "\n".join(part.text if isinstance(part, Text) else label(part) for part in content)
