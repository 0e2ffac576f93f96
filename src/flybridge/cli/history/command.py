"""``flybridge history``: conversations Claude Code has had anywhere on this machine.

Read from its own files; nothing is changed, but by ``doctor --repair``, after a backup.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from flybridge.cli.history.text import Examined, Row
    from flybridge.agents.claude.transcripts.doctor import Finding
    from flybridge.agents.claude.history import ClaudeHistory, Transcript

LISTED = 50
EXAMINED = 200
DAY_S = 24 * 3600
_config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Claude's configuration directory, if not where it usually is.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_state = click.option("--state", type=click.Path(path_type=Path), help="State directory.")
_agent = click.option("--agent", default="claude", show_default=True, help="Which agent goes on.")
_cwd = click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Where it goes on; older versions can do that only where it began.",
)
_title = click.option("--title", help="A title for the session.")


@click.group()
def history() -> None:
    """Find, read, resume and mend conversations of Claude Code."""


@history.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=LISTED, show_default=True)
@click.option("--here", is_flag=True, help="Only those of this directory.")
@_json
@_config
def list_(limit: int, here: bool, as_json: bool, config: Path | None) -> None:
    """List the conversations, the newest first."""
    from flybridge.cli.running import run

    run(_list(limit, here, as_json, config))


@history.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=LISTED, show_default=True)
@_json
@_config
def search(words: tuple[str, ...], limit: int, as_json: bool, config: Path | None) -> None:
    """Look for words in everything that was said and done."""
    from flybridge.cli.running import run

    run(_search(" ".join(words), limit, as_json, config))


@history.command()
@click.argument("conversation", metavar="ID")
@click.option("--lines", type=click.IntRange(min=0), default=20, help="Of each tool's result.")
@_json
@_config
def show(conversation: str, lines: int, as_json: bool, config: Path | None) -> None:
    """Print a conversation; the first letters of its id do."""
    from flybridge.cli.running import run

    run(_show(conversation, lines, as_json, config))


@history.command()
@click.argument("conversation", metavar="ID")
@_agent
@_cwd
@_title
@_json
@_state
@_config
def resume(conversation: str, **given: Any) -> None:
    """Go on with a conversation in a session of Flybridge, which shows what was said before."""
    from flybridge.cli.running import run

    run(_open(conversation, fork=False, **given))


@history.command()
@click.argument("conversation", metavar="ID")
@_agent
@_cwd
@_title
@_json
@_state
@_config
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
def doctor(
    conversations: tuple[str, ...],
    repair: bool,
    limit: int,
    as_json: bool,
    config: Path | None,
) -> None:
    """Say which conversations would not resume, or not whole, and why.

    Without an ID it looks at the newest. The exit status is 1 if one of them does not resume.
    """
    from flybridge.cli.running import run

    sys.exit(run(_doctor(conversations, repair, limit, as_json, config)))


# ---- what they do --------------------------------------------------------------------------------


def _history(config: Path | None) -> ClaudeHistory:
    from flybridge.agents.claude.history import ClaudeHistory

    return ClaudeHistory(config) if config else ClaudeHistory.of(os.environ)


async def _import(
    given: tuple[str, ...], since: float | None, config: Path | None, **how: Any
) -> int:
    import time

    from flybridge.cli.history.imports import import_conversations

    past = _history(config)
    oldest_ms = 0.0 if since is None else (time.time() - since * DAY_S) * 1000
    wanted = [past.find(one) for one in given] or [
        one for one in past.newest() if one.modified_ms >= oldest_ms
    ]
    return await import_conversations([one.session for one in wanted], **how)


def _row(past: ClaudeHistory, transcript: Transcript) -> Row:
    from flybridge.cli.history.text import Row
    from flybridge.agents.claude.transcripts.conversation import summarise
    from flybridge.errors import StorageError
    from flybridge.agents.claude.history import MAX_HEAD_BYTES

    try:
        ends = past.ends(transcript)
        about = summarise(ends.head, ends.tail)
        if not about.prompt and not ends.whole:  # a picture, or a long text, comes first
            ends = past.ends(transcript, MAX_HEAD_BYTES)
            about = summarise(ends.head, ends.tail)
    except StorageError as error:
        about = summarise(())
        about.title = str(error)
    return Row(transcript=transcript, about=about)


def _print(text: str) -> None:
    from flybridge.cli.output import writer

    writer(sys.stdout)(text + "\n")


def _print_json(value: object) -> None:
    import msgspec

    _print(msgspec.json.encode(value).decode())


async def _list(limit: int, here: bool, as_json: bool, config: Path | None) -> None:
    from flybridge.cli.terminal import size_of
    from flybridge.cli.history.text import list_lines, row_object

    past = _history(config)
    rows: list[Row] = []
    for transcript in past.newest():
        row = _row(past, transcript)
        if not here or row.about.cwd == str(Path.cwd()):
            rows.append(row)
        if len(rows) == limit:
            break
    if as_json:
        _print_json([row_object(row) for row in rows])
        return
    width = size_of(sys.stdout.fileno())[0] if sys.stdout.isatty() else None
    _print("\n".join(list_lines(rows, width=width)))


async def _search(words: str, limit: int, as_json: bool, config: Path | None) -> None:
    from flybridge.cli.history.text import hit_lines, hit_object
    from flybridge.agents.claude.search import search

    past = _history(config)
    found = search(past, past.newest(), words, max_hits=limit)
    if as_json:
        hits = [hit_object(hit) for hit in found.hits]
        _print_json({"hits": hits, "files": found.files, "stopped": found.stopped})
        return
    _print("\n".join(hit_lines(found)))


async def _show(given: str, lines: int, as_json: bool, config: Path | None) -> None:
    from flybridge.cli.output import plain_paper
    from flybridge.cli.history.text import write_conversation
    from flybridge.agents.claude.transcripts.conversation import read

    past = _history(config)
    transcript = past.find(given)
    conversation = read(past.read(transcript).lines)
    if as_json:
        _print_json(conversation)
        return
    paper = plain_paper(sys.stdout, marks=True)
    write_conversation(paper, conversation, lines=lines)
    paper.fresh()


async def _open(
    given: str,
    *,
    fork: bool,
    agent: str,
    cwd: Path | None,
    title: str | None,
    as_json: bool,
    state: Path | None,
    config: Path | None,
) -> None:
    import uuid

    from flybridge.cli.opening.trust import open_in
    from flybridge.client import connect
    from flybridge.errors import GatewayError

    past = _history(config)
    transcript = past.find(given)
    row = _row(past, transcript)
    _check(past, transcript, fork=fork)
    params = {
        "agent": agent,
        "cwd": str(cwd) if cwd else row.about.cwd,
        "title": title or row.about.title,
        "request": str(uuid.uuid4()),
        "resume": transcript.session,
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


def _check(past: ClaudeHistory, transcript: Transcript, *, fork: bool) -> None:
    """Refuse what cannot work, say what will be missing."""
    from flybridge.cli.history.text import finding_lines
    from flybridge.errors import BusyError, InvalidRequestError

    findings = _examine(past, transcript)
    for one in findings:
        if set(one.effect.values()) == {"stops"}:
            raise InvalidRequestError(f"it would not resume: {one.text}")
    if not fork and any(one.code == "in_use" for one in findings):
        raise BusyError("another program has it open; end that one, or fork it")
    told = [one for one in findings if one.code not in ("parallel_calls", "in_use")]
    for line in finding_lines(told):
        click.echo(line, err=True)


def _examine(past: ClaudeHistory, transcript: Transcript) -> list[Finding]:
    from flybridge.agents.claude.transcripts.doctor import diagnose, in_use
    from flybridge.agents.claude.owners import owners_of

    whole = past.read(transcript)
    findings = diagnose(whole.lines, ended=whole.ended, folder=transcript.folder)
    owners = owners_of(past.config, transcript.session, transcript=transcript)
    return in_use([one.pid for one in owners]) + findings


async def _doctor(
    given: tuple[str, ...], repair: bool, limit: int, as_json: bool, config: Path | None
) -> int:
    from flybridge.cli.history.text import Examined, examined_lines, examined_object
    from flybridge.errors import FlybridgeError

    past = _history(config)
    transcripts = [past.find(one) for one in given] if given else past.newest(limit)
    examined: list[Examined] = []
    for transcript in transcripts:
        one = Examined(transcript=transcript)
        try:
            one.findings = _examine(past, transcript)
            if repair:
                _repair(past, transcript, one)
        except FlybridgeError as error:
            one.error = str(error)
        examined.append(one)
    if as_json:
        _print_json([examined_object(one) for one in examined])
    else:
        _print("\n".join(examined_lines(examined)))
    return int(any(one.stops for one in examined))


def _repair(past: ClaudeHistory, transcript: Transcript, one: Examined) -> None:
    """Mend one transcript, unless somebody has it open or there is nothing to mend."""
    from flybridge.agents.claude.transcripts.doctor import repair

    if not any(finding.repair for finding in one.findings):
        return
    if any(finding.code == "in_use" for finding in one.findings):
        one.error = "not repaired: a program has it open"
        return
    whole = past.read(transcript)
    mended = repair(whole.lines, ended=whole.ended)
    if not mended.done:
        one.error = "not repaired: a line of it is too long to be read"
        return
    one.backup = str(past.replace(transcript, whole, mended.lines))
    one.done = list(mended.done)
    one.findings = _examine(past, transcript)
