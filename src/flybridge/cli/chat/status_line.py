"""The line above the one being typed: what goes on, how long, how full, how much."""

from __future__ import annotations

from flybridge.cli.chat.following import ContextState, SessionState
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.tool_text import duration, joined

WAITS = {
    "permission": "waits for your permission",
    "question": "waits for your answer",
    "rate_limit": "waits for the rate limit",
    "retry": "tries again",
    "compaction": "compacts its context",
    "wedged": "has been silent for long",
    "queue": "is about to begin",
}
DUE = ("rate_limit", "retry")
USUAL_MODE = "default"


def status_text(
    state: SessionState, context: ContextState, *, now_ms: int, until_ms: int = 0
) -> str:
    """One line; ``until_ms``: when a retry, or the end of a limit, is due."""
    if state.status == "starting":
        return "the agent starts …"
    spent = f"${state.cost_usd:.4f}" if state.cost_usd else ""
    if state.status != "running":
        mode = one_line(state.mode) if state.mode != USUAL_MODE else ""
        off = "no agent runs; your next message starts it" if state.status == "off" else ""
        return joined([off, one_line(state.model), mode, context.text, spent])
    return joined([_doing(state, now_ms, until_ms), "Esc interrupts", context.text, spent])


def _doing(state: SessionState, now_ms: int, until_ms: int) -> str:
    since = now_ms - state.since_ms if state.since_ms else 0
    took = duration(since) if since < 10_000 else duration(since // 1000 * 1000)
    if state.why in DUE and until_ms > now_ms:
        left = duration(-(-(until_ms - now_ms) // 1000) * 1000)
        return (
            f"{WAITS[state.why]} in {left}"
            if state.why == "retry"
            else f"{WAITS[state.why]}: {left}"
        )
    doing = ", ".join(one_line(tool.name) for tool in state.tools) or "working"
    return joined([WAITS.get(state.why, doing), took])
