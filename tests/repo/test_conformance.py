"""The page of conformance: every row has its test, every mark its row, and nothing is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.tree import ROOT
from tools import conformance

DOCUMENT = """
order = 1
title = "The harbour rules"
intro = "What the harbour says."
[[row]]
name = "H-1"
says = "Boats | have names."
[[row]]
name = "H-2"
says = "Boats float."
measured = "one of them did not."
[[row]]
name = "H-3"
says = "Boats are painted."
later = "paint"
"""
PINNED = '{"dependencies": {"b": "npm:x/claude-code@2.1.325", "a": "npm:x/claude-code@2.1.38"}}'
BOTH = '@pytest.mark.conforms("H-1", "H-2")\nasync def test_a_boat(bridge): ...\n'


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small repository with one document, and one test that shows it."""
    write(tmp_path, "tests/conformance/harbour.toml", DOCUMENT)
    write(tmp_path, "tests/agents/package.json", PINNED)
    write(tmp_path, "tests/agents/test_boats.py", f"import nothing_there\n{BOTH}")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_page_is_what_the_tests_say() -> None:
    assert conformance.stale(ROOT) == ""


def test_every_row_has_a_test_and_every_mark_a_row() -> None:
    assert conformance.problems(ROOT) == []


def test_a_row_is_shown_by_the_tests_that_name_it(house: Path) -> None:
    assert conformance.problems(house) == []
    page = conformance.page(house)
    link = "[`test_a_boat`](../../tests/agents/test_boats.py)"
    assert f"| H-1 | Boats \\| have names. | {link} |" in page
    assert (
        f"| H-2 | Boats float. | **measured otherwise:** one of them did not.<br>{link} |" in page
    )
    assert "| H-3 | Boats are painted. | **later:** paint |" in page
    assert "| [The harbour rules](#the-harbour-rules) | 3 | 1 | 1 | 1 |" in page


def test_a_row_without_a_test_is_wrong_even_if_it_was_measured(house: Path) -> None:
    write(house, "tests/agents/test_boats.py", BOTH.replace(', "H-2"', ""))
    assert conformance.problems(house) == ["H-2: no test shows it"]


def test_a_mark_that_names_no_row_is_wrong(house: Path) -> None:
    write(house, "tests/other/test_more.py", BOTH.replace("H-1", "H-9"))
    (wrong,) = conformance.problems(house)
    assert wrong == "tests/other/test_more.py: test_a_boat: no row is called 'H-9'"


def test_a_test_of_one_version_shows_only_that_one(house: Path) -> None:
    only = '@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)\n'
    write(house, "tests/agents/test_boats.py", only + BOTH)
    (wrong,) = conformance.problems(house)
    assert wrong == "H-1: no test shows it on 2.1.38, and no word says why"
    assert "test_boats.py) (2.1.325) |" in conformance.page(house)


def test_a_row_may_borrow_tests_and_name_those_of_single_parts(house: Path) -> None:
    more = (
        '[[row]]\nname = "H-4"\nsays = "x"\nvia = ["H-1"]\nalso = ["tests/a/test_b.py::test_c"]\n'
    )
    write(house, "tests/conformance/harbour.toml", DOCUMENT + more)
    assert conformance.problems(house) == ["H-4: no such test: tests/a/test_b.py::test_c"]
    write(house, "tests/a/test_b.py", "def test_c() -> None: ...\n")
    assert conformance.problems(house) == []
    assert "test_boats.py)<br>[`test_c`](../../tests/a/test_b.py) |" in conformance.page(house)


def test_a_row_cannot_borrow_from_nowhere_nor_have_a_namesake(house: Path) -> None:
    twin = '[[row]]\nname = "H-1"\nsays = "x"\nvia = ["H-7"]\n'
    write(house, "tests/conformance/harbour.toml", DOCUMENT + twin)
    assert conformance.problems(house) == [
        "two rows are called H-1",
        "H-1: no row is called 'H-7'",
    ]


def test_a_mark_that_has_to_be_computed_is_refused(house: Path) -> None:
    write(house, "tests/agents/test_boats.py", BOTH.replace('"H-1"', "*ROWS"))
    with pytest.raises(ValueError, match="plain strings only"):
        conformance.problems(house)


def test_a_page_of_yesterday_is_stale(house: Path) -> None:
    write(house, "docs/reference/conformance.md", conformance.page(house))
    assert conformance.stale(house) == ""
    write(house, "tests/agents/test_boats.py", BOTH.replace("test_a_boat", "test_another"))
    assert "test_another" in conformance.stale(house)
