"""Which session a command is about: a new one, one that exists, or a copy of one."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from flybridge.cli.control.team import TEAM
from flybridge.cli.opening.agent_option import agent_option_values, given_pairs
from flybridge.cli.opening.options import flags_of, options_of
from flybridge.cli.opening.origin import origin_of
from flybridge.cli.opening.trust import Folder, open_in
from flybridge.cli.running import USAGE, fail
from flybridge.cli.sessions.text import SHORT, find_session, newest_in
from flybridge.client import Client
from flybridge.errors import (
    AgentStartError,
    FlybridgeError,
    InvalidRequestError,
    NotSupportedError,
    SessionClosedError,
)
from flybridge.model.commands import Rename, SetMode, SetModel
from flybridge.model.deliveries import Stage
from flybridge.model.legacy_options import start_fields
from flybridge.model.options import NO_PERSISTENCE

TITLE = 190  # the gateway takes a little more
_NONSENSE = (InvalidRequestError, AgentStartError, NotSupportedError)


class Wanted:
    """A session, as the flags of a command say it."""

    def __init__(
        self,
        *,
        cwd: Path,
        state: Path | None,
        agent: str | None = None,
        session: str | None = None,
        last: bool = False,
        title: str | None = None,
        model: str | None = None,
        mode: str | None = None,
        resume: str | None = None,
        fork: bool = False,
        continue_latest: bool = False,
        from_pr: str | None = None,
        folder: Folder = "ask",
        team: str | None = None,
        options: Mapping[str, Any] | None = None,
        agent_option: Sequence[str] = (),
    ) -> None:
        self.cwd = cwd.resolve()
        self.state = state
        self.agent = agent
        self.session = session
        self.last = last
        self.title = title or ""
        self.model = model or ""
        self.mode = mode or ""
        self.resume = resume or ""
        self.fork = fork
        self.continue_latest = continue_latest
        self.from_pr = from_pr or ""
        self.folder = folder
        self.labels = {TEAM: team} if team else {}
        self.options = dict(options or {})
        self.pairs = given_pairs(agent_option)
        self._check()

    @property
    def exists(self) -> bool:
        return bool(self.session or self.last)

    def _check(self) -> None:
        """Refuse what no gateway needs to be asked about."""
        if self.session and self.last:
            raise click.UsageError("--session or --last, not both")
        if not self.exists:
            return
        goes_on = {
            "--agent": self.agent,
            "--resume": self.resume,
            "--continue": self.continue_latest,
            "--from-pr": self.from_pr,
        }
        for flag, is_set in goes_on.items():
            if is_set:
                raise click.UsageError(f"{flag} is for a new session")
        if (self.options or self.pairs) and not self.fork:
            flags = ", ".join(filter(None, (flags_of(self.options), "-o" * bool(self.pairs))))
            raise click.UsageError(f"{flags}: only for a new session, or with --fork")

    def come_back(self, session: str) -> str:
        where = f" --state {shlex.quote(str(self.state))}" if self.state else ""
        return f"flybridge chat --session {session[:SHORT]}{where}"


def wanted_from(flags: Mapping[str, Any], options: Mapping[str, Any]) -> Wanted:
    """What the flags of :func:`~flybridge.cli.opening.options.opening_options` say."""
    known = ("cwd", "state", "agent", "session", "last", "title", "model", "mode")
    goes_on = ("resume", "fork", "continue_latest", "from_pr", "folder", "team", "agent_option")
    named = {name: flags[name] for name in (*known, *goes_on) if name in flags}
    return Wanted(options=options, **named)


async def find_or_open(client: Client, wanted: Wanted) -> str:
    """The session's id; it exists when this returns."""
    if not wanted.exists:
        return await _open_new(client, wanted)
    rows = await client.list()
    cwd = str(wanted.cwd)
    session = find_session(rows, wanted.session) if wanted.session else newest_in(rows, cwd)
    if wanted.fork:
        return await fork(client, session, wanted)
    await _adjust(client, session, wanted)
    return session


async def find_open(client: Client, given: str) -> str:
    """A session that still takes input.

    Raises:
        SessionClosedError: it takes none any more.
    """
    rows = await client.list()
    session = find_session(rows, given)
    if any(row["session"] == session and row["status"] == "closed" for row in rows):
        raise SessionClosedError(session[:SHORT])
    return session


async def _open_new(client: Client, wanted: Wanted) -> str:
    from flybridge import config

    settings = config.load(wanted.cwd, env=os.environ)
    agent = wanted.agent or settings.default_agent
    pairs = await agent_option_values(client, agent, wanted.pairs)
    start = options_of({**wanted.options, **pairs})
    try:
        return await open_in(
            wanted.folder,
            lambda folder: client.open(
                agent=agent,
                cwd=wanted.cwd,
                title=wanted.title or settings.title,
                model=wanted.model,
                mode=wanted.mode,
                labels={**settings.labels, **wanted.labels},
                resume=wanted.resume,
                fork=wanted.fork,
                continue_latest=wanted.continue_latest,
                from_pr=wanted.from_pr,
                **start_fields(start),
                folder=folder,
            ),
        )
    except _NONSENSE as error:
        _wrong(error)


async def fork(client: Client, session: str, wanted: Wanted) -> str:
    """A new session that goes on in a copy of this one's conversation, started like it.

    The permission mode is not copied: what one session may do is decided anew for another.

    Raises:
        InvalidRequestError: there is no conversation to copy.
    """
    origin = await origin_of(client, session)
    if not origin.conversation:
        raise InvalidRequestError(
            f"nothing was said in {session[:SHORT]} yet: there is nothing to fork"
        )
    if origin.options.agent_options.get(NO_PERSISTENCE):
        raise InvalidRequestError(f"the agent of {session[:SHORT]} keeps no record to fork")
    pairs = await agent_option_values(client, origin.agent, wanted.pairs)
    start = options_of({**wanted.options, **pairs}, origin.options)
    try:
        return await open_in(
            wanted.folder,
            lambda folder: client.open(
                agent=origin.agent,
                cwd=origin.cwd,
                title=wanted.title or (f"{origin.title[:TITLE]} (fork)" if origin.title else ""),
                model=wanted.model or origin.model,
                mode=wanted.mode,
                resume=origin.conversation,
                fork=True,
                **start_fields(start),
                configured=False,
                folder=folder,
            ),
        )
    except _NONSENSE as error:
        _wrong(error)


def _wrong(error: FlybridgeError) -> NoReturn:
    """What was asked for cannot be: that is how the command was used, not how it went."""
    fail(str(error), error.code, status=USAGE)


async def _adjust(client: Client, session: str, wanted: Wanted) -> None:
    changes = [
        Rename(title=wanted.title) if wanted.title else None,
        SetModel(model=wanted.model) if wanted.model else None,
        SetMode(mode=wanted.mode) if wanted.mode else None,
    ]
    for change in changes:
        if change is not None:
            await client.submit(session, change, until=Stage.ACCEPTED)
