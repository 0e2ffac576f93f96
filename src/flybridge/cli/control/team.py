"""``flybridge team``: who may steer sessions by control messages, and who may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

TEAM = "flybridge.team"  # the label that says which team a session belongs to
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_what = click.option(
    "--what",
    type=click.Choice(("stdin", "interrupt", "capabilities")),
    help="Only that; else everything.",
)
_session = click.option("--session", "sessions", multiple=True, help="Only there; else everywhere.")


@click.group()
def team() -> None:
    """Who may send control messages to which sessions.

    A member is a name in a team, and the principal that has to be at the other end. What no
    rule allows is denied; a denial wins over what is allowed.
    """


@team.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_state
def list_(as_json: bool, state: Path | None) -> None:
    """Show members and rules."""
    import msgspec

    from flybridge.cli.rendering.columns import table
    from flybridge.cli.rendering.safe_text import visible

    found = _ask("team.list", {}, state)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    members = [[one["team"], one["name"], one["principal"]] for one in found["members"]]
    rules = [
        [one["team"], one["effect"], one["sender"], one["session"], one["what"]]
        for one in found["rules"]
    ]
    if not members:
        click.echo("nobody may send control messages; begin with `flybridge team add`")
        return
    for line in table([["TEAM", "NAME", "PRINCIPAL"], *members], None):
        click.echo(visible(line))
    if not rules:
        click.echo("no rule allows anything; go on with `flybridge team allow`")
        return
    click.echo("")
    for line in table([["TEAM", "RULE", "SENDER", "SESSION", "WHAT"], *rules], None):
        click.echo(visible(line))


@team.command("add")
@click.argument("team")
@click.argument("name")
@click.option("--principal", default="", help="uid:1000, agent:uid:1000, token:<id>; else you.")
@_state
def add(team: str, name: str, principal: str, state: Path | None) -> None:
    """Let somebody into a team. That alone allows nothing."""
    asked = {"team": team, "name": name} | ({"principal": principal} if principal else {})
    found = _ask("team.add", asked, state)
    click.echo(f"{found['name']} in {found['team']} is {found['principal']}")


@team.command("remove")
@click.argument("team")
@click.argument("name")
@_state
def remove(team: str, name: str, state: Path | None) -> None:
    """Let somebody out, with their rules. What they sent and what has not left yet stays here."""
    _ask("team.remove", {"team": team, "name": name}, state)
    click.echo(f"{name} is not in {team} any more")


@team.command("allow")
@click.argument("team")
@click.argument("sender", default="*")
@_session
@_what
@_state
def allow(
    team: str, sender: str, sessions: tuple[str, ...], what: str | None, state: Path | None
) -> None:
    """Allow something to one sender of a team, or to all of them."""
    _rule("allow", team, sender, sessions, what, state)


@team.command("deny")
@click.argument("team")
@click.argument("sender", default="*")
@_session
@_what
@_state
def deny(
    team: str, sender: str, sessions: tuple[str, ...], what: str | None, state: Path | None
) -> None:
    """Deny something, whatever else allows it."""
    _rule("deny", team, sender, sessions, what, state)


@team.command("forget")
@click.argument("team")
@click.argument("sender", default="*")
@_session
@_what
@_state
def forget(
    team: str, sender: str, sessions: tuple[str, ...], what: str | None, state: Path | None
) -> None:
    """Take back the rules that are about exactly this."""
    _rule("forget", team, sender, sessions, what, state)


@team.command("pin")
@click.argument("name")
@click.argument("public")
@_state
def pin(name: str, public: str, state: Path | None) -> None:
    """Know a key: whoever signs with it is the principal key:NAME, by whatever way it comes.

    `flybridge control keygen` makes one. Prints what signed messages have to be meant for.
    """
    found = _ask("team.pin", {"name": name, "public": public}, state)
    click.echo(f"key:{name} is known; the audience is {found['gateway']}")


@team.command("unpin")
@click.argument("name")
@_state
def unpin(name: str, state: Path | None) -> None:
    """Know a key no more."""
    _ask("team.unpin", {"name": name}, state)
    click.echo(f"key:{name} is known no more")


def _rule(
    effect: str,
    team: str,
    sender: str,
    sessions: tuple[str, ...],
    what: str | None,
    state: Path | None,
) -> None:
    asked: dict[str, object] = {"effect": effect, "team": team, "sender": sender}
    asked |= {"sessions": sessions or ("*",), "what": what or "*"}
    _ask("team.rule", asked, state)
    done = {"allow": "allowed", "deny": "denied", "forget": "forgotten"}[effect]
    where = ", ".join(sessions) or "every session"
    who = "everybody" if sender == "*" else sender
    click.echo(f"{done}: {who} of {team}, {what or 'everything'}, in {where}")


def _ask(name: str, params: dict[str, Any], state: Path | None) -> dict[str, Any]:
    from flybridge.cli.running import ask

    return ask(name, params, state, us="team")
