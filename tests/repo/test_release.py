"""Version, changelog, lock and make's own list agree with one another."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import flybridge
from tests.repo.tree import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()


def plain(requirement: str) -> str:
    """``Ruamel.Yaml>=0.18`` → ``ruamel-yaml``: the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0]).lower()


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert found
    assert found[1] == flybridge.__version__ == PROJECT["project"]["version"]


def test_the_lock_covers_every_dependency() -> None:
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    locked = {plain(one) for one in re.findall(r"^([\w.\-]+)==", LOCK, re.MULTILINE)}
    assert {plain(one) for one in wanted} <= locked


def test_every_locked_package_has_a_hash_and_none_an_address() -> None:
    entries = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)
    packages = [entry for entry in entries if entry.strip() and not entry.startswith("#")]
    assert len(packages) > 10
    assert [entry for entry in packages if "--hash=sha256:" not in entry] == []
    assert [entry for entry in packages if "==" not in entry.splitlines()[0]] == []
    assert "://" not in LOCK


def test_who_only_runs_it_gets_the_same_versions() -> None:
    entry = re.compile(r"^(\S+==\S+)[^\\]*\\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)
    running = set(entry.findall((ROOT / "requirements-run.lock").read_text()))
    assert len(running) > 10
    assert running <= set(entry.findall(LOCK))
    groups = PROJECT["dependency-groups"]
    wanted = PROJECT["project"]["dependencies"] + groups["build"]
    assert {plain(one) for one in wanted} <= {plain(one) for one, _ in running}
    assert set(groups["build"]) <= set(groups["dev"])


def test_every_dependency_is_justified() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    names = [re.split(r"[<>=]", one, maxsplit=1)[0] for one in wanted]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    listed = subprocess.run(
        ["make", "-s", "-C", str(ROOT), "help"], capture_output=True, text=True, timeout=30
    )
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines()] == phony[0].split()


def test_ci_runs_what_people_run() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    text = script.read_text()
    each = r'for stage in "\$\{stages\[@\]\}"; do run_stage "\$stage"'
    assert re.search(r"^stages=\(check test test-rest\)$", text, re.MULTILINE)
    assert re.search(rf"^  {each} env; done$", text, re.MULTILINE)  # by an ordinary user
    assert re.search(rf"^{each} as_user; done$", text, re.MULTILINE)  # by root, as a user
    assert re.search(r"^run_stage test-root env$", text, re.MULTILINE)


@pytest.mark.needs("ordinary-user")  # root would make a user
def test_a_stage_of_ci_that_fails_keeps_no_later_one_from_running(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "made $1"\n[ "$1" != test ]\n')
    make.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / ".ci" / "run"],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 1, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("made", "stage"))]
    assert [re.sub(r" after \d+:\d\d min$", "", line) for line in lines] == [
        *("made check", "stage check: passed"),
        *("made test", "stage test: failed"),
        *("made test-rest", "stage test-rest: passed"),
        "stage test: failed",  # what failed is repeated at the end
    ]
