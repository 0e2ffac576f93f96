"""``flybridge companion``: a handheld in the terminal, and what belongs to such devices."""

from __future__ import annotations

from pathlib import Path

import click

from flybridge.cli.companion.url import url


@click.group(invoke_without_command=True)
@click.pass_context
def companion(context: click.Context) -> None:
    """Small devices that show agents and answer their prompts.

    Without a command it is such a device itself, in this terminal.
    """
    if context.invoked_subcommand is None:
        context.invoke(run, address="", token="", state=None)


@companion.command("run")
@click.option("--address", default="", help="Where devices come in; else the gateway here.")
@click.option(
    "--token", default="", envvar="FLYBRIDGE_DEVICE_TOKEN", help="A token of `devices pair`."
)
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def run(address: str, token: str, state: Path | None) -> None:
    """Be a handheld, in this terminal: what it shows, and the buttons it has.

    It lets itself in for as long as it runs, where you administer the gateway; elsewhere it is
    paired like any device. Without a terminal it prints each frame it gets, and reads words:
    yes, always, no, escape, spawn, auto, slot N, say TEXT, quit.
    """
    from flybridge.cli import running
    from flybridge.cli.companion import run as companion_run

    running.run(companion_run.run(address, token, state))


companion.add_command(url)
