"""Lines into messages. ``decode`` never raises: what it cannot read comes out named.

A line is decoded once, typed only as deep as somebody reads. What goes wrong:

- a type, subtype or shape not known here falls to ``Unknown`` with the line kept;
- a lone surrogate (Node writes one when a delta cuts an emoji) is JSON to everybody but
  msgspec: the line is re-read with the standard library and the half character replaced;
- bytes that are not UTF-8 would pass through ``Raw`` unseen and make a browser close its
  socket: they make the line ``Odd``, as do nesting without end and a line cut for size.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, ValidationError

from flybridge.agents.claude.wire.host_requests import HostRequest
from flybridge.agents.claude.wire.messages import (
    ApiRetry,
    Assistant,
    Block,
    BlockDelta,
    Cancel,
    CanUseTool,
    CommandLifecycle,
    CompactBoundary,
    ControlRequest,
    ControlResponse,
    HostAsked,
    HostMessage,
    Init,
    KeepAlive,
    MaybeRaw,
    Message,
    Odd,
    OtherRequest,
    PermissionDenied,
    Prompt,
    RateLimitEvent,
    Result,
    ServerToolResultBlock,
    Status,
    StreamEvent,
    ToolProgress,
    Unknown,
    UpdateEnvironment,
    User,
)
from flybridge.wire.lines import CutLine

T = TypeVar("T")
BROKEN = (DecodeError, UnicodeDecodeError, RecursionError)
CUT = "line too long"
SAFE_DEPTH = 128
SPARE_DEPTH = 600
MAX_NUMBER = 2.0**53  # beyond it neither JavaScript nor a row counts exactly
_SURROGATE = re.compile("[\ud800-\udfff]")


class _System(Struct, tag="system"):
    subtype: str


class _Envelope(Struct):
    """The least a message has."""

    type: str
    subtype: str = ""
    parent_tool_use_id: str | None = None


class _Kind(Struct):
    type: str = ""


class _DeltaKind(Struct):
    delta: _Kind


class _EventKind(Struct):
    event: _DeltaKind


class _Subtyped(Struct):
    subtype: str = ""


class _CanUseTool(Struct, tag="can_use_tool", tag_field="subtype"):
    tool_name: str
    input: Raw
    tool_use_id: str = ""
    permission_suggestions: list[Raw] | None = None
    decision_reason: MaybeRaw = UNSET


_said = msgspec.json.Decoder(
    StreamEvent
    | Assistant
    | User
    | Result
    | _System
    | ControlRequest
    | ControlResponse
    | Cancel
    | CommandLifecycle
    | RateLimitEvent
    | ToolProgress
    | KeepAlive
)
_system = msgspec.json.Decoder(Init | Status | ApiRetry | CompactBoundary | PermissionDenied)
_can_use_tool = msgspec.json.Decoder(_CanUseTool)
_host = msgspec.json.Decoder(
    Prompt | ControlRequest | ControlResponse | KeepAlive | UpdateEnvironment
)
_host_request = msgspec.json.Decoder(HostRequest)
_envelope = msgspec.json.Decoder(_Envelope)
_subtyped = msgspec.json.Decoder(_Subtyped)
_block = msgspec.json.Decoder(Block)
_server_result = msgspec.json.Decoder(ServerToolResultBlock)
_fields = msgspec.json.Decoder(dict[str, Raw])
_raws = msgspec.json.Decoder(list[Raw])
_raw = msgspec.json.Decoder(Raw)
_event_kind = msgspec.json.Decoder(_EventKind)
_kind = msgspec.json.Decoder(_Kind)

_decode_said = _said.decode


def decode(line: bytes) -> Message:
    """Read one line the CLI wrote."""
    try:
        message = _decode_said(line)
    except ValidationError:
        return _misfit(line)
    except BROKEN as error:
        mended = mend(line)
        return _odd(line, error) if mended is None else _decode_mended(line, mended)
    if type(message) is StreamEvent and type(message.event) is BlockDelta:
        return message  # nothing in it is Raw, so nothing in it is unread
    try:
        return _unfold(message, line)
    except RecursionError as error:
        return _odd(line, error)


def _decode_mended(line: bytes, mended: bytes) -> Message:
    try:
        return _unfold(_decode_said(mended), mended)
    except ValidationError:
        return _misfit(mended)
    except BROKEN as error:
        return _odd(line, error)


def _unfold(message: Any, line: bytes) -> Message:
    """Check what is still raw, and type what depends on a subtype."""
    if isinstance(line, CutLine):  # its head may well be JSON: the rest is not known
        return Odd(reason=CUT, line=line)
    if not _is_text(line):
        return Odd(reason="not UTF-8", line=line)
    if _is_deep(line):
        return Odd(reason="too deep", line=line)
    if type(message) is _System:
        try:
            return cast(Message, _system.decode(line))
        except ValidationError:
            return Unknown(type="system", subtype=message.subtype, parent="", line=line)
    if type(message) is ControlRequest:
        return _request(message, line)
    return cast(Message, message)


def _request(message: ControlRequest, line: bytes) -> CanUseTool | OtherRequest:
    try:
        asked = _can_use_tool.decode(message.request)
    except ValidationError:
        return OtherRequest(
            request_id=message.request_id, subtype=_subtype(message.request), line=line
        )
    rest = fields(message.request)
    for known in ("subtype", "tool_name", "input", "tool_use_id", "permission_suggestions"):
        rest.pop(known, None)
    return CanUseTool(
        request_id=message.request_id,
        tool_name=asked.tool_name,
        input=asked.input,
        tool_use_id=asked.tool_use_id,
        permission_suggestions=asked.permission_suggestions,
        decision_reason=asked.decision_reason,
        rest=Raw(msgspec.json.encode(rest)) if rest else UNSET,
    )


def _subtype(request: Raw) -> str:
    try:
        return _subtyped.decode(request).subtype
    except ValidationError:
        return ""


def _misfit(line: bytes) -> Message:
    """Known by its type or not at all. A turn's end is one whatever else it says."""
    found = _unknown(line)
    if isinstance(found, Unknown) and found.type == "result":
        return Result(subtype=found.subtype or "unknown", is_error=True)
    return found


