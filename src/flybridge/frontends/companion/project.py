"""Whether a file is one of a project's own: after every link and every step up, inside it."""

from __future__ import annotations

from pathlib import Path

MAX_PATH = 4096
# Inside a project, but obeyed by programs: who changes them runs commands, or allows itself things.
OBEYED = frozenset({".git", ".claude", ".flybridge", ".mcp.json", ".envrc", ".husky", ".vscode"})


def is_inside(folder: str, file: str) -> bool:
    """Whether an edit of ``file`` stays in ``folder`` and changes nothing that others obey.

    Blocking, but short. What is not there yet counts by where it would be. A link that is put
    there after this answer is not seen: whoever can do that can edit the file by itself.
    """
    if not file or len(file) > MAX_PATH or "\0" in file:
        return False
    root = Path(folder)
    if not root.is_absolute():
        return False
    try:
        root = root.resolve(strict=True)
        target = (root / file).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    if root == Path(root.anchor) or not target.is_relative_to(root) or target == root:
        return False
    if target.exists() and not target.is_file():
        return False
    return not any(part.lower() in OBEYED for part in target.relative_to(root).parts)
