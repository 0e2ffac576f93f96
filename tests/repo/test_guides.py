"""Every package has tests that cover it; a long module is pointed out and fails nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.tree import PACKAGE, ROOT, files, name
from tools import guides

IMPORTED = re.compile(r"^\s*(?:from|import) (flybridge[\w.]*)", re.MULTILINE)


def packages() -> list[str]:
    """Return the packages that hold more than their ``__init__``."""
    holding = {path.parent for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    dotted = (folder.relative_to(PACKAGE.parent).as_posix() for folder in holding)
    return sorted(folder.replace("/", ".") for folder in dotted)


def imported_by_tests() -> set[str]:
    """Return the packages from which some test module imports a module or a name."""
    found: set[str] = set()
    for path in files(".py"):
        if name(path).startswith("tests/") and path.name.startswith("test_"):
            for module in IMPORTED.findall(path.read_text()):
                found |= {module, module.rpartition(".")[0]}
    return found


def mirrored_by_tests() -> set[str]:
    """Return the packages that have test modules in the same folder of ``tests/unit``: those of a
    command run the program and import nothing."""
    unit = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")}
    return {".".join((PACKAGE.name, *folder.parts)) for folder in folders}


def test_every_package_has_tests_that_cover_it() -> None:
    covered = imported_by_tests() | mirrored_by_tests()
    assert [package for package in packages() if package not in covered] == []


def test_a_long_module_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "src" / "flybridge"
    folder.mkdir(parents=True)
    (folder / "short.py").write_text("\n" * guides.MAX_LINES)
    (folder / "long.py").write_text("\n" * (guides.MAX_LINES + 1))
    assert guides.main(tmp_path) == 0
    assert capsys.readouterr().out == (
        "warning: src/flybridge/long.py has 501 lines: is it two ideas?\n"
    )
