"""``flybridge adhoc``: one task, one run, for people and for scripts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from flybridge.adapters.runs.adapter import RunAdapter
    from flybridge.cli.adhoc_loop import RunLoop
    from flybridge.cli.trusting import Folder
    from flybridge.client import Client
    from flybridge.errors import FlybridgeError
    from flybridge.wire.runs.messages import RunConfig

MODES = ("cli", "json")


class MisusedError(click.UsageError):
    exit_code = 1


class AdhocCommand(click.Command):
    """A command whose wrong use exits with 1, like a run that failed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise MisusedError(error.format_message(), ctx) from error


@click.command(cls=AdhocCommand)
@click.argument("prompt", required=False)
@click.option("--output", metavar="cli|json", help="For people, or frames for a script.")
@click.option("--agent", help="Which agent; the default is in the configuration.")
@click.option("--model", help="The agent's model.")
@click.option("--dir", "cwd", type=click.Path(), help="The directory it works in.")
@click.option("--permission-mode", help="The agent's permission mode.")
@click.option("--max-turns", type=click.IntRange(1, 10**6), help="Stop after so many turns.")
@click.option("--max-budget-usd", type=click.FloatRange(0, 10**6), help="Stop when this was spent.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, 10**7, min_open=True),
    metavar="SECONDS",
    help="The run fails when it takes longer.",
)
@click.option("--resume", metavar="ID", help="Go on with a conversation the agent had before.")
@click.option("--stream", is_flag=True, help="With --output json: text as it grows, too.")
@click.option("--thinking", is_flag=True, help="What it thinks, too.")
@click.option(
    "--folder",
    type=click.Choice(("ask", "trust", "restrict")),
    default="ask",
    help="What to do with settings that the directory brings: ask, obey or leave them out.",
)
@click.option("--attach", metavar="RUN", help="Come back to a run.")
@click.option("--after", metavar="MSG", help="With --attach: only what came after this frame.")
@click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    help="With --attach: the run's attach_key, to answer as its beginner; or $FLYBRIDGE_RUN_KEY.",
)
@click.option("--detach", is_flag=True, help="Print the run's id and leave; it goes on.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def adhoc(
    prompt: str | None,
    output: str | None,
    folder: Folder,
    attach: str | None,
    after: str | None,
    key_file: Path | None,
    detach: bool,
    state: Path | None,
    **flags: Any,
) -> None:
    """Run one task.

    With `--output json` standard input and output carry frames, one JSON object a line; the
    first one in is a run.start. The exit status is 0 for a run that was completed or
    cancelled, and 1 for one that failed.
    """
    import asyncio

    from flybridge.cli.adhoc_session import KEY_ENV
    from flybridge.cli.running import fail
    from flybridge.errors import FlybridgeError

    key = os.environ.pop(KEY_ENV, "")  # nothing that is started here has to know it
    try:
        mode = _mode(output, flags["cwd"])
        _check(mode, prompt, attach, after, detach)
        if key_file and not attach:
            raise MisusedError("--key-file is for --attach")
        wanted = _config(flags)
        said = os.fsencode(prompt or "").decode(errors="replace")
        coming_back = (attach, after, key_file or key)
        work = _adhoc(mode, said, wanted, coming_back, folder, detach, state)
        status = asyncio.run(work)
    except KeyboardInterrupt:
        status = 1
    except FlybridgeError as error:
        fail(str(error), error.code)
    except OSError as error:
        fail(str(error), "internal")
    # a thread may still stand in a read of standard input: nothing waits for it
    sys.stderr.flush()
    os._exit(status)


def _mode(output: str | None, cwd: str | None) -> str:
    from flybridge import config

    if output is None:
        output = config.load(Path(cwd or ".").resolve(), env=os.environ).output.adhoc_output
    if output not in MODES:
        raise MisusedError(f"unknown output mode: {output!r} (use 'cli' or 'json')")
    return output


