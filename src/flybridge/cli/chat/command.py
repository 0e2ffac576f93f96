"""``flybridge chat``: talk with an agent, watch it, allow or deny what it wants to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flybridge.cli.opening.options import GroupedCommand, given, opening_options

if TYPE_CHECKING:  # at run time only when it is needed: `flybridge --help` has no time for it
    from flybridge.cli.attachments import Attachment
    from flybridge.cli.opening.session import Wanted
    from flybridge.cli.rendering.screen import Look
    from flybridge.client import Client

MAX_STDIN_BYTES = 16 << 20


@click.command(cls=GroupedCommand)
@click.option("--session", metavar="ID", help="Go on with this session; its first letters do.")
@click.option("--last", is_flag=True, help="Go on with the newest session of this directory.")
@click.option(
    "--attach",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A picture or PDF that goes with the first message.",
)
@opening_options
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Without a terminal: how long to wait for the answer, and for somebody to allow things.",
)
@click.argument("prompt", nargs=-1)
def chat(
    prompt: tuple[str, ...], attach: tuple[Path, ...], timeout: float | None, **flags: Any
) -> None:
    """Talk with an agent in a new session, or in one that exists.

    At a terminal it goes on until you leave (Ctrl-D); the agent goes on without you, and
    `flybridge chat --session ID` brings you back. Esc interrupts the agent. When standard input
    is not a terminal, it is read as the prompt; the answer goes to standard output, and the
    exit status says whether there was one. An agent that has to ask something ends it with an
    error, at once or after `--timeout`; what it asks stays open in the session.

    Where a value is text or JSON, @FILE stands for what is in the file.
    """
    from flybridge.cli.opening.session import wanted_from
    from flybridge.cli.running import run

    said = os.fsencode(" ".join(prompt)).decode(errors="replace")
    piped = not sys.stdin.isatty()
    if piped:
        said = _with_stdin(said)
    wanted = wanted_from(flags, given(flags))
    files = _read_files(attach)
    sys.exit(run(_chat(wanted, said, files, piped=piped, timeout_s=timeout)))


def _with_stdin(said: str) -> str:
    """What was said on the command line, then what was piped in."""
    data = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(data) > MAX_STDIN_BYTES:
        raise click.UsageError(f"standard input is longer than {MAX_STDIN_BYTES} bytes")
    whole = "\n\n".join(part for part in (said, data.decode(errors="replace").strip()) if part)
    if not whole:
        raise click.UsageError("nothing to say: give a prompt, or run it at a terminal")
    return whole


def _read_files(paths: tuple[Path, ...]) -> tuple[Attachment, ...]:
    from flybridge.cli.attachments import read_attachment
    from flybridge.errors import InvalidRequestError

    try:
        return tuple(read_attachment(path) for path in paths)
    except InvalidRequestError as error:
        raise click.UsageError(f"--attach: {error}") from error


async def _chat(
    wanted: Wanted,
    said: str,
    files: tuple[Attachment, ...],
    *,
    piped: bool,
    timeout_s: float | None,
) -> int:
    import flybridge
    from flybridge.cli.opening.session import find_or_open
    from flybridge.client import connect

    async with await connect(wanted.state, name=f"chat/{flybridge.__version__}") as client:
        session = await find_or_open(client, wanted)
        if piped:
            return await _once(client, session, wanted, (said, files), timeout_s)
        return await talk(client, session, wanted.come_back(session), said, files)


async def _once(
    client: Client,
    session: str,
    wanted: Wanted,
    said: tuple[str, tuple[Attachment, ...]],
    timeout_s: float | None,
) -> int:
    from flybridge.cli.chat.one_shot import OneShot
    from flybridge.cli.output import plain_paper

    answer = plain_paper(sys.stdout, marks=sys.stdout.isatty())
    rest = plain_paper(sys.stderr, marks=True)
    shot = OneShot(client, session, answer=answer, rest=rest, come_back=wanted.come_back(session))
    return await shot.run(*said, timeout_s=timeout_s)


async def talk(
    client: Client,
    session: str,
    come_back: str,
    said: str = "",
    files: tuple[Attachment, ...] = (),
) -> int:
    """Chat until somebody leaves; the exit status."""
    from flybridge.cli.chat.interactive import Interactive
    from flybridge.cli.chat.line_chat import LineChat
    from flybridge.cli.output import look_of, plain_paper
    from flybridge.cli.terminal import size_of

    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        look = look_of(sys.stdout)
        _greet(session, look)
        chat = Interactive(
            client,
            session,
            stdin=sys.stdin.fileno(),
            stdout=sys.stdout.fileno(),
            look=look,
            come_back=come_back,
        )
        return await chat.run(said, files)
    paper = plain_paper(sys.stdout, marks=True)
    size = size_of(sys.stdout.fileno())
    lines = LineChat(
        client, session, stdin=sys.stdin.fileno(), paper=paper, size=size, come_back=come_back
    )
    return await lines.run(said, files)


def _greet(session: str, look: Look) -> None:
    click.echo(look.text(f"flybridge {session[:12]} · /help lists what you can do here", "2"))
