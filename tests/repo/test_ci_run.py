"""What `.ci/run` prints at its end, where the output that can be seen is often only its tail."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.repo.tree import ROOT

pytestmark = [pytest.mark.needs("ordinary-user"), pytest.mark.needs("linux")]  # root makes a user

CLOSING = """\
printf '%s\\n' 'FAILED a.py::test_a - as pytest prints it' 'failed: tests/agents' \
  '    FAILED a.py::test_a' '    left over: process 7' \
  'could not run: 0 tests' 'make test-rest: 1 failed'; exit 1"""


def run_ci(folder: Path, **stages: str) -> tuple[int, list[str]]:
    """Run a copy of the script on a project whose targets are these shell commands."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    targets = ("check", "test", "test-rest")
    rules = [f"{name}:\n\t@sh ./{name}.sh\n" for name in targets]
    (folder / "Makefile").write_text(f".PHONY: {' '.join(targets)}\n" + "".join(rules))
    for name in targets:
        (folder / f"{name}.sh").write_text(stages.get(name.replace("-", "_"), "echo fine") + "\n")
    output = folder / "output"  # a process that outlives the run would keep a pipe open
    with output.open("wb") as file:
        # a make below another make prints the folders that it enters
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
        }
        done = subprocess.run(
            [folder / ".ci" / "run"], stdout=file, stderr=subprocess.STDOUT, env=env, timeout=60
        )
    return done.returncode, output.read_text().splitlines()


def test_a_run_without_a_failure_ends_with_its_last_stage(tmp_path: Path) -> None:
    status, lines = run_ci(tmp_path)
    assert status == 0, lines
    assert lines[-2] == "fine"
    assert lines[-1].startswith("stage test-rest: passed after 0:")
    assert not any("failed" in line for line in lines)


def test_the_last_lines_repeat_what_failed_in_which_stage(tmp_path: Path) -> None:
    status, lines = run_ci(
        tmp_path,
        check="seq 100; echo 'FAILED root.py::test_r'; echo 'left over: socket s'; exit 1",
        test="seq 100; echo 'types are wrong' >&2; exit 1",
        test_rest=f"seq 200; {CLOSING}",
    )
    assert status == 1
    last = lines[lines.index("these stages failed:") + 1 :]
    parts = "\n".join(last).split("stage ")
    assert [part.split(" after")[0] for part in parts[1:]] == [
        "check: failed",
        "test: failed",
        "test-rest: failed",
    ]
    assert parts[1].splitlines()[1:] == ["  FAILED root.py::test_r", "  left over: socket s"]
    assert parts[2].splitlines()[-2] == "  types are wrong"
    assert parts[3].splitlines()[1:] == [
        "  failed: tests/agents",
        "      FAILED a.py::test_a",
        "      left over: process 7",
    ]
    assert len(last) < 30


def test_a_process_that_outlives_a_stage_does_not_keep_the_next_from_running(
    tmp_path: Path,
) -> None:
    held = tmp_path / "held"
    status, lines = run_ci(tmp_path, check=f"sleep 50 & echo $! >{held}; echo started; exit 1")
    subprocess.run(["kill", held.read_text().strip()], check=True)
    assert status == 1
    assert any(line.startswith("stage test-rest: passed after 0:") for line in lines)
    assert "  started" in lines[lines.index("these stages failed:") :]
