"""What a run is turned into: a table, a file, a page."""

from __future__ import annotations

from pathlib import Path

from bench import report
from bench.report import BEGIN, END, Results


def some(**rounds: list[float]) -> Results:
    return Results(machine="a box", rounds=rounds)


def test_a_result_that_was_saved_is_the_one_that_is_loaded(tmp_path: Path) -> None:
    results = some(delta_us=[1.5, 1.25])
    report.save(tmp_path / "results" / "latest.json", results)
    assert report.load(tmp_path / "results" / "latest.json") == results


def test_there_may_be_no_result_before(tmp_path: Path) -> None:
    assert report.load(tmp_path / "none.json") is None


def test_figures_of_rounds_are_gathered() -> None:
    results = some()
    results.add({"delta_us": 1.23456})
    results.add({"delta_us": 2})
    assert results.rounds == {"delta_us": [1.235, 2.0]}


def test_the_table_says_how_much_the_median_moved() -> None:
    text = report.table(some(delta_us=[3.0]), before=some(delta_us=[2.0]))
    row = next(line for line in text.splitlines() if "line of text" in line)
    assert "+50%" in row
    assert row.endswith("missed")


def test_what_was_not_measured_has_no_row() -> None:
    assert "Node" not in report.table(some(delta_us=[1.0]))


def test_a_page_gets_a_new_table_and_keeps_its_words() -> None:
    page = f"before\n{BEGIN}old\n{END}after\n"
    text = report.with_table(page, some(delta_us=[1.0]))
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| met |" in text
    assert report.with_table(text, some(delta_us=[1.0])) == text


def test_the_page_says_what_the_kept_results_say() -> None:
    kept = report.load(report.KEPT)
    assert kept is not None
    page = report.PAGE.read_text()
    assert report.with_table(page, kept) == page
