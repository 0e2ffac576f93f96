"""``flybridge audit show|verify``: who did what, and whether somebody changed the record."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")


_CONTROL = ("result", "duplicate", "request", "team", "agent_id", "sender")
_sent = click.option("--sent", is_flag=True, help="Of control messages sent from here, instead.")


@click.group()
def audit() -> None:
    """The record of logins, answers, tokens and refusals. Never of what was said."""


@audit.command("show")
@click.option("-n", "count", type=click.IntRange(1, 100_000), default=50, help="How many records.")
@click.option("--json", "as_json", is_flag=True, help="Print the records as they are.")
@_sent
@_state
def show(count: int, as_json: bool, sent: bool, state: Path | None) -> None:
    """Show the newest records."""
    from collections import deque

    from flybridge.cli.rendering.safe_text import visible
    from flybridge.store.audit import decoded, lines_of

    path = _path(state, sent)
    if not path.exists():
        click.echo("No records have been written yet.")
        return
    for line in deque(lines_of(path), maxlen=count):
        record = decoded(line)
        if as_json:
            click.echo(line.decode(errors="replace").rstrip("\n"))
        elif record is None:
            click.echo("(not a record)")
        else:
            click.echo(visible(_text(record)))


def _text(record: object) -> str:
    import time

    from flybridge.store.audit import Line

    assert isinstance(record, Line)
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.at_ms / 1000))
    words = [at, f"{record.outcome:8}", record.event]
    for name in (*_CONTROL, "code", "target", "detail", "session", "principal", "door", "source"):
        value = getattr(record, name)
        if value:
            words.append(f"{name}={value}")
    return "  ".join(words)


@audit.command("verify")
@_sent
@_state
def verify(sent: bool, state: Path | None) -> None:
    """Check the whole chain.

    Exit status 1 when a record was changed, taken out or cut off, or when a file is missing that
    must be there; 2 when there is no such state directory.
    """
    from flybridge.cli.running import USAGE, fail
    from flybridge.errors import FlybridgeError
    from flybridge.store.audit import Bad, missing
    from flybridge.store.audit import verify as check

    path = _path(state, sent)
    if not path.parent.is_dir():
        fail(f"State directory {path.parent} does not exist.", "not_found", USAGE)
    if not path.exists():
        deleted = missing(path, known=_has_been(path))
        if deleted:
            click.echo(deleted, err=True)
            sys.exit(1)
        click.echo("No records have been written yet.")
        return
    try:
        found = check(path)
    except FlybridgeError as error:
        fail(str(error), error.code)
    if isinstance(found, Bad):
        click.echo(f"record {found.n} {found.why}", err=True)
        sys.exit(1)
    click.echo(f"{found} records, none changed")


def _has_been(path: Path) -> bool:
    """Return whether another file shows that there has been a log: the journal of a gateway, or
    the lock of those who sent."""
    sent = path.with_suffix(".lock")
    if sent.exists():
        return sent.stat().st_size > 0
    return path.name == "audit.log" and path.with_name("journal.db").exists()


def _path(state: Path | None, sent: bool) -> Path:
    from flybridge.config.state_dir import StateDir

    found = StateDir.resolve(state)
    return found.sent if sent else found.audit
