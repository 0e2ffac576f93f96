"""``flybridge devices``: which small devices are let in, and what they may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flybridge.cli.companion.url import SlotNumber

RIGHTS = ("view", "input", "interrupt", "approve", "spawn", "auto_edit")
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def devices() -> None:
    """Small devices that come in at `flybridge serve --companion-host`.

    A device that nobody has paired shows a code, and nothing else. On this machine, where agents
    live, an address proves nothing: there a device needs a token.
    """


@devices.command("list")
@_json
@_state
def list_devices(as_json: bool, state: Path | None) -> None:
    """Show devices, those that wait to be paired, and the slots."""
    import msgspec

    from flybridge.cli.rendering.columns import table

    found = _ask("devices.list", {}, state)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    click.echo(f"devices come in at {found['listening'] or 'no address: see flybridge serve -h'}")
    for rows in (_devices(found), _waiting(found), _slots(found)):
        if len(rows) > 1:
            click.echo("")
            for line in table(rows, None):
                click.echo(line)


def _devices(found: dict[str, Any]) -> list[list[str]]:
    from flybridge.cli.rendering.safe_text import visible

    head = ["device", "known by", "may", "slots", "connected"]
    return [
        head,
        *(
            [
                visible(one["name"]),
                one["address"] or "token",
                " ".join(one["rights"]),
                " ".join(map(str, one["slots"])) or "all",
                str(one["connected"]),
            ]
            for one in found["devices"]
        ),
    ]


def _waiting(found: dict[str, Any]) -> list[list[str]]:
    head = ["waits to be paired", "with the code on its screen"]
    return [head, *([one["address"], "flybridge devices pair CODE"] for one in found["waiting"])]


def _slots(found: dict[str, Any]) -> list[list[str]]:
    from flybridge.cli.rendering.safe_text import visible

    head = ["slot", "agent", "folder", "mode", "now"]
    return [
        head,
        *(
            [
                str(one["slot"]),
                one["agent"],
                visible(one["dir"]),
                one["mode"] or "-",
                one["state"] or "free",
            ]
            for one in found["slots"]
        ),
    ]


@devices.command("pair")
@click.argument("code", required=False, default="")
@click.option("--name", required=True, help="What to call it.")
@click.option(
    "--may",
    "rights",
    multiple=True,
    type=click.Choice(RIGHTS),
    help="What it may do; only view, if nothing is said.",
)
@click.option("--slot", "slots", multiple=True, type=SlotNumber(), help="Only this slot.")
@click.option("--token", is_flag=True, help="Make a token, for a device that can say one.")
@_state
def pair(
    code: str,
    name: str,
    rights: tuple[str, ...],
    slots: tuple[int, ...],
    token: bool,
    state: Path | None,
) -> None:
    """Let a device in: the one that shows CODE, or one that gets a token.

    A token is printed this once; only its hash is kept.
    """
    if bool(code) == token:
        raise click.UsageError("say the code that the device shows, or --token")
    wanted = {"name": name, "rights": rights or ("view",), "slots": slots}
    if token:
        click.echo(_ask("devices.token", wanted, state)["token"])
        return
    done = _ask("devices.pair", {"code": code, **wanted}, state)
    click.echo(f"paired {done['name']} at {done['address']}")


@devices.command("revoke")
@click.argument("name")
@_state
def revoke(name: str, state: Path | None) -> None:
    """Take a device's rights back, by its name or id. Its connections end at once."""
    gone = _ask("devices.revoke", {"name": name}, state)
    click.echo(f"revoked {gone['id']} {gone['name']}")


@devices.command("slot")
@click.argument("number", metavar="SLOT", type=SlotNumber())
@click.option("--agent", help="Which agent is started in it.")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Where."
)
@click.option("--mode", help="In which permission mode.")
@_state
def slot(
    number: int, agent: str | None, folder: Path | None, mode: str | None, state: Path | None
) -> None:
    """Say what is started in a slot; a number beyond the last one adds slots."""
    known = _ask("devices.list", {}, state)["slots"]
    specs = [{key: one[key] for key in ("agent", "dir", "mode")} for one in known]
    specs += [{} for _ in range(number + 1 - len(specs))]
    given = {"agent": agent, "dir": folder and str(folder.resolve()), "mode": mode}
    specs[number] |= {key: value for key, value in given.items() if value is not None}
    done = _ask("slots.set", {"slots": specs}, state)["slots"][number]
    click.echo(f"slot {number}: {done['agent']} {done['dir']} {done['mode']}".rstrip())


def _ask(name: str, params: dict[str, Any], state: Path | None) -> dict[str, Any]:
    from flybridge.cli.access.tokens import asked
    from flybridge.cli.running import run

    return run(asked(name, params, state))
