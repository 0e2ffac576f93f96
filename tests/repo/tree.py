"""The repository's own files, found without git: a downloaded archive has none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "flybridge"
MADE = {"__pycache__", "node_modules", "build", "built", "dist", "results"}
KEPT_DOT_FOLDERS = {".ci", ".github"}


def files(*suffixes: str) -> list[Path]:
    """Every file somebody wrote, in order; all kinds when no suffix is named."""
    found = [path for path in _walk(ROOT) if not suffixes or path.suffix in suffixes]
    return sorted(found)


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            hidden = path.name.startswith(".") and path.name not in KEPT_DOT_FOLDERS
            if not hidden and path.name not in MADE and not path.name.endswith(".egg-info"):
                yield from _walk(path)
        elif path.is_file() and path.name not in (".ready", ".ready-run", ".coverage"):
            yield path


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
