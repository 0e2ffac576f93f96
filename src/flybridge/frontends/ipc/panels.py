"""The data of a user interface's components, gathered from what has happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from flybridge.errors import InvalidRequestError
from flybridge.frontends.ipc import context
from flybridge.frontends.ipc.bodies import fields, number, text
from flybridge.frontends.ipc.events import Events
from flybridge.frontends.ipc.prompts import blocked_path
from flybridge.frontends.ipc.wire import messages as w
from flybridge.frontends.ipc.wire import views as v
from flybridge.model import events as ev

MAX_EDITS = 100
MAX_SESSIONS = 100
KEYS = (
    v.Keybinding(key="Enter", action="send"),
    v.Keybinding(key="Shift+Enter", action="newline"),
    v.Keybinding(key="Escape", action="interrupt"),
    v.Keybinding(key="/", action="slash_commands", context="empty input"),
    v.Keybinding(key="y", action="allow", context="permission"),
    v.Keybinding(key="n", action="deny", context="permission"),
)
_CATEGORIES = {"local": "local", "prompt": "skill", "ui": "local"}


class Panels:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._turn: ev.TurnEnded | None = None
        self._diff: ev.ToolResult | None = None
        self._patch: ev.Diff | None = None
        self._edits: deque[str] = deque(maxlen=MAX_EDITS)
        self._tasks = v.EMPTY_LIST
        self._context: dict[str, Raw] = {}
        self._printed = ""  # the last that /context printed
        self._names: Mapping[str, Callable[[], Any]] = {
            "help": self._help,
            "keybindings": lambda: v.Keybindings(bindings=KEYS),
            "cost": self._cost,
            "diff": self._changed,
            "tasks": self._task_list,
            "mcp": lambda: v.McpStatus(servers=self._told("mcp_servers")),
            "permissions": self._permissions,
            "questions": self._questions,
            "slash_commands": self._commands,
            "session_state": self._state,
        }

    def check(self, name: str) -> None:
        """Refuse a name that no view has.

        Raises:
            InvalidRequestError: it has none.
        """
        known = sorted((*self._names, "context", "settings", "sessions"))
        if name not in known:
            raise InvalidRequestError(f"Unknown view: {name[:60]}; there are {', '.join(known)}")

    def apply(self, event: ev.Event) -> None:
        match event:
            case ev.TurnEnded():
                self._turn = event
                if "context" in event.gauges:
                    self._context = fields(event.gauges["context"])
            case ev.ToolResult() if "structuredPatch" in fields(event.detail):
                self._diff = event
            case ev.Diff(path=path):
                self._patch = event
                self._edits.append(path)
            case ev.Tasks(tasks=tasks):
                self._tasks = Raw(bytes(tasks))
            case ev.Notice(command=True, text=said) if context.HEAD in said[:200]:
                self._printed = said[: context.MAX_PRINTED]
            case _:
                pass

    def gauge(self, name: str, value: bytes) -> None:
        if name == "context":
            self._context = fields(value)

    def view(
        self,
        name: str,
        *,
        modes: Sequence[str] = (),
        sessions: Sequence[Mapping[str, Any]] = (),
        counted: Mapping[str, Any] | None = None,
    ) -> w.View:
        """``counted``: what the agent says of its context when it is asked."""
        if name == "context":
            data: object = self._gauge(counted)
        elif name == "settings":
            data = self._settings(modes)
        elif name == "sessions":
            data = self._sessions(sessions)
        else:
            data = self._names[name]()
        return w.View(name=name, data=Raw(msgspec.json.encode(data)))

    def _told(self, name: str) -> Raw:
        return self._events.about.told.get(name, v.EMPTY_LIST)

    # ---- each of them ----------------------------------------------------------------------------

    def _settings(self, modes: Sequence[str]) -> v.SettingsPanel:
        about = self._events.about
        return v.SettingsPanel(
            model=about.model,
            available_models=about.offered.get("models", v.EMPTY_LIST),
            permission_mode=about.mode,
            available_modes=tuple(modes),
            fast_mode_state=about.told.get("fast_mode_state", Raw(b'""')),
            output_style=about.told.get("output_style", Raw(b'""')),
        )

    def _help(self) -> v.HelpPanel:
        names = ("tools", "slash_commands", "skills", "agents", "plugins")
        return v.HelpPanel(
            version=self._events.about.version, **{name: self._told(name) for name in names}
        )

    def _gauge(self, answer: Mapping[str, Any] | None) -> v.ContextGauge:
        known = self._context
        total = int(number(known.get("window", UNSET)))
        raw = known.get("tokens", UNSET)
        used = None if raw is UNSET or bytes(raw) == b"null" else int(number(raw))
        counted = context.told(answer) if answer else None
        if counted is not None and not total:  # nothing was said to a model yet
            used, total = counted.used, counted.window
        share = round(100 * used / total, 2) if used is not None and total else None
        made_of = counted.categories if counted else context.printed(self._printed, total)
        return v.ContextGauge(
            model=self._events.about.model,
            used_tokens=used,
            total_tokens=total,
            percentage=share,
            categories=made_of,
        )

    def _cost(self) -> v.CostDisplay:
        if self._turn is None:
            return v.CostDisplay()
        told = fields(self._turn.detail)
        return v.CostDisplay(
            total_cost_usd=number(told.get("total_cost_usd", UNSET)),
            per_turn_delta=self._turn.cost_usd,
            duration_ms=int(number(told.get("duration_ms", UNSET))),
            model_usage=told.get("modelUsage", v.EMPTY),
        )

    def _changed(self) -> v.DiffViewer:
        told = fields(self._diff.detail) if self._diff is not None else {}
        shown = v.DiffViewer(edits=tuple(self._edits))
        if self._patch is not None:
            shown.file_path, shown.structured_patch = self._patch.path, self._patch.patch
        if told:
            shown.file_path = text(told.get("filePath", UNSET)) or shown.file_path
            shown.structured_patch = told["structuredPatch"]
            shown.original_file = told.get("originalFile", Raw(b"null"))
            shown.new_file = told.get("content", Raw(b"null"))
            shown.edit_type = text(told.get("type", UNSET)) or "update"
        return shown

    def _task_list(self) -> v.TaskList:
        try:
            tasks = msgspec.json.decode(self._tasks, type=list[dict[str, Any]])
        except (msgspec.MsgspecError, ValueError):
            tasks = []
        active = [one for one in tasks if one.get("status") == "in_progress"]
        return v.TaskList(
            tasks=self._tasks, active_task_id=str(active[0].get("id", "")) if active else ""
        )

    def _permissions(self) -> v.PermissionDialogs:
        return v.PermissionDialogs(
            pending=tuple(
                v.PermissionDialog(
                    request_id=one.prompt,
                    tool_name=one.tool,
                    input=one.input,
                    decision_reason=one.reason,
                    blocked_path=blocked_path(one),
                    permission_suggestions=one.suggestions,
                )
                for one in self._events.prompts.open.values()
                if isinstance(one, ev.PermissionRequested)
            )
        )

    def _questions(self) -> v.QuestionForms:
        return v.QuestionForms(
            pending=tuple(
                v.QuestionForm(request_id=one.prompt, questions=one.questions)
                for one in self._events.prompts.open.values()
                if isinstance(one, ev.QuestionRequested)
            )
        )

    def _commands(self) -> v.SlashCommands:
        about = self._events.about
        described = _descriptions(about.offered.get("commands", v.EMPTY_LIST))
        agents = set(_words(about.told.get("agents", v.EMPTY_LIST)))
        return v.SlashCommands(
            commands=tuple(
                v.SlashCommand(
                    name=name,
                    category="agent" if name in agents else _CATEGORIES.get(kind, "local"),
                    description=described.get(name, ""),
                )
                for name, kind in about.commands.items()
            )
        )

    def _sessions(self, rows: Sequence[Mapping[str, Any]]) -> v.SessionManagement:
        known = [row for row in rows if row.get("conversation")]
        known.sort(key=lambda row: int(row.get("changed_ms") or 0), reverse=True)
        newest: dict[str, Mapping[str, Any]] = {}
        for row in known:
            newest.setdefault(str(row["conversation"]), row)
        return v.SessionManagement(
            sessions=tuple(
                v.KnownSession(
                    session_id=name,
                    title=str(row.get("title") or ""),
                    changed_ms=int(row.get("changed_ms") or 0),
                    status=str(row.get("status") or ""),
                )
                for name, row in list(newest.items())[:MAX_SESSIONS]
            ),
            current_session_id=self._events.about.session,
        )

    def _state(self) -> v.SessionState:
        events = self._events
        return v.SessionState(
            session_id=events.about.session,
            cumulative_cost=self._cost().total_cost_usd,
            pending_control_requests=tuple(events.prompts.open),
            active_content_blocks=tuple(events.speech.open),
            tool_use_map=dict(events.speech.tools),
            task_list=self._tasks,
            mcp_servers=self._told("mcp_servers"),
            current_model=events.about.model,
            permission_mode=events.about.mode,
        )


def _descriptions(commands: Raw) -> dict[str, str]:
    try:
        known = msgspec.json.decode(commands, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, ValueError):
        return {}
    return {str(one.get("name")): str(one.get("description") or "") for one in known}


def _words(raw: Raw) -> list[str]:
    try:
        return [str(one) for one in msgspec.json.decode(raw, type=list[Any])]
    except (msgspec.MsgspecError, ValueError):
        return []
