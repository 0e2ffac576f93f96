"""A session's log as a document to read: a heading for each turn, and everything in it.

Pure: events in, Markdown out, one after the other. What is remembered is what is open, and a
line for each turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, UnsetType

from flybridge.cli.export.markdown_text import (
    cell,
    code,
    details,
    document,
    fenced,
    quoted,
    shortened,
    words,
)
from flybridge.cli.export.pieces import (
    change_lines,
    clock,
    content_text,
    date,
    money,
    task_parts,
)
from flybridge.cli.rendering.asked import edit_parts
from flybridge.cli.rendering.checklist import Checklist
from flybridge.cli.rendering.closings import TOO_LONG, closing
from flybridge.cli.rendering.diffs import Signed, diff_lines, made, made_by
from flybridge.cli.rendering.remarks import context_text
from flybridge.cli.rendering.render import UNDELIVERED
from flybridge.cli.rendering.tool_text import (
    call_line,
    duration,
    joined,
    parsed,
    subagent_name,
    submitted_plan,
    whole,
)
from flybridge.cli.rendering.who import name_of
from flybridge.client.items import EventItem
from flybridge.model import events as ev
from flybridge.session.old_tools import kind_of

LINES, CHARS, HEAD = 200, 32 * 1024, 100
MAX_OPEN = 10_000  # calls and prompts that nobody ended
MAX_TURNS = 10_000  # in the table at the end


QUESTIONS = "AskUserQuestion"  # told by the event of the question
LOOKS = ("TaskGet", "TaskList")  # read the list of tasks, and what they read is told nowhere else


class Call(msgspec.Struct, frozen=True):
    name: str
    changes: bool = False  # its input was shown as a difference
    told: bool = False  # what it does is told by events of its own


class MarkdownExport:
    """Write :meth:`head`, then :meth:`event` of every event, then :meth:`tail`."""

    def __init__(self, *, lines: int = LINES) -> None:
        self._lines = lines
        self._agent = "agent"
        self._turn = 0
        self._in_turn = False  # there is a heading that the next thing belongs below
        self._since_ms = 0
        self._speaker = ""
        self._calls: dict[str, Call] = {}
        self._helpers: dict[str, str] = {}
        self._asked: dict[str, ev.PermissionRequested | ev.QuestionRequested] = {}
        self._messages: set[str] = set()
        self._changed: set[str] = set()  # calls whose difference is there, in this turn
        self._plan = ""
        self._error = ""
        self._tasks = Checklist()
        self._turns: list[tuple[int, str, int, float]] = []
        self._cost = 0.0

    # ---- the frame -----------------------------------------------------------------------------

    def head(self, row: Mapping[str, Any]) -> str:
        """The title and what is known of the session; ``row`` is one of the gateway's list."""
        self._agent = str(row.get("agent") or "agent")
        session = str(row.get("session", ""))
        title = words(str(row.get("title") or "")) or f"Session {session[:12]}"
        facts = {
            "session": code(session),
            "agent": words(self._agent),
            "directory": code(str(row.get("cwd", ""))),
            "opened": date(int(row.get("created_ms", 0))),
            "status": words(str(row.get("status", ""))),
        }
        lines = [f"| {name} | {cell(value)} |" for name, value in facts.items()]
        return "\n".join([f"# {title}", "", "| | |", "|---|---|", *lines]) + "\n"

    def tail(self) -> str:
        """What still waits for somebody, and what it all cost."""
        waiting = [
            f"the permission for {words(one.tool)}"
            if isinstance(one, ev.PermissionRequested)
            else "a question"
            for one in self._asked.values()
        ]
        still = [quoted(f"Nobody has answered yet: {', '.join(waiting)}"), ""] if waiting else []
        rows = [
            f"| {number} | {how} | {duration(ms)} | {money(cost)} |"
            for number, how, ms, cost in self._turns
        ]
        heading = ["## Cost", "", "| turn | ended | time | cost |", "|---|---|---|---|"]
        total = f"| all | | {duration(sum(one[2] for one in self._turns))} | {money(self._cost)} |"
        return "\n" + "\n".join([*still, *heading, *rows, total]) + "\n"

    def event(self, item: EventItem) -> str:
        """One event, with an empty line before it; many say nothing to a reader."""
        parts = self._event(item)
        if parts and parts[0].startswith("#### "):
            self._speaker = ""  # text that follows belongs to its speaker, not below this
        return "".join(f"\n{part}\n" for part in parts if part)

    def _event(self, item: EventItem) -> list[str]:
        event, at_ms = item.event, item.at_ms
        match event:
            case None:
                return ["#### From a newer version", fenced(item.raw.decode(errors="replace"))]
            case ev.InputAccepted(kind="message") if event.attempt == 1:
                return self._input(event, at_ms)
            case ev.TurnStarted():
                self._since_ms = at_ms
                return [] if self._in_turn else self._heading(at_ms)
            case ev.TurnEnded():
                return self._ended(event, at_ms)
            case ev.TextDone() | ev.ThinkingDone() | ev.Plan():
                return self._text(event, at_ms)
            case ev.ToolStarted() | ev.ToolResult() | ev.Diff():
                return self._tool(event)
            case (
                ev.PermissionRequested()
                | ev.PermissionClosed()
                | ev.PermissionAuto()
                | ev.QuestionRequested()
                | ev.QuestionClosed()
            ):
                return self._prompt(event)
            case ev.Tasks():
                return task_parts(self._tasks.news(event))
            case _:
                return [quoted(text) for text in self._remark(event, at_ms) if text]

    # ---- turns ---------------------------------------------------------------------------------

    def _heading(self, at_ms: int) -> list[str]:
        self._turn += 1
        self._in_turn = True
        self._speaker = ""
        return [f"## Turn {self._turn} · {date(at_ms)}"]

    def _speaks(self, who: str, at_ms: int) -> list[str]:
        if who == self._speaker:
            return []
        self._speaker = who
        return [f"### {words(who)} · {clock(at_ms)}"]

    def _input(self, event: ev.InputAccepted, at_ms: int) -> list[str]:
        heading = [] if self._in_turn else self._heading(at_ms)
        self._messages.add(event.key)
        self._speaker = ""
        who = self._speaks(name_of(event.by), at_ms)
        waits = ["(said while a turn ran; held until it was over)"] if event.mode == "queue" else []
        return [*heading, *who, *waits, content_text(event.content)]

    def _ended(self, event: ev.TurnEnded, at_ms: int) -> list[str]:
        took = at_ms - self._since_ms if self._since_ms else 0
        self._in_turn, self._since_ms = False, 0
        self._cost += event.cost_usd
        if len(self._turns) < MAX_TURNS:
            self._turns.append((self._turn, event.reason, took, event.cost_usd))
        cost = money(event.cost_usd) if event.cost_usd else ""
        why = words(event.message) if event.message != self._error else ""
        self._changed.clear()
        self._plan = self._error = ""
        said = joined([event.reason, why, duration(took), cost])
        return [f"*{joined([said, context_text(event)])}*"]

    # ---- what is said and done -----------------------------------------------------------------

    def _text(self, event: ev.TextDone | ev.ThinkingDone | ev.Plan, at_ms: int) -> list[str]:
        heading = [] if self._in_turn else self._heading(at_ms)
        if isinstance(event, ev.Plan) and event.text.strip() == self._plan:
            return []  # the call that hands it over showed it
        hidden = isinstance(event, ev.ThinkingDone) and event.redacted
        if not event.text and not hidden:
            return []
        who = self._speaks(self._of(event.parent) or self._agent, at_ms)
        body = document(event.text)
        match event:
            case ev.ThinkingDone():
                body = details("Thinking", body or "(hidden)")
            case ev.Plan():
                body = f"#### Plan\n\n{body}"
            case _:
                pass
        return [*heading, *who, body, *_unfinished(event)]

    def _of(self, parent: str) -> str:
        """A subagent; its name is the agent's choice and could be anybody's."""
        return f"subagent {self._helpers.get(parent, '')}".rstrip() if parent else ""

    def _tool(self, event: ev.ToolStarted | ev.ToolResult | ev.Diff) -> list[str]:
        match event:
            case ev.ToolStarted():
                return self._called(event)
            case ev.ToolResult():
                return self._returned(event)
            case ev.Diff(item=item, path=path):
                if item in self._changed:
                    return []
                self._changed.add(item)
                return [f"#### Changed {code(path)}", self._diff(made(event))]

    def _called(self, event: ev.ToolStarted) -> list[str]:
        given = _bytes(event.input)
        if name := subagent_name(event):
            self._helpers[event.item] = name
            _bound(self._helpers)
        if changes := bool(edit_parts(given)[1]):
            self._changed.add(event.item)
        told = event.name == QUESTIONS or (
            kind_of(event.kind, event.name) == "task" and event.name not in LOOKS
        )
        self._calls[event.item] = Call(event.name, changes=changes, told=told)
        _bound(self._calls)
        head = call_line(event)
        by = f" · {words(self._of(event.parent))}" if event.parent else ""
        about = f" · {code(head[:HEAD])}" if head else ""
        heading = f"#### Tool {words(event.name)}{about}{by}"
        if told:
            return [heading]
        if plan := submitted_plan(event):
            self._plan = plan.strip()
            return [heading, document(plan)]
        return [heading, *(self._given(given, head, event.subject.diff) if given else [])]

    def _given(self, given: bytes, head: str = "", diff: str = "") -> list[str]:
        """Return all of an input, its change as a difference; nothing if ``head`` says it all."""
        rest, lines = edit_parts(given)
        lines = lines or diff_lines(diff)
        rows = whole(rest)
        shown, note = shortened("\n".join(rows), self._lines, CHARS)
        says_more = len(rows) != 1 or not rows[0].endswith(f": {head[:HEAD]}")
        body = [fenced(shown, "text"), note] if says_more else []
        return [*body, self._diff(lines) if lines else ""]

    def _returned(self, event: ev.ToolResult) -> list[str]:
        call = self._calls.pop(event.item, None) or Call("a tool")
        if call.told and event.status == "ok":
            return []
        status = "" if event.status == "ok" else f" · {event.status}"
        heading = f"#### Result of {words(call.name)}{status}"
        lines = made_by(_bytes(event.detail)) if event.status == "ok" and not call.changes else []
        if lines:
            self._changed.add(event.item)
            return [heading, self._diff(lines)]
        shown, note = shortened(event.text, self._lines, CHARS)
        rest = "… the rest is too long to be here" if event.blob and not note else note
        return [heading, fenced(shown, "text") if shown.strip() else "(no output)", rest]

    def _diff(self, lines: list[Signed]) -> str:
        rows = [f"@@ {one.text} @@" if one.sign == "@" else one.sign + one.text for one in lines]
        shown, note = shortened("\n".join(rows), self._lines, CHARS)
        return fenced(shown, "diff") + (f"\n\n{note}" if note else "")

    # ---- people --------------------------------------------------------------------------------

    def _prompt(
        self,
        event: ev.PermissionRequested
        | ev.PermissionClosed
        | ev.PermissionAuto
        | ev.QuestionRequested
        | ev.QuestionClosed,
    ) -> list[str]:
        match event:
            case ev.PermissionRequested() | ev.QuestionRequested():
                self._asked[event.prompt] = event
                _bound(self._asked)
                return []
            case ev.PermissionClosed():
                asked = self._asked.pop(event.prompt, None)
                tool = asked.tool if isinstance(asked, ev.PermissionRequested) else "a tool"
                said = closing(event, f"by {name_of(event.by)}" if event.by else "")
                return [f"#### Permission for {words(tool)}: {words(said)}", *self._allowed(event)]
            case ev.QuestionClosed():
                asked = self._asked.pop(event.prompt, None)
                return self._answered(asked, event)
            case ev.PermissionAuto(tool=tool, decision=decision, rule=rule):
                why = f" ({words(rule)})" if rule else ""
                return [f"#### Permission for {words(tool)}: {decision}, nobody was asked{why}"]

    def _allowed(self, event: ev.PermissionClosed) -> list[str]:
        """What ran, where that is not what was asked."""
        if isinstance(event.input, Raw):
            return self._given(bytes(event.input))
        return [TOO_LONG] if event.blob else []

    def _answered(
        self, asked: ev.PermissionRequested | ev.QuestionRequested | None, event: ev.QuestionClosed
    ) -> list[str]:
        who = f" by {name_of(event.by)}" if event.by else ""
        rows: list[str] = []
        if isinstance(asked, ev.QuestionRequested):
            for key, question in _asked(asked):
                answer = ", ".join(event.answers.get(key, ())) or "no answer"
                rows.append(f"- {words(question)} **{words(answer)}**")
        else:
            rows = [f"- {words(q)} **{words(', '.join(a))}**" for q, a in event.answers.items()]
        return [f"#### Question: {event.how}{words(who)}", "\n".join(rows)]

    # ---- everything else -----------------------------------------------------------------------

    def _remark(self, event: ev.Event, at_ms: int) -> list[str]:
        match event:
            case ev.Notice(text=text):
                return [document(text)]
            case ev.Error(code=kind, text=text):
                self._error = text
                return [f"**Error** ({words(kind)}): {words(text)}"]
            case ev.AlarmRaised(code=kind, text=text, advice=advice):
                return [f"**Alarm** ({words(kind)}): {words(text)} {words(advice)}".rstrip()]
            case ev.Gap(reason=reason):
                return [f"**Some output of the agent is lost here:** {words(reason)}"]
            case ev.Unrecognised(source=source, text=text):
                shown, note = shortened(text, self._lines, CHARS)
                return [
                    f"Not understood, from {words(source)}:\n\n{fenced(shown)}\n{note}".rstrip()
                ]
            case ev.AgentExited(asked=False):
                how = f"status {event.status}" if event.why == "exit" else event.why
                tail = f"\n\n{fenced(event.stderr_tail)}" if event.stderr_tail else ""
                return [f"**The agent ended by itself** ({how}){tail}"]
            case ev.History(phase=phase, left_out=left_out):
                older = f" ({left_out} older turns are not told)" if left_out else ""
                begin = phase == "started"
                return ["Said before this session:" if begin else f"From here on in it.{older}"]
            case ev.ConversationLost(reason=reason):
                return [f"**The agent lost the conversation:** {words(reason)}"]
            case ev.InputOutcome(key=key, outcome=outcome) if key in self._messages:
                self._messages.discard(key)
                missed = UNDELIVERED.get(outcome)
                return [f"**A message did not arrive:** {missed}"] if missed else []
            case _:
                return [words(text) for text in change_lines(event, at_ms)]


def _unfinished(event: ev.TextDone | ev.ThinkingDone | ev.Plan) -> list[str]:
    if isinstance(event, ev.Plan):
        return []
    said = {"partial": "(incomplete)", "discarded": "(taken back by the agent)"}
    note = said.get(event.status, "")
    return [note, "… the rest is too long to be here" if event.blob else ""]


def _asked(event: ev.QuestionRequested) -> list[tuple[str, str]]:
    """Return each question's text after the key that its answer has."""
    if event.asked:
        return [(question.key, question.text) for question in event.asked]
    found = parsed(bytes(event.questions))
    texts = [
        str(one.get("question") if isinstance(one, dict) else one)
        for one in (found if isinstance(found, list) else [found])
    ]
    return [(text, text) for text in texts]


def _bound(known: dict[str, Any]) -> None:
    if len(known) > MAX_OPEN:
        del known[next(iter(known))]


def _bytes(raw: Raw | UnsetType) -> bytes:
    return bytes(raw) if isinstance(raw, Raw) else b""
