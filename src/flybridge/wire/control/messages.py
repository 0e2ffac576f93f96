"""The messages of the control protocol, both ways. Version 1; names are the protocol's own.

Whatever a message leaves out stays left out when it is written again, and a field nobody knows
is refused: a misspelt ``turn_id`` would stop another turn than the one that was meant.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from flybridge.errors import InvalidRequestError, RemoteProtocolError

VERSION = 1
MAX_MESSAGE_BYTES = 8 << 20  # a message with its content; bigger content goes by reference
MAX_REF_BYTES = 16 << 20  # no more than this even then
MAX_REQUEST_ID = 128
PREVIEW_CHARACTERS = 240

Result: TypeAlias = Literal[
    "ok", "not_live", "not_found", "busy", "timeout", "rejected", "internal_error"
]
StageName: TypeAlias = Literal["accepted", "written", "observed"]
Mode: TypeAlias = Literal["now", "queue"]
ProgressStage: TypeAlias = Literal["reading", "verified", "accepted", "written"]
RequestId = Annotated[str, Meta(min_length=1, max_length=MAX_REQUEST_ID, pattern=r"^[!-~]+$")]
Name = Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")]
Time = Annotated[str, Meta(max_length=64)]
T = TypeVar("T")


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What the sender's program says of itself; whatever else it says here is ignored."""

    retry_count: int | UnsetType = UNSET  # 0 the first time
    ui_source: str | UnsetType = UNSET  # tui, cli …
    oversize_strategy: str | UnsetType = UNSET  # content_ref, where that was done


