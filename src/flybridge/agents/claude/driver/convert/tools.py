"""Name the kind and the subject of Claude's tools.

It is read for every call, so an input is taken apart once, and only the fields that the tool's
row names are decoded; of a long text just its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import UNSET, Raw

from flybridge.agents.claude.wire.decode import blocks, fields, text
from flybridge.agents.claude.wire.messages import MaybeRaw
from flybridge.model.tools import (
    COMMAND_CHARS,
    CUT,
    DIFF_CHARS,
    NO_SUBJECT,
    PATH_CHARS,
    TELLING,
    TITLE_CHARS,
    URL_CHARS,
    ToolKind,
    ToolSubject,
    limited,
    limited_paths,
)
from flybridge.session.old_tools import OLD_KINDS

Given: TypeAlias = Mapping[str, Raw]
Described: TypeAlias = tuple[ToolKind, ToolSubject]
MCP = "mcp__"
MAX_LISTED = 8  # entries of a list that a title names
_PARTIAL = 16  # bytes at the end of a prefix that may be half a character
# Bytes that are read of a longer text: JSON may write a character as 12 of them, so what is read
# exceeds every limit, and a path that is not whole can be told from one that is.
_PREFIX = 12 * (PATH_CHARS + 1) + _PARTIAL


def describe(name: str, given: MaybeRaw) -> Described:
    """Return the kind and the subject of a call; ``given`` is its input, if there is one."""
    return describe_fields(name, {} if given is UNSET else fields(given), given or b"")


def describe_fields(name: str, given: Given, whole: Raw | bytes) -> Described:
    """Return the kind and the subject of a call whose input was taken apart already."""
    kind = _KINDS.get(name) or ("mcp" if name.startswith(MCP) else "other")
    read = _READERS.get(name)
    subject = read(given) if read is not None else None
    return kind, _other(given, whole) if subject in (None, NO_SUBJECT) else subject


# ---- texts ---------------------------------------------------------------------------------------


def _text(given: Given, name: str, limit: int = TITLE_CHARS) -> str:
    raw = given.get(name)
    return "" if raw is None else limited(_head(raw), limit)


def _head(raw: Raw) -> str:
    """Return a text; of a long one its beginning, which is longer than any limit."""
    view = memoryview(raw)
    if len(view) <= _PREFIX:
        return text(raw)
    if view[0] != ord('"'):
        return ""
    prefix = bytes(view[:_PREFIX])
    ends = (text(Raw(prefix[:end] + b'"')) for end in range(_PREFIX, _PREFIX - _PARTIAL, -1))
    return next((part for part in ends if part), "")


def _path(given: Given, *names: str) -> tuple[str, ...]:
    found = (_head(given[name]) for name in names if name in given)
    return limited_paths(next((path for path in found if path), ""))


def _line(said: str) -> str:
    return limited(" ".join(said.split()), TITLE_CHARS)


# ---- readers, one for each shape of input --------------------------------------------------------


def _command(given: Given) -> ToolSubject:
    return ToolSubject(
        title=_text(given, "description"),
        command=_text(given, "command", COMMAND_CHARS) or _text(given, "code", COMMAND_CHARS),
    )


def _file(given: Given) -> ToolSubject:
    return ToolSubject(paths=_path(given, "file_path", "notebook_path"))


def _edit(given: Given) -> ToolSubject:
    return ToolSubject(paths=_path(given, "file_path"), diff=_diff([given]))


def _multi_edit(given: Given) -> ToolSubject:
    edits = (blocks(given["edits"]) or []) if "edits" in given else []
    parts = [fields(edit) for edit in edits[:MAX_LISTED]]
    return ToolSubject(paths=_path(given, "file_path"), diff=_diff(parts))


def _write(given: Given) -> ToolSubject:
    lines = _signed("+", _text(given, "content", DIFF_CHARS))
    return ToolSubject(paths=_path(given, "file_path"), diff=limited("\n".join(lines), DIFF_CHARS))


def _notebook(given: Given) -> ToolSubject:
    mode, cell = _text(given, "edit_mode") or "replace", _text(given, "cell_id")
    lines = _signed("+", _text(given, "new_source", DIFF_CHARS))
    return ToolSubject(
        title=_line(f"{mode} cell {cell}" if cell else f"{mode} a cell"),
        paths=_path(given, "notebook_path"),
        diff=limited("\n".join(lines), DIFF_CHARS),
    )


def _diff(edits: Sequence[Given]) -> str:
    lines: list[str] = []
    for edit in edits:
        if lines:
            lines.append("@@ @@")
        lines += _signed("-", _text(edit, "old_string", DIFF_CHARS))
        lines += _signed("+", _text(edit, "new_string", DIFF_CHARS))
    return limited("\n".join(lines), DIFF_CHARS)


def _signed(sign: str, said: str) -> list[str]:
    return [sign + line for line in said.removesuffix("\n").split("\n")] if said else []


def _search(given: Given) -> ToolSubject:
    return ToolSubject(title=_text(given, "pattern"), paths=_path(given, "path"))


def _fetch(given: Given) -> ToolSubject:
    return ToolSubject(
        title=_text(given, "query") or _text(given, "prompt"), url=_text(given, "url", URL_CHARS)
    )


def _agent(given: Given) -> ToolSubject:
    names = ("description", "subagent_type", "prompt")
    return ToolSubject(title=_line(next((t for n in names if (t := _text(given, n))), "")))


def _plan(given: Given) -> ToolSubject:
    first = _text(given, "plan").strip().split("\n")[0].lstrip("# ")
    return ToolSubject(title=_line(first))


def _todos(given: Given) -> ToolSubject | None:
    todos = blocks(given["todos"]) if "todos" in given else None
    return None if todos is None else ToolSubject(title=f"{len(todos)} tasks")


def _task(given: Given) -> ToolSubject | None:
    """Name the task, and each change of it."""
    task = _text(given, "taskId")
    if not task:
        return None
    others = [name for name in given if name != "taskId"][:MAX_LISTED]
    changes = ", ".join(f"{name} {_text(given, name) or _json(given[name])}" for name in others)
    return ToolSubject(title=_line(f"{task}: {changes}" if changes else task))


def _questions(given: Given) -> ToolSubject | None:
    asked = (blocks(given["questions"]) or []) if "questions" in given else []
    name = "question" if len(asked) == 1 else "header"
    named = [_text(fields(question), name) for question in asked[:MAX_LISTED]]
    return ToolSubject(title=_line(", ".join(filter(None, named)))) if any(named) else None


def _other(given: Given, whole: Raw | bytes) -> ToolSubject:
    """Describe an unknown tool by the part of its input that says most, or by all of it."""
    said = next((told for name in ("skill", *TELLING) if (told := _text(given, name))), "")
    said = said or (_json(whole) if given else "")
    return ToolSubject(title=_line(said)) if said else NO_SUBJECT


def _json(raw: Raw | bytes) -> str:
    """Return the beginning of a JSON value as it was written."""
    view = memoryview(raw)
    said = bytes(view[: TITLE_CHARS * 4]).decode("utf-8", "ignore")
    return limited(said, TITLE_CHARS) if len(view) <= TITLE_CHARS * 4 else said[:TITLE_CHARS] + CUT


# Tools that journals without kinds do not know, or that count as "other" there.
_NEWER_KINDS: Mapping[str, ToolKind] = {
    "ListMcpResourcesTool": "mcp",
    "ReadMcpResourceTool": "mcp",
    "web_fetch": "fetch",  # the API's own
    "web_search": "fetch",
}
_KINDS: Mapping[str, ToolKind] = {**OLD_KINDS, **_NEWER_KINDS}
# Tools that are not listed are described like an unknown one.
_READERS: Mapping[str, Callable[[Given], ToolSubject | None]] = {
    "Agent": _agent,
    "AskUserQuestion": _questions,
    "Bash": _command,
    "Edit": _edit,
    "ExitPlanMode": _plan,
    "Glob": _search,
    "Grep": _search,
    "LS": _search,
    "Monitor": _command,
    "MultiEdit": _multi_edit,
    "NotebookEdit": _notebook,
    "NotebookRead": _file,
    "PowerShell": _command,
    "REPL": _command,
    "Read": _file,
    "Task": _agent,
    "TaskGet": _task,
    "TaskList": _task,
    "TaskUpdate": _task,
    "TodoWrite": _todos,
    "WebFetch": _fetch,
    "WebSearch": _fetch,
    "Write": _write,
    "web_fetch": _fetch,
    "web_search": _fetch,
}
