"""Differences between texts as signed lines: of an edit that is asked for, or of one that was made.

Patches are whatever an agent sends: nothing here trusts their shape, and nothing of a patch
that is not understood is left out.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

from flybridge.cli.rendering.tool_text import compact, parsed
from flybridge.model.events import Diff

# Comparing can be made slow on purpose; longer texts are shown whole, one after the other.
MAX_COMPARED = 400


class Signed(NamedTuple):
    """A line and its sign: ``+``, ``-``, a space, or ``@`` for words about the place."""

    sign: str
    text: str

    @property
    def row(self) -> str:
        return self.text if self.sign == "@" else f"{self.sign} {self.text}"

    @property
    def style(self) -> str:
        return {"+": "added", "-": "removed"}.get(self.sign, "diff")


def edit_lines(old: str, new: str) -> list[Signed]:
    """All lines of both texts: those in common once, without leaving any out."""
    before, after = old.split("\n"), new.split("\n")
    if len(before) + len(after) > MAX_COMPARED:
        return [*(Signed("-", one) for one in before), *(Signed("+", one) for one in after)]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    lines: list[Signed] = []
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            lines += [Signed(" ", one) for one in before[old_from:old_to]]
            continue
        lines += [Signed("-", one) for one in before[old_from:old_to]]
        lines += [Signed("+", one) for one in after[new_from:new_to]]
    return lines


def diff_lines(text: str) -> list[Signed]:
    """Return the lines of a unified diff."""
    return [_of_text(line) for line in text.split("\n")] if text else []


def made(event: Diff) -> list[Signed]:
    """Return the lines of a change that was made."""
    if not event.hunks:
        return patch_lines(bytes(event.patch))
    lines: list[Signed] = []
    for hunk in event.hunks:
        if hunk.new_start or hunk.old_start:
            lines.append(Signed("@", f"line {hunk.new_start}:"))
        lines += [_signed(line) for line in hunk.lines]
    return lines


def patch_lines(raw: bytes) -> list[Signed]:
    """The lines of a patch: hunks with their lines, or the text of a unified diff."""
    value = parsed(raw)
    if isinstance(value, str):
        return [_of_text(line) for line in value.split("\n")]
    lines: list[Signed] = []
    for hunk in value if isinstance(value, list) else [value]:
        if not (isinstance(hunk, dict) and isinstance(said := hunk.get("lines"), list)):
            lines.append(Signed("@", compact(hunk)))
            continue
        if "newStart" in hunk:
            lines.append(Signed("@", f"line {hunk['newStart']}:"))
        lines += [_signed(str(line)) for line in said]
    return lines


def _of_text(line: str) -> Signed:
    heads = ("+++", "---", "@@", "diff ", "index ")
    return Signed("@", line) if line.startswith(heads) else _signed(line)


def _signed(line: str) -> Signed:
    return Signed(line[0], line[1:]) if line[:1] in ("+", "-", " ") else Signed("@", line)


def made_by(detail: bytes) -> list[Signed]:
    """What a tool's own account says it changed in a file; nothing if it says nothing of it."""
    value = parsed(detail) if detail else None
    if not isinstance(value, dict):
        return []
    patch: Any = value.get("structuredPatch")
    if isinstance(patch, list) and patch:
        return patch_lines(compact(patch).encode())
    content = value.get("content")
    if value.get("type") == "create" and isinstance(content, str) and isinstance(patch, list):
        return [Signed("+", line) for line in content.removesuffix("\n").split("\n")]
    return []


def counted(lines: Sequence[Signed]) -> str:
    """How many lines came and went."""
    signs = [line.sign for line in lines]
    return f"+{signs.count('+')} -{signs.count('-')}"
