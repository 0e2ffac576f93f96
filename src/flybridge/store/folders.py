"""Resolve the paths of folders in the one way in which they are compared."""

from __future__ import annotations

from pathlib import Path


def resolved(folder: str | Path) -> Path:
    """Return the folder as the kernel would reach it; what does not exist counts as written."""
    path = Path(folder)
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL: it is nowhere
        return path
