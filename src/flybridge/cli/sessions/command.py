"""``flybridge sessions``: what there is, what was said, and how to end it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flybridge.cli.sessions.change import archive, delete, rename, unarchive
from flybridge.cli.sessions.export import export
from flybridge.cli.sessions.open import fork, new, resume

if TYPE_CHECKING:
    from flybridge.client import Client

HEADS = 50  # sessions without a title that are looked into for their first words
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def sessions() -> None:
    """Open sessions, list them, read them, write them down, end them."""


for _command in (new, resume, fork, export, rename, archive, unarchive, delete):
    sessions.add_command(_command)


@sessions.command("list")
@click.option("--all", "everything", is_flag=True, help="Closed and archived ones too.")
@click.option("--ids", is_flag=True, help="Show what control messages call them, instead.")
@_json
@_state
def list_(everything: bool, ids: bool, as_json: bool, state: Path | None) -> None:
    """List the sessions, the newest first."""
    from flybridge.cli.running import run

    run(_list(everything, ids, as_json, state))


@sessions.command("show")
@click.argument("session", metavar="ID")
@click.option("--follow", is_flag=True, help="Go on with what happens.")
@_json
@_state
def show(session: str, follow: bool, as_json: bool, state: Path | None) -> None:
    """Print what was said and done in a session."""
    from flybridge.cli.running import run

    run(_show(session, follow, as_json, state))


@sessions.command("kill")
@click.argument("session", metavar="ID")
@click.option("--close", "how", flag_value="close", help="Close the session too; its log stays.")
@click.option("--delete", "how", flag_value="delete", help="Delete the session and its log.")
@_state
def kill(session: str, how: str | None, state: Path | None) -> None:
    """End the agent of a session. The session stays: the next message starts it again."""
    from flybridge.cli.running import run

    run(_kill(session, how or "", state))


async def _open(state: Path | None) -> Client:
    from flybridge.client import connect

    return await connect(state, name="sessions")


async def _list(everything: bool, ids: bool, as_json: bool, state: Path | None) -> None:
    import msgspec

    from flybridge.cli.control.sender import named
    from flybridge.cli.output import writer
    from flybridge.cli.sessions.text import id_lines, session_lines
    from flybridge.cli.terminal import size_of

    async with await _open(state) as client:
        rows = await client.list()
        if not everything:
            rows = [row for row in rows if row["status"] != "closed" and not row["archived"]]
        if as_json:
            writer(sys.stdout)(msgspec.json.encode(named(rows)).decode() + "\n")
            return
        heads = {} if ids else await _heads(client, rows)
    width = size_of(sys.stdout.fileno())[0] if sys.stdout.isatty() else None
    lines = id_lines(named(rows)) if ids else session_lines(rows, heads=heads, width=width)
    writer(sys.stdout)("\n".join(lines) + "\n")


async def _heads(client: Client, rows: list[dict[str, Any]]) -> dict[str, str]:
    """The first words said in the newest sessions that have no title."""
    untitled = [row for row in rows if not row["title"]]
    untitled.sort(key=lambda row: int(row["changed_ms"]), reverse=True)
    heads: dict[str, str] = {}
    for row in untitled[:HEADS]:
        page = await client.ask("page", {"session": row["session"], "max_bytes": 8192})
        heads[row["session"]] = _first_words(page.get("events") or page.get("entries") or [])
    return heads


def _first_words(lines: list[dict[str, Any]]) -> str:
    for line in lines:
        event = line.get("event", {})
        if event.get("type") == "input.accepted" and event.get("kind") == "message":
            return " ".join(str(part.get("text", "")) for part in event.get("content", []))
    return ""


async def _show(given: str, follow: bool, as_json: bool, state: Path | None) -> None:
    from flybridge.cli.chat.following import old_agent, state_of
    from flybridge.cli.output import plain_paper, writer
    from flybridge.cli.rendering.render import Renderer
    from flybridge.cli.sessions.text import find_session
    from flybridge.client import Detached, EventItem, PreviewItem, ViewItem

    paper = plain_paper(sys.stdout, marks=True)
    write = writer(sys.stdout)
    warned = ""
    async with await _open(state) as client:
        session = find_session(await client.list(), given)
        us = client.welcome.principal if client.welcome else ""
        renderer = Renderer(paper, lines=1000, width=1000, us=us, past=True)
        async with client.watch(session, previews=follow and not as_json) as items:
            async for item in items:
                if isinstance(item, EventItem) and as_json:
                    write(_json_line(item.seq, item.at_ms, item.raw))
                elif isinstance(item, EventItem):
                    renderer.event(item)
                elif isinstance(item, PreviewItem):
                    renderer.preview(item)
                if isinstance(item, ViewItem) and not as_json and not warned:
                    warned = old_agent(state_of(item.state))
                    if warned:
                        paper.line(warned, "warning")
                if isinstance(item, Detached) or (isinstance(item, ViewItem) and not follow):
                    break  # the first view comes when all of the past was told
    paper.fresh()


def _json_line(seq: int, at_ms: int, event: bytes) -> str:
    return f'{{"seq":{seq},"at_ms":{at_ms},"event":{event.decode(errors="replace")}}}\n'


async def _kill(given: str, how: str, state: Path | None) -> None:
    from flybridge.cli.sessions.text import SHORT, find_session
    from flybridge.model.commands import Close, Delete
    from flybridge.model.deliveries import Stage

    async with await _open(state) as client:
        rows = await client.list()
        session = find_session(rows, given)
        status = next(row["status"] for row in rows if row["session"] == session)
        lived = status not in ("off", "closed")
        short = session[:SHORT]
        if how == "delete":
            await client.submit(session, Delete(), until=Stage.DONE, wait_ms=30_000)
            click.echo(f"{short}: deleted, with everything that was said in it")
        elif how == "close":
            if status != "closed":
                await client.submit(session, Close(), until=Stage.DONE, wait_ms=30_000)
            await client.ask("stop_agent", {"session": session})
            click.echo(f"{short}: closed; its log stays")
        else:
            await client.ask("stop_agent", {"session": session})
            done = "its agent was ended" if lived else "it had no agent"
            click.echo(f"{short}: {done}; the session stays")
