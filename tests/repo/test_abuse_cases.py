"""No abuse case is without a test, but those that are listed as later; and that list shrinks."""

from __future__ import annotations

from pathlib import Path

from tests.abuse.cases import CASES, LATER, found, table

# what was later when this was written: a case may leave, none may join
WERE_LATER = {7, 13, 25, 27, 28, 33, 35, 37, 46, 47, 50, 57, 58, 59, 60}
WHOLE_GATEWAY = ("tests/abuse/", "tests/cli/", "tests/web/")


def test_every_case_has_a_test_or_a_reason() -> None:
    tests = found()
    missing = [number for number in CASES if number not in tests and number not in LATER]
    assert missing == [], table()


def test_no_case_is_later_that_was_not() -> None:
    assert LATER.keys() <= WERE_LATER


def test_every_case_has_a_number_that_is_known() -> None:
    assert list(CASES) == list(range(1, 68))
    assert found().keys() <= CASES.keys()


def test_every_case_is_tried_on_a_whole_gateway() -> None:
    """Not only on a part of one: below tests/abuse, tests/cli and tests/web real servers run."""
    tests = found()
    parts_only = [
        number
        for number in CASES
        if number not in LATER and not any(one.startswith(WHOLE_GATEWAY) for one in tests[number])
    ]
    assert parts_only == []


def test_a_test_says_its_cases_by_name_by_mark_or_by_docstring(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "abuse"
    folder.mkdir(parents=True)
    (folder / "test_x.py").write_text(
        "def test_abuse_26_a() -> None: ...\n"
        "async def test_05_b() -> None: ...\n"
        "@pytest.mark.abuse(1, 2)\ndef test_c() -> None: ...\n"
        'def test_d() -> None:\n    """Abuse cases 3 and 4."""\n'
        "def helper_abuse_9() -> None: ...\n"
    )
    (tmp_path / "tests" / "test_y.py").write_text("def test_07_e() -> None: ...\n")
    assert sorted(found(tmp_path)) == [1, 2, 3, 4, 5, 26]
    assert "| 26 | an agent that approves for itself | tests/abuse/test_x.py (1) |" in table(
        tmp_path
    )
    assert "| 12 | WebSocket frames against the rules | later: None |" in table(tmp_path)
