"""Old conversations become sessions, one by one, and each says what became of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from flybridge.cli.output import writer
from flybridge.cli.rendering.columns import cut, table
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.terminal import size_of
from flybridge.client import connect
from flybridge.client.gateway import Client
from flybridge.errors import InvalidRequestError, RefusedError

SHORT = 8
SESSION = 12
TITLE = 40
HEADINGS = ("ID", "SESSION", "TITLE", "TURNS", "WHAT")


class Line(msgspec.Struct, kw_only=True):
    """What became of one conversation."""

    conversation: str
    session: str = ""
    title: str = ""
    cwd: str = ""
    turns: int = 0
    left_out: int = 0
    known: bool = False
    skipped: str = ""  # there is nothing to import
    error: str = ""


async def import_conversations(
    conversations: Sequence[str],
    *,
    agent: str,
    active: bool,
    as_json: bool,
    state: Path | None,
) -> int:
    """Import them all; the exit status. What refuses one conversation does not stop the rest."""
    async with await connect(state, name="history") as client:
        lines = [await _import(client, one, agent, active) for one in conversations]
    write = writer(sys.stdout)
    if as_json:
        write(msgspec.json.encode(lines).decode() + "\n")
    else:
        width = size_of(sys.stdout.fileno())[0] if sys.stdout.isatty() else None
        write("\n".join(import_lines(lines, width=width)) + "\n")
    return int(any(one.error for one in lines))


async def _import(client: Client, conversation: str, agent: str, active: bool) -> Line:
    params = {"agent": agent, "conversation": conversation, "archived": not active}
    try:
        answer = await client.ask("import", params)
    except InvalidRequestError as error:
        return Line(conversation=conversation, skipped=str(error))
    except RefusedError as error:
        return Line(conversation=conversation, error=str(error))
    return msgspec.convert(answer, Line)


def import_lines(lines: Sequence[Line], *, width: int | None = None) -> list[str]:
    """A table, in the order they were imported."""
    if not lines:
        return ["no conversations"]
    cells = [
        [
            one.conversation[:SHORT],
            one.session[:SESSION] or "-",
            cut(one_line(one.title or "-"), TITLE),
            str(one.turns or "-"),
            one_line(one.error or one.skipped) or ("was there" if one.known else _imported(one)),
        ]
        for one in lines
    ]
    return table([HEADINGS, *cells], width)


def _imported(one: Line) -> str:
    return f"imported, without {one.left_out} older turns" if one.left_out else "imported"
