"""What was typed into chats before: one file for this user alone, one JSON string per line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

KEPT = 1000
MAX_LINE_CHARS = 10_000
MAX_FILE_BYTES = 8 << 20


class History:
    """A history that cannot be read or written is simply none: it is never worth an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of_user(cls, environ: Mapping[str, str] = os.environ) -> History:
        base = environ.get("XDG_STATE_HOME", "")
        home = Path(base) if base.startswith("/") else Path("~/.local/state").expanduser()
        return cls(home / "flybridge" / "chat_history")

    def load(self) -> list[str]:
        """The newest lines, oldest first."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_FILE_BYTES))
                lines = [_decoded(line) for line in file.read(MAX_FILE_BYTES).split(b"\n")]
        except OSError:
            return []
        found = [line for line in lines if line]
        if len(found) > 2 * KEPT:
            self._rewrite(found[-KEPT:])
        return found[-KEPT:]

    def add(self, line: str) -> None:
        """Keep a line; one that begins with a space is not kept, as in a shell."""
        if line.strip() and not line.startswith(" ") and len(line) <= MAX_LINE_CHARS:
            self._write([line], os.O_APPEND)

    def _rewrite(self, lines: list[str]) -> None:
        self._write(lines, os.O_TRUNC)

    def _write(self, lines: list[str], how: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | how
        try:
            data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._path, flags, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
        except (OSError, UnicodeError):
            pass


def _decoded(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=str)
    except (msgspec.MsgspecError, ValueError):
        return ""
