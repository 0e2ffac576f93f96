"""What the CLI tells beside the conversation: to a person, or to nobody in particular."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.changes import Changes
from flybridge.agents.claude.driver.convert.words import NOISE, TEXT_CHARS
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.status import Reports
from flybridge.agents.claude.wire.decode import blocks, fields, number, text
from flybridge.model.events import Notice
from flybridge.model.tools import limited

Told: TypeAlias = dict[str, Raw]

_NAME = 256
_FEW = 8
_TRUE = Raw(b"true")


class News:
    """One method per kind of message; what has none, and is no noise, is not recognised."""

    def __init__(self, sink: Sink, reports: Reports, changes: Changes) -> None:
        self._sink = sink
        self._reports = reports
        self._changes = changes
        self._kinds: Mapping[tuple[str, str], Callable[[Told], bool]] = {
            ("conversation_reset", ""): self._reset,
            ("tool_use_summary", ""): self._summed_up,
            ("streamlined_text", ""): self._said,
            ("streamlined_tool_use_summary", ""): self._said,
            ("auth_status", ""): self._logging_in,
            ("tombstone", ""): self._taken_back,
            ("system", "informational"): self._said,
            ("system", "notification"): self._said,
            ("system", "hook_response"): self._hooked,
            ("system", "files_persisted"): self._persisted,
            ("system", "commands_changed"): self._commands,
            ("system", "model_refusal_fallback"): self._refused,
            ("system", "model_refusal_no_fallback"): self._refused,
            ("system", "task_started"): self._task_started,
            ("system", "task_notification"): self._task_ended,
            ("system", "background_tasks_changed"): self._in_background,
        }

    def told(self, kind: str, subtype: str, line: bytes) -> bool:
        """Pass on what a person profits from; False: nobody here knows this."""
        if (kind, subtype) in NOISE:
            return True
        tell = self._kinds.get((kind, subtype if kind == "system" else ""))
        return tell is not None and tell(fields(line))

    def _notice(self, said: str, level: Literal["info", "warning"] = "info") -> bool:
        """Say it; False when there is nothing to say, or too much for a notice."""
        if not said or len(said) > TEXT_CHARS:
            return False
        self._sink.put(Notice(text=said, level=level))
        return True

    def _said(self, told: Told) -> bool:
        words = (text(told.get(name, UNSET)) for name in ("content", "text", "tool_summary"))
        return self._notice(next((one for one in words if one), ""), _level(told))

    def _reset(self, told: Told) -> bool:
        """The agent has forgotten everything that was said; another id follows with init."""
        self._changes.new_conversation()
        self._reports.context_is(0)
        return self._notice("the agent begins a new conversation")

    def _summed_up(self, told: Told) -> bool:
        return self._notice(_head(told, "summary"))

    def _logging_in(self, told: Told) -> bool:
        output = [text(one) for one in (blocks(told.get("output", Raw(b"[]"))) or [])[:_FEW]]
        error = _head(told, "error")
        if error:
            return self._notice(f"the agent could not log in: {error}", "warning")
        if told.get("isAuthenticating") == _TRUE:
            said = "\n".join(limited(one, _NAME) for one in output if one)
            return self._notice(f"the agent logs in\n{said}".strip())
        return True  # it has done so, or never had to

    def _taken_back(self, told: Told) -> bool:
        return self._notice("the agent took back a message that it had shown", "warning")

    def _hooked(self, told: Told) -> bool:
        """A hook that went well says nothing to a person; one that blocks or fails does."""
        code = number(told.get("exit_code", UNSET))
        if code or text(told.get("outcome", UNSET)) not in ("", "success"):
            name = _head(told, "hook_name") or "a hook"
            said = _head(told, "stderr") or _head(told, "output")
            return self._notice(f"{name}: {said or 'failed'}", "warning")
        return True

    def _persisted(self, told: Told) -> bool:
        """Files kept for later: of no interest here, but for those that could not be."""
        for raw in (blocks(told.get("failed", Raw(b"[]"))) or [])[:_FEW]:
            known = fields(raw)
            name, error = _head(known, "filename"), _head(known, "error")
            self._notice(
                f"{name or 'a file'} was not kept: {error or 'no reason given'}", "warning"
            )
        return True

    def _refused(self, told: Told) -> bool:
        """The model would not answer; another one may have taken over for the session."""
        category = _head(told, "api_refusal_category") or "no reason given"
        said = text(told.get("content", UNSET)) or f"the model refused: {category}"
        self._notice(limited(said, TEXT_CHARS), "warning")
        self._reports.fallback_told()
        if text(told.get("scope", UNSET)) == "session":
            self._reports.model_is(_head(told, "fallback_model"))
        return True

    def _commands(self, told: Told) -> bool:
        """The list of slash commands changed: a skill, a plugin or a command came or went."""
        return "commands" in told and self._reports.commands_are(told["commands"])

    # ---- what runs beside the conversation -------------------------------------------------------

    def _task_started(self, told: Told) -> bool:
        """One in the foreground has its tool call to show it."""
        self._changes.agent_started(_head(told, "task_id"), _head(told, "tool_use_id"))
        if told.get("is_backgrounded") == _TRUE:
            self._notice(f"in the background: {_head(told, 'description')}")
        return True

    def _in_background(self, told: Told) -> bool:
        tasks = blocks(told["tasks"]) if "tasks" in told else None
        if tasks is not None:
            self._changes.background(tasks)
        return tasks is not None

    def _task_ended(self, told: Told) -> bool:
        said = _head(told, "summary") or _head(told, "task_id")
        return self._notice(f"{_head(told, 'status')}: {said}")


def _level(told: Told) -> Literal["info", "warning"]:
    return "warning" if text(told.get("level", UNSET)) in ("warning", "error") else "info"


def _head(told: Told, name: str) -> str:
    return limited(text(told.get(name, UNSET)), _NAME)
