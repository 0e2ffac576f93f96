"""Whether a file is one of a project's own: after every link and every step up, inside it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from flybridge.model.trust import TrustFiles

MAX_PATH = 4096
_BYTE_ORDER_MARK = "\ufeff"  # white space for JavaScript
# Inside a project, but obeyed by programs that are not agents: who changes them runs commands.
OBEYED = frozenset({".git", ".flybridge", ".envrc", ".husky", ".vscode"})


def is_inside(folder: str, file: str, agents: Iterable[TrustFiles]) -> bool:
    """Return whether an edit of ``file`` stays in ``folder`` and changes nothing that is obeyed.

    Settings of any of ``agents`` are obeyed: one agent could change what another one runs.
    Blocking, but short. What is not there yet counts by where it would be. A link that is put
    there after this answer is not seen: whoever can do that can edit the file by itself.
    """
    if not file or len(file) > MAX_PATH or _is_ambiguous(file):
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
    parts = target.relative_to(root).parts
    obeyed = any(part.lower() in OBEYED for part in parts)
    return not obeyed and not any(files.is_setting(parts) for files in agents)


def _is_ambiguous(file: str) -> bool:
    """Return whether an agent may open another file: it may expand ``~`` and trim white space."""
    control = any(unicodedata.category(char) == "Cc" for char in file)
    return control or file.startswith("~") or file != file.strip().strip(_BYTE_ORDER_MARK)
