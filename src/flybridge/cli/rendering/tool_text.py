"""What tools were asked and what they answered, as text for people.

The input and output of tools is whatever an agent sends: nothing here trusts its shape, and
nothing that is not understood is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from flybridge.cli.rendering.safe_text import one_line

# what says most about a call, in this order
TELLING = (
    "subject",
    "command",
    "file_path",
    "path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
)
HELPER_NAME = 32
NEVER = "bypassPermissions"  # a suggestion to stop asking altogether is not offered
WHERE = {
    "session": "this session",
    "localSettings": "this project, for you",
    "projectSettings": "this project, for everybody",
    "userSettings": "all your projects",
}


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


def summary(raw: bytes) -> str:
    """A call in a few words: the part of its input that says most."""
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


def helper_name(raw: bytes) -> str:
    """What a subagent is called: its task, or its kind; empty if this call starts none."""
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


def suggestion(raw: bytes) -> str:
    """What "always" would store, exactly; empty when it must not be offered."""
    value = parsed(raw)
    if not isinstance(value, dict):
        return ""
    if value.get("mode") == NEVER:
        return ""
    place = str(value.get("destination", "session"))
    asked = "" if place == "session" else f" (asked for: {WHERE.get(place, place)})"
    return one_line(f"{_rule(value)} — in this session{asked}", strict=True)


def _rule(value: dict[str, Any]) -> str:
    kind = value.get("type")
    rules = value.get("rules")
    if kind in ("addRules", "replaceRules", "removeRules") and isinstance(rules, list):
        verb = {"addRules": "", "replaceRules": "replace rules: ", "removeRules": "remove rules: "}
        return f"{verb[kind]}{value.get('behavior', '')} {', '.join(map(_one_rule, rules))}"
    if kind == "setMode":
        return f"switch to mode {value.get('mode')}"
    if kind in ("addDirectories", "removeDirectories") and isinstance(
        names := value.get("directories"), list
    ):
        verb = {"addDirectories": "allow", "removeDirectories": "no longer allow"}
        return f"{verb[kind]} the directories {', '.join(map(str, names))}"
    return compact(value)


def _one_rule(rule: Any) -> str:
    if not isinstance(rule, dict):
        return compact(rule)
    content = rule.get("ruleContent")
    name = str(rule.get("toolName", "?"))
    return name if content is None else f"{name}({content})"


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
