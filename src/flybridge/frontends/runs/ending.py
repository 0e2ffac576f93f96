"""How a run ends before its agent is done: the words it leaves in the log.

A session is closed once, and the event that says so is what every telling of the run ends
with. Why it was closed stands in its ``reason``.
"""

from __future__ import annotations

import re
from typing import get_args

from flybridge.frontends.runs.wire.messages import Cancelled, Code, Failed

MAX_REASON = 500
_FAILED = re.compile(r"run\.failed (\w+): (.*)", re.DOTALL)
_CANCELLED = re.compile(r"run\.cancelled(?:: (.*))?", re.DOTALL)


def reason_of(end: Failed | Cancelled) -> str:
    """What the log is told."""
    if isinstance(end, Failed):
        return f"run.failed {end.code}: {end.message[:MAX_REASON]}"
    return f"run.cancelled: {end.reason[:MAX_REASON]}" if end.reason else "run.cancelled"


def end_of(reason: str) -> Failed | Cancelled:
    """What the log was told; a session that somebody else closed is a run that was cancelled."""
    failed = _FAILED.fullmatch(reason)
    for code in get_args(Code):
        if failed and failed[1] == code:
            return Failed(code=code, message=failed[2])
    cancelled = _CANCELLED.fullmatch(reason)
    if cancelled:
        return Cancelled(reason=cancelled[1] or "")
    return Cancelled(reason=reason or "the session was closed")
