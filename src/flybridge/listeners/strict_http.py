"""Parse HTTP/1.1 more strictly than h11 does.

h11 accepts a bare newline at the end of a line, and a header that continues in the next line. A
proxy in front of the gateway may read those in another way, and then disagree with us about where
a request ends. Every head and every trailer section is checked at the point where h11 takes it
out of its buffer, so a pipelined request is held to the same rules as the first one.
"""

from __future__ import annotations

import re
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer

HEAD_BYTES = 32 * 1024
_LOOSE = re.compile(rb"(?<!\r)\n|\n[ \t]|\r(?!\n)")
_END = b"\r\n\r\n"


class StrictBuffer(ReceiveBuffer):
    """The buffer of one connection; heads and trailers leave it by ``maybe_extract_lines``."""

    _checked = 0  # how much of the data is known to be well-formed

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Return the lines up to the first empty one, or None while that is missing.

        Raises:
            RemoteProtocolError: a line does not end in CR LF, or continues the line before it.
        """
        if self._data[:2] != b"\r\n":  # else the section is empty, and the rest is not ours
            self._check()
        return super().maybe_extract_lines()

    def _check(self) -> None:
        start = max(0, self._checked - len(_END))
        end = self._data.find(_END, start)
        upto = end + 2 if end >= 0 else len(self._data)
        if end < 0 and self._data.endswith(b"\r"):
            upto -= 1  # it may be half of a line's end
        if _LOOSE.search(self._data, start, max(start, upto)) is not None:
            raise h11.RemoteProtocolError("lines end in CR LF and are not folded")
        self._checked = upto

    def _extract(self, count: int) -> bytearray:
        self._checked = 0
        return super()._extract(count)


class StrictHttp(h11.Connection):
    """The server's side of a connection. It refuses what a proxy might read otherwise."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEAD_BYTES)
        self._receive_buffer = StrictBuffer()

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("a length and an encoding")
            # with what stands between them: a head of nothing but empty lines is long, too
            if sum(len(name) + len(value) + 4 for name, value in event.headers) > HEAD_BYTES:
                raise h11.RemoteProtocolError("too long a head")
        return event
