"""``flybridge ipc``: a bridge for the program that starts it, over standard input and output."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Literal

import click

from flybridge.model.agent_kinds import DEFAULT_KIND

_DIRECTORY = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)


@click.command()
@click.option(
    "--dir", "cwd", type=_DIRECTORY, default=".", show_default="here", help="The project."
)
@click.option("--agent", metavar="NAME", help=f"Which agent; the default is {DEFAULT_KIND}.")
@click.option("--model", metavar="M", default="", help="The agent's model.")
@click.option(
    "--permission-mode", "mode", metavar="M", default="", help="Instead of the configured one."
)
@click.option(
    "--session", metavar="ID", default="", help="Go on with this conversation of the agent's."
)
@click.option("--new", is_flag=True, help="Begin a new conversation in any case.")
@click.option("--plugin-dir", multiple=True, type=_DIRECTORY, help="A folder with plugins.")
@click.option("--add-dir", multiple=True, type=_DIRECTORY, help="It may work there too.")
@click.option("--allow-bypass", is_flag=True, help="bypassPermissions may be switched on.")
@click.option(
    "--folder",
    type=click.Choice(("ask", "trust", "restrict")),
    default="ask",
    help="Settings that the project brings: refuse to start, obey them, or leave them out.",
)
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def ipc(
    cwd: Path,
    agent: str | None,
    folder: Literal["ask", "trust", "restrict"],
    state: Path | None,
    **wanted: Any,
) -> None:
    """Be a bridge to an agent for the program that starts this one.

    It speaks NDJSON, the IPC that docs/reference/ipc.md describes: one message a line on
    standard input and output, warnings on standard error. It goes on with the last conversation
    of the project, and ends the agent when standard input ends, unless others are attached.
    """
    from flybridge import config
    from flybridge.cli.ipc.bridge import bridge
    from flybridge.cli.ipc.last import Wanted
    from flybridge.cli.running import fail, run
    from flybridge.errors import FlybridgeError

    try:
        mode = config.load(cwd, env=os.environ).ipc.permission_mode
    except FlybridgeError as error:
        fail(str(error), error.code)
    plan = Wanted(
        cwd=str(cwd),
        agent=agent or DEFAULT_KIND,
        mode=wanted["mode"] or mode,
        mode_given=bool(wanted["mode"]) or mode != config.Config().ipc.permission_mode,
        model=wanted["model"],
        session=wanted["session"],
        new=wanted["new"],
        plugin_dirs=tuple(str(one) for one in wanted["plugin_dir"]),
        add_dirs=tuple(str(one) for one in wanted["add_dir"]),
        allow_bypass=wanted["allow_bypass"],
        folder=folder,
    )
    sys.exit(run(bridge(plan, state)))
