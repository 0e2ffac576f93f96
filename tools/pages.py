"""Files that are read off the code: one way to write them, and to see that they are current."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"

Files: TypeAlias = Mapping[Path, Callable[[], str]]  # a file, and who says what is in it


def difference(path: Path, wanted: str) -> str:
    """How a file is not what the code says; empty where it is."""
    there = path.read_text() if path.exists() else ""
    lines = difflib.unified_diff(there.splitlines(), wanted.splitlines(), "there", "code", "", "")
    return "\n".join(lines)


def stale(files: Files) -> dict[str, str]:
    """The files that differ from what the code says, and how."""
    told = {str(path.relative_to(ROOT)): difference(path, make()) for path, make in files.items()}
    return {name: text for name, text in told.items() if text}


def main(arguments: Sequence[str], files: Files, usage: str | None) -> int:
    """Write them, or with ``--check`` say which are stale; the exit status."""
    if list(arguments) == ["--check"]:
        found = stale(files)
        for name, text in found.items():
            sys.stdout.write(f"{name} is not what the code says; make docs\n{text}\n")
        return 1 if found else 0
    if arguments:
        sys.stderr.write(usage or "")
        return 2
    for path, make in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make())
    return 0
