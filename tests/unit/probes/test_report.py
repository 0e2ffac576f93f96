from __future__ import annotations

from flybridge.probes.report import Finding, Report, Verdict, judge, summary


def finding(verdict: Verdict, found: str = "ran") -> Finding:
    return Finding(probe="p", about="a tool", expected="asked", found=found, verdict=verdict)


def report(*findings: Finding) -> Report:
    return Report(
        agent="claude",
        program=("claude",),
        version="2.2.0",
        against="2.1.325",
        offline=True,
        findings=findings,
    )


def test_what_is_as_expected_is_the_same() -> None:
    assert judge("asked", "asked") == "same"


def test_what_we_can_live_with_is_changed_and_anything_else_is_broken() -> None:
    assert judge("answers a, b", "answers a", ("answers *",)) == "changed"
    assert judge("answers a, b", "an error", ("answers *",)) == "broken"


def test_a_summary_of_nothing_new_is_one_line() -> None:
    assert summary(report(finding("same", "asked"))) == ["nothing changed against 2.1.325"]


def test_a_summary_names_what_is_broken_before_what_is_changed() -> None:
    told = report(finding("changed", "asked twice"), finding("broken"))
    assert summary(told) == [
        "what changed against 2.1.325:",
        "- a tool: ran (was: asked)",
        "- a tool: asked twice (was: asked)",
        "Flybridge relies on what is broken: stay with a version that was measured",
    ]
    assert not told.is_fine


def test_changes_alone_are_no_reason_to_stay() -> None:
    told = report(finding("changed"))
    assert told.is_fine
    assert summary(told)[-1] == "everything that Flybridge relies on works"


def test_what_was_not_tried_is_counted_and_is_not_fine() -> None:
    told = report(finding("same"), finding("broken", "not tried: the time was up"))
    assert told.those("broken") == []
    assert len(told.untried) == 1
    assert not told.is_fine
    assert "- 1 more thing could not be tried" in summary(told)
