"""What a page noted down comes to the figures that people would count by hand."""

from __future__ import annotations

import pytest

from bench.web.figures import FAST_MS, FRAME_MS, blocking, dropped, interactions, jumps, percentile


def test_a_gap_of_three_frames_has_dropped_two() -> None:
    steady = [n * FRAME_MS for n in range(9)]
    assert dropped(steady) == 0
    assert dropped([*steady, steady[-1] + 3 * FRAME_MS]) == pytest.approx(100 * 2 / 11)
    assert dropped([]) == 0


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([5, 1, 4, 2, 3], 0.5) == 3
    assert percentile(range(1, 101), 0.98) == 98
    with pytest.raises(ValueError, match="nothing was measured"):
        percentile([], 0.5)


def test_a_key_takes_as_long_as_its_longest_event_and_the_fast_ones_count_too() -> None:
    assert interactions([(1, 24), (1, 40), (2, 16)], made=4) == [40, 16, FAST_MS, FAST_MS]


def test_only_what_is_beyond_fifty_milliseconds_blocks() -> None:
    assert blocking([(0, 60), (100, 120)], after=90) == 70


@pytest.mark.parametrize(
    ("step", "is_jump"),
    [
        ((240, 5000, 240), False),
        ((240, 5000, 243), False),
        ((240, 5000, 260), True),
        ((240, 5000, 0), True),
        ((240, 100, 100), False),  # the very top
        ((240, 100, 240), False),  # older lines came in just then
        ((240, 5000, float("inf")), True),  # the line is gone
    ],
)
def test_a_jump_is_a_move_that_the_wheel_did_not_make(
    step: tuple[float, float, float], is_jump: bool
) -> None:
    assert jumps([step]) == int(is_jump)
