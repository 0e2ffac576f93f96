"""``flybridge ci-key create|list|revoke``: permission modes for programs without a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")


@click.group("ci-key")
def ci_key() -> None:
    """Keys that let CI jobs choose a permission mode.

    `flybridge adhoc` needs one for a mode that asks less than the default, when it runs without
    a terminal. Only a person at a terminal can make a key, and an agent cannot use one.
    """


@ci_key.command("create")
@click.argument("name")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    required=True,
    metavar="MODE",
    help="A permission mode that it allows, for example acceptEdits. Can be given several times.",
)
@click.option(
    "--agent",
    default="",
    metavar="NAME",
    help="The agent that it is for, and others of its kind; by default the configured one.",
)
@click.option(
    "--days",
    type=click.FloatRange(0, 3650),
    default=90,
    show_default=True,
    help="How long it is valid; 0: until it is revoked.",
)
@_state
def create(name: str, modes: tuple[str, ...], agent: str, days: float, state: Path | None) -> None:
    """Make a key and print it. It is shown this once; only its hash is stored."""
    asked = {"name": name, "modes": modes, "agent": agent, "days": days}
    click.echo(_ask("ci_key.create", asked, state)["key"])


@ci_key.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_state
def list_keys(as_json: bool, state: Path | None) -> None:
    """List the keys, without their secrets."""
    import msgspec

    from flybridge.cli.rendering.columns import table
    from flybridge.cli.rendering.safe_text import visible

    keys = _ask("ci_key.list", {}, state)["keys"]
    if as_json:
        click.echo(msgspec.json.encode(keys).decode())
        return
    rows = [
        [
            key["id"],
            visible(key["name"]),
            " ".join(key["kinds"]),
            " ".join(key["modes"]),
            _expiry(key),
        ]
        for key in keys
    ]
    if not rows:
        click.echo("There are no CI keys.")
        return
    for line in table([["id", "name", "agents", "modes", "expires"], *rows], None):
        click.echo(line)


def _expiry(key: dict[str, Any]) -> str:
    import time

    if not key["expires_ms"]:
        return "never"
    day = time.strftime("%Y-%m-%d", time.localtime(key["expires_ms"] / 1000))
    return f"{day} (expired)" if key["expires_ms"] <= time.time() * 1000 else day


@ci_key.command("revoke")
@click.argument("name")
@_state
def revoke(name: str, state: Path | None) -> None:
    """Revoke a key, by its name or id. Runs that it started go on."""
    gone = _ask("ci_key.revoke", {"name": name}, state)
    click.echo(f"revoked {gone['id']} {gone['name']}")


def _ask(name: str, params: dict[str, object], state: Path | None) -> dict[str, Any]:
    from flybridge.cli.access.tokens import asked
    from flybridge.cli.running import run

    return run(asked(name, params, state))
