"""A session's log as the frames of a run: a fold that gives the same frames every time.

Which event ends a run is decided by the log alone, and the first one wins: an input of the run
that came to its end, or the session being closed. Nothing is said after it.
"""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec import Raw

from flybridge.frontends.runs import artifacts, ending, markers, questions
from flybridge.frontends.runs.ids import Place, message_id
from flybridge.frontends.runs.questions import Open
from flybridge.frontends.runs.wire.messages import (
    Cancelled,
    Completed,
    Failed,
    Frame,
    Outbound,
    Progress,
    RunConfig,
    Started,
    Terminal,
    Usage,
)
from flybridge.model import events as e
from flybridge.model.content import Content
from flybridge.model.ids import InputKey, ItemId
from flybridge.model.legacy_options import recorded, start_options

RUN, NONCE = "run.id", "run.nonce"  # labels of the session that is a run
TIMEOUT, STREAM, THINKING = "run.timeout_s", "run.stream", "run.thinking"
PROMPT = "run.prompt"  # the request id of the prompt
MAX_INPUT = 16_000  # characters of a tool's input that are told
MAX_SUMMARY = 1 << 20
_DEATHS = frozenset({"exit", "keeper_died", "socket", "reboot", "not_started"})
_CLOSED = "the session was closed"


class Undelivered(msgspec.Struct, frozen=True):
    """An input that provably never left the gateway: it may be said again."""

    request: str
    content: tuple[Content, ...]


