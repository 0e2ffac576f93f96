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
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    help="What it may be used for; everything, if nothing is said.",
)
@click.option("--for", "name", default="", help="Whom the link is for, if not for you.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def open_browser(only_print: bool, scopes: tuple[str, ...], name: str, state: Path | None) -> None:
    """Open the gateway in a browser, logged in.

    The link works once, and for a minute. Only a person at a terminal gets one.
    """
    from flybridge.cli.running import run

    link = run(_link(scopes, name, state))
    if only_print or name or not sys.stdout.isatty() or not open_in_browser(link):
        click.echo(link)


async def _link(scopes: tuple[str, ...], name: str, state: Path | None) -> str:
    from flybridge.client import connect

    async with await connect(state, start=False, name="open") as client:
        asked: dict[str, object] = {"name": name}
        if scopes:
            asked["scopes"] = scopes
        return str((await client.ask("login.link", asked))["link"])


def open_in_browser(link: str) -> bool:
    """Whether a browser was found that shows it. One without a screen would not be seen, and
    would take this terminal."""
    import os
    import webbrowser

    if sys.platform == "linux" and not SCREENS & os.environ.keys():
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False
