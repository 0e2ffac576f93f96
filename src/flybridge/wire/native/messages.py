"""The messages of the native protocol: one JSON object each, one line each on a socket.

The envelope is typed, the bodies (``command``, ``params``, ``event``, ``value``, ``state``)
stay ``Raw``: this module knows how a message travels, not what it means. Fields nobody here
knows are ignored, so that an older peer understands a newer one. Numbers fit a double and
names have a length, so that nothing behind this door needs to check them again.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from flybridge.errors import RemoteProtocolError

PROTO: Final = 1
MAX_LINE_BYTES: Final = 16 * 2**20  # of one message from a client
MAX_DEPTH: Final = 128  # of what a client may nest
MAX_NAME: Final = 256  # characters of a name a client chose

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
WaitMs = Annotated[int, Meta(ge=0, le=600_000)]


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    """Shared settings."""


# ---- client to gateway -----------------------------------------------------------------------


class Auth(_Message, frozen=True, kw_only=True):
    """The first message to a WebSocket, from a client that came without a cookie."""

    # Not a tag: where a struct is no part of a union, its tag may be left out.
    type: Literal["auth"]
    token: Annotated[str, Meta(max_length=1024)]


class LoginAuth(_Message, frozen=True, kw_only=True):
    """The first message to a WebSocket, from a browser that sent its cookie with the upgrade."""

    type: Literal["auth"]
    key: Annotated[str, Meta(max_length=1024)]  # the other half of its login


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """The first line of a client."""

    proto: Count
    client: Annotated[str, Meta(max_length=MAX_NAME)] = ""


class Submit(_Message, frozen=True, kw_only=True, tag="submit"):
    ref: Name
    session: Name
    request: Name
    command: Raw
    until: str = "written"
    wait_ms: WaitMs = 2000


class Attach(_Message, frozen=True, kw_only=True, tag="attach"):
    ref: Name
    session: Name
    epoch: Count = 0
    after: Count = 0
    last: Count = 0
    previews: bool = True


class Detach(_Message, frozen=True, kw_only=True, tag="detach"):
    session: Name


class Ask(_Message, frozen=True, kw_only=True, tag="ask"):
    ref: Name
    name: Name
    params: Raw | UnsetType = UNSET


ClientMessage: TypeAlias = Hello | Submit | Attach | Detach | Ask

# ---- gateway to client -----------------------------------------------------------------------


class Welcome(_Message, frozen=True, kw_only=True, omit_defaults=True, tag="welcome"):
    """The answer to hello: who the gateway is, and who it takes the client for."""

    proto: int
    version: str
    generation: int
    principal: str
    scopes: tuple[str, ...] = ()
    peer: str = ""  # how a TCP connection was judged: person, forwarded, agent or remote
    reason: str = ""  # why this connection has less than its login, if it has


class EventLine(_Message, frozen=True, kw_only=True, tag="event"):
    session: str
    epoch: int
    seq: int
    at_ms: int
    event: Raw


class PreviewLine(_Message, frozen=True, kw_only=True, tag="preview"):
    session: str
    item: str
    since: int
    upto: int
    text: str


class GaugeLine(_Message, frozen=True, kw_only=True, tag="gauge"):
    session: str
    name: str
    value: Raw


class ViewLine(_Message, frozen=True, kw_only=True, tag="view"):
    session: str
    seq: int
    state: Raw


class ReplyLine(_Message, frozen=True, kw_only=True, omit_defaults=True, tag="reply"):
    """The one answer to a submit, attach or ask. ``error`` is empty or a stable code."""

    ref: str
    stage: str = ""
    value: Raw | UnsetType = UNSET
    error: str = ""
    message: str = ""
    duplicate: bool = False


class DetachedLine(_Message, frozen=True, kw_only=True, tag="detached"):
    """The gateway ended an attachment; nothing more of that session comes."""

    session: str
    code: str = ""


class ErrorLine(_Message, frozen=True, kw_only=True, tag="error"):
    """A line that could not be answered by its ref."""

    code: str
    message: str = ""


class OtherLine(_Message, frozen=True, kw_only=True):
    """A well-formed message of a kind this version does not know: to be passed over."""

    type: str


GatewayMessage: TypeAlias = (
    Welcome | EventLine | PreviewLine | GaugeLine | ViewLine | ReplyLine | DetachedLine | ErrorLine
)


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """As much of a bad message as is needed to answer it."""

    type: str = ""
    ref: str = ""


# ---- bytes -----------------------------------------------------------------------------------

_encoder = msgspec.json.Encoder()
_client: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)
_gateway: msgspec.json.Decoder[GatewayMessage] = msgspec.json.Decoder(GatewayMessage)
_head = msgspec.json.Decoder(Head)
_anything = msgspec.json.Decoder()
_GATEWAY_TAGS = frozenset(
    ("welcome", "event", "preview", "gauge", "view", "reply", "detached", "error")
)
# UnicodeDecodeError is a ValueError; msgspec lets it and RecursionError through.
_MALFORMED = (msgspec.MsgspecError, ValueError, RecursionError)


def encode(message: ClientMessage | GatewayMessage) -> bytes:
    """Put one message on one line, without a newline, whatever its raw bodies look like."""
    data = _encoder.encode(message)
    return on_one_line(data) if b"\n" in data else data


def on_one_line(document: bytes) -> bytes:
    """A JSON document has newlines only between its tokens: a space means the same."""
    return document.replace(b"\n", b" ")


def decode_client(line: bytes) -> ClientMessage:
    """Read what a client said, down to the last byte of its bodies.

    Raises:
        RemoteProtocolError: not JSON, nested too deep, of no known type, or a field is wrong.
    """
    try:
        check_depth(line)
        message = _client.decode(line)
        _check_body(message)
    except _MALFORMED as error:
        raise RemoteProtocolError(f"bad message: {_short(error)}") from error
    return message


def decode_gateway(line: bytes) -> GatewayMessage | OtherLine:
    """Read what a gateway said; a type of a newer one comes back as :class:`OtherLine`.

    Raises:
        RemoteProtocolError: not JSON, or a field is wrong.
    """
    try:
        return _gateway.decode(line)
    except _MALFORMED as error:
        head = read_head(line)
        if head.type and head.type not in _GATEWAY_TAGS:
            return OtherLine(type=head.type)
        raise RemoteProtocolError(f"bad message from the gateway: {_short(error)}") from error


def _short(error: Exception) -> str:
    """Errors quote the message, and a message may be long."""
    return str(error)[:200]


def read_head(line: bytes) -> Head:
    """Find out what can be said about a bad message; empty fields where nothing can."""
    try:
        head = _head.decode(line)
    except _MALFORMED:
        return Head()
    return head if len(head.ref) <= MAX_NAME else Head(type=head.type)


def check_depth(line: bytes) -> None:
    """Refuse what is nested deeper than MAX_DEPTH.

    Raises:
        RecursionError: it is.
    """
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return
    brackets = _STRING.sub(b"", line).translate(_PAIRS, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):  # each pass takes the innermost pairs away
        if not brackets:
            return
        if _TOO_DEEP in brackets:  # a flood of brackets need not be worn down pass by pass
            break
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise RecursionError(f"nested deeper than {MAX_DEPTH}, or brackets do not match")


_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOO_DEEP = b"[" * (MAX_DEPTH + 1)
_PAIRS = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _check_body(message: ClientMessage) -> None:
    """A raw body passes unread through msgspec: bad UTF-8 and 1e999 would be found too late."""
    if isinstance(message, Submit):
        _anything.decode(message.command)
    elif isinstance(message, Ask) and isinstance(message.params, Raw):
        _anything.decode(message.params)
