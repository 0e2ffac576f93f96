"""``flybridge open``: a browser that is logged in."""

from __future__ import annotations

import sys
from pathlib import Path

import click

SCREENS = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
SCOPES = ("view", "input", "interrupt", "approve", "spawn", "admin")


@click.command("open")
@click.option("--print", "only_print", is_flag=True, help="Print the link; start no browser.")
@click.option(
    "--remote",
    is_flag=True,
    help="Print a link for a browser that connects through SSH or a proxy, with all its rights.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    help="What it may be used for; everything, if nothing is said.",
)
@click.option("--for", "name", default="", help="Whom the link is for, if not for you.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def open_browser(
    only_print: bool, remote: bool, scopes: tuple[str, ...], name: str, state: Path | None
) -> None:
    """Open the gateway in a browser, logged in.

    The link works once, and for a minute. Only a person at a terminal gets one. A link that is
    passed to a browser works only for a program of this user on this machine.
    """
    from flybridge.cli.running import run

    prints = only_print or remote or name or not sys.stdout.isatty() or not has_screen()
    if not prints and open_in_browser(run(_link(scopes, name, state, "browser"))):
        return
    click.echo(run(_link(scopes, name, state, "remote" if remote else "print")))


async def _link(scopes: tuple[str, ...], name: str, state: Path | None, use: str) -> str:
    from flybridge.client import connect

    async with await connect(state, start=False, name="open") as client:
        asked: dict[str, object] = {"name": name, "use": use}
        if scopes:
            asked["scopes"] = scopes
        return str((await client.ask("login.link", asked))["link"])


def has_screen() -> bool:
    """Return whether a browser would be seen. One without a screen would take this terminal."""
    import os

    return sys.platform != "linux" or bool(SCREENS & os.environ.keys())


def open_in_browser(link: str) -> bool:
    """Pass a link to a browser, and return whether there is one."""
    import webbrowser

    if not has_screen():
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False