class ContentRef(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content in a file, below a folder that the receiver allows."""

    path: Annotated[str, Meta(min_length=1, max_length=4096)]  # absolute, or below that folder
    size_bytes: int  # of the file
    sha256: Annotated[str, Meta(max_length=64)]  # of its bytes, in hex
    mime: Annotated[str, Meta(max_length=128)]  # text/plain; charset=utf-8
    expires_at: Time | UnsetType = UNSET  # not to be read after this


class _Message(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """The envelope of every message."""

    v: int  # 1
    request_id: RequestId  # the same in every retry of one send
    team: Name
    session_id: Name  # ours (`ses_…`), or the agent's own id of the conversation
    agent_id: Name  # `<agent>:<its own id of the conversation>`


class StdinRequest(_Message, frozen=True, kw_only=True, tag="control.stdin.request"):
    """Say something to a live agent. There is either ``content`` or ``content_ref``."""

    sender: Name  # must be who the connection is
    sent_at: Time  # RFC 3339, UTC
    thread_id: str | UnsetType = UNSET  # the agent's own id of the conversation, checked if given
    content: str | UnsetType = UNSET  # as many lines as you like: they are one message
    content_ref: ContentRef | UnsetType = UNSET
    content_encoding: str | UnsetType = UNSET  # utf-8, and nothing else
    content_preview: str | UnsetType = UNSET  # the first 240 characters, for people
    interrupt: bool | UnsetType = UNSET  # stop the running turn first
    mode: Mode | UnsetType = UNSET  # now or not at all; or after the running turn
    retry_of: RequestId | UnsetType = UNSET  # an earlier send that this one stands in for
    progress: bool | UnsetType = UNSET  # tell me how far long content is; by HTTP nothing comes
    meta: Metadata | UnsetType = UNSET


class InterruptRequest(_Message, frozen=True, kw_only=True, tag="control.interrupt.request"):
    """Stop the turn that runs."""

    sender: Name  # must be who the connection is
    sent_at: Time  # RFC 3339, UTC
    signal: Literal["interrupt"]
    thread_id: str | UnsetType = UNSET  # the agent's own id of the conversation, checked if given
    turn_id: Name | UnsetType = UNSET  # that turn and no other; else whichever runs
    retry_of: RequestId | UnsetType = UNSET  # an earlier send that this one stands in for
    meta: Metadata | UnsetType = UNSET


class CapabilitiesRequest(_Message, frozen=True, kw_only=True, tag="control.capabilities.request"):
    """What can this session take? Asked before anything is sent to it."""

    sender: Name  # must be who the connection is
    sent_at: Time  # RFC 3339, UTC
    thread_id: str | UnsetType = UNSET  # the agent's own id of the conversation, checked if given
    meta: Metadata | UnsetType = UNSET


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why not: ``code`` is for programs and stable, ``message`` is for people."""

    code: str
    message: str = ""


class _Ack(_Message, frozen=True, kw_only=True):
    acked_at: Time  # RFC 3339, UTC
    result: Result  # ok, not_live, not_found, busy, timeout, rejected, internal_error
    duplicate: bool  # it was known before: this is what became of it
    detail: str | UnsetType = UNSET  # started, steered, queued, idle; else words
    stage: StageName | UnsetType = UNSET  # how far it got
    outcome: str | UnsetType = UNSET  # how it ended, once it has
    error: Failure | UnsetType = UNSET  # with every result but ok


class StdinAck(_Ack, frozen=True, kw_only=True, tag="control.stdin.ack"):
    """What became of it. ``ok`` is never said of something that may not have been written."""


class StdinProgress(_Message, frozen=True, kw_only=True, tag="control.stdin.progress"):
    """How far long content is. Only for a sender that asked, and only before the ack."""

    at: Time  # RFC 3339, UTC
    stage: ProgressStage  # from the file, it is what was said, in the ledger, at the agent
    bytes: int  # how many of them; never fewer than before
    total: int


class InterruptAck(_Ack, frozen=True, kw_only=True, tag="control.interrupt.ack"):
    """What became of it. ``ok`` with detail ``idle``: no turn ran, nothing was done."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of everything one message may be."""

    soft_bytes: int  # above it a sender should warn
    hard_bytes: int  # above it content goes by reference
    ref_bytes: int  # no more than this even then; 0: not from where you are
    max_age_s: float  # of `sent_at`
    skew_s: float  # `sent_at` may be this far ahead


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What the session can take at this moment."""

    live: bool  # there is a process
    busy: bool  # a turn runs, or a message is on its way to the agent
    turn_id: str  # which; empty: none
    stdin: bool  # it takes input at all
    stdin_while_busy: Literal["now", "queue"]  # into the turn, or after it
    steer: bool  # input reaches the turn that runs
    interrupt: bool
    queue: bool
    queued: int  # how many inputs wait
    echo: bool  # the agent proves that it read a message
    limits: Limits


class CapabilitiesAck(_Ack, frozen=True, kw_only=True, tag="control.capabilities.ack"):
    """The answer to that."""

    capabilities: Capabilities | UnsetType = UNSET  # there when the result is ok


class ErrorMessage(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="control.error"
):
    """What came was no message that could be acknowledged."""

    v: int
    error: Failure


Request: TypeAlias = StdinRequest | InterruptRequest | CapabilitiesRequest
Ack: TypeAlias = StdinAck | InterruptAck | CapabilitiesAck
Answer: TypeAlias = Ack | ErrorMessage
ACKS: dict[str, type[StdinAck] | type[InterruptAck] | type[CapabilitiesAck]] = {
    "control.stdin.request": StdinAck,
    "control.interrupt.request": InterruptAck,
    "control.capabilities.request": CapabilitiesAck,
}
_request: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_answer: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
_progress: msgspec.json.Decoder[StdinProgress] = msgspec.json.Decoder(StdinProgress)
_encode = msgspec.json.Encoder().encode


_MISSING_OR_UNKNOWN = re.compile(
    r"Object (contains unknown|missing required) field `([^`]*)`(?: - at `\$(?:\.[^`]*)?`)?(.*)",
    re.DOTALL,
)


def decode_request(data: bytes) -> Request:
    """Read what a sender sent.

    Raises:
        InvalidRequestError: it is no request of this protocol.
    """
    try:
        return _request.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequestError(_words(str(error)[:300])) from None


def _words(message: str) -> str:
    """Return what is wrong with a message without the words of the JSON library."""
    found = _MISSING_OR_UNKNOWN.match(message)
    if found:
        kind = "unknown" if found[1] == "contains unknown" else "missing"
        return f"{kind} field: {found[2]}{found[3]}"
    return message


def decode_answer(data: bytes) -> Answer:
    """Read what a receiver answered.

    Raises:
        RemoteProtocolError: it is no answer of this protocol.
    """
    try:
        return _answer.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RemoteProtocolError(f"no acknowledgement: {str(error)[:300]}") from None


def read_progress(data: bytes) -> StdinProgress | None:
    """What a receiver said on the way to its answer; None: that is something else."""
    try:
        return _progress.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def encode(message: Request | Answer | StdinProgress) -> bytes:
    return _encode(message)


def type_of(message: Request | Answer) -> str:
    """The message's ``type``, as it is written."""
    return str(message.__struct_config__.tag)


def given(value: T | UnsetType, otherwise: T) -> T:
    """A field's value, where it was said."""
    return otherwise if isinstance(value, UnsetType) else value


class Head(msgspec.Struct, frozen=True):
    """As much of a bad message as its acknowledgement repeats."""

    type: str
    request_id: str
    team: str
    session_id: str
    agent_id: str
    sender: str = ""


def read_head(data: bytes) -> Head | None:
    """Who and what a message that is not right was about; None where that cannot be said."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    words = [found.get(name, "") for name in Head.__struct_fields__]
    if any(not isinstance(one, str) or len(one) > 256 for one in words):
        return None
    head = Head(*words)
    return head if head.type in ACKS and head.request_id else None
