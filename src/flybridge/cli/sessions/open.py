"""``flybridge sessions new|resume|fork``: begin a session, go on with one, go on with a copy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flybridge.cli.opening.options import GroupedCommand, given, opening_options, session_options

if TYPE_CHECKING:
    from flybridge.cli.opening.session import Wanted

_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("new", cls=GroupedCommand)
@opening_options
@_json
@_state
def new(as_json: bool, **flags: Any) -> None:
    """Open a session, start its agent, and print the session's id."""
    from flybridge.cli.opening.session import wanted_from
    from flybridge.cli.running import run

    run(_new(wanted_from(flags, given(flags)), as_json))


@click.command("resume")
@click.argument("session", metavar="ID")
@_state
def resume(session: str, state: Path | None) -> None:
    """Go on chatting in a session.

    If its agent has ended, your first message starts it again.
    """
    from flybridge.cli.opening.session import Wanted
    from flybridge.cli.running import run

    wanted = Wanted(cwd=Path(), state=state, session=session)
    if not sys.stdin.isatty():
        raise click.UsageError(f"not at a terminal: pipe to flybridge chat --session {session}")
    sys.exit(run(_resume(wanted)))


@click.command("fork", cls=GroupedCommand)
@click.argument("session", metavar="ID")
@click.option("--title", help="A title for the new session.")
@click.option("--model", help="Another model.")
@click.option("--mode", help="A permission mode; that of the session is not copied.")
@session_options
@_json
@_state
def fork(session: str, as_json: bool, **flags: Any) -> None:
    """Go on in a copy of a session's conversation.

    Opens a new session and prints its id. It has the options of this one, but for those that
    are given here.
    """
    from flybridge.cli.opening.session import wanted_from
    from flybridge.cli.running import run

    flags = {**flags, "cwd": Path(), "session": session, "fork": True}
    run(_new(wanted_from(flags, given(flags)), as_json))


async def _new(wanted: Wanted, as_json: bool) -> None:
    import msgspec

    from flybridge.cli.opening.session import find_or_open
    from flybridge.client import connect

    async with await connect(wanted.state, name="sessions") as client:
        session = await find_or_open(client, wanted)
    if as_json:
        click.echo(msgspec.json.encode({"session": session}).decode())
        return
    click.echo(session)
    if sys.stdout.isatty():
        click.echo(f"go on with: {wanted.come_back(session)}", err=True)


async def _resume(wanted: Wanted) -> int:
    from flybridge.cli.chat.command import talk
    from flybridge.cli.opening.session import find_open
    from flybridge.client import connect

    async with await connect(wanted.state, name="sessions") as client:
        session = await find_open(client, wanted.session or "")
        return await talk(client, session, wanted.come_back(session))
