"""JSON with one way to be written (RFC 8785), for bytes that are signed.

Only what control messages hold: no fractions, and whole numbers that every reader can hold.
"""

from __future__ import annotations

import json
from typing import Any

from flybridge.errors import InvalidRequestError

MAX_INTEGER = 2**53 - 1


def canonical(value: Any) -> bytes:
    """The one way to write this.

    Raises:
        InvalidRequestError: there is none: a fraction, a number too big, half a character.
    """
    try:
        return _text(value).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidRequestError("a text holds half a character") from None


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise InvalidRequestError("a number is too big to be signed")
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, dict):
        # by UTF-16 units, as the standard says; other orders differ beyond the first plane
        keys = sorted(value, key=lambda one: one.encode("utf-16-be", "surrogatepass"))
        pairs = ",".join(f"{_text(key)}:{_text(value[key])}" for key in keys)
        return f"{{{pairs}}}"
    raise InvalidRequestError("fractions are not signed")
