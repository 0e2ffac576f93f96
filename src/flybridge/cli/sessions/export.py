"""``flybridge sessions export``: a session as a document, or as all of its events."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from flybridge.cli.export.log import Kind

KINDS = ("markdown", "json", "jsonl")


@click.command("export")
@click.argument("session", metavar="ID")
@click.option(
    "--format",
    "kind",
    type=click.Choice(KINDS),
    help="How; without it the file's name decides, else Markdown.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to; without it, to standard output.",
)
@click.option("--lines", type=click.IntRange(min=1), help="Of each tool's input and result.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def export(
    session: str,
    kind: Literal["markdown", "json", "jsonl"] | None,
    output: Path | None,
    lines: int | None,
    force: bool,
    state: Path | None,
) -> None:
    """Write a session to a file, to read or to keep.

    Markdown is for people. JSON has every event as it is stored: one document, or with jsonl
    one event per line.
    """
    from flybridge.cli.export.log import FORMATS
    from flybridge.cli.running import run

    if output and not force and output.exists() and str(output) != "-":
        raise click.UsageError(f"{output} exists; --force replaces it")
    by_name = FORMATS.get(output.suffix.lower(), "markdown") if output else "markdown"
    run(_export(session, kind or by_name, output, lines, force, state))


async def _export(
    given: str,
    kind: Kind,
    output: Path | None,
    lines: int | None,
    force: bool,
    state: Path | None,
) -> None:
    from flybridge.cli.attachments import size_text
    from flybridge.cli.export.log import LINES, export_file, export_to
    from flybridge.cli.rendering.safe_text import visible
    from flybridge.cli.sessions.text import find_session
    from flybridge.client import connect

    def show(data: bytes) -> None:
        if sys.stdout.isatty():  # no code of an agent's reaches a terminal
            data = visible(data.decode(errors="replace")).encode()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    async with await connect(state, name="sessions") as client:
        session = find_session(await client.list(), given)
        many = lines or LINES
        if output is None or str(output) == "-":
            await export_to(client, session, show, kind=kind, lines=many)
            return
        size = await export_file(client, session, output, kind=kind, lines=many, force=force)
        click.echo(f"{session[:12]}: written to {visible(str(output))}, {size_text(size)}")
