"""Messages into lines: one compact JSON object each, in ASCII, without the newline.

A malformed line ends the CLI's session, so nothing is written here that could hold a raw
newline, a byte above 0x7F or half a character, whatever the parts were made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Raw, Struct

from flybridge.agents.claude.wire.host_requests import HostRequest
from flybridge.agents.claude.wire.messages import (
    Allow,
    ApiRetry,
    CompactBoundary,
    ControlRequest,
    ControlResponse,
    Deny,
    DocumentBlock,
    ImageBlock,
    Init,
    PermissionDenied,
    Prompt,
    ResponseBody,
    Status,
    TextBlock,
    UserBody,
    Verdict,
)
from flybridge.errors import LocalProtocolError

_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
_SYSTEM = (Init, Status, ApiRetry, CompactBoundary, PermissionDenied)


def encode(message: Struct) -> bytes:
    """Write one message of either side.

    Raises:
        LocalProtocolError: a part of it is not the JSON or the text it claims to be.
    """
    try:
        data = msgspec.json.encode(message)
        if b"\n" in data or b"\r" in data:  # only raw parts can bring these in
            data = msgspec.json.format(data, indent=-1)
        if isinstance(message, _SYSTEM):
            data = b'{"type":"system",' + data[1:]
        return data if data.isascii() else _ascii(data.decode())
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise LocalProtocolError(f"{type(message).__name__} cannot be written: {error}") from error


def _ascii(text: str) -> bytes:
    """Escape what is beyond ASCII. In JSON that only ever stands inside strings."""
    return _BEYOND_ASCII.sub(_escape, text).encode("ascii")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def compact(raw: Raw | bytes) -> Raw:
    """The same JSON on one line, values and order untouched.

    Raises:
        LocalProtocolError: it is not JSON, or not text.
    """
    data = bytes(raw)
    try:
        data.decode()
        msgspec.json.decode(data)  # format() alone lets some broken documents pass
        return Raw(msgspec.json.format(data, indent=-1))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise LocalProtocolError(f"not JSON: {error}") from error


# ---- the host ------------------------------------------------------------------------------------


def prompt(content: Sequence[TextBlock | ImageBlock | DocumentBlock], *, uuid: str) -> bytes:
    return encode(Prompt(message=UserBody(content=_raw(content)), uuid=uuid))


def control_request(request_id: str, request: HostRequest) -> bytes:
    return encode(ControlRequest(request_id, _raw(request)))


def verdict(request_id: str, decision: Verdict) -> bytes:
    """Answer can_use_tool."""
    return success(request_id, _raw(decision))


def allow(request_id: str, updated_input: Raw, updated_permissions: Sequence[Raw] = ()) -> bytes:
    permissions = list(updated_permissions) or UNSET
    return verdict(request_id, Allow(updated_input=updated_input, updated_permissions=permissions))


def deny(request_id: str, message: str, *, interrupt: bool = False) -> bytes:
    return verdict(request_id, Deny(message=message, interrupt=interrupt or UNSET))


def _raw(value: object) -> Raw:
    try:
        return Raw(msgspec.json.encode(value))
    except UnicodeError as error:
        raise LocalProtocolError(f"the text holds half a character: {error}") from error


# ---- both ----------------------------------------------------------------------------------------


def success(request_id: str, response: Raw | None = None) -> bytes:
    body = ResponseBody(request_id=request_id, response=UNSET if response is None else response)
    return encode(ControlResponse(body))


def failure(request_id: str, error: str) -> bytes:
    body = ResponseBody(subtype="error", request_id=request_id, error=_raw(error))
    return encode(ControlResponse(body))


# ---- the CLI -------------------------------------------------------------------------------------


def stamped(message: Struct, *, session_id: str, uuid: str) -> bytes:
    """Write a message with the two fields every message of the CLI but control_* has.

    They are not in the structs, because nobody should pay for reading them in every delta.
    """
    added = {"session_id": session_id, "uuid": uuid}
    own = [name for name in message.__struct_fields__ if name in added]
    if own:
        message = msgspec.structs.replace(message, **{name: added.pop(name) for name in own})
    data = encode(message)
    if not added:
        return data
    return data[:-1] + b"," + msgspec.json.encode(added)[1:]


def can_use_tool(
    request_id: str,
    *,
    tool_name: str,
    input: Raw,
    tool_use_id: str,
    suggestions: Sequence[Raw] = (),
) -> bytes:
    request = {
        "subtype": "can_use_tool",
        "tool_name": tool_name,
        "input": input,
        "permission_suggestions": list(suggestions),
        "tool_use_id": tool_use_id,
    }
    return encode(ControlRequest(request_id, _raw(request)))