def _unknown(line: bytes) -> Unknown | Odd:
    try:
        envelope = _envelope.decode(line)
    except ValidationError:
        return Odd(reason="no message", line=line)
    except BROKEN as error:  # the first try gave up before it came to the broken part
        mended = mend(line)
        return _odd(line, error) if mended in (None, line) else _unknown(mended)
    if not _is_text(line):
        return Odd(reason="not UTF-8", line=line)
    return Unknown(
        type=envelope.type,
        subtype=envelope.subtype,
        parent=envelope.parent_tool_use_id or "",
        line=line,
    )


def _odd(line: bytes, error: Exception) -> Odd:
    if isinstance(line, CutLine):
        return Odd(reason=CUT, line=line)
    return Odd(reason="too deep" if isinstance(error, RecursionError) else "not JSON", line=line)


def _is_text(line: bytes) -> bool:
    if line.isascii():
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_deep(line: bytes) -> bool:
    """Whether the line uses up the nesting that whoever reads its parts later will need.

    What is just readable here may not be from a deeper stack, inside another object.
    """
    if line.count(b"[") + line.count(b"{") <= SAFE_DEPTH:
        return False
    try:
        _raw.decode(b"[" * SPARE_DEPTH + line + b"]" * SPARE_DEPTH)
    except RecursionError:
        return True
    return False


def mend(line: bytes) -> bytes | None:
    """Rewrite a line that only the standard library can read; None: nobody can.

    Half a surrogate pair becomes U+FFFD; everything else keeps its value and its order.
    """
    try:
        value = json.loads(line, parse_constant=_no_constant)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return None
    return _SURROGATE.sub("\ufffd", text).encode()


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def decode_host(line: bytes) -> HostMessage:
    """Read one line a host wrote: what an agent of ours does."""
    try:
        message = _host.decode(line)
    except ValidationError:
        return _unknown(line)
    except BROKEN as error:
        return _odd(line, error)
    if not _is_text(line):
        return Odd(reason="not UTF-8", line=line)
    if type(message) is not ControlRequest:
        return cast(HostMessage, message)
    try:
        request = _host_request.decode(message.request)
    except ValidationError:
        request = None
    return HostAsked(
        request_id=message.request_id, subtype=_subtype(message.request), request=request
    )


# ---- parts that stay raw until somebody asks ----------------------------------------------------


def block(raw: Raw | bytes) -> Block | ServerToolResultBlock | None:
    """The content block, or None when its type or shape is not known here."""
    known = _soft(_block, raw)
    if known is None and kind(raw).endswith("_tool_result"):
        return _soft(_server_result, raw)
    return known


def fallback(raw: Raw | bytes) -> tuple[str, str] | None:
    """Read a ``fallback`` block: the model that declined, and the one that answers instead."""
    if kind(raw) != "fallback":
        return None
    told = fields(raw)
    first, second = (fields(told.get(name, Raw(b"{}"))).get("model") for name in ("from", "to"))
    return text(first or UNSET), text(second or UNSET)


def kind(raw: Raw | bytes) -> str:
    """The type of a block or of another object; "" when it has none."""
    found = _soft(_kind, raw)
    return found.type if found else ""


def blocks(content: Raw | bytes) -> list[Raw] | None:
    """The blocks of a content that is a list, or None when it is something else."""
    return _soft(_raws, content)


def fields(raw: Raw | bytes) -> dict[str, Raw]:
    """The fields of an object, each as it was written; nothing when it is no object."""
    return _soft(_fields, raw) or {}


def delta_kind(line: bytes) -> str:
    """The type of a delta without text: not worth reading in every one of them."""
    found = _soft(_event_kind, line)
    return found.event.delta.type if found else ""


def text(raw: MaybeRaw) -> str:
    """A text that may be missing or be something else: then it is empty."""
    return "" if raw is UNSET else _soft(_text, raw) or ""


def number(raw: MaybeRaw) -> float | None:
    """A number that may be missing, be something else or be absurd: then None."""
    value = None if raw is UNSET else _soft(_number, raw)
    return value if value is not None and abs(value) <= MAX_NUMBER else None


_text = msgspec.json.Decoder(str)
_number = msgspec.json.Decoder(float)


def _soft(decoder: msgspec.json.Decoder[T], raw: Raw | bytes) -> T | None:
    try:
        return decoder.decode(raw)
    except BROKEN:
        return None
