"""``flybridge chat``: talk with an agent, watch it, allow or deny what it wants to do."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # at run time only when it is needed: `flybridge --help` has no time for it
    from flybridge.cli.screen import Look
    from flybridge.client import Client

MAX_STDIN_BYTES = 16 << 20


@click.command()
@click.option("--agent", help="Which agent; the default is in the configuration.")
@click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    show_default="here",
    help="The directory it works in.",
)
@click.option("--session", metavar="ID", help="Go on with this session; its first letters do.")
@click.option("--last", is_flag=True, help="Go on with the newest session of this directory.")
@click.option("--title", help="A title for the session.")
@click.option("--model", help="The agent's model.")
@click.option("--mode", help="The agent's permission mode.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Without a terminal: how long to wait for the answer.",
)
@click.argument("prompt", nargs=-1)
def chat(
    agent: str | None,
    cwd: Path,
    session: str | None,
    last: bool,
    title: str | None,
    model: str | None,
    mode: str | None,
    state: Path | None,
    timeout: float | None,
    prompt: tuple[str, ...],
) -> None:
    """Talk with an agent in a new session, or in one that exists.

    At a terminal it goes on until you leave (Ctrl-D); the agent goes on without you, and
    `flybridge chat --session ID` brings you back. Esc interrupts the agent. When standard input
    is not a terminal, it is read as the prompt; the answer goes to standard output, and the
    exit status says whether there was one.
    """
    from flybridge.cli.running import run

    if (session or last) and agent:
        raise click.UsageError("--agent is for a new session")
    if session and last:
        raise click.UsageError("--session or --last, not both")
    said = os.fsencode(" ".join(prompt)).decode(errors="replace")
    piped = not sys.stdin.isatty()
    if piped:
        said = _with_stdin(said)
    wanted = Wanted(agent, cwd.resolve(), session, last, title, model, mode, state)
    sys.exit(run(_chat(wanted, said, piped=piped, timeout_s=timeout)))


class Wanted:
    """Which session, and how."""

    def __init__(
        self,
        agent: str | None,
        cwd: Path,
        session: str | None,
        last: bool,
        title: str | None,
        model: str | None,
        mode: str | None,
        state: Path | None,
    ) -> None:
        self.agent = agent
        self.cwd = cwd
        self.session = session
        self.last = last
        self.title = title
        self.model = model
        self.mode = mode
        self.state = state

    def come_back(self, session: str) -> str:
        where = f" --state {shlex.quote(str(self.state))}" if self.state else ""
        return f"flybridge chat --session {session[:12]}{where}"


def _with_stdin(said: str) -> str:
    """What was said on the command line, then what was piped in."""
    data = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(data) > MAX_STDIN_BYTES:
        raise click.UsageError(f"standard input is longer than {MAX_STDIN_BYTES} bytes")
    whole = "\n\n".join(part for part in (said, data.decode(errors="replace").strip()) if part)
    if not whole:
        raise click.UsageError("nothing to say: give a prompt, or run it at a terminal")
    return whole


async def _chat(wanted: Wanted, said: str, *, piped: bool, timeout_s: float | None) -> int:
    import flybridge
    from flybridge.client import connect

    async with await connect(wanted.state, name=f"chat/{flybridge.__version__}") as client:
        session = await _session(client, wanted)
        if piped:
            return await _once(client, session, wanted, said, timeout_s)
        return await _talk(client, session, wanted, said)


async def _session(client: Client, wanted: Wanted) -> str:
    from flybridge import config
    from flybridge.cli.sessions_text import find_session, newest_in

    if wanted.session or wanted.last:
        rows = await client.list()
        cwd = str(wanted.cwd)
        session = find_session(rows, wanted.session) if wanted.session else newest_in(rows, cwd)
        await _adjust(client, session, wanted)
        return session
    settings = config.load(wanted.cwd, env=os.environ)
    return await client.open(
        agent=wanted.agent or settings.default_agent,
        cwd=wanted.cwd,
        title=wanted.title or settings.title,
        model=wanted.model or "",
        mode=wanted.mode or "",
        labels=settings.labels,
    )


async def _adjust(client: Client, session: str, wanted: Wanted) -> None:
    from flybridge.model.commands import Rename, SetMode, SetModel
    from flybridge.model.deliveries import Stage

    changes = [
        Rename(title=wanted.title) if wanted.title else None,
        SetModel(model=wanted.model) if wanted.model else None,
        SetMode(mode=wanted.mode) if wanted.mode else None,
    ]
    for change in changes:
        if change is not None:
            await client.submit(session, change, until=Stage.ACCEPTED)


async def _once(
    client: Client, session: str, wanted: Wanted, said: str, timeout_s: float | None
) -> int:
    from flybridge.cli.one_shot import OneShot
    from flybridge.cli.output import plain_paper

    answer = plain_paper(sys.stdout, marks=sys.stdout.isatty())
    rest = plain_paper(sys.stderr, marks=True)
    shot = OneShot(client, session, answer=answer, rest=rest, come_back=wanted.come_back(session))
    return await shot.run(said, timeout_s=timeout_s)


async def _talk(client: Client, session: str, wanted: Wanted, said: str) -> int:
    from flybridge.cli.interactive import Interactive
    from flybridge.cli.line_chat import LineChat
    from flybridge.cli.output import look_of, plain_paper
    from flybridge.cli.terminal import size_of

    back = wanted.come_back(session)
    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        _greet(session, look_of(sys.stdout))
        talk = Interactive(
            client,
            session,
            stdin=sys.stdin.fileno(),
            stdout=sys.stdout.fileno(),
            look=look_of(sys.stdout),
            come_back=back,
        )
        return await talk.run(said)
    paper = plain_paper(sys.stdout, marks=True)
    size = size_of(sys.stdout.fileno())
    lines = LineChat(
        client, session, stdin=sys.stdin.fileno(), paper=paper, size=size, come_back=back
    )
    return await lines.run(said)


def _greet(session: str, look: Look) -> None:
    click.echo(look.text(f"flybridge {session[:12]} · /help lists what you can do here", "2"))
