"""The helpers that all suites share are found in one place, and are used."""

from __future__ import annotations

import re
from pathlib import Path

from tests.repo.tree import ROOT

HARNESS = ROOT / "tests" / "harness"
OWN_BOUNDS = {"small_cli.py", "other_agent_program.py", "waiting.py"}  # programs import no tests


def modules(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.py") if "node_modules" not in path.parts]


def test_the_table_names_every_helper() -> None:
    words = set(re.findall(r"`(\w+)", (HARNESS / "README.md").read_text()))
    helpers = {path.stem for path in modules(HARNESS)} - {"other_agent_program"}
    assert helpers - words == set()


def test_every_helper_is_used() -> None:
    folders = [ROOT / name for name in ("tests", "tools", "fuzz", "bench")]
    text = "\n".join(path.read_text() for folder in folders for path in modules(folder))
    used = set(re.findall(r"tests\.harness\.(\w+)", text))
    used |= set(re.findall(r"from tests\.harness import (\w+)", text))
    used |= set(re.findall(r"\"(\w+)\.py\"", text))  # programs are started by path
    assert {path.stem for path in modules(HARNESS)} - used == set()


def test_waits_have_one_bound() -> None:
    own = re.compile(r"^WAIT_S\b.*=", re.MULTILINE)
    found = {path.name for path in modules(ROOT / "tests") if own.search(path.read_text())}
    assert found <= OWN_BOUNDS