class RunLog:
    """One run, as far as its log was told. ``open`` holds the questions that wait."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.open: dict[str, Open] = {}
        self.started: Started | None = None
        self.started_ms = 0
        self.seq = 0
        self.prompted = False  # the log has the run's prompt
        self.undelivered: Undelivered | None = None
        self.terminal: Terminal | None = None
        self._own: dict[InputKey, tuple[Content, ...]] = {}  # inputs of the run that are open
        self._turn: e.TurnEnded | None = None
        self._dying = False
        self._past = False
        self._tools: dict[ItemId, str] = {}
        self._growing: set[str] = set()  # texts of the agent itself
        self._artifacts: dict[str, None] = {}
        self._plans = 0
        self._summary = ""
        self._usage = Usage()

    @property
    def idle(self) -> bool:
        """Whether no input of the run is on its way: a marker's answer can be said."""
        return not self._own

    def is_growing(self, item: str) -> bool:
        """Whether it is a text that a frame will tell: no thought, no input of a tool, and nothing
        of a subagent's."""
        return item in self._growing

    def apply(self, seq: int, at_ms: int, event: e.Event | None) -> list[Frame]:
        """Take in the next event; the frames it makes."""
        self.seq = seq
        if self.terminal is not None or event is None:
            return []
        if isinstance(event, e.History):
            self._past = event.phase == "started"
        if self._past:
            return []
        said = self._told(seq, at_ms, event)
        frames = []
        for n, payload in enumerate(said):
            if isinstance(payload, Terminal):
                self.terminal = payload
                self.open.clear()
            id_ = message_id(self.run, Place(seq, n))
            frames.append(Frame(id=id_, at_ms=at_ms, run=self.run, payload=payload))
        return frames

    def _told(self, seq: int, at_ms: int, event: e.Event) -> list[Outbound]:
        match event:
            case e.SessionOpened():
                self.started, self.started_ms = started(event), at_ms
                return [self.started]
            case e.ItemStarted(item=item, kind="text", parent=""):
                self._growing.add(item)
                return []
            case e.TextDone() if not event.parent:
                self._growing.discard(event.item)
                return [] if event.status == "discarded" else self._text(seq, at_ms, event.text)
            case e.Notice(command=True, level="info", text=text) if text.strip():
                return self._printed(text)
            case e.ThinkingDone(text=text) if text and not event.parent and self._thinks:
                return [Progress(kind="thinking", content=text)]
            case e.ToolStarted() | e.ToolResult():
                return [self._tool(event)]
            case e.Diff() | e.Plan():
                return [self._artifact(event)]
            case e.PermissionRequested() | e.QuestionRequested():
                return self._asked(event, at_ms)
            case e.PermissionClosed(prompt=prompt) | e.QuestionClosed(prompt=prompt):
                self._close(prompt)
                return []
            case e.SessionClosed(reason=reason):
                return [ending.end_of(reason)]
            case e.InputAccepted() | e.InputOutcome() | e.TurnEnded() | e.AgentExited():
                end = self._moved(event)
                return [] if end is None else [end]
            case _:
                text = status_of(event)
                return [Progress(kind="status", content=text)] if text else []

    # ---- what is said and done -----------------------------------------------------------------

    @property
    def _thinks(self) -> bool:
        return self.started is not None and self.started.config.thinking

    def _text(self, seq: int, at_ms: int, text: str) -> list[Outbound]:
        shown, asked = markers.split(text)
        said: list[Outbound] = []
        if shown.strip():
            self._summary = shown[:MAX_SUMMARY]
            said.append(Progress(kind="text", content=shown))
        for n, one in enumerate(asked, start=1):
            waiting = questions.of_marker(one, str(seq), n, at_ms)
            self.open[waiting.question.question_id] = waiting
            said.append(waiting.question)
        return said

    def _printed(self, text: str) -> list[Outbound]:
        """Show what a local command of the agent printed: it is the answer to its prompt."""
        self._summary = text[:MAX_SUMMARY]
        return [Progress(kind="text", content=text)]

    def _tool(self, event: e.ToolStarted | e.ToolResult) -> Progress:
        if isinstance(event, e.ToolResult):
            tool = self._tools.pop(event.item, "")
            return Progress(kind="tool_result", tool=tool, content=event.text or event.status)
        self._tools[event.item] = event.name
        given = bytes(event.input).decode(errors="replace") if event.input else ""
        return Progress(kind="tool_use", tool=event.name, content=given[:MAX_INPUT])

    def _artifact(self, event: e.Diff | e.Plan) -> Outbound:
        if isinstance(event, e.Plan):
            made = artifacts.of_plan(event, self._plans)
            self._plans += 1
        else:
            cwd = self.started.config.cwd if self.started else ""
            made = artifacts.of_diff(event, cwd)
        self._artifacts[made.name] = None
        return made

    # ---- questions -----------------------------------------------------------------------------

    def _asked(
        self, event: e.PermissionRequested | e.QuestionRequested, at_ms: int
    ) -> list[Outbound]:
        if isinstance(event, e.PermissionRequested):
            asked = [questions.of_permission(event, at_ms)]
        else:
            asked = questions.of_prompt(event, at_ms)
        self.open |= {one.question.question_id: one for one in asked}
        return [one.question for one in asked]

    def _close(self, group: str) -> None:
        for name in [name for name, one in self.open.items() if one.group == group]:
            del self.open[name]

    @property
    def _markers(self) -> list[str]:
        return [name for name, one in self.open.items() if one.source == "marker"]

    # ---- the end -------------------------------------------------------------------------------

    def _moved(
        self, event: e.InputAccepted | e.InputOutcome | e.TurnEnded | e.AgentExited
    ) -> Terminal | None:
        match event:
            case e.InputAccepted(kind="message"):
                self._accepted(event)
            case e.InputAccepted():
                pass
            case e.TurnEnded():
                self._turn = event
                self._usage = _with(self._usage, event)
            case e.InputOutcome(key=key) if key in self._own:
                return self._over(event, self._own.pop(key))
            case e.InputOutcome():
                pass
            case e.AgentExited():
                return self._died(event) if self._dying else None
            case _:
                assert_never(event)
        return None

    def _accepted(self, event: e.InputAccepted) -> None:
        """The prompt; or, while questions of a text wait, whatever is said next."""
        request = event.key.rpartition(":")[2]
        again = self.undelivered is not None and self.undelivered.request == request
        if request != PROMPT and not again and not (self.prompted and self._markers):
            return
        self._own[event.key] = event.content
        self.prompted, self.undelivered, self._turn = True, None, None
        for name in self._markers:
            del self.open[name]

    def _over(self, event: e.InputOutcome, content: tuple[Content, ...]) -> Terminal | None:
        """What became of an input of the run."""
        if event.outcome == "cancelled":
            return None if event.reason == _CLOSED else Cancelled(reason=event.reason)
        if event.outcome == "refused":
            return Failed(code="agent_error", message=event.reason or "the agent refused it")
        if event.reason in _DEATHS:
            self._dying = True  # the next event but a few says how
            return None
        if event.outcome == "not_delivered" and content:
            self.undelivered = Undelivered(event.key.rpartition(":")[2], content)
            return None
        if event.outcome not in ("done", "observed"):
            return Failed(code="agent_error", message=f"what became of it: {event.outcome}")
        return self._done()

    def _done(self) -> Terminal | None:
        turn = self._turn
        reason = turn.reason if turn else "done"
        if reason == "interrupted":
            return Cancelled(reason="the turn was interrupted")
        if turn is not None and reason != "done":
            return Failed(code="agent_error", message=turn.message or f"the turn ended: {reason}")
        if self._markers:
            return None
        names = tuple(self._artifacts)
        return Completed(summary=self._summary, artifacts=names, usage=self._usage)

    def _died(self, event: e.AgentExited) -> Terminal:
        if event.asked:
            return Cancelled(reason="the agent was ended")
        last = event.stderr_tail.strip().rpartition("\n")[2][: ending.MAX_REASON]
        text = f"{_crash(event)}: {last}" if last else f"{_crash(event)}."
        return Failed(code="agent_error", message=text)


