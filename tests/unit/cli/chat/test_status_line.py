from __future__ import annotations

import pytest

from flybridge.cli.chat.following import ContextState, SessionState, ToolState
from flybridge.cli.chat.status_line import status_text

FULL = ContextState(tokens=50, window=200)
NOW = 1_000_000


def text(until_ms: int = 0, context: ContextState = FULL, **state: object) -> str:
    return status_text(
        SessionState(**state),  # type: ignore[arg-type]
        context,
        now_ms=NOW,
        until_ms=until_ms,
    )


def test_at_rest_it_says_which_model_how_full_and_how_much() -> None:
    assert text(status="idle", model="m", mode="default") == "m · context 25%"
    assert text(status="idle", model="m", mode="plan", cost_usd=0.5) == (
        "m · plan · context 25% · $0.5000"
    )


def test_without_an_agent_it_says_so() -> None:
    assert text(status="off", context=ContextState()) == (
        "no agent runs; your next message starts it"
    )
    assert text(status="starting") == "the agent starts …"


def test_a_turn_says_what_it_does_and_for_how_long() -> None:
    since = NOW - 12_345
    assert text(status="running", why="model", since_ms=since) == (
        "working · 12 s · Esc interrupts · context 25%"
    )
    tools = [ToolState(name="Bash"), ToolState(name="Re\x1bad")]
    busy = text(status="running", why="tool", tools=tools, since_ms=since)
    assert busy.startswith("Bash, Re^[ad · 12 s")
    asks = text(status="running", why="permission", since_ms=since)
    assert asks.startswith("waits for your permission · 12 s")


@pytest.mark.parametrize(
    ("why", "left_ms", "said"),
    [
        ("retry", 2500, "tries again in 3.0 s · Esc"),
        ("rate_limit", 90_000, "waits for the rate limit: 1 min 30 s · Esc"),
        ("retry", -5, "tries again · 1.0 s · Esc"),
        ("tool", 5000, "working · 1.0 s · Esc"),
    ],
)
def test_what_it_waits_for_says_how_long_it_still_takes(why: str, left_ms: int, said: str) -> None:
    shown = text(NOW + left_ms, status="running", why=why, since_ms=NOW - 1000)
    assert shown.startswith(said)


def test_a_context_nobody_knows_is_not_told() -> None:
    assert ContextState().text == ContextState(tokens=5).text == ""
