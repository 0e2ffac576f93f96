"""The two tiers of tests: nothing is in both, nothing is in neither, and a failure is told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.repo.tree import ROOT
from tools import run_tests

TIERS = run_tests.TIERS
COLLECT_S = 240  # a bound; all tests are collected in 10 s


def collected(root: Path, *args: str) -> list[str]:
    """Return the ids of the tests that pytest would run."""
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-q", *args]
    env = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": "/tmp"}
    done = subprocess.run(
        argv, cwd=root, env=env, capture_output=True, text=True, timeout=COLLECT_S
    )
    assert done.returncode in (0, run_tests.NO_TESTS), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with our conftest: two tests of the first tier, two of the second."""
    (tmp_path / "tests" / "web").mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope=function\n")
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests" / "conftest.py")
    (tmp_path / "tests" / "web" / "test_in_a_slow_folder.py").write_text(
        "import pytest\ndef test_slow(): ...\n@pytest.mark.sample\ndef test_sample(): ...\n"
    )
    (tmp_path / "tests" / "test_elsewhere.py").write_text(
        "import pytest\n"
        "def test_fast(): assert 'broken' == ''\n"
        "@pytest.mark.slow\n"
        "@pytest.mark.needs('linux')\n"
        "def test_marked(): pytest.skip('could not run: needs wings')\n"
    )
    return tmp_path


def test_a_test_is_slow_by_its_mark_or_its_folder_and_in_one_tier(project: Path) -> None:
    web = "tests/web/test_in_a_slow_folder.py"
    fast = collected(project, "-m", TIERS["fast"].marks)
    rest = collected(project, "-m", TIERS["rest"].marks)
    assert sorted(fast) == ["tests/test_elsewhere.py::test_fast", f"{web}::test_sample"]
    assert sorted(rest) == ["tests/test_elsewhere.py::test_marked", f"{web}::test_slow"]
    assert sorted([*fast, *rest]) == sorted(collected(project))


@pytest.mark.parametrize("tier", TIERS)
def test_every_module_is_in_one_group_of_a_tier(tier: str) -> None:
    paths = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")]
    wanted = [path.as_posix() for path in paths if "node_modules" not in path.parts]
    cut = [module for _, modules in run_tests.cut(TIERS[tier]) for module in modules]
    assert Counter(cut) == Counter(wanted)
    assert [folder for folder in TIERS[tier].parts if not (ROOT / "tests" / folder).is_dir()] == []


@pytest.mark.slow
@pytest.mark.timeout(COLLECT_S + 60)
def test_no_test_is_outside_the_groups() -> None:
    modules = {test.partition("::")[0] for test in collected(ROOT)}
    for tier in TIERS.values():
        assert modules <= {module for _, group in run_tests.cut(tier) for module in group}


def test_a_failure_is_shown_and_keeps_no_later_tier_from_running(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TMPDIR", "/tmp")
    assert run_tests.main(["fast", "rest"], project) == 1
    lines = capfd.readouterr().out.splitlines()
    assert any("assert 'broken' == ''" in line for line in lines), "\n".join(lines)
    last = lines.index("failed: all other folders") + 1
    assert lines[last].startswith("    FAILED tests/test_elsewhere.py::test_fast")
    assert lines[last + 1] == "could not run: 1 tests (vitest: 1)"
    assert lines[last + 2].startswith("make test: 1 failed, 1 passed, 1 skipped in 0:")
    assert lines[-2] == "could not run: 1 tests (wings: 1)"
    assert lines[-1].startswith("make test-rest: 1 passed, 1 skipped in 0:")


def ended(name: str, status: int, *lines: str) -> run_tests.Result:
    return run_tests.Result(run_tests.Group(name, [], ROOT), status, "\n".join(lines), 1.0)


def test_the_last_lines_repeat_what_failed_in_a_group() -> None:
    group = ended(
        *("tests/agents", 1),
        "left over: socket /tmp/fb-1/keeper.sock",
        "could not run: 0 tests",
        "=========== short test summary info ============",
        "FAILED tests/agents/test_x.py::test_a - assert 1 > 1",
        " +  where 1 = len([1])",
        "ERROR tests/agents/test_x.py::test_b - OSError: " + "x" * 1000,
        "1 failed, 178 passed, 1 error in 588.98s (0:09:48)",
    )
    page = ended("the page", 1, " FAIL  src/a.test.ts > adds", " FAIL  src/a.test.ts > adds")
    crashed = ended("tests/crash", -9, "....", "Fatal Python error: Segmentation fault", "")
    good = ended("tests/cli", 0, "FAILED is only a word here", "1 passed in 1.00s")
    lines = run_tests.closing_lines(TIERS["rest"], [group, good, page, crashed], 1.0)
    assert lines[:2] == [
        "failed: tests/agents",
        "    FAILED tests/agents/test_x.py::test_a - assert 1 > 1",
    ]
    assert lines[2].startswith("    ERROR tests/agents/test_x.py::test_b - OSError: xxx")
    assert len(lines[2]) == 4 + run_tests.LINE_CHARS
    assert lines[3:9] == [
        "    left over: socket /tmp/fb-1/keeper.sock",
        "failed: the page",
        "    FAIL  src/a.test.ts > adds",
        "failed: tests/crash",
        "    ....",
        "    Fatal Python error: Segmentation fault",
    ]
    assert lines[9:] == [
        "could not run: 0 tests",
        "make test-rest: 1 failed, 1 error, 179 passed in 0:01 min",
    ]


@pytest.mark.parametrize("groups", [1, 2, 17])
def test_what_is_repeated_has_a_bound(groups: int) -> None:
    left = [f"left over: process {number} of this run" for number in range(100)]
    failed = [
        ended(f"tests/{number}", 1, *left, "FAILED test_x.py::test_a") for number in range(groups)
    ]
    lines = run_tests.failed_lines(failed)
    assert len(lines) <= run_tests.REPEATED + 2 * groups
    names = [line for line in lines if not line.startswith(" ")]
    assert names == [f"failed: tests/{number}" for number in range(groups)]
    assert lines.count("    FAILED test_x.py::test_a") == groups
    assert f"    and {101 - run_tests.REPEATED // groups} more" in lines
