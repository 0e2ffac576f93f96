"""Reading, writing and changing small text files, never outside the directory of the session.

What changes anything is called only after a person (or a mode a person chose) allowed it.
"""

from __future__ import annotations

import difflib
import os
import stat
from pathlib import Path

from flybridge.agents.demo.blocks import Outcome, failed
from flybridge.agents.demo.stream import Json

SCRATCH = "flybridge-demo"  # the demo's own project, below the directory of the session
MAX_FILE_BYTES = 64 * 1024
CONTEXT_LINES = 3


def inside(cwd: str, name: str) -> Path | None:
    """The real path that ``name`` means, if it is within ``cwd``, links followed."""
    try:
        home = Path(cwd).resolve()
        path = (home / name).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if path != home and path.is_relative_to(home) else None


def write_file(cwd: str, name: str, content: str) -> Outcome:
    """Create a new file within ``cwd``; never follow a link out of it, never overwrite."""
    path = inside(cwd, name)
    data = content.encode(errors="replace")
    if path is None:
        return failed("the demo agent writes only inside its own directory")
    if len(data) > MAX_FILE_BYTES:
        return failed(f"the demo agent writes at most {MAX_FILE_BYTES} bytes")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
    except FileExistsError:
        return failed(f"{path.name} exists, and the demo agent never overwrites a file")
    except OSError as error:
        return failed(f"could not write {path.name}: {error.strerror}")
    patch: Json = {"structuredPatch": [], "originalFile": None, "userModified": False}
    detail = {"type": "create", "filePath": str(path), "content": content, **patch}
    return Outcome(text=f"created {path}", detail=detail)


def read_file(cwd: str, name: str) -> Outcome:
    """A file with its lines numbered, as the CLI hands it to the model."""
    path = inside(cwd, name)
    if path is None:
        return failed("the demo agent reads only inside its own directory")
    text = read_text(path)
    if text is None:
        return failed(f"{path.name} is no small text file")
    lines = text.split("\n")
    about: Json = {"filePath": str(path), "content": text, "numLines": len(lines)}
    file = {**about, "startLine": 1, "totalLines": len(lines)}
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    return Outcome(text=numbered, detail={"type": "text", "file": file})


def edit_file(cwd: str, name: str, old: str, new: str, *, everywhere: bool) -> Outcome:
    """Replace one place, or all of them, in a text file that is there already."""
    path = inside(cwd, name)
    if path is None:
        return failed("the demo agent edits only inside its own directory")
    before = read_text(path)
    if before is None:
        return failed(f"{path.name} is no small text file")
    found = before.count(old) if old else 0
    if not found or (found > 1 and not everywhere):
        return failed(f"the text to replace is in {path.name} {found} times")
    after = before.replace(old, new)
    data = after.encode(errors="replace")
    if len(data) > MAX_FILE_BYTES:
        return failed(f"the demo agent writes at most {MAX_FILE_BYTES} bytes")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
    except OSError as error:
        return failed(f"could not write {path.name}: {error.strerror}")
    detail: Json = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": structured_patch(before, after),
        "userModified": False,
        "replaceAll": everywhere,
    }
    return Outcome(text=f"changed {path}", detail=detail)


def read_text(path: Path) -> str | None:
    """The text of a plain, small file; None for anything else."""
    try:
        # not blocking: a pipe that bears the name of a file must not hold us up
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            data = file.read(MAX_FILE_BYTES + 1)
        return data.decode() if len(data) <= MAX_FILE_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None


def structured_patch(before: str, after: str) -> list[Json]:
    """The hunks between two texts, each with its place and its signed lines."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    hunks: list[Json] = []
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        lines: list[str] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[old_from:old_to]]
                continue
            lines += [f"-{line}" for line in old[old_from:old_to]]
            lines += [f"+{line}" for line in new[new_from:new_to]]
        hunks.append(
            {
                "oldStart": group[0][1] + 1,
                "oldLines": group[-1][2] - group[0][1],
                "newStart": group[0][3] + 1,
                "newLines": group[-1][4] - group[0][3],
                "lines": lines,
            }
        )
    return hunks
