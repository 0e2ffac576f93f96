"""How a prompt ended, in words: who decided, and what was allowed instead of what was asked."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.tool_text import compact, folded, parsed, whole
from flybridge.model import events as ev

TOO_LONG = "(too long to be shown)"


def closing(event: ev.PermissionClosed | ev.QuestionClosed, who: str = "") -> str:
    """How a prompt ended, in words; ``who`` ended it, if a person did."""
    said = {
        "cancelled": "withdrawn by the agent",
        "orphaned": "the agent is gone",
        "expired": "too late",
    }
    text = said.get(event.how) or f"{event.how} {who}".rstrip()
    if isinstance(event, ev.PermissionClosed):
        text += ", with changes" if event.edited else ""
        return text + (f": {one_line(event.message)}" if event.message else "")
    answers = "; ".join(", ".join(labels) for labels in event.answers.values())
    return text + (f": {one_line(answers)}" if answers else "")


def changed_rows(asked: bytes, event: ev.PermissionClosed, *, limit: int) -> list[str]:
    """The fields that differ, as they were allowed; none where nobody knows what was."""
    if not isinstance(event.input, Raw):
        return [TOO_LONG] if event.blob else []
    rows = _different(parsed(asked), parsed(bytes(event.input)))
    shown, more = folded("\n".join(rows), limit)
    return [*shown, f"… {more} more lines"] if more else shown


def _different(asked: Any, allowed: Any) -> list[str]:
    if not (isinstance(asked, dict) and isinstance(allowed, dict)):
        return whole(msgspec.json.encode(allowed))
    fresh = {
        key: part
        for key, part in allowed.items()
        if key not in asked or compact(asked[key]) != compact(part)
    }
    gone = {key: "(left out)" for key in asked if key not in allowed}
    return whole(msgspec.json.encode(fresh | gone))
