"""``flybridge history``: conversations that agents have had anywhere on this machine.

A kind of agent publishes how its own records are read (:mod:`flybridge.agents.history`). Nothing is
changed, but by ``doctor --repair``, after a backup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flybridge.model.agent_kinds import DEFAULT_KIND

if TYPE_CHECKING:
    from flybridge.agents.history import History, HistoryDoctor, KeptConversation
    from flybridge.cli.history.text import Examined

LISTED = 50
EXAMINED = 200
DAY_S = 24 * 3600
MAX_LISTED = 100_000
SEARCH_BYTES = 4 << 30
_kind = click.option(
    "--kind", default=DEFAULT_KIND, show_default=True, help="Conversations of this kind of agent."
)
_config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="The agent's configuration directory, if not where it usually is.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_agent = click.option("--agent", help="Which agent goes on; the default has the name of the kind.")
_cwd = click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Where it goes on; older versions can do that only where it began.",
)
_title = click.option("--title", help="A title for the session.")
_id = click.argument("conversation", metavar="ID")


def _opens(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments of a command that opens a session for a past conversation."""
    for parameter in (_kind, _config, _state, _json, _title, _cwd, _agent, _id):
        command = parameter(command)
    return command


@click.group()
def history() -> None:
    """Find, read, resume and mend conversations that agents had on this machine."""


@history.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=LISTED, show_default=True)
@click.option("--here", is_flag=True, help="Only those of this directory.")
@_json
@_config
@_kind
def list_(limit: int, here: bool, as_json: bool, config: Path | None, kind: str) -> None:
    """List the conversations, the newest first."""
    from flybridge.cli.running import run

    run(_list(kind, config, limit, here, as_json))


@history.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=LISTED, show_default=True)
@_json
@_config
@_kind
def search(
    words: tuple[str, ...], limit: int, as_json: bool, config: Path | None, kind: str
) -> None:
    """Look for words in everything that was said and done."""
    from flybridge.cli.running import run

    run(_search(kind, config, " ".join(words), limit, as_json))


@history.command()
@click.argument("conversation", metavar="ID")
@click.option("--lines", type=click.IntRange(min=0), default=20, help="Of each tool's result.")
@_json
@_config
@_kind
def show(conversation: str, lines: int, as_json: bool, config: Path | None, kind: str) -> None:
    """Print a conversation; the first letters of its id do."""
    from flybridge.cli.running import run

    run(_show(kind, config, conversation, lines, as_json))


@history.command()
@_opens
def resume(conversation: str, **given: Any) -> None:
    """Go on with a conversation in a session of Flybridge, which shows what was said before."""
    from flybridge.cli.running import run

    run(_open(conversation, fork=False, **given))


@history.command()
@_opens
def fork(conversation: str, **given: Any) -> None:
    """Go on with a copy of a conversation; the conversation stays what it is."""
    from flybridge.cli.running import run

    run(_open(conversation, fork=True, **given))


