"""What was said before a session: told at the beginning of its log.

It is in the same commit as the session's first event, so it is there whole or not at all, and
no agent speaks before it is. And only one program at a time may go on with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from flybridge.errors import AgentStartError, BusyError, FlybridgeError
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec
from flybridge.model.ids import SessionId
from flybridge.runtime.services import Services
from flybridge.session.ports import Past

_log = logging.getLogger(__name__)


async def past_of(services: Services, spec: OpenSpec) -> Sequence[tuple[int, e.Event]]:
    """What the log of a new session begins with. Whatever is wrong with it is said there."""
    if services.conversations is None or not spec.resume:
        return ()
    try:
        past = await asyncio.to_thread(
            read_past, services, spec.agent, spec.agent_session, spec.cwd
        )
    except FlybridgeError as error:
        return _untold(str(error))
    except Exception:  # a file of another program's must not keep anybody from working
        _log.exception("the past of %s could not be told", spec.agent_session)
        return _untold("see the gateway's log")
    return past.events if past is not None else ()


def _untold(why: str) -> Sequence[tuple[int, e.Event]]:
    return ((0, e.Notice(text=f"what was said before cannot be shown: {why}", level="warning")),)


def read_past(services: Services, agent: str, conversation: str, cwd: str) -> Past | None:
    """In a thread: what is too long for the log is on the disk when this returns."""
    assert services.conversations is not None
    past = services.conversations.past(agent, conversation, cwd)
    for digest, data in past.blobs.items() if past is not None else ():
        services.blobs.put(digest, data)
    return past


# ---- one writer: agents keep no lock on a conversation, and of two branches one is forgotten -----


async def refuse_second_writer(services: Services, spec: OpenSpec, session: SessionId) -> None:
    """Say early that a session could not go on with its conversation.

    Raises:
        BusyError: another program has it open.
    """
    if services.conversations is None or not _writes_to_old(spec):
        return
    other = await asyncio.to_thread(
        services.conversations.other_writer, spec.agent, spec.agent_session, session
    )
    if other:
        raise BusyError(f"{other}; end it, or fork the conversation")


@asynccontextmanager
async def sole_writer(
    services: Services, spec: OpenSpec, session: SessionId, *, first: bool
) -> AsyncIterator[None]:
    """Start an agent in here: no other gateway of this user starts one on the same conversation.

    ``first``: the session had none before, so none of ours wrote to it last.

    Raises:
        AgentStartError: another program has it open.
    """
    if services.conversations is None or not _writes_to_old(spec):
        yield
        return
    try:
        release = await asyncio.to_thread(
            services.conversations.claim, spec.agent, spec.agent_session, session, guess=first
        )
    except BusyError as error:
        raise AgentStartError(spec.agent, reason=str(error)) from error
    try:
        yield
    finally:
        release()


def _writes_to_old(spec: OpenSpec) -> bool:
    """A copy is its own: nobody else has it."""
    return spec.resume and bool(spec.agent_session) and not spec.fork
