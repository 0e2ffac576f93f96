"""The session behind a run: opened with its labels, found again by its id."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Raw

from flybridge import config
from flybridge.adapters.runs.translate import NONCE, RUN, labels_of
from flybridge.cli.trusting import Folder
from flybridge.client import Client, EventItem, SessionRow
from flybridge.errors import (
    AgentError,
    AgentNotFoundError,
    FlybridgeError,
    InvalidRequestError,
    RefusedError,
)
from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from flybridge.wire.runs.messages import Code, RunConfig

MAX_WHOLE_BYTES = 8 << 20


def new_run_id() -> str:
    return f"run_{uuid.uuid4().hex}"


def new_telling() -> str:
    return uuid.uuid4().hex[:8]


def resolved(asked: RunConfig, flags: RunConfig, env: Mapping[str, str] = os.environ) -> RunConfig:
    """What was asked for, over the command line, over the configuration.

    Raises:
        ConfigError: a file says something it may not.
        InvalidRequestError: there is no such directory.
    """
    said = {**_given(flags), **_given(asked)}
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
    client: Client, run: str, wanted: RunConfig, folder: Folder, env: Mapping[str, str] = os.environ
) -> str:
    """Open the session of a run, which nobody else has begun.

    Raises:
        InvalidRequestError: somebody has.
        FlybridgeError: it could not be opened.
    """
    settings = config.load(Path(wanted.cwd), env=env)
    nonce = uuid.uuid4().hex
    session = await client.open(
        agent=wanted.agent,
        cwd=wanted.cwd,
        title=settings.title,
        model=wanted.model,
        mode=wanted.permission_mode,
        labels={**settings.labels, **labels_of(run, nonce, wanted)},
        request=f"run:{run}",
        resume=wanted.resume,
        options=Options(max_turns=wanted.max_turns, max_budget_usd=wanted.max_budget_usd),
        folder=folder,
    )
    first = (await client.page(session, 0, 1)).events[0].event
    if not isinstance(first, ev.SessionOpened) or first.labels.get(NONCE) != nonce:
        raise InvalidRequestError(f"the run {run} was started already")
    return session


def code_of(error: Exception) -> Code:
    """What kind of failure it is for a script."""
    match error:
        case AgentNotFoundError():
            return "no_agent"
        case AgentError():
            return "agent_error"
        case RefusedError():
            return "protocol_error"
        case _:
            return "internal_error"


async def whole(client: Client, item: EventItem) -> ev.Event | None:
    """The event, with its long text in it."""
    event = item.event
    if not isinstance(event, ev.TextDone | ev.ThinkingDone | ev.Plan | ev.Diff) or not event.blob:
        return event
    try:
        data = await client.blob(event.blob, limit=MAX_WHOLE_BYTES)
    except FlybridgeError:  # longer than anybody reads: its head is in the event
        return event
    if isinstance(event, ev.Diff):
        return msgspec.structs.replace(event, patch=Raw(data))
    return msgspec.structs.replace(event, text=data.decode(errors="replace"))
