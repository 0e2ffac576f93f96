"""JSON from outside, taken only where every reader would understand the same.

msgspec decodes into types, but takes the last of two equal keys and does not look into what it
leaves raw. So a body is read twice: once to see that it is plain, once for its meaning.
"""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.wire.native.messages import check_depth

MAX_DEPTH = 64
MAX_INTEGER = 2**63
T = TypeVar("T")


def decode(data: bytes, kind: type[T]) -> T:
    """Read a body.

    Raises:
        InvalidRequestError: it is not plain JSON, or not of this type.
    """
    check(data)
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequestError(str(error)[:300]) from None


def check(data: bytes) -> None:
    """Refuse whatever two readers could read differently, or could choke on.

    Raises:
        InvalidRequestError: a key is there twice, a number is none or too big, a text is not
            text, it is nested too deep, or it is not JSON at all.
    """
    try:
        check_depth(data)
        msgspec.json.decode(data)  # UTF-8, surrogates, one document and nothing behind it
        value = json.loads(
            data,
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_constant,
        )
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidRequestError(f"not plain JSON: {str(error)[:200]}") from None
    if _depth(value) > MAX_DEPTH:
        raise InvalidRequestError(f"nested deeper than {MAX_DEPTH}")
    if b"\\u0000" in data and _has_nul(value):
        raise InvalidRequestError("a text holds a NUL")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) >= MAX_INTEGER:
        raise ValueError("a number is too big")
    return int(text)


def _number(text: str) -> float:
    if math.isinf(value := float(text)):
        raise ValueError("a number is too big")
    return value


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _depth(value: Any) -> int:
    """How deep it is nested; it is not deeper than ``check_depth`` lets it be."""
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(one) for pair in value.items() for one in pair)
    return isinstance(value, list) and any(map(_has_nul, value))
