"""``flybridge control send|interrupt|capabilities``: steer a live session from a program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from flybridge.client.control.sender import Sender, Target
    from flybridge.wire.control.messages import Ack

F = TypeVar("F", bound=Callable[..., Any])
# by result: what a script can tell apart
EXITS = {
    "ok": 0,
    "rejected": 3,
    "not_found": 4,
    "not_live": 5,
    "busy": 6,
    "timeout": 7,
    "internal_error": 8,
}


@click.group()
def control() -> None:
    """Steer live sessions: say something to an agent, or stop its turn.

    Every send has a request id. When nothing came back, send it again under the same id: the
    gateway tells what became of it, and does nothing twice. The exit status says the result:
    0 ok, 3 rejected, 4 not_found, 5 not_live, 6 busy, 7 timeout, 8 internal_error.

    Who may steer what is said with `flybridge team`.
    """


def _options(command: F) -> F:
    for option in (
        click.option("--state", type=click.Path(path_type=Path), help="State directory."),
        click.option("--url", help="A gateway elsewhere; its token is in $FLYBRIDGE_TOKEN_FILE."),
        click.option("--key", type=click.Path(path_type=Path), help="Sign with this key."),
        click.option("--key-name", help="What the gateway calls the key."),
        click.option("--audience", help="The gateway that it is signed for."),
        click.option("--team", help="The session's team; found out, if nothing is said."),
        click.option("--agent-id", help="<agent>:<its own id>; found out, if nothing is said."),
        click.option("--thread-id", help="Refuse unless this is the agent's own conversation id."),
        click.option("--sender", required=True, envvar="FLYBRIDGE_SENDER", help="Your name."),
        click.option("--timeout", type=float, help="Seconds to wait for an acknowledgement."),
        click.option("--retries", type=click.IntRange(0, 100), help="How often to try again."),
        click.option("--json", "as_json", is_flag=True, help="Print the acknowledgement."),
    ):
        command = option(command)
    return command


_id = click.option(
    "--request-id", default="", help="Repeat an earlier request: the id that it printed."
)
_of = click.option("--retry-of", help="The earlier request this one replaces.")


@control.command("send")
@click.argument("session", metavar="ID")
@click.argument("text", required=False)
@click.option("--file", type=click.File("rb"), help="Say what is in this file; - is stdin.")
@click.option(
    "--interrupt",
    is_flag=True,
    help="Stop the running turn first; needs the right to interrupt, too.",
)
@click.option(
    "--mode",
    type=click.Choice(("now", "queue")),
    help="now: refuse if it would wait; queue: after this turn.",
)
@_id
@_of
@_options
def send(
    session: str,
    text: str | None,
    file: Any,
    interrupt: bool,
    mode: Any,
    request_id: str,
    retry_of: str | None,
    **more: Any,
) -> None:
    """Say something to the agent of a session."""
    if (text is None) == (file is None):
        raise click.UsageError("Provide TEXT or --file FILE.")
    said = text if text is not None else _read(file)

    async def work(sender: Sender, target: Target) -> Ack:
        from msgspec import UNSET

        return await sender.stdin(
            target,
            said,
            request_id=request_id,
            interrupt=interrupt,
            mode=mode or UNSET,
            retry_of=retry_of or UNSET,
        )

    _run(session, work, more)


@control.command("interrupt")
@click.argument("session", metavar="ID")
@click.option("--turn-id", help="Only that turn; else the one that runs when this is asked.")
@_id
@_of
@_options
def interrupt(
    session: str, turn_id: str | None, request_id: str, retry_of: str | None, **more: Any
) -> None:
    """Stop the turn that runs. A turn that begins later is not stopped."""

    async def work(sender: Sender, target: Target) -> Ack:
        from msgspec import UNSET, UnsetType

        from flybridge.client.control.sender import interrupt_id, turn_of

        name, turn = request_id, turn_id or turn_of(request_id)
        if not (turn or request_id):
            found = (await sender.capabilities(target)).capabilities
            turn = "" if isinstance(found, UnsetType) else found.turn_id
            name = interrupt_id(turn)
        return await sender.interrupt(
            target, request_id=name, turn_id=turn or UNSET, retry_of=retry_of or UNSET
        )

    _run(session, work, more)


@control.command("capabilities")
@click.argument("session", metavar="ID")
@_options
def capabilities(session: str, **more: Any) -> None:
    """Show what a session can take at this moment."""

    async def work(sender: Sender, target: Target) -> Ack:
        return await sender.capabilities(target)

    _run(session, work, more)


@control.command("keygen")
@click.argument("file", type=click.Path(path_type=Path))
def keygen(file: Path) -> None:
    """Make a key to sign with, and print its public half for `flybridge team pin`."""
    from flybridge.cli.running import fail
    from flybridge.client.control.signed import new_key
    from flybridge.errors import FlybridgeError

    try:
        click.echo(new_key(file))
    except FlybridgeError as error:
        fail(str(error), error.code)


def _read(file: Any) -> str:
    try:
        return str(file.read().decode("utf-8"))
    except UnicodeDecodeError:
        raise click.UsageError("the file is not utf-8") from None


def _run(
    session: str, work: Callable[[Sender, Target], Awaitable[Ack]], more: dict[str, Any]
) -> None:
    from flybridge.cli.running import run

    ack = run(_work(session, work, more))
    _show(ack, more["as_json"])
    sys.exit(EXITS[ack.result])


async def _work(
    session: str, work: Callable[[Sender, Target], Awaitable[Ack]], more: dict[str, Any]
) -> Ack:
    from flybridge.cli.control.sender import making
    from flybridge.cli.running import fail
    from flybridge.errors import GatewayUnreachableError, SessionNotFoundError

    try:
        async with making(session, more) as (sender, target):
            try:
                return await work(sender, target)
            except GatewayUnreachableError as error:
                fail(str(error), error.code, EXITS["timeout"])
    except SessionNotFoundError as error:
        fail(str(error), error.code, EXITS["not_found"])


def _show(ack: Ack, as_json: bool) -> None:
    from msgspec import UnsetType

    from flybridge.cli.control.text import line_of, rows_of
    from flybridge.cli.rendering.safe_text import visible
    from flybridge.wire.control.messages import CapabilitiesAck, encode

    if as_json:
        click.echo(encode(ack).decode())
        return
    click.echo(visible(line_of(ack)), err=not isinstance(ack.error, UnsetType))
    if not isinstance(ack, CapabilitiesAck):
        click.echo(f"request id: {ack.request_id}", err=True)
    elif not isinstance(ack.capabilities, UnsetType):
        for row in rows_of(ack.capabilities):
            click.echo(visible(row))
