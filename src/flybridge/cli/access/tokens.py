"""``flybridge token create|list|revoke`` and ``flybridge password``: who may come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def token() -> None:
    """Tokens for programs that reach the gateway by HTTP or WebSocket.

    A token can watch, talk and interrupt, or send control messages. It never approves, opens
    sessions or administers: whatever reads the file it is kept in could do so too.
    """


@token.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(("view", "input", "interrupt", "control")),
    help="What it may do; the first three, if nothing is said.",
)
@click.option("--days", type=click.FloatRange(0, 3650), default=0, help="How long it lasts.")
@click.option("--session", "sessions", multiple=True, help="Only for this session.")
@_state
def create(
    name: str,
    scopes: tuple[str, ...],
    days: float,
    sessions: tuple[str, ...],
    state: Path | None,
) -> None:
    """Make a token and print it. It is shown this once; only its hash is kept."""
    asked: dict[str, object] = {"name": name, "days": days, "sessions": sessions}
    if scopes:
        asked["scopes"] = scopes
    click.echo(_ask("token.create", asked, state)["token"])


@token.command("list")
@_json
@_state
def list_tokens(as_json: bool, state: Path | None) -> None:
    """Show tokens and logins, without their secrets."""
    import msgspec

    from flybridge.cli.rendering.columns import table
    from flybridge.cli.rendering.safe_text import visible

    found = _ask("token.list", {}, state)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    rows = [
        [one["kind"], one["id"], visible(one["name"]) or "-", " ".join(one["scopes"]), _end(one)]
        for one in (*found["tokens"], *found["logins"])
    ]
    if not rows:
        click.echo("no tokens, and nobody is logged in")
        return
    for line in table([["kind", "id", "name", "may", "expires"], *rows], None):
        click.echo(line)


def _end(one: dict[str, Any]) -> str:
    import time

    if not one["expires_ms"]:
        return "never"
    return time.strftime("%Y-%m-%d", time.localtime(one["expires_ms"] / 1000))


@token.command("revoke")
@click.argument("name")
@_state
def revoke(name: str, state: Path | None) -> None:
    """Take a token or a login back, by its name or id. Its connections end at once."""
    gone = _ask("token.revoke", {"name": name}, state)
    click.echo(f"revoked {gone['id']} {gone['name']}".rstrip())


@click.command()
@_state
def password(state: Path | None) -> None:
    """Set the password that logs browsers in. Whoever is logged in has to do so again."""
    import sys

    from flybridge.cli.running import USAGE, fail

    if not sys.stdin.isatty():
        fail("Run this command in a terminal to set a password.", "not_supported", USAGE)
    said = click.prompt("New password", hide_input=True, confirmation_prompt=True)
    _ask("password.set", {"password": said}, state)
    click.echo("set; every login has ended")


def _ask(name: str, params: dict[str, object], state: Path | None) -> dict[str, Any]:
    from flybridge.cli.running import run

    return run(asked(name, params, state))


async def asked(name: str, params: dict[str, Any], state: Path | None) -> dict[str, Any]:
    """The answer of the gateway to one question of its own."""
    from flybridge.client import connect

    async with await connect(state, name="token") as client:
        return await client.ask(name, params)
