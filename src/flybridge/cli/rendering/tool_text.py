"""What tools were asked and what they answered, as text for people.

The input and output of tools is whatever an agent sends: nothing here trusts its shape, and
nothing that is not understood is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.cli.rendering.safe_text import one_line
from flybridge.model.events import ToolStarted
from flybridge.model.tools import NO_SUBJECT, TELLING, headline

HELPER_NAME = 32


def parsed(raw: bytes | str) -> Any:
    """JSON as Python values; what is no JSON stays text."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return raw if isinstance(raw, str) else raw.decode(errors="replace")


def compact(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode(errors="replace")
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return repr(value)


def call_line(event: ToolStarted) -> str:
    """Return a call in a few words: what it is used on, or the telling part of its input."""
    if event.subject == NO_SUBJECT:
        return summary(bytes(event.input) if isinstance(event.input, Raw) else b"")
    return one_line(headline(event.kind, event.subject))


def summary(raw: bytes) -> str:
    """Return the part of an input that says most."""
    value = parsed(raw) if raw else ""
    if isinstance(value, dict):
        return one_line(_special(value) or _telling(value))
    return one_line(value if isinstance(value, str) else compact(value))


def _telling(value: dict[str, Any]) -> str:
    for key in TELLING:
        if isinstance(said := value.get(key), str) and said:
            return said
    return compact(value) if value else ""


def _special(value: dict[str, Any]) -> str:
    """Calls whose input is a list or a change of one thing."""
    if isinstance(questions := value.get("questions"), list):
        key = "question" if len(questions) == 1 else "header"
        asked = [one.get(key) for one in questions if isinstance(one, dict)]
        return ", ".join(str(one) for one in asked if one)
    if isinstance(todos := value.get("todos"), list):
        return f"{len(todos)} tasks"
    if isinstance(task := value.get("taskId"), str):
        changes = {key: part for key, part in value.items() if key != "taskId"}
        said = ", ".join(f"{key} {_short(part)}" for key, part in changes.items())
        return f"{task}: {said}"
    if isinstance(plan := value.get("plan"), str) and plan.strip():
        return plan.strip().split("\n")[0].lstrip("# ")
    return ""


def _short(part: Any) -> str:
    return part if isinstance(part, str) else compact(part)


def subagent_name(event: ToolStarted) -> str:
    """Return what the subagent is called that a call starts; empty if it starts none."""
    if event.kind:
        return one_line(event.subject.title)[:HELPER_NAME] if event.kind == "agent" else ""
    return helper_name(bytes(event.input) if isinstance(event.input, Raw) else b"")


def submitted_plan(event: ToolStarted) -> str:
    """Return the plan that a call submits for review, where its input has one."""
    if not isinstance(event.input, Raw) or event.kind not in ("plan", ""):
        return ""
    return plan_of(bytes(event.input))


def helper_name(raw: bytes) -> str:
    """Return the name of a subagent from the input of a call without a kind."""
    value = parsed(raw) if raw else None
    if not (isinstance(value, dict) and isinstance(kind := value.get("subagent_type"), str)):
        return ""
    about = value.get("description")
    return one_line(about if isinstance(about, str) and about else kind)[:HELPER_NAME]


def plan_of(raw: bytes) -> str:
    """The plan that a call hands over for review."""
    value = parsed(raw) if raw else None
    plan = value.get("plan") if isinstance(value, dict) else None
    return plan if isinstance(plan, str) else ""


def whole(raw: bytes) -> list[str]:
    """All of a call's input, as lines; every character of it is there."""
    value = parsed(raw)
    if not isinstance(value, dict):
        return (value if isinstance(value, str) else compact(value)).split("\n")
    lines: list[str] = []
    for key, part in value.items():
        text = part if isinstance(part, str) else compact(part)
        first, *rest = text.split("\n")
        name = one_line(str(key), strict=True)
        if rest:  # indented: no line of a value can pass for another key
            lines += [f"{name}:", *(f"    {line}" for line in (first, *rest))]
        else:
            lines.append(f"{name}: {first}")
    return lines or ["(no input)"]


def folded(text: str, limit: int) -> tuple[list[str], int]:
    """The first lines of a text, and how many more there are."""
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    if len(lines) <= limit + 1:  # a line that says "1 more line" is as long as that line
        return lines, 0
    return lines[:limit], len(lines) - limit


def duration(ms: int) -> str:
    """A time in the unit people would use."""
    seconds = max(ms, 0) / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def joined(parts: Sequence[str]) -> str:
    return " · ".join(part for part in parts if part)
