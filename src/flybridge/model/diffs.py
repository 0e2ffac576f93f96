"""Changes of a file, as hunks of signed lines."""

from __future__ import annotations

import msgspec

MAX_HUNKS = 1000


class DiffHunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a file that was changed. A new file has no old lines, a deleted one no new ones."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: tuple[str, ...] = ()  # begin with " ", "-" or "+"; with "\\" a remark on the hunk
