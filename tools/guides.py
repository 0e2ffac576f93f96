"""List the modules that a reader may find too long: a guide of `make check`, never a failure.

python -m tools.guides
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_LINES = 500
BY_PATH = "one stdlib file by design: it is run by its path"
# module → why it may be longer
LONGER = {
    "src/flybridge/runtime/keeper/keeper_program.py": BY_PATH,
    "src/flybridge/testing/recorder.py": BY_PATH,
}


def long_modules(root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """Yield the modules below src with more than ``MAX_LINES`` lines, and how many they have."""
    for path in sorted((root / "src").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        lines = path.read_bytes().count(b"\n")
        if lines > MAX_LINES and name not in LONGER:
            yield name, lines


def main(root: Path = ROOT) -> int:
    for name, lines in long_modules(root):
        sys.stdout.write(f"warning: {name} has {lines} lines: is it two ideas?\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
