"""A folder that brings its own settings: whoever opens it there is asked about them."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click

from flybridge.cli.rendering.safe_text import visible
from flybridge.errors import FolderNotTrustedError

Folder: TypeAlias = Literal["ask", "trust", "restrict"]
CHOICES = ("ask", "trust", "restrict")
MAX_SHOWN = 20
_T = TypeVar("_T")
_agent = click.option("--agent", default="", help="An agent of the kind that is meant.")
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")


async def open_in(folder: Folder, open_: Callable[[Folder], Awaitable[_T]]) -> _T:
    """Open a session; a person at a terminal is asked what to do with what the folder brings.

    Raises:
        FolderNotTrustedError: nobody is there to ask, or they would rather not.
    """
    try:
        return await open_(folder)
    except FolderNotTrustedError as error:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        chosen = _ask(error)
        if chosen is None:
            raise
    return await open_(chosen)


def _ask(error: FolderNotTrustedError) -> Folder | None:
    click.echo(f"{visible(error.folder)} brings settings that an agent would obey:")
    _list(error.files)
    if instructions := getattr(error, "instructions", ""):
        click.echo("It also has instructions, which an agent reads in any case:")
        _list(instructions)
    click.echo("Settings can allow tools, run hooks and programs, and start servers.")
    click.echo("Do you trust this folder?")
    can_restrict = getattr(error, "restrict", "") != "unsupported"
    answer = click.prompt(
        f"[t]rust it, {'[r]estrict: leave them out, ' if can_restrict else ''}[n]o",
        type=click.Choice(["t", "r", "n"] if can_restrict else ["t", "n"]),
        default="n",
        show_choices=False,
    )
    answers: dict[str, Folder | None] = {"t": "trust", "r": "restrict", "n": None}
    return answers[answer]


def _list(paths: str) -> None:
    names = paths.split("\n")
    for name in names[:MAX_SHOWN]:
        click.echo(f"  {visible(name)}")
    if len(names) > MAX_SHOWN:
        click.echo(f"  and {len(names) - MAX_SHOWN} more")


@click.group()
def trust() -> None:
    """Folders whose own settings agents may obey."""


@trust.command("list")
@_state
def list_folders(state: Path | None) -> None:
    """List the folders, each with the kind of agent behind it that it is trusted for.

    Without one it is trusted for the kind claude.
    """
    from flybridge.model.agent_kinds import FIRST_KIND

    answer = _run("trust.list", {}, state)
    folders = answer["folders"]
    others = [
        (folder, kind)
        for kind, trusted in answer.get("kinds", {}).items()
        for folder in trusted
        if kind != FIRST_KIND
    ]
    for folder in folders:
        click.echo(visible(str(folder)))
    for folder, kind in others:
        click.echo(f"{visible(str(folder))}  ({visible(str(kind))})")
    if not folders and not others:
        click.echo("no folder is trusted")


@trust.command("add")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, resolve_path=True))
@_agent
@_state
def add(folder: str, agent: str, state: Path | None) -> None:
    """Trust a folder and all in it, for agents of one kind (default: claude)."""
    _run("trust.add", {"folder": folder, "agent": agent}, state)
    click.echo(f"trusted: {visible(folder)}")


@trust.command("remove")
@click.argument("folder", type=click.Path(resolve_path=True))
@_agent
@_state
def remove(folder: str, agent: str, state: Path | None) -> None:
    """Stop trusting a folder, for agents of one kind (default: for all). Sessions that run in it
    are not changed."""
    known = _run("trust.remove", {"folder": folder, "agent": agent}, state)["removed"]
    click.echo(f"{'trusted no more' if known else 'was not trusted'}: {visible(folder)}")


def _run(name: str, params: dict[str, object], state: Path | None) -> dict[str, Any]:
    from flybridge.cli.running import run

    return run(_asked(name, params, state))


async def _asked(name: str, params: dict[str, object], state: Path | None) -> dict[str, Any]:
    from flybridge.client import connect

    async with await connect(state, name="trust") as client:
        return await client.ask(name, params)
