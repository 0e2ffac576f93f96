"""Tool calls and what came of them: commands, differences, plans, tasks, and whose they are."""

from __future__ import annotations

import msgspec
from msgspec import Raw, UnsetType

from flybridge.cli.rendering.checklist import Checklist
from flybridge.cli.rendering.diffs import Signed, counted, made, made_by
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import Paper
from flybridge.cli.rendering.tool_text import (
    call_line,
    folded,
    plan_of,
    subagent_name,
    submitted_plan,
    summary,
)
from flybridge.model import events as ev
from flybridge.model.tools import ToolKind
from flybridge.session.old_tools import kind_of

DIFF_LINES = 40
MAX_HELPERS = 100


class Tool(msgspec.Struct, frozen=True):
    name: str
    head: str
    parent: str = ""
    plan: str = ""
    kind: ToolKind = "other"


class Calls:
    """Writes calls on the paper. ``cwd``: paths below it are told without it."""

    def __init__(self, paper: Paper, *, lines: int, width: int) -> None:
        self.lines = lines
        self.cwd = ""
        self._paper = paper
        self._width = width
        self._tools: dict[str, Tool] = {}
        self._last = ""  # the call whose line is the last that was written
        self._helpers: dict[str, str] = {}  # the call that started a subagent → its name
        self._tasks = Checklist()
        self._tasks_told = False
        self._plan = ""
        self._changes: set[str] = set()  # calls whose difference was shown

    def interrupted(self) -> None:
        """Something else was written below the last call."""
        self._last = ""

    def turn_over(self) -> None:
        self.interrupted()
        self._changes.clear()
        self._plan = ""

    def started(self, event: ev.ToolStarted) -> None:
        if name := subagent_name(event):
            self._helpers[event.item] = name
            if len(self._helpers) > MAX_HELPERS:  # they may outlive their call: dropped by age
                del self._helpers[next(iter(self._helpers))]
        kind = kind_of(event.kind, event.name)
        head, plan = self._short(call_line(event)), submitted_plan(event)
        tool = Tool(one_line(event.name), head, event.parent, plan, kind)
        self._tools[event.item] = tool
        if not (self._tasks_told and kind == "task"):
            self._tool_line(event.item, tool)

    def allowed(self, item: str, given: Raw | UnsetType) -> None:
        """Somebody changed what it is to do: that is what an answer belongs to."""
        tool = self._tools.get(item)
        if tool is not None and isinstance(given, Raw):
            head, plan = self._short(summary(bytes(given))), plan_of(bytes(given))
            plan = plan if tool.plan else ""
            self._tools[item] = msgspec.structs.replace(tool, head=head, plan=plan)

    def _short(self, head: str) -> str:
        return head.removeprefix(self.cwd + "/") if self.cwd else head

    def name_of(self, parent: str, after: str) -> str:
        name = self._helpers.get(parent, "")
        return name + after if name else ""

    def _tool_line(self, item: str, tool: Tool, more: str = "") -> None:
        style = "sub_tool" if tool.parent else "tool"
        if not self._last:
            self._paper.gap()
        text = f"{self.name_of(tool.parent, ': ')}{tool.name}{more} {tool.head}"
        self._paper.line(text if len(text) <= self._width else text[: self._width] + " …", style)
        self._last = item

    def returned(self, event: ev.ToolResult) -> None:
        tool = self._tools.pop(event.item, None) or Tool("a tool", "", event.parent)
        if tool.kind == "task" and event.status == "ok":
            return  # the list itself is told
        change = made_by(_bytes(event.detail)) if event.status == "ok" else []
        if self._last != event.item:
            self._tool_line(event.item, tool, " answered:")
        nested = bool(event.parent)
        style = "result" if event.status == "ok" else "failed"
        style = f"sub_{style}" if nested else style
        if change and event.item not in self._changes:
            self._paper.line(counted(change), style)
            self._change(event.item, change)
        else:
            lines = self._result_lines(event, brief=nested or bool(tool.plan))
            self._paper.line("\n".join(lines) or "(no output)", style)
        if tool.plan:  # while it was asked for, the prompt itself showed it
            self.planned(tool.plan)

    def _result_lines(self, event: ev.ToolResult, *, brief: bool) -> list[str]:
        limit = min(self.lines, 1) if brief else self.lines
        lines, more = folded(event.text, limit)
        said = {"denied": "not allowed", "partial": "incomplete", "discarded": "taken back"}
        if event.status in said:
            lines.insert(0, f"({said[event.status]})")
        if more:
            lines.append(f"… {more} more lines")
        elif event.blob:
            lines.append("… (too long to be shown whole)")
        return lines

    # ---- changes, plans, tasks -----------------------------------------------------------------

    def changed(self, event: ev.Diff) -> None:
        if event.item in self._changes:
            return
        lines = made(event)
        if self._last != event.item:
            self._last = ""
        self._paper.line(f"{one_line(event.path)} {counted(lines)}", "diff")
        self._change(event.item, lines)

    def _change(self, item: str, lines: list[Signed]) -> None:
        self._changes.add(item)
        limit = DIFF_LINES if self.lines > 1 else 0
        for line in lines[:limit]:
            self._paper.line(line.row, line.style)
        if limit and len(lines) > limit:
            self._paper.line(f"… {len(lines) - limit} more lines", "diff")

    def planned(self, text: str) -> None:
        """A plan, once, however often it is told; not while the prompt for it shows it."""
        plan = text.strip()
        reviewed = any(tool.plan.strip() == plan for tool in self._tools.values())
        if plan != self._plan and not reviewed:
            self._plan = plan
            self.interrupted()
            self._paper.gap()
            self._paper.line("plan:", "notice")
            self._paper.line(self._plan, "text")
            self._paper.gap()

    def tasks(self, event: ev.Tasks) -> list[str]:
        """Return what is new in the list; from now on the calls that change it are not told."""
        self._tasks_told = True
        return self._tasks.news(event)

    def task_lines(self) -> list[str]:
        return self._tasks.lines()


def _bytes(raw: Raw | UnsetType) -> bytes:
    return bytes(raw) if isinstance(raw, Raw) else b""
