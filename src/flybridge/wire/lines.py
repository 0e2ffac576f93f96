"""Newline-delimited messages: bytes in, whole lines out. The only separator is byte 0x0A."""

from __future__ import annotations

from flybridge.errors import RemoteProtocolError

MAX_LINE_BYTES = 128 * 2**20
CUT_BYTES = 64 * 2**10


class CutLine(bytes):
    """The head of a line that was longer than allowed; the rest of it was passed over."""


class LineSplitter:
    """Cuts a byte stream into lines, however the reads happened to split it.

    Pass every read to :meth:`receive`; ask for :attr:`rest` when the peer closes. Time is
    linear in what arrives; memory is bounded by ``max_line`` plus one read. Empty lines are
    dropped, a carriage return before the newline is kept (JSON does not mind). A line over
    ``max_line`` comes out as a :class:`CutLine`, so that one flood costs one line and not the
    session.
    """

    def __init__(self, *, max_line: int = MAX_LINE_BYTES) -> None:
        self._max_line = max_line
        self._parts: list[bytes] = []
        self._size = 0
        self._cutting = False

    @property
    def rest(self) -> bytes:
        """What has arrived of a line that has no end yet."""
        return b"".join(self._parts)

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line were received, kept or not."""
        return self._size

    def receive(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes."""
        if b"\n" not in data:
            self._keep(data)
            return []
        lines = data.split(b"\n")
        rest = lines.pop()
        if self._size:
            lines[0] = self._finish(lines[0])
        if len(data) > self._max_line:
            lines = [self._bounded(line) for line in lines]
        if rest:
            self._keep(rest)
        return [line for line in lines if line]

    def _bounded(self, line: bytes) -> bytes:
        if len(line) > self._max_line and type(line) is bytes:
            return CutLine(line[:CUT_BYTES])
        return line

    def _finish(self, end: bytes) -> bytes:
        self._keep(end)
        whole: bytes = b"".join(self._parts)
        if self._cutting:
            whole = CutLine(whole)
        self._parts.clear()
        self._size, self._cutting = 0, False
        return whole

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._cutting:
            return
        self._parts.append(data)
        if self._size > self._max_line:
            self._parts = [b"".join(self._parts)[:CUT_BYTES]]
            self._cutting = True


class StrictLineSplitter(LineSplitter):
    """For clients of ours: an overlong line ends the conversation instead of being cut."""

    def receive(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes.

        Raises:
            RemoteProtocolError: a line is longer than allowed.
        """
        lines = super().receive(data)
        if self._cutting or any(type(line) is CutLine for line in lines):
            raise RemoteProtocolError(f"line longer than {self._max_line} bytes")
        return lines
