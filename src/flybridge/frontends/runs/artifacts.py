"""What a run leaves behind: files that were made or changed, and plans."""

from __future__ import annotations

import msgspec

from flybridge.frontends.runs.wire.messages import Artifact
from flybridge.model.diffs import DiffHunk
from flybridge.model.events import Diff, Plan


class _Hunk(msgspec.Struct, rename="camel"):
    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: tuple[str, ...] = ()


_hunks = msgspec.json.Decoder(tuple[_Hunk, ...])


def of_diff(event: Diff, cwd: str) -> Artifact:
    """A file that was made, with its text; or one that was changed, as a unified diff."""
    name = event.path.removeprefix(cwd.rstrip("/") + "/")
    hunks: tuple[_Hunk | DiffHunk, ...] = event.hunks
    try:
        hunks = hunks or _hunks.decode(event.patch)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        patch = bytes(event.patch).decode(errors="replace")
        return Artifact(name=name, kind="diff", path=event.path, content=patch)
    if len(hunks) == 1 and hunks[0].old_start == hunks[0].old_lines == 0:
        text = "".join(f"{line[1:]}\n" for line in hunks[0].lines)
        return Artifact(name=name, kind="file", path=event.path, content=text)
    rows = [f"--- a/{name}", f"+++ b/{name}"]
    for one in hunks:
        old, new = f"{one.old_start},{one.old_lines}", f"{one.new_start},{one.new_lines}"
        rows += [f"@@ -{old} +{new} @@", *one.lines]
    content = "".join(f"{row}\n" for row in rows)
    return Artifact(name=name, kind="diff", path=event.path, content=content)


def of_plan(event: Plan, before: int) -> Artifact:
    """``before``: how many plans there were already."""
    return Artifact(name=f"plan-{before + 1}", kind="plan", content=event.text)
