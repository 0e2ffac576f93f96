"""WebSocket frames, as far as the library leaves them to us. Nothing here waits.

A frame from a server is a header and a payload without a mask, so that one frame serves every
client. Messages that come in are put together here: text only, in a bounded number of pieces,
and what is no UTF-8 is refused with the piece it comes in.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

import msgspec
from websockets.frames import Frame, Opcode

MAX_FRAGMENTS = 1024  # of one message
_utf8 = codecs.getincrementaldecoder("utf-8")


class Ending(msgspec.Struct, frozen=True):
    """Why a connection ends: a code that goes on the wire, and a word for people."""

    code: int
    reason: str


NOT_TEXT = Ending(1003, "text frames only")
BAD_TEXT = Ending(1007, "not UTF-8")
BAD_MESSAGES = Ending(1008, "these are no messages of ours")
FLOOD = Ending(1008, "too many frames that say nothing")
TOO_MANY_PIECES = Ending(1009, f"more than {MAX_FRAGMENTS} fragments")
TOO_LONG = Ending(1009, "say who you are first")
BROKEN = Ending(1011, "see the gateway's log")
RESTART = Ending(1012, "the gateway ends")
NOT_AUTHENTICATED = Ending(4401, "log in first")
LOGIN_INCOMPLETE = Ending(4401, "the login key is missing or wrong: sign in again")
NOT_ALLOWED = Ending(4403, "this login may do nothing")
TOO_SLOW = Ending(4408, "no answer in time")
TOO_MANY_TRIES = Ending(4429, "too many wrong tries")


def text_frame(messages: Sequence[bytes]) -> bytes:
    """One whole text frame that holds these messages, one a line."""
    payload = b"\n".join(messages)
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 65536:
        return b"\x81\x7e%b%b" % (size.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (size.to_bytes(8, "big"), payload)


class Pieces:
    """Puts a message together from its data frames. The order of frames was checked before."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._text: codecs.IncrementalDecoder | None = None

    def receive(self, frame: Frame) -> bytes | Ending | None:
        """The message that this frame completes, or why it is not taken; None: there is more."""
        if frame.opcode is Opcode.BINARY:
            return NOT_TEXT
        data = bytes(frame.data)
        if frame.opcode is Opcode.TEXT and frame.fin:
            return data if _is_text(data) else BAD_TEXT
        return self._add(data, frame.fin)

    def _add(self, data: bytes, last: bool) -> bytes | Ending | None:
        if self._text is None:
            self._text = _utf8()
        try:
            self._text.decode(data, last)
        except UnicodeDecodeError:
            return BAD_TEXT
        self._parts.append(data)
        if len(self._parts) > MAX_FRAGMENTS:
            return TOO_MANY_PIECES
        if not last:
            return None
        whole = b"".join(self._parts)
        self._parts, self._text = [], None
        return whole


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class Allowance:
    """How many frames that say nothing somebody may send: a few at once, then some a second."""

    def __init__(self, *, at_once: int, per_s: float) -> None:
        self._at_once = at_once
        self._per_s = per_s
        self._left = float(at_once)
        self._since_s = 0.0

    def take(self, now_s: float) -> bool:
        """Whether one more is all right."""
        grown = self._left + (now_s - self._since_s) * self._per_s
        self._left = min(grown, self._at_once) - 1
        self._since_s = now_s
        return self._left >= 0
