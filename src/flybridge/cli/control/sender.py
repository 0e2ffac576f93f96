"""A sender of control messages as the command line makes one: by socket or by URL."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
from msgspec import UNSET

from flybridge.cli.control.team import TEAM
from flybridge.client import connect
from flybridge.client.control.channels import HttpChannel, Inbox, UnixChannel
from flybridge.client.control.sender import Channel, Manners, Sender, Shelf, Target
from flybridge.client.transport.tokens import find_token
from flybridge.client.transport.url import UrlAddress
from flybridge.config import Config, load
from flybridge.config.state_dir import StateDir
from flybridge.errors import InvalidRequestError, SessionNotFoundError
from flybridge.model.audit import Record
from flybridge.store.audit import AuditLog
from flybridge.wire.control.messages import StdinProgress

_NAMES = ("team", "session_id", "agent_id")


class SentLog:
    """The audit log of all senders of one user: each record is written under a lock, so that
    the chain has one order."""

    def __init__(self, state: StateDir) -> None:
        self._path = state.sent

    def write(self, record: Record) -> None:
        """Append one record.

        Raises:
            StorageError: the disk refused.
        """
        lock = os.open(self.lock_of(self._path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # the lock file holds a byte once there is a log
            known = os.pread(lock, 1, 0) != b""
            log = AuditLog(self._path, lambda: time.time_ns() // 1_000_000, known=known)
            try:
                log.write(record)
            finally:
                log.close()
            os.pwrite(lock, b"1", 0)
        finally:
            os.close(lock)

    @staticmethod
    def lock_of(path: Path) -> Path:
        """Return the file that senders lock, which also shows that there has been a log."""
        return path.with_suffix(".lock")


def manners_of(config: Config, more: dict[str, Any]) -> Manners:
    wanted = config.control
    return Manners(
        timeout_s=more["timeout"] if more["timeout"] is not None else wanted.ack_timeout_s,
        retries=more["retries"] if more["retries"] is not None else wanted.retries,
        backoff_s=wanted.backoff_s,
        soft_bytes=wanted.soft_bytes,
        hard_bytes=wanted.hard_bytes,
        source="cli",
    )


@asynccontextmanager
async def making(session: str, more: dict[str, Any]) -> AsyncIterator[tuple[Sender, Target]]:
    """A sender, and whom it speaks to.

    Raises:
        FlybridgeError: nobody can be reached, or there is no such session.
    """
    config = load(None, env=os.environ)
    state = StateDir.resolve(more["state"])
    note: Callable[[Record], None] = SentLog(state).write
    channel: Channel
    shelf: Shelf | None = None
    if more["url"]:
        if not (more["team"] and more["agent_id"]):
            raise InvalidRequestError("elsewhere a session is named by --team and --agent-id, too")
        state.prepare()  # for the log of what was sent
        channel = HttpChannel(UrlAddress(more["url"], find_token()))
        team, agent_id = more["team"], more["agent_id"]
    else:
        session, team, agent_id = await _named(state, config, session, more)
        channel = UnixChannel(state)
        shelf = Inbox(Path(config.control.folder) if config.control.folder else state.inbox)
    if more["key"]:
        channel = _signed(channel, more)
    yield (
        Sender(
            channel,
            manners=manners_of(config, more),
            shelf=shelf,
            note=note,
            warn=lambda text: click.echo(f"flybridge: warning: {text}", err=True),
            progress=show_progress if sys.stderr.isatty() else None,
        ),
        Target(
            team=team,
            session_id=session,
            agent_id=agent_id,
            sender=more["sender"],
            thread_id=more["thread_id"] or UNSET,
        ),
    )


def show_progress(progress: StdinProgress) -> None:
    """A line for somebody who waits; scripts get none."""
    click.echo(f"{progress.stage}: {progress.bytes} of {progress.total} bytes", err=True)


def _signed(channel: Channel, more: dict[str, Any]) -> Channel:
    from flybridge.client.control.signed import SignedChannel, read_key

    name, audience = more["key_name"], more["audience"]
    if not (name and audience):
        raise InvalidRequestError("a key has a --key-name, and signs for an --audience")
    return SignedChannel(channel, name=name, key=read_key(more["key"]), audience=audience)


async def _named(
    state: StateDir, config: Config, session: str, more: dict[str, Any]
) -> tuple[str, str, str]:
    """A session's three names; what is not said is asked of the gateway."""
    from flybridge.cli.sessions.text import find_session

    async with await connect(state, name="control") as client:
        rows = await client.list()
    known = [row for row in rows if row["conversation"] == session]
    try:
        found = known[0]["session"] if known else find_session(rows, session)
    except SessionNotFoundError:
        if more["team"] and more["agent_id"]:
            return session, more["team"], more["agent_id"]  # the gateway says so itself
        raise
    row = next(one for one in rows if one["session"] == found)
    team, _, agent_id = triple(row, config.control.team)
    return str(found), more["team"] or team, more["agent_id"] or agent_id


def named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sessions with the names that control messages call them by."""
    default = load(None, env=os.environ).control.team
    return [dict(row, **dict(zip(_NAMES, triple(row, default), strict=True))) for row in rows]


def triple(row: Any, team: str) -> tuple[str, str, str]:
    """What a control message calls a session: team, session_id, agent_id."""
    own = row["conversation"] or row["session"]
    return row["labels"].get(TEAM, team), str(row["session"]), f"{row['agent']}:{own}"
