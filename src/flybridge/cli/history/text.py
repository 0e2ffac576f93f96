"""Old conversations as people read them: a line each, or word for word."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.agents.history import (
    ConversationText,
    Finding,
    FoundPlace,
    FoundPlaces,
    KeptConversation,
    Piece,
    worst,
)
from flybridge.cli.rendering.columns import cut, table
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import Paper
from flybridge.cli.rendering.tool_text import folded, joined, summary
from flybridge.cli.sessions.text import age

SHORT = 8
TITLE = 50
HEADINGS = ("ID", "TITLE", "MODEL", "DIRECTORY", "CHANGED")
STYLES = {
    "prompt": "input",
    "steering": "input",
    "thinking": "thinking",
    "error": "error",
    "output": "notice",
    "note": "notice",
}
SAYS = {
    "stops": "does not resume",
    "forgets": "resumes, but forgets a part",
    "harmless": "resumes",
    "not known": "not known",
}


class Examined(msgspec.Struct, kw_only=True):
    """One conversation after it was examined."""

    kept: KeptConversation
    findings: list[Finding] = []
    done: list[str] = []
    backup: str = ""
    error: str = ""

    @property
    def stops(self) -> bool:
        return worst(self.findings) == "stops"


def list_lines(
    rows: Sequence[KeptConversation], *, width: int | None = None, now_ms: int | None = None
) -> list[str]:
    """Return a table, in the order the rows come."""
    if not rows:
        return ["no conversations"]
    now_ms = now_ms or time.time_ns() // 1_000_000
    cells = [
        [
            row.conversation[:SHORT],
            cut(one_line(row.title or row.problem or row.prompt or "-"), TITLE),
            one_line(row.model or "-"),
            one_line(row.cwd or row.folder),
            age(now_ms - row.modified_ms),
        ]
        for row in rows
    ]
    return table([HEADINGS, *cells], width)


def row_object(row: KeptConversation) -> dict[str, Any]:
    """Return a conversation as ``history list --json`` prints it."""
    return {
        "session": row.conversation,
        "title": row.title or row.problem,
        "prompt": row.prompt,
        "cwd": row.cwd,
        "model": row.model,
        "version": row.version,
        "branch": row.branch,
        "started_ms": row.started_ms,
        "ended_ms": row.ended_ms,
        "folder": row.folder,
        "modified_ms": row.modified_ms,
        "size": row.size,
    }


def place_lines(found: FoundPlaces) -> list[str]:
    """Return where the words were found: the conversation, the speaker and the words around."""
    lines = [
        f"{place.conversation[:SHORT]}  {place.at[:10]}  {place.who}: {one_line(place.excerpt)}"
        for place in found.places
    ]
    if not lines:
        lines = [f"not found in {found.files} files"]
    if found.skipped:
        lines.append(f"{found.skipped} lines or files could not be looked into")
    if found.stopped:
        lines.append(f"there may be more: stopped after {found.stopped}")
    return lines


def place_object(place: FoundPlace) -> dict[str, Any]:
    """Return a place as ``history search --json`` prints it."""
    return {
        "session": place.conversation,
        "agent": place.subagent,
        "uuid": place.uuid,
        "at": place.at,
        "who": place.who,
        "excerpt": place.excerpt,
    }


# ---- one conversation ----------------------------------------------------------------------------


def write_conversation(paper: Paper, conversation: ConversationText, *, lines: int) -> None:
    """All that was said; of each tool's result the first ``lines``."""
    about = conversation.about
    paper.line(joined([about.title, about.cwd, about.model, about.version]), "notice")
    for piece in conversation.pieces:
        _write(paper, piece, lines)
    if conversation.branches:
        others = f"{conversation.branches} other ends of this conversation are not shown"
        paper.line(others, "warning")


def _write(paper: Paper, piece: Piece, lines: int) -> None:
    match piece.kind:
        case "prompt" | "text":
            paper.gap()
            paper.line(piece.text, STYLES.get(piece.kind, "text"))
        case "call":
            given = bytes(piece.input) if isinstance(piece.input, Raw) else b""
            paper.line(f"{piece.name} {cut(summary(given), 200)}", "tool")
        case "result":
            shown, more = folded(piece.text, lines)
            rest = [f"… {more} more lines"] if more else []
            paper.line("\n".join([*shown, *rest]), "failed" if piece.failed else "result")
        case "compacted":
            paper.line("the conversation was compacted here", "notice")
        case "interrupted":
            paper.line("interrupted", "notice")
        case "summary":
            pass  # what it sums up stands above
        case "thinking" if not piece.text:
            paper.line("(hidden)", "thinking")
        case kind:
            paper.line(piece.text, STYLES.get(kind, "text"))


# ---- the doctor ----------------------------------------------------------------------------------


def examined_lines(examined: Sequence[Examined]) -> list[str]:
    """Only those that have something; the last line counts all."""
    lines: list[str] = []
    for one in examined:
        if one.findings or one.error or one.done:
            lines.append(f"{one.kept.conversation}  {_verdict(one)}")
            lines += finding_lines(one.findings)
            lines += [f"  repaired: {one_line(done)}" for done in one.done]
            lines += [f"  what it was before is in {one.backup}"] if one.backup else []
            lines += [f"  {one_line(one.error)}"] if one.error else []
    stops = sum(one.stops for one in examined)
    lines.append(f"{len(examined)} looked at, {stops} would not resume")
    return lines


def _verdict(one: Examined) -> str:
    versions = list(dict.fromkeys(known for found in one.findings for known in found.effect))
    return ", ".join(f"{known}: {SAYS[worst(one.findings, known)]}" for known in versions)


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    lines = []
    for one in findings:
        lines.append(f"  {one.code}: {one_line(one.text)}")
        if one.repair:
            lines.append(f"    can be repaired: {one.repair}")
    return lines


def examined_object(one: Examined) -> dict[str, Any]:
    return {
        "session": one.kept.conversation,
        "folder": one.kept.folder,
        "effect": worst(one.findings),
        "findings": one.findings,
        "repaired": one.done,
        "backup": one.backup,
        "error": one.error,
    }