def _check(
    mode: str, prompt: str | None, attach: str | None, after: str | None, detach: bool
) -> None:
    if after and not attach:
        raise MisusedError("--after is for --attach")
    if attach and (prompt or detach):
        raise MisusedError("--attach comes back to a run: it takes no prompt and no --detach")
    if mode == "json" and prompt:
        raise MisusedError("with --output json the prompt comes in a run.start frame")
    if mode == "cli" and not prompt and not attach:
        raise MisusedError("a prompt is required in cli mode")


def _config(flags: dict[str, Any]) -> RunConfig:
    from flybridge.wire.runs.messages import RunConfig

    return RunConfig(**{name: value for name, value in flags.items() if value is not None})


async def _adhoc(
    mode: str,
    prompt: str,
    flags: RunConfig,
    attach: tuple[str | None, str | None, str | Path],
    folder: Folder,
    detach: bool,
    state: Path | None,
) -> int:
    import flybridge
    from flybridge.adapters.runs.adapter import RunAdapter
    from flybridge.cli.adhoc_session import key_in, new_run_id, new_telling
    from flybridge.client import connect
    from flybridge.errors import FlybridgeError

    # a run that cannot be found or followed is not told of as if it had failed
    adapter, session = RunAdapter(new_run_id(), telling=new_telling()), ""
    try:
        key = key_in(attach[2]) if isinstance(attach[2], Path) else attach[2]
        async with await connect(state, name=f"adhoc/{flybridge.__version__}") as client:
            if attach[0]:
                adapter, session = await _attached(client, attach[0], attach[1])
            if mode == "cli" and _at_terminal() and not detach:
                from flybridge.cli.adhoc_terminal import RunAtTerminal

                person = RunAtTerminal(client, adapter, flags, folder)
                status = await person.run(session, prompt)
                return status
            known = key if session else ""
            loop = _loop(client, adapter, mode, prompt, flags, folder, detach, known)
            return await loop.run(session)
    except FlybridgeError as error:
        if mode == "cli" or adapter.terminal is not None:
            raise
        return _fail(adapter, error)


def _loop(
    client: Client,
    adapter: RunAdapter,
    mode: str,
    prompt: str,
    flags: RunConfig,
    folder: Folder,
    detach: bool,
    key: str,
) -> RunLoop:
    from flybridge.cli.adhoc_loop import RunLoop
    from flybridge.cli.adhoc_text import RunText, as_frame, start_frame

    text = RunText(progress=sys.stderr.isatty())
    as_text = text.show_id if detach else text.show
    given = start_frame(prompt) if prompt else b""
    return RunLoop(
        client,
        adapter,
        stdin=sys.stdin.fileno() if mode == "json" else given,
        stdout=sys.stdout.fileno(),
        flags=flags,
        show=as_frame if mode == "json" else as_text,
        folder=folder,
        detach=detach,
        key=key,
    )


def _fail(adapter: RunAdapter, error: FlybridgeError) -> int:
    """There is no gateway, or no such run: a script is told so in a frame."""
    import time

    from flybridge.cli.adhoc_session import code_of

    adapter.fail(code_of(error), str(error), time.time_ns() // 1_000_000)
    sys.stdout.buffer.write(b"".join(adapter.take()))
    sys.stdout.buffer.flush()
    return 1


async def _attached(client: Client, run: str, after: str | None) -> tuple[RunAdapter, str]:
    from flybridge.adapters.runs.adapter import RunAdapter
    from flybridge.adapters.runs.ids import place_of
    from flybridge.cli.adhoc_session import find, new_telling
    from flybridge.errors import InvalidRequestError

    row = await find(client, run)
    if row is None:
        raise InvalidRequestError(f"no run {run!r}")
    place = place_of(run, after) if after else None
    if after and place is None:
        raise InvalidRequestError(f"{after!r} is no frame of the run {run}")
    return RunAdapter(run, telling=new_telling(), after=place), row.session


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