def _crash(event: e.AgentExited) -> str:
    """Describe how an agent ended that nobody has ended."""
    if event.why == "not_started":
        return "The agent could not be started"
    if event.why != "exit":
        return f"The agent is gone ({event.why.replace('_', ' ')})"
    if event.status < 0:
        return f"The agent was killed (signal {-event.status})"
    return f"The agent crashed (exit status {event.status})"


def started(event: e.SessionOpened) -> Started:
    """Return what was made of all that was asked for.

    The agent's own options are left out: they can hold secrets, also the owner's.
    """
    labels = event.labels
    timeout = labels.get(TIMEOUT, "")
    start = recorded(start_options(event), event.options)
    turns = start.agent_options.get("max_turns", 0)
    config = RunConfig(
        agent=event.agent,
        model=event.model,
        permission_mode=event.mode,
        cwd=event.cwd,
        max_turns=turns if isinstance(turns, int) else 0,
        max_budget_usd=start.budget_usd,
        timeout_s=float(timeout) if timeout else None,
        resume=event.resumed,
        stream=STREAM in labels,
        thinking=THINKING in labels,
    )
    return Started(provider=event.agent, model=event.model, config=config)


def labels_of(run: str, nonce: str, config: RunConfig) -> dict[str, str]:
    """What makes a session a run."""
    labels = {RUN: run, NONCE: nonce}
    if config.timeout_s is not None:
        labels[TIMEOUT] = repr(config.timeout_s)
    if config.stream:
        labels[STREAM] = "1"
    if config.thinking:
        labels[THINKING] = "1"
    return labels


def status_of(event: e.Event) -> str:
    """What is worth a line beside the work itself."""
    match event:
        case e.Retry(attempt=attempt, reason=reason):
            return f"tries again ({attempt}): {reason}" if reason else f"tries again ({attempt})"
        case e.RateLimit(status=status):
            return f"rate limit: {status}"
        case e.ContextCompacted(phase=phase):
            return f"context compacted: {phase}"
        case e.Notice(text=text):
            return text
        case e.Error(code=code, text=text):
            return f"{code}: {text}"
        case e.AlarmRaised(code=code, text=text):
            return f"alarm: {code}: {text}"
        case e.Gap(reason=reason):
            return f"output of the agent was lost: {reason}"
        case e.ConversationLost(reason=reason):
            return f"the agent lost the conversation: {reason}"
        case _:
            return ""


def _with(usage: Usage, event: e.TurnEnded) -> Usage:
    counted = msgspec.json.decode(event.usage) if isinstance(event.usage, Raw) else {}
    told = counted if isinstance(counted, dict) else {}

    def tokens(name: str) -> int:
        value = told.get(name)
        return value if isinstance(value, int) else 0

    return Usage(
        cost_usd=round(usage.cost_usd + event.cost_usd, 6),
        input_tokens=usage.input_tokens + tokens("input_tokens"),
        output_tokens=usage.output_tokens + tokens("output_tokens"),
    )
