from __future__ import annotations

from flybridge.agents.claude.history import ClaudeHistory
from flybridge.agents.claude.records import ClaudeRecords
from flybridge.agents.history import Effect, Finding, HistoryDoctor, HistoryReader, worst
from tests.harness.kept_by_courier import CourierHistory


def finding(**effect: Effect) -> Finding:
    return Finding(code="x", text="It is.", effect=effect)


def test_the_worst_effect_counts() -> None:
    findings = [finding(old="forgets", new="harmless"), finding(old="harmless", new="not known")]
    assert worst(findings) == "forgets"
    assert worst(findings, "new") == "not known"
    assert worst([]) == "harmless"


def test_a_kind_implements_the_parts_it_has() -> None:
    claude = ClaudeRecords(ClaudeHistory.of({"HOME": "/nowhere"}))
    assert isinstance(claude, HistoryReader)
    assert isinstance(claude, HistoryDoctor)
    courier = CourierHistory({})
    assert not isinstance(courier, HistoryReader)
    assert not isinstance(courier, HistoryDoctor)
