from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.waiting import until, until_file, wait_until, wait_until_file


async def test_a_wait_returns_what_the_condition_returned() -> None:
    counted = iter((0, 0, 7))
    assert await until(lambda: next(counted)) == 7
    counted = iter((0, 8))
    assert wait_until(lambda: next(counted)) == 8


async def test_a_wait_that_fails_names_what_was_awaited() -> None:
    with pytest.raises(AssertionError, match=r"did not happen within 0.01 s: the tide$"):
        await until(lambda: False, "the tide", within_s=0.01)
    with pytest.raises(AssertionError, match=r"within 0.01 s: \['log'\]$"):
        wait_until(lambda: False, lambda: ["log"], within_s=0.01)


async def test_a_wait_without_a_name_shows_the_source_of_its_condition() -> None:
    ships = 2
    with pytest.raises(AssertionError, match="ships == 3"):
        await until(lambda: ships == 3, within_s=0)
    with pytest.raises(AssertionError, match="'__len__' of list"):
        wait_until([].__len__, within_s=0)


async def test_a_wait_for_a_file_ends_when_it_exists(tmp_path: Path) -> None:
    file = tmp_path / "buoy"
    with pytest.raises(AssertionError, match="buoy"):
        await until(file.exists, f"the file {file}", within_s=0)
    file.touch()
    await until_file(file)
    wait_until_file(file)
