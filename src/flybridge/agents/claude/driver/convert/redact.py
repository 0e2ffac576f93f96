"""What the CLI says of its settings holds keys and passwords: whoever may look gets to see
that they are there, and not what they are."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw

HIDDEN = "(hidden)"
_INSIDE = ("env", "headers")  # of these the names are shown
_WHOLE = ("args", "oauth", "headersHelper", "apiKeyHelper", "otelHeadersHelper")


def discreet(raw: Raw) -> Raw:
    """The same JSON without what may be a secret.

    Raises:
        msgspec.DecodeError: it is not JSON.
    """
    value = msgspec.json.decode(raw)
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            for name in one:
                one[name] = _shown(name, one[name])
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return Raw(msgspec.json.encode(value))


def _shown(name: str, value: Any) -> Any:
    if name in _WHOLE and value:
        return HIDDEN
    if name in _INSIDE and isinstance(value, dict):
        return dict.fromkeys(value, HIDDEN)
    return _address(value) if name == "url" and isinstance(value, str) else value


def _address(url: str) -> str:
    """Where it is, without who asks: names, passwords and keys may stand in an address."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return HIDDEN
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    query = f"?{HIDDEN}" if parts.query else ""
    return f"{parts.scheme}://{host}{port}{parts.path}{query}"
