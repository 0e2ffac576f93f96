"""Old conversations as people read them: a line each, or word for word."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.cli.rendering.columns import cut, table
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import Paper
from flybridge.cli.sessions.text import age
from flybridge.cli.rendering.tool_text import folded, joined, summary
from flybridge.agents.claude.transcripts.conversation import Conversation, Piece, Summary
from flybridge.agents.claude.transcripts.doctor import Finding, worst
from flybridge.agents.claude.history import Transcript
from flybridge.agents.claude.search import Found, Hit

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


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list."""

    transcript: Transcript
    about: Summary


class Examined(msgspec.Struct, kw_only=True):
    """One transcript after the doctor saw it."""

    transcript: Transcript
    findings: list[Finding] = []
    done: list[str] = []
    backup: str = ""
    error: str = ""

    @property
    def stops(self) -> bool:
        return worst(self.findings) == "stops"


def list_lines(
    rows: Sequence[Row], *, width: int | None = None, now_ms: int | None = None
) -> list[str]:
    """A table, in the order the rows come."""
    if not rows:
        return ["no conversations"]
    now_ms = now_ms or time.time_ns() // 1_000_000
    cells = [
        [
            row.transcript.session[:SHORT],
            cut(one_line(row.about.title or row.about.prompt or "-"), TITLE),
            one_line(row.about.model or "-"),
            one_line(row.about.cwd or row.transcript.folder),
            age(now_ms - row.transcript.modified_ms),
        ]
        for row in rows
    ]
    return table([HEADINGS, *cells], width)


def row_object(row: Row) -> dict[str, Any]:
    about = msgspec.structs.asdict(row.about)
    return {
        **about,
        "session": row.transcript.session,
        "folder": row.transcript.folder,
        "modified_ms": row.transcript.modified_ms,
        "size": row.transcript.size,
    }


def hit_lines(found: Found) -> list[str]:
    """Where the words were found: the conversation, who said it, and the words around it."""
    lines = [
        f"{hit.transcript.session[:SHORT]}  {hit.at[:10]}  {hit.who}: {one_line(hit.excerpt)}"
        for hit in found.hits
    ]
    if not lines:
        lines = [f"not found in {found.files} files"]
    if found.skipped:
        lines.append(f"{found.skipped} lines or files could not be looked into")
    if found.stopped:
        lines.append(f"there may be more: stopped after {found.stopped}")
    return lines


def hit_object(hit: Hit) -> dict[str, Any]:
    return {
        "session": hit.transcript.session,
        "agent": hit.transcript.agent,
        "uuid": hit.uuid,
        "at": hit.at,
        "who": hit.who,
        "excerpt": hit.excerpt,
    }


# ---- one conversation ----------------------------------------------------------------------------


def write_conversation(paper: Paper, conversation: Conversation, *, lines: int) -> None:
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
            lines.append(f"{one.transcript.session}  {_verdict(one)}")
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
        "session": one.transcript.session,
        "folder": one.transcript.folder,
        "effect": worst(one.findings),
        "findings": one.findings,
        "repaired": one.done,
        "backup": one.backup,
        "error": one.error,
    }
