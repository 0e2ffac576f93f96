"""``flybridge companion url SLOT``: where a Claude Code that you start yourself finds us."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from flybridge.cli.opening.trust import Folder, open_in

SLOT = "companion.slot"
LAST_SLOT = 15


class SlotNumber(click.ParamType[int]):
    """A number from 0 to 15."""

    name = "slot"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        text = str(value)
        if not (text.isascii() and text.isdecimal()) or int(text[:4]) > LAST_SLOT:
            self.fail(f"SLOT must be a number from 0 to {LAST_SLOT}.", param, ctx)
        return int(text)


@click.command("url")
@click.argument("slot", type=SlotNumber())
@click.option(
    "--cwd",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Where the agent will work; here, if left out.",
)
@click.option("--agent", help="Which agent it will be.")
@click.option(
    "--folder",
    type=click.Choice(["ask", "trust"]),
    default="ask",
    help="What to do with settings that the folder brings.",
)
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def url(
    slot: int, cwd: Path, agent: str | None, folder: Literal["ask", "trust"], state: Path | None
) -> None:
    """Print the address for an agent that you start by hand, as slot SLOT.

    \b
        claude --sdk-url "$(flybridge companion url 0)"

    The address is good for one agent and must not be shown to others. It waits for 15 minutes;
    asked again meanwhile, the same one is printed. The agent's version has to be 2.1.120 or
    older: newer ones connect only to their maker.
    """
    from flybridge.cli.running import run

    click.echo(run(_url(slot, cwd.resolve(), agent, folder, state)))


async def _url(slot: int, cwd: Path, agent: str | None, folder: Folder, state: Path | None) -> str:
    import os

    from flybridge import config
    from flybridge.client import connect

    async with await connect(state, name="companion") as client:
        rows = await client.list()
        session = next((str(row["session"]) for row in rows if _is_in(row, slot)), "")
        if not session:
            session = await open_in(
                folder,
                lambda how: client.open(
                    agent=agent or config.load(cwd, env=os.environ).default_agent,
                    cwd=cwd,
                    labels={SLOT: str(slot)},
                    transport="by_hand",
                    folder=how,
                ),
            )
        return str((await client.ask("dial_in", {"session": session}))["url"])


def _is_in(row: dict[str, object], slot: int) -> bool:
    """Whether this session has an agent, or waits for one, in that slot."""
    labels = row.get("labels")
    is_live = row.get("status") in ("starting", "idle", "running")
    return is_live and isinstance(labels, dict) and labels.get(SLOT) == str(slot)
