"""``flybridge serve``: let browsers, devices and other machines in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flybridge.cli.gateway.browser import has_screen, open_in_browser

if TYPE_CHECKING:
    from flybridge.config import Config
    from flybridge.config.state_dir import StateDir
    from flybridge.frontends.companion.listener import CompanionSpec
    from flybridge.gateway.app import Gateway
    from flybridge.listeners.tcp import TcpSpec

TRIES = 50


@click.command()
@click.option("--host", help="The address to listen on; without one, this machine only.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port; 8420 if nothing else is set."
)
@click.option("--name", "names", multiple=True, help="Another name it goes by, behind a proxy.")
@click.option("--base-path", help="The path under which a proxy has it.")
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False), help="Certificate, PEM.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="Its key, PEM.")
@click.option("--companion-host", help="The address at which small devices come in; else none.")
@click.option(
    "--companion-port", type=click.IntRange(0, 65535), help="And its port; 3333 if not set."
)
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
@click.option("--open", "and_open", is_flag=True, help="Open a browser, logged in.")
@click.option("--log-json", is_flag=True, help="Log JSON lines even at a terminal.")
def serve(
    host: str | None,
    port: int | None,
    names: tuple[str, ...],
    base_path: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    companion_host: str | None,
    companion_port: int | None,
    state: Path | None,
    and_open: bool,
    log_json: bool,
) -> None:
    """Run the gateway in the foreground, and let browsers and other programs in.

    At a terminal it prints a link that logs one browser in, once, or opens it; `flybridge open`
    makes another. Agents outlive it: they go on with their keepers, and the next gateway finds
    them.
    """
    import asyncio
    import os

    from flybridge import config
    from flybridge.cli.running import fail
    from flybridge.config.state_dir import StateDir
    from flybridge.errors import FlybridgeError
    from flybridge.gateway import logs

    where = StateDir.resolve(state)
    try:
        settings = config.load(None, env=os.environ)
        logs.set_up(settings.log_level, sys.stderr, as_json=log_json or not sys.stderr.isatty())
        spec = _spec(settings, host, port, names, base_path, tls_cert, tls_key)
        devices = _companion(settings, companion_host, companion_port)
        asyncio.run(_serve(where, settings, spec, devices, and_open=and_open))
    except FlybridgeError as error:
        fail(str(error), error.code)


def _spec(
    settings: Config,
    host: str | None,
    port: int | None,
    names: tuple[str, ...],
    base_path: str | None,
    tls_cert: str | None,
    tls_key: str | None,
) -> TcpSpec:
    """What the command line says, and the configuration where it says nothing."""
    from flybridge.listeners.tcp import TcpSpec, check_bind

    known = settings.serve
    spec = TcpSpec(
        host=known.host if host is None else host,
        port=known.port if port is None else port,
        names=names or known.names,
        base_path=known.base_path if base_path is None else base_path,
        tls_cert=tls_cert or known.tls_cert,
        tls_key=tls_key or known.tls_key,
        client_header=known.client_header,
    )
    check_bind(spec)
    return spec


def _companion(settings: Config, host: str | None, port: int | None) -> CompanionSpec | None:
    """Where devices come in, if they do. An unnamed slot is the folder this was started in."""
    from flybridge.frontends.companion.listener import CompanionSpec

    known = settings.serve
    where = known.companion_host if host is None else host
    if not where:
        return None
    here = Path.cwd()
    return CompanionSpec(
        host=where,
        port=known.companion_port if port is None else port,
        agent=settings.default_agent,
        dir=str(Path.home() if here == Path(here.anchor) else here),
    )


async def _serve(
    where: StateDir,
    settings: Config,
    spec: TcpSpec,
    devices: CompanionSpec | None,
    *,
    and_open: bool,
) -> None:
    """Take over from a gateway that serves nobody but this machine's own programs."""
    import asyncio
    import os
    from functools import partial

    from flybridge.errors import GatewayRunningError
    from flybridge.gateway.app import Gateway

    for _ in range(TRIES):
        gateway = Gateway(where, settings, os.environ)
        try:
            await gateway.run(tcp=spec, companion=devices, ready=partial(_greet, gateway, and_open))
            return
        except GatewayRunningError:
            await _ask_to_leave(where)
            await asyncio.sleep(0.05)
    raise GatewayRunningError(f"another gateway holds {where.path}, and does not make way")


def _greet(gateway: Gateway, and_open: bool) -> None:
    """Say where it is; a link is for whoever sits here, and for no log."""
    click.echo(f"Flybridge is at {gateway.address}")
    if gateway.companions.address:
        click.echo(f"Devices come in at {gateway.companions.address}, unencrypted, once paired")
    if sys.stdout.isatty():
        opens = and_open and has_screen()
        if not (opens and open_in_browser(gateway.login_link(person_only=True))):
            click.echo(f"Log a browser in (once, within a minute): {gateway.login_link()}")
        click.echo("Ctrl-C stops the gateway; agents go on.")


async def _ask_to_leave(where: StateDir) -> None:
    """The one that runs has no port of its own to give up; its agents will not notice."""
    from flybridge.client import connect
    from flybridge.errors import GatewayRunningError, GatewayUnreachableError

    try:
        async with await connect(where, start=False, name="serve") as client:
            address = (await client.status()).get("address", "")
            if address:
                raise GatewayRunningError(f"a gateway serves already, at {address}")
            await client.ask("stop", {"for_another": True})
    except GatewayUnreachableError:
        pass  # it is leaving, or is just coming up
