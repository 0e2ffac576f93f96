"""A noisy machine fails nobody; a goal that no round reaches does."""

from __future__ import annotations

import inspect

import pytest

from bench import cases
from bench.goals import ROWS, Row, Verdict, short

AT_LEAST = Row("some_rate", "a rate", "lines/s", "deltas", at_least=100)
AT_MOST = Row("some_us", "a cost", "µs", "deltas", at_most=10)


@pytest.mark.parametrize(
    ("row", "rounds", "verdict"),
    [
        (AT_LEAST, [99, 100, 101], "met"),
        (AT_LEAST, [98, 99, 101], "close"),
        (AT_LEAST, [97, 98, 99], "missed"),
        (AT_MOST, [9, 10, 50], "met"),
        (AT_MOST, [9, 11, 50], "close"),
        (AT_MOST, [11, 12, 50], "missed"),
        (Row("some_ms", "no goal", "ms", "big"), [1e9], ""),
    ],
)
def test_a_goal_is_missed_by_the_median_and_the_best_round(
    row: Row, rounds: list[float], verdict: Verdict
) -> None:
    assert row.verdict(rounds) == verdict


def test_the_best_of_a_rate_is_the_most_and_of_a_cost_the_least() -> None:
    assert AT_LEAST.best([1, 3, 2]) == 3
    assert AT_MOST.best([1, 3, 2]) == 1


def test_every_row_belongs_to_a_case_and_has_a_name_of_its_own() -> None:
    assert {row.case for row in ROWS} == {"start", *cases.CASES}
    assert len({row.figure for row in ROWS}) == len(ROWS)


def test_every_row_is_measured_somewhere() -> None:
    source = inspect.getsource(cases)
    spelled = [row.figure for row in ROWS if f'"{row.figure}"' in source]
    made_up = {"accepted_p50_us", "written_p50_us", "written_p99_us"}
    made_up |= {row.figure for row in ROWS if row.figure.startswith("big_")}
    assert set(spelled) | made_up == {row.figure for row in ROWS}


def test_numbers_are_short() -> None:
    assert [short(one) for one in (0.0512, 2.5, 44.26, 512.4, 153_400)] == [
        "0.0512",
        "2.5",
        "44.3",
        "512",
        "153k",
    ]
