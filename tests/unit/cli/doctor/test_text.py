from __future__ import annotations

from flybridge.cli.doctor.text import (
    Check,
    check_lines,
    finding_lines,
    opening_line,
    summary_lines,
)
from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.screen import Look
from flybridge.probes.report import Finding, Report

PLAIN = Look(colour=False, unicode=True)


def finding(verdict: str = "broken", found: str = "ran without asking") -> Finding:
    return Finding(
        probe="allow",
        about="a tool",
        expected="asked, then ran",
        found=found,
        verdict=verdict,  # type: ignore[arg-type]
    )


def report(*findings: Finding, offline: bool = True) -> Report:
    return Report(
        agent="claude",
        program=("/bin/claude",),
        version="2.2.0",
        against="2.1.325",
        offline=offline,
        findings=findings,
        seconds=8.4,
    )


def test_checks_stand_in_columns_and_end_with_their_sum() -> None:
    checks = [
        Check(area="state", text="/s, yours alone"),
        Check(area="configuration", status="problem", text="no", fix="correct it"),
        Check(area="git", status="note", text="gone", detail="more"),
    ]
    assert check_lines(checks, PLAIN, None) == [
        "ok       state          /s, yours alone",
        "problem  configuration  no",
        "                        → correct it",
        "note     git            gone",
        "                        more",
        "",
        "1 problem, 1 note",
    ]


def test_no_problem_is_said_so() -> None:
    assert check_lines([Check(area="a", text="b")], PLAIN, None)[-1] == "no problems"


def test_long_lines_are_cut_into_rows_that_fit() -> None:
    check = Check(area="state", text="word " * 40, fix="and do " * 20)
    lines = check_lines([check], PLAIN, 60)
    assert max(map(cells, lines)) <= 60
    assert all(line.startswith(" " * 16) for line in lines[1:-2])


def test_a_terminal_without_marks_gets_none() -> None:
    lines = check_lines([Check(area="a", text="b", fix="c")], Look(colour=False, unicode=False), 80)
    assert all(line.isascii() for line in lines)


def test_colours_only_where_they_are_wanted() -> None:
    check = Check(area="a", status="problem", text="b")
    assert "\x1b[31mproblem" in check_lines([check], Look(), None)[0]
    assert "\x1b" not in "".join(check_lines([check], PLAIN, None))


def test_what_a_program_said_cannot_move_the_cursor() -> None:
    lines = check_lines([Check(area="a", text="x\x1b[2Jy\nz")], PLAIN, None)
    assert lines[0].endswith("x^[[2Jy ↵ z")


def test_a_finding_says_what_was_expected_only_when_it_differs() -> None:
    assert finding_lines(finding(), 8, PLAIN, None) == [
        "broken   a tool  ran without asking",
        "                 expected: asked, then ran",
    ]
    assert len(finding_lines(finding("same", "asked, then ran"), 8, PLAIN, None)) == 1
    assert finding_lines(finding(found="not tried: the time was up"), 8, PLAIN, None) == []


def test_the_first_line_says_what_is_compared_with_what() -> None:
    assert opening_line(report()) == (
        "claude 2.2.0 (/bin/claude), compared with 2.1.325, scripted model, no network"
    )
    assert opening_line(report(offline=False)).endswith("but not cut off from the network")


def test_the_end_counts_and_says_it_in_words() -> None:
    untried = finding(found="not tried: the time was up")
    lines = summary_lines(report(finding(), untried), PLAIN, None)
    assert lines[:3] == [
        "",
        "0 same, 0 changed, 1 broken, 1 not tried, in 8 s",
        "what changed against 2.1.325:",
    ]
    assert lines[3] == "- a tool: ran without asking (was: asked, then ran)"