@history.command("import")
@click.argument("conversations", metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every conversation there is.")
@click.option(
    "--since",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="With --all: only those of the last days.",
)
@click.option("--active", is_flag=True, help="Show them in the list; else they are archived.")
@_agent
@_json
@_state
@_config
@_kind
def import_(
    conversations: tuple[str, ...], everything: bool, since: float | None, **given: Any
) -> None:
    """Keep conversations as sessions, without starting an agent.

    The first message to one goes on with it. One that is imported again stays as it is. The exit
    status is 1 if one could not be imported.
    """
    from flybridge.cli.running import run

    if everything == bool(conversations):
        raise click.UsageError("give either IDs or --all")
    if since is not None and not everything:
        raise click.UsageError("--since goes with --all")
    sys.exit(run(_import(conversations, since, **given)))


@history.command()
@click.argument("conversations", metavar="[ID]...", nargs=-1)
@click.option("--repair", is_flag=True, help="Put right what can be; a backup is kept beside it.")
@click.option("--limit", type=click.IntRange(min=1), default=EXAMINED, show_default=True)
@_json
@_config
@_kind
def doctor(
    conversations: tuple[str, ...],
    repair: bool,
    limit: int,
    as_json: bool,
    config: Path | None,
    kind: str,
) -> None:
    """Say which conversations would not resume, or not whole, and why.

    Without an ID it looks at the newest. The exit status is 1 if one of them does not resume.
    """
    from flybridge.cli.running import run

    sys.exit(run(_doctor(kind, config, conversations, repair, limit, as_json)))


# ---- what they do --------------------------------------------------------------------------------


def _history(kind: str, config: Path | None) -> History:
    """Return the conversations of a kind of agent on this machine.

    Raises:
        AgentKindError: there is no such kind.
        InvalidRequestError: its configuration directory cannot be chosen.
        NotSupportedError: it keeps no conversations that can be read.
    """
    from flybridge.agents.registry import REGISTRY
    from flybridge.errors import InvalidRequestError, NotSupportedError

    known = REGISTRY.get(kind)
    environ = dict(os.environ)
    if config is not None:
        if not known.config_env:
            raise InvalidRequestError(
                f"--config: agents of the kind {kind!r} have no such directory"
            )
        environ[known.config_env] = str(config)
    past = REGISTRY.history(kind, environ)
    if past is None:
        raise NotSupportedError(f"agents of the kind {kind!r} keep no conversations to be listed")
    return past


def _find(past: History, start: str) -> KeptConversation:
    """Return the conversation whose id begins with ``start``.

    Raises:
        SessionNotFoundError: there is none.
        InvalidRequestError: there are several.
    """
    from flybridge.agents.history import HistoryReader
    from flybridge.errors import InvalidRequestError, SessionNotFoundError

    if isinstance(past, HistoryReader):
        return past.find(start)
    listed = past.newest(limit=MAX_LISTED)
    found = [kept for kept in listed if start and kept.conversation.startswith(start)]
    if not found:
        raise SessionNotFoundError(start)
    if len(found) > 1:
        names = ", ".join(sorted(kept.conversation for kept in found)[:5])
        raise InvalidRequestError(f"{start!r} could be any of {names}")
    return found[0]


async def _import(
    given: tuple[str, ...],
    since: float | None,
    config: Path | None,
    kind: str,
    agent: str | None,
    **how: Any,
) -> int:
    import time

    from flybridge.cli.history.imports import import_conversations

    past = _history(kind, config)
    oldest_ms = 0.0 if since is None else (time.time() - since * DAY_S) * 1000
    chosen = [_find(past, start) for start in given] or [
        kept for kept in past.newest(limit=MAX_LISTED) if kept.modified_ms >= oldest_ms
    ]
    return await import_conversations(
        [kept.conversation for kept in chosen], agent=agent or kind, **how
    )


def _print(text: str) -> None:
    from flybridge.cli.output import writer

    writer(sys.stdout)(text + "\n")


def _print_json(value: object) -> None:
    import msgspec

    _print(msgspec.json.encode(value).decode())


async def _list(kind: str, config: Path | None, limit: int, here: bool, as_json: bool) -> None:
    from flybridge.cli.history.text import list_lines, row_object
    from flybridge.cli.terminal import size_of

    past = _history(kind, config)
    rows = past.newest(limit=limit, cwd=str(Path.cwd()) if here else "")
    if as_json:
        _print_json([row_object(row) for row in rows])
        return
    width = size_of(sys.stdout.fileno())[0] if sys.stdout.isatty() else None
    _print("\n".join(list_lines(rows, width=width)))


async def _search(kind: str, config: Path | None, words: str, limit: int, as_json: bool) -> None:
    from flybridge.cli.history.text import place_lines, place_object

    found = _history(kind, config).search(words, limit=limit, max_bytes=SEARCH_BYTES)
    if as_json:
        hits = [place_object(place) for place in found.places]
        _print_json({"hits": hits, "files": found.files, "stopped": found.stopped})
        return
    _print("\n".join(place_lines(found)))


async def _show(kind: str, config: Path | None, start: str, lines: int, as_json: bool) -> None:
    from flybridge.agents.history import HistoryReader
    from flybridge.cli.history.text import write_conversation
    from flybridge.cli.output import plain_paper
    from flybridge.errors import NotSupportedError

    past = _history(kind, config)
    kept = _find(past, start)
    if not isinstance(past, HistoryReader):
        raise NotSupportedError(f"conversations of the kind {kind!r} can be listed, not shown")
    conversation = past.read(kept)
    if as_json:
        _print_json(conversation)
        return
    paper = plain_paper(sys.stdout, marks=True)
    write_conversation(paper, conversation, lines=lines)
    paper.fresh()


async def _open(
    start: str,
    *,
    fork: bool,
    kind: str,
    agent: str | None,
    cwd: Path | None,
    title: str | None,
    as_json: bool,
    state: Path | None,
    config: Path | None,
) -> None:
    import uuid

    from flybridge.agents.history import HistoryDoctor
    from flybridge.cli.opening.trust import open_in
    from flybridge.client import connect
    from flybridge.errors import GatewayError

    past = _history(kind, config)
    kept = _find(past, start)
    if isinstance(past, HistoryDoctor):
        _check(past, kept, fork=fork)
    params = {
        "agent": agent or kind,
        "cwd": str(cwd) if cwd else kept.cwd,
        "title": title or kept.title or kept.problem,
        "request": str(uuid.uuid4()),
        "resume": kept.conversation,
        "fork": fork,
    }
    async with await connect(state, name="history") as client:
        opened = await open_in(
            "ask", lambda folder: client.ask("open", params | {"folder": folder})
        )
        if "resumed" not in opened:  # it did not understand, and began a new conversation
            await client.ask("stop_agent", {"session": opened["session"]})
            raise GatewayError("the gateway that runs is too old for this; restart it")
    if as_json:
        _print_json(opened)
    else:
        short = str(opened["session"])[:12]
        where = f" --state {state}" if state else ""
        _print(f"{short}: go on with  flybridge chat --session {short}{where}")


def _check(past: HistoryDoctor, kept: KeptConversation, *, fork: bool) -> None:
    """Refuse what cannot work, and print what will be missing."""
    from flybridge.agents.history import IN_USE
    from flybridge.cli.history.text import finding_lines
    from flybridge.errors import BusyError, InvalidRequestError

    findings = past.examine(kept, resuming=True)
    for finding in findings:
        if set(finding.effect.values()) == {"stops"}:
            raise InvalidRequestError(f"it would not resume: {finding.text}")
    if not fork and any(finding.code == IN_USE for finding in findings):
        raise BusyError("another program has it open; end that one, or fork it")
    for line in finding_lines([finding for finding in findings if finding.code != IN_USE]):
        click.echo(line, err=True)


async def _doctor(
    kind: str,
    config: Path | None,
    given: tuple[str, ...],
    repair: bool,
    limit: int,
    as_json: bool,
) -> int:
    from flybridge.agents.history import HistoryDoctor
    from flybridge.cli.history.text import Examined, examined_lines, examined_object
    from flybridge.errors import FlybridgeError, NotSupportedError

    past = _history(kind, config)
    if not isinstance(past, HistoryDoctor):
        raise NotSupportedError(f"conversations of the kind {kind!r} cannot be checked")
    chosen = [_find(past, start) for start in given] if given else past.newest(limit=limit)
    examined: list[Examined] = []
    for kept in chosen:
        row = Examined(kept=kept)
        try:
            row.findings = past.examine(kept)
            if repair:
                _repair(past, row)
        except FlybridgeError as error:
            row.error = str(error)
        examined.append(row)
    if as_json:
        _print_json([examined_object(row) for row in examined])
    else:
        _print("\n".join(examined_lines(examined)))
    return int(any(row.stops for row in examined))


def _repair(past: HistoryDoctor, row: Examined) -> None:
    """Mend one conversation, and examine it again if anything was changed."""
    repaired = past.repair(row.kept)
    row.error, row.backup, row.done = repaired.error, repaired.backup, list(repaired.done)
    if repaired.done:
        row.findings = past.examine(row.kept)
