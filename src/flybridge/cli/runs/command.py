"""``flybridge runs``: the runs there are, and how they went."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from flybridge.client import Client, SessionRow

MAX_RUNS = 200  # whose logs are read for how they went


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def runs(as_json: bool, state: Path | None) -> None:
    """List the runs, the newest first."""
    from flybridge.cli.running import run

    run(_runs(as_json, state))


async def _runs(as_json: bool, state: Path | None) -> None:
    import msgspec

    from flybridge.cli.output import writer
    from flybridge.client import connect
    from flybridge.frontends.runs.translate import RUN

    async with await connect(state, name="runs") as client:
        rows = [row for row in await client.sessions() if row.labels.get(RUN)]
        rows.sort(key=lambda row: row.created_ms, reverse=True)
        listed = [await _row(client, row, RUN) for row in rows[:MAX_RUNS]]
    write = writer(sys.stdout)
    if as_json:
        write(msgspec.json.encode(listed).decode() + "\n")
        return
    for one in listed:
        write(f"{one['run']}  {one['status']:<10}{one['started']}  {one['agent']}  {one['cwd']}\n")
    if not listed:
        write("no runs\n")


async def _row(client: Client, row: SessionRow, label: str) -> dict[str, str]:
    from flybridge.frontends.runs.wire.messages import timestamp

    return {
        "run": row.labels[label],
        "status": await _status(client, row, row.labels[label]),
        "started": timestamp(row.created_ms),
        "agent": row.agent,
        "cwd": row.cwd,
        "session": row.session,
    }


async def _status(client: Client, row: SessionRow, run: str) -> str:
    """How it ended, or what it waits for: read off its log."""
    from flybridge.frontends.runs.translate import RunLog

    log, after = RunLog(run), 0
    while log.terminal is None:
        page = await client.page(row.session, after, 1000)
        for item in page.events:
            log.apply(item.seq, item.at_ms, item.event)
            after = item.seq
        if not page.events or after >= page.head:
            break
    if log.terminal is not None:
        return str(log.terminal.__struct_config__.tag).removeprefix("run.")
    return "waiting" if log.open else "running"
