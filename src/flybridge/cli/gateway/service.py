"""``flybridge service`` and ``flybridge logs``: running it all the time, and reading along."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import click

UNIT = "flybridge.service"
MAX_LINES = 100_000
POLL_S = 0.2
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")


@click.group()
def service() -> None:
    """A systemd unit that runs `flybridge serve` for this user."""


@service.command("show")
@_state
def show(state: Path | None) -> None:
    """Print the unit."""
    click.echo(unit_text(state), nl=False)


@service.command("install")
@_state
def install(state: Path | None) -> None:
    """Write the unit, and say how to start it."""
    if state is not None:
        _check_state(state.absolute())
    path = _unit_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(unit_text(state))
    click.echo(f"wrote {path}")
    click.echo("start it:          systemctl --user daemon-reload")
    click.echo(f"                   systemctl --user enable --now {UNIT}")
    click.echo("run it logged out: loginctl enable-linger")


def _check_state(state: Path) -> None:
    """Refuse a state directory that is no directory and cannot become one."""
    import os

    place = next(folder for folder in (state, *state.parents) if os.path.lexists(folder))
    if not place.is_dir():
        raise click.UsageError(f"--state {state}: {place} is not a directory.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise click.UsageError(f"--state {state}: you cannot write to {place}.")


@service.command("remove")
def remove() -> None:
    """Take the unit away again."""
    path = _unit_path()
    if not path.exists():
        click.echo(f"there is no {path}")
        return
    path.unlink()
    click.echo(f"removed {path}")
    click.echo(f"stop it, if it runs: systemctl --user disable --now {UNIT}")


def unit_text(state: Path | None) -> str:
    """The unit. ``KillMode=process``: agents and their keepers outlive a restart of it."""
    argv = [sys.executable, "-m", "flybridge", "serve"]
    if state is not None:
        argv += ["--state", str(state.absolute())]
    return f"""\
[Unit]
Description=Flybridge, the second set of controls for coding agents

[Service]
ExecStart={shlex.join(argv)}
WorkingDirectory=/
KillMode=process
Restart=on-failure
RestartSec=1

[Install]
WantedBy=default.target
"""


def _unit_path() -> Path:
    import os

    base = os.environ.get("XDG_CONFIG_HOME", "")
    home = Path(base) if base.startswith("/") else Path.home() / ".config"
    return home / "systemd" / "user" / UNIT


@click.command()
@click.option("-n", "count", type=click.IntRange(1, MAX_LINES), default=50, help="How many lines.")
@click.option("-f", "follow", is_flag=True, help="Go on as more is written.")
@_state
def logs(count: int, follow: bool, state: Path | None) -> None:
    """Show what a gateway in the background wrote down.

    One that runs in the foreground writes to its own terminal, one that runs as a service to
    the journal: journalctl --user -u flybridge.
    """
    from collections import deque

    from flybridge.cli.rendering.safe_text import visible
    from flybridge.config.state_dir import StateDir

    path = StateDir.resolve(state).log
    if not path.exists():
        click.echo(f"no gateway has written to {path} yet")
        return
    with path.open(errors="replace") as file:
        for line in deque(file, maxlen=count):
            click.echo(visible(line.rstrip("\n")))
        try:
            while follow:
                line = file.readline()
                if line:
                    click.echo(visible(line.rstrip("\n")))
                else:
                    time.sleep(POLL_S)
        except KeyboardInterrupt:
            pass
