"""Every row of the page's table has a name of its own, and something that measures it."""

from __future__ import annotations

import inspect

from bench.web import build, opening, ratings, scrolling, sizes, streaming
from bench.web.__main__ import CASES
from bench.web.goals import ROWS


def test_every_row_belongs_to_a_case_and_has_a_name_of_its_own() -> None:
    assert {row.case for row in ROWS} == {"build", *CASES}
    assert len({row.figure for row in ROWS}) == len(ROWS)


def test_every_row_is_measured_somewhere() -> None:
    source = "".join(map(inspect.getsource, (opening, ratings, scrolling, sizes, streaming)))
    timed = {f"{name}{end}" for name in ("vite", "unit") for end in ("_s", "_cpu_s")}
    assert 'f"{name}_s"' in inspect.getsource(build)
    spelled = {row.figure for row in ROWS if f'"{row.figure}"' in source}
    assert spelled | timed == {row.figure for row in ROWS}


def test_less_is_better_in_every_row_but_points() -> None:
    better = [row.figure for row in ROWS if row.more_is_better]
    assert better == list(ratings.POINTS)
