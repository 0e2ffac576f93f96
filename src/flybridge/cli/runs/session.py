"""The session behind a run: opened with its labels, found again by its id."""

from __future__ import annotations

import hashlib
import os
import secrets
import uuid
from collections.abc import Mapping
from pathlib import Path

import msgspec

from flybridge import config
from flybridge.cli.opening.trust import Folder
from flybridge.client import Client, EventItem, SessionRow
from flybridge.errors import (
    AgentError,
    AgentNotFoundError,
    FlybridgeError,
    InvalidRequestError,
    NotAllowedError,
    RefusedError,
)
from flybridge.frontends.runs.bodies import blob_of
from flybridge.frontends.runs.bodies import whole as with_text
from flybridge.frontends.runs.translate import NONCE, RUN, labels_of
from flybridge.frontends.runs.wire.messages import Code, RunConfig
from flybridge.model import events as ev

MAX_WHOLE_BYTES = 8 << 20
KEY_BYTES = 32
MAX_KEY = 200
MAX_REASON = 400
KEY_ENV = "FLYBRIDGE_RUN_KEY"
CI_KEY_ENV = "FLYBRIDGE_CI_KEY"


class RunTakenError(InvalidRequestError):
    """The id names a run that was begun before; that run is not affected."""

    def __init__(self, run: str) -> None:
        super().__init__(f"The run {run} was started already.")
        self.run = run


def new_run_id() -> str:
    return f"run_{uuid.uuid4().hex}"


def new_telling() -> str:
    return uuid.uuid4().hex[:8]


def new_key() -> str:
    """By which another script may come back to a run as the one that began it."""
    return secrets.token_urlsafe(KEY_BYTES)


def key_in(file: Path) -> str:
    """Return the key that a file holds.

    Raises:
        InvalidRequestError: there is no such file, it cannot be read, or it holds no key.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_KEY + 1).strip()
    except FileNotFoundError:
        raise InvalidRequestError(f"Key file not found: {file}") from None
    except OSError as error:
        raise InvalidRequestError(f"Cannot read key file {file}: {error.strerror}") from error
    if not 0 < len(text) <= MAX_KEY or not text.isascii():
        raise InvalidRequestError(f"There is no key in {file}")
    return text.decode()


async def claim(client: Client, session: str, key: str) -> None:
    """Be taken for the one who began the run.

    Raises:
        InvalidRequestError: it is the key of another run, or of none.
        NotAllowedError: this is an agent's process.
    """
    await client.ask("claim", {"session": session, "key": key})


def resolved(asked: RunConfig, flags: RunConfig, env: Mapping[str, str] = os.environ) -> RunConfig:
    """What was asked for, over the command line, over the configuration.

    Raises:
        ConfigError: a file says something it may not.
        InvalidRequestError: there is no such directory.
    """
    said = {**_given(flags), **_given(asked)}
    if options := {**flags.agent_options, **asked.agent_options}:
        said["agent_options"] = options
    cwd = Path(str(said.pop("cwd", "."))).absolute()
    if not cwd.is_dir():
        raise InvalidRequestError(f"no such directory: {cwd}")
    settings = config.load(cwd.resolve(), env=env)
    said.setdefault("agent", settings.default_agent)
    return msgspec.convert({**said, "cwd": str(cwd.resolve())}, RunConfig)


def _given(one: RunConfig) -> dict[str, object]:
    """Only what differs from its default was said."""
    said: dict[str, object] = msgspec.to_builtins(one)
    return said


async def find(client: Client, run: str) -> SessionRow | None:
    """The session of a run."""
    rows = await client.sessions()
    return next((row for row in rows if row.labels.get(RUN) == run), None)


async def open_run(
    client: Client,
    run: str,
    wanted: RunConfig,
    folder: Folder,
    env: Mapping[str, str] = os.environ,
    *,
    key: str = "",
    ci_key: str = "",
) -> str:
    """Open the session of a run, which nobody else has begun. Only a digest of ``key`` is told.

    ``ci_key``: allows a permission mode that asks less where there is no terminal.

    Raises:
        RunTakenError: somebody has.
        FlybridgeError: it could not be opened.
    """
    settings = config.load(Path(wanted.cwd), env=env)
    nonce = uuid.uuid4().hex
    turns = {"max_turns": wanted.max_turns} if wanted.max_turns else {}
    session = await client.open(
        agent=wanted.agent,
        cwd=wanted.cwd,
        title=settings.title,
        model=wanted.model,
        mode=wanted.permission_mode,
        labels={**settings.labels, **labels_of(run, nonce, wanted)},
        request=f"run:{run}",
        resume=wanted.resume,
        budget_usd=wanted.max_budget_usd,
        agent_options={**turns, **wanted.agent_options},
        folder=folder,
        key_digest=hashlib.sha256(key.encode()).hexdigest() if key else "",
        ci_key=ci_key,
    )
    first = (await client.page(session, 0, 1)).events[0].event
    if not isinstance(first, ev.SessionOpened) or first.labels.get(NONCE) != nonce:
        raise RunTakenError(run)
    return session


def code_of(error: Exception) -> Code:
    """What kind of failure it is for a script."""
    match error:
        case AgentNotFoundError():
            return "no_agent"
        case AgentError():
            return "agent_error"
        case NotAllowedError():
            return "not_allowed"
        case RefusedError():
            return "protocol_error"
        case _:
            return "internal_error"


async def whole(client: Client, item: EventItem) -> ev.Event | None:
    """The event, with its long text in it."""
    event, digest = item.event, blob_of(item.event)
    if event is None or not digest:
        return event
    try:
        return with_text(event, await client.blob(digest, limit=MAX_WHOLE_BYTES))
    except FlybridgeError:  # longer than anybody reads: its head is in the event
        return event
