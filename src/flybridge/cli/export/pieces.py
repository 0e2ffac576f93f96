"""Small pieces of an exported session: times, sums, lists of tasks, what was changed."""

from __future__ import annotations

import time

from flybridge.cli.attachments import label
from flybridge.cli.export.markdown_text import document, words
from flybridge.cli.rendering.remarks import compacted_text, limit_text, retry_text
from flybridge.model import events as ev
from flybridge.model.content import Content, Text


def change_lines(event: ev.Event, at_ms: int) -> list[str]:
    match event:
        case ev.Retry():
            return [retry_text(event, at_ms)]
        case ev.RateLimit():
            return [limit_text(event, at_ms)]
        case ev.ContextCompacted():
            return [compacted_text(event)]
        case ev.ModeChanged(mode=mode):
            return [f"mode: {mode}"]
        case ev.ModelChanged(model=model):
            return [f"model: {model}"]
        case ev.SessionChanged(title=str(title)):
            return [f"title: {title}"]
        case ev.SessionClosed():
            return ["the session was closed"]
        case _:
            return []


def task_parts(news: list[str]) -> list[str]:
    """A list of tasks as one to tick off."""
    if not news:
        return []
    marks = {"[x] ": "- [x] ", "[ ] ": "- [ ] ", "[>] ": "- [ ] now: "}
    rows = [
        marks[line[:4]] + words(line[4:]) if line[:4] in marks else f"- {words(line)}"
        for line in news
        if not line.startswith("tasks: ")
    ]
    far = news[0].removeprefix("tasks: ") if news[0].startswith("tasks: ") else ""
    return [f"#### Tasks{': ' if far else ''}{words(far)}", "\n".join(rows)]


def content_text(content: tuple[Content, ...]) -> str:
    parts = [document(p.text) if isinstance(p, Text) else words(label(p)) for p in content]
    return "\n\n".join(parts)


def money(usd: float) -> str:
    return f"${usd:.4f}"


def date(ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(ms / 1000))


def clock(ms: int) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(ms / 1000))
