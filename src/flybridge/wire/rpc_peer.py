"""Encode and classify JSON-RPC messages: one per line, in both directions. No input or output.

Codex leaves out the field ``jsonrpc``, the Agent Client Protocol requires it. Both sides ask and
answer, and each numbers its own requests: the same id in both directions is no conflict.
"""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

RpcId: TypeAlias = int | str | float | None

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

MAX_PENDING = 1024
NOTHING = Raw(b"{}")
_T = TypeVar("_T")


class RpcError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Hold the error of a response. Agents also use HTTP status codes as ``code``."""

    code: int = INTERNAL_ERROR
    message: str = ""
    data: Raw | UnsetType = UNSET


class Request(msgspec.Struct, frozen=True):
    """The other side asks: it waits for an answer with this id."""

    id: RpcId
    method: str
    params: Raw = NOTHING


class Notification(msgspec.Struct, frozen=True):
    method: str
    params: Raw = NOTHING


class Response(msgspec.Struct, Generic[_T], frozen=True):
    """The other side answers. ``call`` is what was kept with the request.

    None: no request with this id waits for an answer (anymore).
    """

    id: RpcId
    call: _T | None = None
    result: Raw | UnsetType = UNSET
    error: RpcError | None = None


class Malformed(msgspec.Struct, frozen=True):
    """A line that is no message of the protocol."""

    reason: str


Incoming: TypeAlias = "Request | Notification | Response[_T] | Malformed"


class _Envelope(msgspec.Struct):
    id: RpcId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _LooseError(msgspec.Struct):
    code: float | str | None = None
    message: Any = None
    data: Raw | UnsetType = UNSET


_envelope = msgspec.json.Decoder(_Envelope)
_error = msgspec.json.Decoder(_LooseError)
_encode = msgspec.json.Encoder().encode


class RpcPeer(Generic[_T]):
    """Number our requests, keep what waits for an answer, and classify what arrives.

    ``next_id`` and ``pending`` are the whole state: a driver stores them in its memo and passes
    them on to the peer that goes on after a restart.
    """

    def __init__(
        self, *, jsonrpc: bool, next_id: int = 1, pending: dict[int, _T] | None = None
    ) -> None:
        self._version = {"jsonrpc": "2.0"} if jsonrpc else {}
        self.next_id = next_id
        self.pending: dict[int, _T] = pending if pending is not None else {}

    def request(self, method: str, params: object, call: _T) -> bytes:
        """Return the line of a new request; ``call`` comes back with its answer."""
        number = self.next_id
        self.next_id += 1
        self.pending[number] = call
        while len(self.pending) > MAX_PENDING:  # never answered: the oldest is given up
            del self.pending[next(iter(self.pending))]
        return _encode({**self._version, "id": number, "method": method, "params": params})

    def notification(self, method: str, params: object = UNSET) -> bytes:
        """Return the line of a notification; without ``params`` it has none."""
        message: dict[str, object] = {**self._version, "method": method}
        if params is not UNSET:
            message["params"] = params
        return _encode(message)

    def answer(self, id: RpcId, result: object) -> bytes:
        """Return the line that answers a request of the other side."""
        return _encode({**self._version, "id": id, "result": result})

    def refuse(self, id: RpcId, code: int, message: str) -> bytes:
        """Return the line that answers a request of the other side with an error."""
        error = {"code": code, "message": message}
        return _encode({**self._version, "id": id, "error": error})

    def receive(self, line: bytes) -> Incoming[_T]:
        """Classify a line. Never raises: what is no message is returned as ``Malformed``."""
        try:
            message = _envelope.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return Malformed(str(error))
        if isinstance(message.method, str):
            params = message.params if isinstance(message.params, Raw) else NOTHING
            if message.id is UNSET:
                return Notification(message.method, params)
            return Request(message.id, message.method, params)
        if message.id is UNSET or (message.result is UNSET and message.error is UNSET):
            return Malformed("neither a request, nor a notification, nor a response")
        number = _whole(message.id)
        call = self.pending.pop(number, None) if number is not None else None
        if isinstance(message.error, Raw) and bytes(message.error) != b"null":
            return Response(message.id, call, error=_rpc_error(message.error))
        return Response(message.id, call, result=message.result)


def _whole(id: RpcId | UnsetType) -> int | None:
    """Return the number of an id; some peers return a number as text or with a fraction."""
    if isinstance(id, bool):
        return None
    if isinstance(id, int):
        return id
    if isinstance(id, float) and id.is_integer():
        return int(id)
    if isinstance(id, str) and id.isascii() and id.isdigit() and len(id) < 20:
        return int(id)
    return None


def _rpc_error(raw: Raw) -> RpcError:
    try:
        loose = _error.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return RpcError(message=bytes(raw).decode(errors="replace"))
    code = INTERNAL_ERROR
    try:
        code = int(loose.code) if loose.code is not None else INTERNAL_ERROR
    except (ValueError, OverflowError):
        pass
    message = loose.message if isinstance(loose.message, str) else ""
    return RpcError(code, message, loose.data)
