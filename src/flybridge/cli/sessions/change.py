"""``flybridge sessions rename|archive|unarchive|delete``: names, and ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from flybridge.client import Client
    from flybridge.model.commands import Command

DONE_MS = 30_000
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_ids = click.argument("ids", metavar="ID...", nargs=-1, required=True)


@click.command("rename")
@click.argument("session", metavar="ID")
@click.argument("title", nargs=-1, required=True)
@_json
@_state
def rename(session: str, title: tuple[str, ...], as_json: bool, state: Path | None) -> None:
    """Give a session a title; '' takes it away."""
    from flybridge.cli.rendering.safe_text import one_line
    from flybridge.cli.running import run
    from flybridge.model.commands import Rename

    said = " ".join(title)
    done = f"is called {one_line(said)}" if said else "has no title any more"
    run(_change([session], Rename(title=said), done, as_json, state))


@click.command("archive")
@_ids
@_json
@_state
def archive(ids: tuple[str, ...], as_json: bool, state: Path | None) -> None:
    """Put sessions out of the way; `list --all` has them."""
    from flybridge.cli.running import run
    from flybridge.model.commands import Archive

    run(_change(ids, Archive(), "archived", as_json, state))


@click.command("unarchive")
@_ids
@_json
@_state
def unarchive(ids: tuple[str, ...], as_json: bool, state: Path | None) -> None:
    """List sessions again."""
    from flybridge.cli.running import run
    from flybridge.model.commands import Archive

    run(_change(ids, Archive(archived=False), "not archived any more", as_json, state))


@click.command("delete")
@_ids
@click.option("--yes", is_flag=True, help="Do not ask.")
@_json
@_state
def delete(ids: tuple[str, ...], yes: bool, as_json: bool, state: Path | None) -> None:
    """Delete sessions with everything that was said.

    Their agents are ended first.
    """
    from flybridge.cli.running import run
    from flybridge.model.commands import Delete

    if not yes and not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here: say --yes")
    done = "deleted, with everything that was said in it"
    run(_change(ids, Delete(), done, as_json, state, ask=not yes))


async def _change(
    ids: Sequence[str],
    command: Command,
    done: str,
    as_json: bool,
    state: Path | None,
    *,
    ask: bool = False,
) -> None:
    """Find all of them first: with a wrong one among them, nothing is changed."""
    import msgspec

    from flybridge.cli.sessions.text import SHORT, find_session
    from flybridge.client import connect

    async with await connect(state, name="sessions") as client:
        rows = await client.list()
        found = list(dict.fromkeys(find_session(rows, given) for given in ids))
        for session in found:
            if ask and not await _is_wanted(client, session):
                continue
            await _carry_out(client, session, command)
            if as_json:
                click.echo(msgspec.json.encode({"session": session, "done": done}).decode())
            else:
                click.echo(f"{session[:SHORT]}: {done}")


async def _carry_out(client: Client, session: str, command: Command) -> None:
    from flybridge.errors import GatewayError
    from flybridge.model.deliveries import Stage

    reply = await client.submit(session, command, until=Stage.DONE, wait_ms=DONE_MS)
    if reply.error:
        raise GatewayError(f"{session}: {reply.error}")


async def _is_wanted(client: Client, session: str) -> bool:
    from flybridge.cli.rendering.safe_text import one_line
    from flybridge.cli.sessions.text import SHORT

    view = await client.ask("view", {"session": session})
    title = one_line(str(view.get("title") or "")) or "no title"
    turns = view.get("turns", 0)
    said = f"delete {session[:SHORT]} ({title}, {turns} turns, {one_line(str(view['cwd']))})?"
    return click.confirm(said, err=True)
