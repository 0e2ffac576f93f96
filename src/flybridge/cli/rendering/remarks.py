"""What is said between the lines of a conversation: retries, limits, compaction, the end of a turn.

Times are told as what is left, counted from when the event was written: no clock is read.
"""

from __future__ import annotations

from msgspec import Raw, UnsetType

from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.tool_text import duration, joined, parsed
from flybridge.model import events as ev

ENDED = {
    "interrupted": "interrupted",
    "limit": "stopped at a limit",
    "agent_exited": "the agent ended",
}
LIMITS = {"allowed_warning": "nearly reached", "warning": "nearly reached", "rejected": "reached"}
FINE = ("allowed", "ok")
UNRECOGNISED_CHARS = 300


def retry_text(event: ev.Retry, now_ms: int) -> str:
    left = event.at_ms - now_ms if event.at_ms else 0
    when = f" in {duration(left)}" if left > 0 else ""
    reason = event.reason.replace("_", " ")
    return f"trying again{when} ({event.attempt}): {reason}"


def limit_text(event: ev.RateLimit, now_ms: int) -> str:
    """Nothing while there is no limit in sight."""
    status = event.status
    if event.limits and event.limits[0].status != "unknown":
        status = event.limits[0].status
    if status in FINE:
        return ""
    if event.limits:
        used, kind = event.limits[0].used, event.limits[0].scope.replace("_", " ")
    else:  # written before limits were typed
        info = parsed(_bytes(event.detail)) if event.detail else {}
        info = info if isinstance(info, dict) else {}
        used, kind = info.get("utilization"), str(info.get("rateLimitType", "")).replace("_", " ")
    share = f"{used:.0%} used" if isinstance(used, int | float) else ""
    left = event.resets_ms - now_ms
    resets = f"resets in {duration(left)}" if event.resets_ms and left > 0 else ""
    state = LIMITS.get(status, status)
    return joined([f"{kind} rate limit {state}".strip(), share, resets])


def compacted_text(event: ev.ContextCompacted) -> str:
    if event.phase == "started":
        return "compacting the context …"
    if event.phase == "failed":
        return joined(["the context could not be compacted", _detail_line(event.detail)])
    told = parsed(_bytes(event.detail)) if event.detail else {}
    told = told if isinstance(told, dict) else {}
    before, after = told.get("pre_tokens"), told.get("post_tokens")
    sizes = ""
    if isinstance(before, int) and isinstance(after, int):
        sizes = f"{before:,} → {after:,} tokens"
    asked = {"auto": "by itself", "manual": "as asked"}.get(str(told.get("trigger")), "")
    return joined(["the context was compacted", sizes, asked])


def _detail_line(detail: Raw | UnsetType) -> str:
    return one_line(_bytes(detail).decode(errors="replace"))[:UNRECOGNISED_CHARS]


def unrecognised_text(source: str, text: str) -> str:
    head = one_line(text[:UNRECOGNISED_CHARS])
    more = len(text) - UNRECOGNISED_CHARS
    rest = f" … {more} more characters" if more > 0 else ""
    return f"unrecognised, from {source}: {head}{rest}"


def turn_text(event: ev.TurnEnded, took_ms: int) -> str:
    """How it ended if not as usual, how long it took, what it cost, how full the context is."""
    how = ENDED.get(event.reason, "")
    why = one_line(event.message) if how and event.message else ""
    took = duration(took_ms) if took_ms else ""
    cost = f"${event.cost_usd:.4f}" if event.cost_usd else ""
    return joined([how, why, took, cost, context_text(event)])


def context_text(event: ev.TurnEnded) -> str:
    gauge = event.gauges.get("context")
    value = parsed(bytes(gauge)) if gauge is not None else {}
    if not isinstance(value, dict):
        return ""
    tokens, window = value.get("tokens"), value.get("window")
    if not (isinstance(tokens, int) and isinstance(window, int) and window > 0 and tokens >= 0):
        return ""
    return f"context {tokens / window:.0%}"


def _bytes(raw: Raw | UnsetType) -> bytes:
    return bytes(raw) if isinstance(raw, Raw) else b""
