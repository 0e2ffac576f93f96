"""What a tool is asked to do, as rows of a prompt: all of it, and where it can be, as a difference.

Indented throughout: what the agent wrote cannot pass for a row of ours in the same frame.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from flybridge.cli.rendering.columns import wrap
from flybridge.cli.rendering.diffs import Signed, counted, diff_lines, edit_lines
from flybridge.cli.rendering.safe_text import visible
from flybridge.cli.rendering.tool_text import parsed, whole

Rows: TypeAlias = list[tuple[str, str]]  # style, text: harmless, and no wider than asked for
INDENT = "  "
BOXES = {"+": "box_added", "-": "box_removed"}
GOES_ON = "…"  # instead of a sign: the row before was not wide enough


def input_rows(raw: bytes, width: int, diff: str = "") -> Rows:
    """Return every character of a call's input. An edit is signed lines, a plan is plain text.

    ``diff`` is the change as the agent's driver describes it; it stands below an input that does
    not tell the change in a way that is known here.
    """
    value, lines, plan = _parts(raw)
    rows = _plain(whole(raw), width) if value is None else []
    lines = lines or (diff_lines(diff) if value is None else [])
    if value:
        rows = _plain(whole(msgspec.json.encode(value)), width)
    for line in lines:
        rows += _signed(line, width)
    # a plan is read, not run: its words may be kept whole
    return rows + (_plain(plan.split("\n"), width, words=True) if plan else [])


def input_record(raw: bytes, width: int, limit: int) -> Rows:
    """What stays to be seen of it once it is answered: for edits and plans just their size."""
    value, lines, plan = _parts(raw)
    if value is None:
        rows = _plain(whole(raw), width)
        more = len(rows) - limit
        return [*rows[:limit], ("box_note", f"… {more} more rows")] if more > 0 else rows
    if lines and lines[-1] == Signed("+", ""):
        lines.pop()  # the end of the last line is no line
    size = f"{counted(lines)} lines" if lines else f"a plan of {len(plan.splitlines())} lines"
    head = _plain(whole(msgspec.json.encode(value)), width) if value else []
    return [*head[:limit], ("box_note", size)]


def edit_parts(raw: bytes) -> tuple[bytes, list[Signed]]:
    """A call's input without the change it asks for, and that change as signed lines."""
    value, lines, _ = _parts(raw) if raw else (None, [], "")
    if value is None or not lines:
        return raw, []
    if lines[-1] == Signed("+", ""):
        lines = lines[:-1]  # the end of the last line is no line
    return msgspec.json.encode(value), lines


def is_plan(raw: bytes) -> bool:
    return bool(_parts(raw)[2])


def _parts(raw: bytes) -> tuple[dict[str, Any] | None, list[Signed], str]:
    """The fields shown as they are, lines of a difference, and a plan; None: nothing special."""
    value = parsed(raw)
    if not isinstance(value, dict):
        return None, [], ""
    old, new, content = value.get("old_string"), value.get("new_string"), value.get("content")
    if isinstance(old, str) and isinstance(new, str):
        return _without(value, "old_string", "new_string"), edit_lines(old, new), ""
    if isinstance(content, str) and isinstance(value.get("file_path"), str):
        lines = [Signed("+", line) for line in content.split("\n")]
        return _without(value, "content"), lines, ""
    plan = value.get("plan")
    if isinstance(plan, str) and plan.strip():
        return _without(value, "plan"), [], plan
    return None, [], ""


def _without(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: part for key, part in value.items() if key not in keys}


def _plain(lines: list[str], width: int, *, words: bool = False) -> Rows:
    safe = visible("\n".join(lines), strict=True).split("\n")
    rows = [row for line in safe for row in wrap(line, width - len(INDENT), words=words)]
    return [("box", f"{INDENT}{row}") for row in rows]


def _signed(line: Signed, width: int) -> Rows:
    """The sign stands apart: no text can bring one along, not even in its further rows."""
    style = BOXES.get(line.sign, "box")
    safe = visible(line.text, strict=True).replace("\n", " ")
    first, *rest = wrap(safe, width - len(INDENT) - 2, words=False)
    rows = [f"{line.sign} {first}", *(f"{GOES_ON} {row}" for row in rest)]
    return [(style, f"{INDENT}{row}") for row in rows]
