"""Agents are known by their kinds: the name of one occurs only where there is a reason for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "flybridge"
PAGE = ROOT / "web" / "src"
NAMES = re.compile(r"claude|(['\"])demo\1", re.IGNORECASE)
MODEL_FIELDS = re.compile(
    r"\b(displayName|resolvedModel|supportsEffort|supportedEffortLevels|supportsFastMode)\b"
)
# What is about Claude by its place: its folder, the demo that imitates it, its probes, the
# recorder that tests drive instead of it.
OWN = ("agents/claude/", "agents/demo/", "probes/claude/", "testing/recorder.py")
REASONS = {
    "agents/option_schemas.py": "lists the options of built-in kinds for quick programs",
    "agents/registry.py": "the only list of kinds",
    "cli/ipc/last.py": "the agent whose sessions TugTalk left behind",
    "config/environment.py": "variables that pass to every agent: API keys and settings",
    "model/agent_kinds.py": "stored data of 0.1 and the default kind",
    "testing/steps.py": "a session of the demo in the adapter contract",
}
PAGE_REASONS = {
    "panels/start-form.ts": "tells a newcomer that the demo needs no account",
    "timeline/timeline.tsx": "tells how to begin with the demo",
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_of(path: Path) -> str:
    """Return a module without its comments and docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def python_files() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(OWN) and NAMES.search(code_of(path)):
            yield name


def page_files(names: re.Pattern[str]) -> Iterator[str]:
    """Yield the modules of the page whose code contains a name."""
    for path in sorted([*PAGE.rglob("*.ts"), *PAGE.rglob("*.tsx")]):
        text = re.sub(r"/\*[\s\S]*?\*/|//.*", "", path.read_text())
        if names.search(text) and not re.search(r"\.(test|testing|gen)\.tsx?$", path.name):
            yield path.relative_to(PAGE).as_posix()


def test_the_product_names_an_agent_only_where_there_is_a_reason() -> None:
    assert list(python_files()) == sorted(REASONS)


def test_the_page_names_an_agent_only_where_there_is_a_reason() -> None:
    assert list(page_files(NAMES)) == sorted(PAGE_REASONS)


def test_the_page_reads_no_model_as_the_cli_describes_it() -> None:
    assert list(page_files(MODEL_FIELDS)) == []


@pytest.mark.parametrize(
    "package", ["model", "session", "store", "wire", "runtime", "client", "cli"]
)
def test_no_package_below_or_beside_the_agents_imports_one(package: str) -> None:
    for path in (SOURCE / package).rglob("*.py"):
        assert "flybridge.agents.claude" not in code_of(path), path
