"""What a gateway answers, typed."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from flybridge.client.items import EventItem, to_event
from flybridge.errors import RemoteProtocolError
from flybridge.model.deliveries import Reply, Stage
from flybridge.wire.native.messages import ReplyLine

Object: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Object]
_STAGES = {stage.name.lower(): stage for stage in Stage}
_T = TypeVar("_T")


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a session's log, in order."""

    epoch: int
    head: int
    events: tuple[EventItem, ...]


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session as a list shows it. ``why``: what it waits for."""

    session: str
    agent: str = ""
    cwd: str = ""
    title: str = ""
    status: str = ""  # closed, off, starting, idle, running
    why: str = "nothing"
    prompts: int = 0  # that wait for a person
    created_ms: int = 0
    changed_ms: int = 0
    archived: bool = False
    labels: dict[str, str] = {}
    last_seq: int = 0


class PromptRow(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that waits for a person, as a list shows it."""

    prompt: str = ""
    kind: str = ""
    tool: str = ""
    digest: str = ""
    since_ms: int = 0


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """How a session is now, as far as this version knows of it. ``why``: what it waits for."""

    session: str = ""
    agent: str = ""
    cwd: str = ""
    title: str = ""
    status: str = ""  # closed, off, starting, idle, running
    why: str = "nothing"
    since_ms: int = 0
    turn: str = ""
    turns: int = 0
    model: str = ""
    mode: str = ""
    cost_usd: float = 0.0
    archived: bool = False
    prompts: tuple[PromptRow, ...] = ()
    labels: dict[str, str] = {}


def view_of(state: bytes) -> SessionView | None:
    """Read a view; nothing where it makes no sense to us."""
    try:
        return msgspec.json.decode(state, type=SessionView)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


class Opened(msgspec.Struct):
    session: str


class Listed(msgspec.Struct):
    sessions: Rows


class SessionList(msgspec.Struct):
    sessions: list[SessionRow]


class BlobPart(msgspec.Struct):
    size: int
    data: bytes


class _Entry(msgspec.Struct):
    seq: int
    at_ms: int
    event: Raw


class _Page(msgspec.Struct):
    events: tuple[_Entry, ...]
    epoch: int
    head: int


def value_of(reply: ReplyLine, kind: type[_T]) -> _T:
    """The value of a reply.

    Raises:
        RemoteProtocolError: it is none of that kind.
    """
    raw = reply.value if isinstance(reply.value, Raw) else b"null"
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"bad reply from the gateway: {str(error)[:200]}") from error


def page_of(reply: ReplyLine, after: int, limit: int) -> Page:
    """A page, cut to what was asked for: whole batches come, and the first may begin earlier."""
    page = value_of(reply, _Page)
    events = [
        EventItem(one.seq, one.at_ms, to_event(one.event), bytes(one.event))
        for one in page.events
        if one.seq > after
    ]
    return Page(epoch=page.epoch, head=page.head, events=tuple(events[:limit]))


def reply_of(line: ReplyLine) -> Reply:
    """What became of a command, in the model's words."""
    return Reply(
        ref=line.ref,
        stage=_STAGES.get(line.stage),
        value=line.value,
        error=line.error,
        message=line.message,
        duplicate=line.duplicate,
    )
