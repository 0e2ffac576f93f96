from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from flybridge.cli.rendering import remarks as r
from flybridge.model import events as ev
from flybridge.model.ids import TurnId
from flybridge.model.limits import UsageLimit

NOW = 1_000_000
TURN = TurnId("trn_1")


def raw(value: object) -> Raw:
    return Raw(msgspec.json.encode(value))


def test_a_retry_says_how_long_it_waits() -> None:
    retry = ev.Retry(attempt=2, at_ms=NOW + 2500, reason="overloaded")
    assert r.retry_text(retry, NOW) == "trying again in 2.5 s (2): overloaded"
    assert r.retry_text(retry, NOW + 9000) == "trying again (2): overloaded"


def test_a_limit_says_how_much_is_used_and_when_it_resets() -> None:
    info = {"rateLimitType": "five_hour", "utilization": 0.91}
    limit = ev.RateLimit(status="allowed_warning", resets_ms=NOW + 5_400_000, detail=raw(info))
    said = r.limit_text(limit, NOW)
    assert said == "five hour rate limit nearly reached · 91% used · resets in 1 h 30 min"
    assert r.limit_text(ev.RateLimit(status="rejected"), NOW) == "rate limit reached"
    assert r.limit_text(ev.RateLimit(status="new_word", detail=raw([1])), NOW) == (
        "rate limit new_word"
    )


@pytest.mark.parametrize("status", ["allowed", "ok"])
def test_no_limit_is_no_news(status: str) -> None:
    assert r.limit_text(ev.RateLimit(status=status), NOW) == ""


def test_compaction_says_how_much_room_it_made() -> None:
    detail = raw({"trigger": "auto", "pre_tokens": 6400, "post_tokens": 640})
    done = r.compacted_text(ev.ContextCompacted(detail=detail))
    assert done == "the context was compacted · 6,400 → 640 tokens · by itself"
    assert r.compacted_text(ev.ContextCompacted(detail=raw(3))) == "the context was compacted"
    failed = ev.ContextCompacted(phase="failed", detail=raw("too\nlong"))
    assert r.compacted_text(failed) == 'the context could not be compacted · "too\\nlong"'


def test_what_is_not_recognised_is_shown_on_one_line_and_not_for_ever() -> None:
    assert r.unrecognised_text("claude", "a\nb\x1b") == "unrecognised, from claude: a ↵ b^["
    said = r.unrecognised_text("claude", "x" * 1000)
    assert said.endswith(" … 700 more characters")


def test_a_turns_end_says_what_is_not_as_usual() -> None:
    assert r.turn_text(ev.TurnEnded(turn=TURN), 0) == ""
    stopped = ev.TurnEnded(turn=TURN, reason="limit", message="too many\nturns")
    assert r.turn_text(stopped, 61_000) == "stopped at a limit · too many ↵ turns · 1 min 1 s"


@pytest.mark.parametrize(
    ("gauge", "shown"),
    [
        ({"tokens": 50, "window": 200}, "context 25%"),
        ({"tokens": 50, "window": 0}, ""),
        ({"tokens": "x", "window": 200}, ""),
        ({}, ""),
        ([], ""),
    ],
)
def test_the_context_is_told_when_it_is_known(gauge: object, shown: str) -> None:
    assert r.context_text(ev.TurnEnded(turn=TURN, gauges={"context": raw(gauge)})) == shown
    assert r.context_text(ev.TurnEnded(turn=TURN)) == ""


def test_a_typed_limit_is_told_whatever_the_agent_calls_it() -> None:
    limit = UsageLimit(scope="seven_day", status="reached", used=1.0, resets_ms=61_000)
    event = ev.RateLimit(status="429", resets_ms=61_000, limits=(limit,))
    said = "seven day rate limit reached · 100% used · resets in 1 min"
    assert r.limit_text(event, 1000) == said
    fine = ev.RateLimit(status="fine", limits=(UsageLimit(status="ok"),))
    assert r.limit_text(fine, 1000) == ""
