"""How a run ends: what it says, what it keeps, and its status."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import report
from bench.ending import Files, finish
from bench.report import BEGIN, END, Results

GOOD, BAD = [1.0], [9.0]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    page = tmp_path / "page.md"
    page.write_text(f"words\n{BEGIN}{END}")
    return Files(kept=tmp_path / "kept.json", latest=tmp_path / "latest.json", page=page)


def some(delta_us: list[float], *missing: str) -> Results:
    return Results(machine="a box", rounds={"delta_us": delta_us}, missing=list(missing))


def test_a_goal_that_is_missed_is_explained_and_fails(files: Files) -> None:
    asked: list[Results] = []
    assert finish(some(BAD), files, keep=False, explain=asked.append) == 1
    assert asked == [some(BAD)]


def test_a_run_is_compared_with_the_one_that_was_kept(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    report.save(files.kept, some([2.0]))
    assert finish(some(GOOD, "Node: no registry"), files, keep=False, explain=print) == 0
    said = capsys.readouterr().out
    assert "-50%" in said
    assert "could not run: 1\n  Node: no registry" in said
    assert "goals: 1 met, 0 met by the best round only, 0 missed" in said


@pytest.mark.parametrize("keep", [True, False])
def test_only_a_run_that_is_kept_changes_the_page(files: Files, keep: bool) -> None:
    finish(some(GOOD), files, keep=keep, explain=lambda _: None)
    assert report.load(files.latest) == some(GOOD)
    assert (report.load(files.kept) == some(GOOD)) is keep
    assert ("| met |" in files.page.read_text()) is keep
