"""A refusal that came over the wire, as the exception it was on the other side."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.errors import FlybridgeError, RefusedError
from flybridge.wire.native.messages import ReplyLine


def to_error(reply: ReplyLine, context: Mapping[str, object] | None = None) -> FlybridgeError:
    """Build the error a reply stands for: the class with its code, the gateway's own text.

    The data an error carries as attributes comes from the reply's ``value`` where it names
    them, else from ``context`` (what was asked for), else it is empty. A code nobody here
    knows becomes a ``RefusedError`` with that code.
    """
    known = _CLASSES.get(reply.error)
    kind = known or RefusedError
    error = kind.__new__(kind)
    Exception.__init__(error, reply.message or reply.error.replace("_", " "))
    data = {**(context or {}), **_object(reply)}
    for name in _attributes(kind):
        setattr(error, name, data.get(name, ""))
    if known is None:
        error.code = reply.error
    return error


def is_recorded(reply: ReplyLine) -> bool:
    """Whether a reply to a command tells what became of it, rather than why it was refused."""
    return bool(reply.stage) or "outcome" in _object(reply)


def _object(reply: ReplyLine) -> dict[str, Any]:
    if not isinstance(reply.value, Raw):
        return {}
    try:
        return msgspec.json.decode(reply.value, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}


def _attributes(kind: type[FlybridgeError]) -> list[str]:
    """An error keeps what it was made of: the names its constructor takes."""
    if kind.__init__ is Exception.__init__:
        return []
    return [name for name in inspect.signature(kind.__init__).parameters if name != "self"]


def _tree(kind: type[FlybridgeError]) -> Iterator[type[FlybridgeError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _tree(below)


# only our own tree: somebody's subclass would share the code of its parent
_CLASSES = {
    kind.code: kind
    for kind in _tree(FlybridgeError)
    if kind.__module__ == FlybridgeError.__module__
}
