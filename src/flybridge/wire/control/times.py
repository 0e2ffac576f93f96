"""Times as the control protocol writes them: RFC 3339, UTC, and nothing else."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from flybridge.errors import InvalidRequestError

_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00:00)", re.ASCII)


def parse_time(text: str) -> int:
    """Milliseconds since 1970.

    Raises:
        InvalidRequestError: it is no time, or not in UTC.
    """
    if not _FORM.fullmatch(text):
        raise InvalidRequestError(f"a time is written 2026-02-20T21:15:00Z, not {text[:40]!r}")
    whole, _, rest = text.removesuffix("Z").removesuffix("+00:00").partition(".")
    try:
        at = datetime.strptime(f"{whole}+0000", "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        raise InvalidRequestError(f"no such time: {text[:40]!r}") from None
    return int(at.timestamp()) * 1000 + int(f"{rest}000"[:3])


def format_time(at_ms: int) -> str:
    """The other way."""
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"
