"""``flybridge adhoc``: one task, one run, for people and for scripts."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flybridge.cli.opening.agent_option import given_pairs

if TYPE_CHECKING:
    from flybridge.cli.opening.trust import Folder
    from flybridge.cli.runs.loop import RunLoop
    from flybridge.client import Client
    from flybridge.errors import FlybridgeError
    from flybridge.frontends.runs.adapter import RunAdapter
    from flybridge.frontends.runs.wire.messages import RunConfig

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
@click.option(
    "--permission-mode",
    metavar="MODE",
    help="The agent's permission mode; without a terminal, one that asks less needs a CI key.",
)
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
@click.option(
    "-o",
    "--agent-option",
    "agent_option",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the agent by its name; `GET /api/v1/agents` lists them. Repeat it.",
)
@click.option("--stream", is_flag=True, help="With --output json: text as it grows, too.")
@click.option("--thinking", is_flag=True, help="What it thinks, too.")
@click.option(
    "--folder",
    type=click.Choice(("ask", "trust", "restrict")),
    default="ask",
    help="Settings that the directory brings: ask about them, trust them, or restrict the agent.",
)
@click.option("--attach", metavar="RUN", help="Come back to a run.")
@click.option("--after", metavar="MSG", help="With --attach: only what came after this frame.")
@click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    help="With --attach: the run's attach_key, to answer as its beginner; or $FLYBRIDGE_RUN_KEY.",
)
@click.option(
    "--ci-key-file",
    type=click.Path(path_type=Path),
    help="A CI key, which allows --permission-mode without a terminal; or $FLYBRIDGE_CI_KEY.",
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
    ci_key_file: Path | None,
    agent_option: tuple[str, ...],
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

    from flybridge.cli.running import fail
    from flybridge.cli.runs.session import CI_KEY_ENV, KEY_ENV
    from flybridge.errors import FlybridgeError

    key = os.environ.pop(KEY_ENV, "")  # nothing that is started here has to know it
    ci_key = os.environ.pop(CI_KEY_ENV, "")
    try:
        mode = _mode(output, flags["cwd"])
        _check(mode, prompt, attach, after, detach)
        if key_file and not attach:
            raise MisusedError("--key-file is for --attach")
        wanted, pairs = _config(flags), given_pairs(agent_option)
        said = os.fsencode(prompt or "").decode(errors="replace")
        keys = (key_file or key, ci_key_file or ci_key)
        work = _adhoc(mode, said, wanted, pairs, (attach, after), keys, folder, detach, state)
        status = asyncio.run(work)
    except KeyboardInterrupt:
        status = 1
    except MisusedError:
        raise
    except click.UsageError as error:
        raise MisusedError(error.format_message()) from error
    except FlybridgeError as error:
        fail(str(error), error.code)
    except OSError as error:
        fail(str(error), "internal")
    # a thread may still stand in a read of standard input: nothing waits for it
    sys.stderr.flush()
    os._exit(status)


def alias_of(command: click.Command) -> click.Command:
    """Return the same command with a help text that names the original."""
    alias = copy.copy(command)
    alias.help = alias.short_help = f"Alias of {command.name}."
    return alias


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
    from flybridge.frontends.runs.wire.messages import RunConfig

    return RunConfig(**{name: value for name, value in flags.items() if value is not None})


async def _adhoc(
    mode: str,
    prompt: str,
    flags: RunConfig,
    pairs: Mapping[str, Sequence[str]],
    attach: tuple[str | None, str | None],
    keys: tuple[str | Path, str | Path],
    folder: Folder,
    detach: bool,
    state: Path | None,
) -> int:
    import flybridge
    from flybridge.cli.runs.session import key_in, new_run_id, new_telling
    from flybridge.cli.runs.signals import EarlySignals, SignalledError
    from flybridge.client import connect
    from flybridge.errors import FlybridgeError
    from flybridge.frontends.runs.adapter import RunAdapter

    # a run that cannot be found or followed is not told of as if it had failed
    adapter, session = RunAdapter(new_run_id(), telling=new_telling()), ""
    early = EarlySignals()
    try:
        key, ci_key = (key_in(one) if isinstance(one, Path) else one for one in keys)
        connecting = connect(state, name=f"adhoc/{flybridge.__version__}")
        async with await early.unless(connecting) as client:
            if attach[0]:
                finding = _attached(client, attach[0], attach[1])
                adapter, session = await early.unless(finding)
            if pairs:
                flags = await early.unless(_with_options(client, flags, pairs))
            if mode == "cli" and _at_terminal() and not detach:
                from flybridge.cli.runs.terminal import RunAtTerminal

                early.release()
                person = RunAtTerminal(client, adapter, flags, folder)
                status = await person.run(session, prompt)
                return status
            known = (key if session else "", ci_key)
            loop = _loop(client, adapter, mode, prompt, flags, folder, detach, known)
            return await loop.run(session, signalled=early.name)
    except SignalledError as error:
        return _cancel(adapter, mode, str(error))
    except FlybridgeError as error:
        if mode == "cli" or adapter.terminal is not None:
            raise
        return _fail(adapter, error)


async def _with_options(
    client: Client, flags: RunConfig, pairs: Mapping[str, Sequence[str]]
) -> RunConfig:
    """Return what the flags say, with the options of the agent as its schema types them."""
    import msgspec

    from flybridge import config
    from flybridge.cli.opening.agent_option import agent_option_values

    agent = flags.agent or config.load(_folder(flags.cwd), env=os.environ).default_agent
    values = await agent_option_values(client, agent, pairs)
    return msgspec.structs.replace(flags, agent_options=values)


def _folder(cwd: str) -> Path:
    return Path(cwd or ".").resolve()


def _loop(
    client: Client,
    adapter: RunAdapter,
    mode: str,
    prompt: str,
    flags: RunConfig,
    folder: Folder,
    detach: bool,
    keys: tuple[str, str],
) -> RunLoop:
    from flybridge.cli.runs.loop import RunLoop
    from flybridge.cli.runs.text import RunText, as_frame, start_frame

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
        key=keys[0],
        ci_key=keys[1],
    )


def _fail(adapter: RunAdapter, error: FlybridgeError) -> int:
    """There is no gateway, or no such run: a script is told so in a frame."""
    import time

    from flybridge.cli.runs.session import code_of

    adapter.fail(code_of(error), str(error), time.time_ns() // 1_000_000)
    _write(adapter)
    return 1


def _cancel(adapter: RunAdapter, mode: str, name: str) -> int:
    """End a run that a signal has cancelled before there was a gateway to begin it."""
    import time

    from flybridge.cli.runs.signals import available

    now_ms = time.time_ns() // 1_000_000
    if mode == "cli":
        click.echo(f"flybridge: cancelled: {name}", err=True)
        return 0
    given = available(sys.stdin.fileno())
    if given:
        adapter.receive(given, now_ms)  # a run.start names the run
    adapter.cancel(name, now_ms)
    _write(adapter)
    return 0


def _write(adapter: RunAdapter) -> None:
    sys.stdout.buffer.write(b"".join(adapter.take()))
    sys.stdout.buffer.flush()


async def _attached(client: Client, run: str, after: str | None) -> tuple[RunAdapter, str]:
    from flybridge.cli.runs.session import find, new_telling
    from flybridge.errors import InvalidRequestError
    from flybridge.frontends.runs.adapter import RunAdapter
    from flybridge.frontends.runs.ids import place_of

    row = await find(client, run)
    if row is None:
        raise InvalidRequestError(f"no run {run!r}")
    place = place_of(run, after) if after else None
    if after and place is None:
        raise InvalidRequestError(f"{after!r} is no frame of the run {run}")
    return RunAdapter(run, telling=new_telling(), after=place), row.session


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
