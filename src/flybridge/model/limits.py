"""Limits of an account: how much of each is used, and when it starts anew."""

from __future__ import annotations

from typing import Literal

import msgspec

MAX_LIMITS = 16
SCOPE_CHARS = 64


class UsageLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One limit, in terms that hold for every agent."""

    scope: str = ""  # the time or the thing that is counted: five_hour, seven_day, requests
    status: Literal["ok", "warning", "reached", "unknown"] = "unknown"
    used: float | None = None  # 0.0 to 1.0, and more where it can be exceeded
    resets_ms: int = 0
    account: str = ""
