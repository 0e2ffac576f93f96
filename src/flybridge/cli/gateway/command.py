"""``flybridge gateway run|status|stop``: the process behind every other command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from flybridge.client import Client

STOP_S = 15.0
_state = click.option("--state", help="State directory.", type=click.Path(path_type=Path))


@click.group()
def gateway() -> None:
    """The process that every other command talks to; it starts by itself when needed."""


@gateway.command("run")
@_state
@click.option("--auto", is_flag=True, help="End when nobody has needed it for a while.")
def run(state: Path | None, auto: bool) -> None:
    """Run a gateway in the foreground."""
    import asyncio
    import os

    from flybridge import config
    from flybridge.cli.running import fail
    from flybridge.config.state_dir import StateDir
    from flybridge.errors import FlybridgeError
    from flybridge.gateway import logs
    from flybridge.gateway.app import Gateway

    where = StateDir.resolve(state)
    try:
        settings = config.load(None, env=os.environ)
        logs.set_up(settings.log_level, sys.stderr, as_json=False)
        asyncio.run(Gateway(where, settings, os.environ).run(auto=auto))
    except FlybridgeError as error:
        fail(str(error), error.code)


@gateway.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_state
def status(as_json: bool, state: Path | None) -> None:
    """Say how the gateway is. Exit status 1 when none runs; none is started."""
    from flybridge.cli import running

    running.run(_status(as_json, state))


@gateway.command("stop")
@_state
def stop(state: Path | None) -> None:
    """Stop the gateway. Agents keep running; the next gateway reattaches to them."""
    from flybridge.cli import running

    running.run(_stop(state))


async def _reach(state: Path | None) -> Client:
    from flybridge.client import StateDir, connect
    from flybridge.errors import GatewayUnreachableError

    try:
        return await connect(state, start=False, name="gateway")
    except GatewayUnreachableError:
        where = StateDir.resolve(state).path
        raise GatewayUnreachableError(f"no gateway runs for {where}") from None


async def _status(as_json: bool, state: Path | None) -> None:
    import time

    import msgspec

    from flybridge.cli.rendering.tool_text import duration

    async with await _reach(state) as client:
        said = await client.status()
    if as_json:
        click.echo(msgspec.json.encode(said).decode())
        return
    up = duration(time.time_ns() // 1_000_000 - int(said["started_ms"]))
    click.echo(f"gateway {said['version']}, process {said['pid']}, up for {up}")
    click.echo(f"state directory: {said['state']}")
    others = max(int(said["clients"]) - 1, 0)  # the one that asks is no news
    click.echo(f"agents: {said['agents']}, sessions: {said['sessions']}, clients: {others}")


async def _stop(state: Path | None) -> None:
    from flybridge.errors import GatewayUnreachableError
    from flybridge.runtime.keeper.process import start_time

    try:
        client = await _reach(state)
    except GatewayUnreachableError as error:
        click.echo(f"{error}: nothing to stop")
        return
    async with client:
        pid = int((await client.status())["pid"])
        start = start_time(pid) or ""
        agents = int((await client.stop_gateway()).get("agents", 0))
    await _wait_gone(pid, start)
    click.echo("the gateway is stopped")
    if agents:
        words = (
            "1 agent is still running; the next gateway will reattach to it."
            if agents == 1
            else f"{agents} agents are still running; the next gateway will reattach to them."
        )
        click.echo(words)


async def _wait_gone(pid: int, start: str) -> None:
    """Wait for the process itself: its socket goes first, its lock last."""
    import asyncio

    from flybridge.errors import GatewayError
    from flybridge.runtime.keeper.process import alive

    try:
        async with asyncio.timeout(STOP_S):
            while alive(pid, start):
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise GatewayError(f"process {pid} has not ended within {STOP_S:.0f} s") from None
