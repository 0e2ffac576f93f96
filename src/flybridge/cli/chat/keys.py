"""What a terminal sends, as keys: bytes in, named keys out, however reads were split."""

from __future__ import annotations

import codecs
import re

import msgspec

ESC_S = 0.05  # an escape with nothing behind it for this long was the key itself
MAX_SEQUENCE = 32
MAX_PASTE = 256 * 1024  # characters handed over at once
PASTE_END = "\x1b[201~"


class Key(msgspec.Struct, frozen=True):
    """A key by its ``name``; ``char`` and ``paste`` carry their ``text``."""

    name: str
    text: str = ""


_CONTROL = {
    "\x01": "home",
    "\x02": "left",
    "\x03": "ctrl-c",
    "\x04": "ctrl-d",
    "\x05": "end",
    "\x06": "right",
    "\x08": "backspace",
    "\x09": "tab",
    "\x0a": "newline",
    "\x0b": "kill-end",
    "\x0c": "clear",
    "\x0d": "enter",
    "\x0e": "down",
    "\x10": "up",
    "\x15": "kill-start",
    "\x17": "kill-word",
    "\x18": "ctrl-x",
    "\x19": "yank",
    "\x7f": "backspace",
}
_ALT = {
    "b": "word-left",
    "f": "word-right",
    "d": "kill-word-right",
    "\x7f": "kill-word",
    "\x08": "kill-word",
    "\r": "newline",
    "\n": "newline",
}
_SEQUENCE = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "7~": "home",
    "4~": "end",
    "8~": "end",
    "3~": "delete",
    "1;5C": "word-right",
    "1;5D": "word-left",
    "1;3C": "word-right",
    "1;3D": "word-left",
    "200~": "paste",
}
_sequence = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)")


class KeyDecoder:
    """Pass every read to :meth:`receive`; when :attr:`pending` stays true, call :meth:`flush`."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._buffer = ""
        self._pasting = False

    @property
    def pending(self) -> bool:
        """Whether an escape was read that may be a key or the beginning of one."""
        return bool(self._buffer) and not self._pasting

    def receive(self, data: bytes) -> list[Key]:
        self._buffer += self._text.decode(data)
        keys: list[Key] = []
        while self._buffer:
            key = self._pasted() if self._pasting else self._next()
            if key is None:
                break
            if key.name != "begin-paste":
                keys.append(key)
        return keys

    def flush(self) -> list[Key]:
        """Nothing followed: the escape was the key."""
        if not self.pending:
            return []
        rest, self._buffer = self._buffer[1:], ""
        return [Key("esc"), *self.receive(rest.encode())]

    def _next(self) -> Key | None:
        first = self._buffer[0]
        if first == "\x1b":
            return self._escape()
        self._buffer = self._buffer[1:]
        if first in _CONTROL:
            return Key(_CONTROL[first])
        return Key("char", first) if first >= " " else Key("other", first)

    def _escape(self) -> Key | None:
        if len(self._buffer) == 1:
            return None
        second = self._buffer[1]
        if second in "[O":
            return self._long()
        if second == "\x1b":
            self._buffer = self._buffer[1:]
            return Key("esc")
        self._buffer = self._buffer[2:]
        return Key(_ALT.get(second, "other"), "" if second in _ALT else second)

    def _long(self) -> Key | None:
        found = _sequence.match(self._buffer)
        if found is None:
            if len(self._buffer) > MAX_SEQUENCE:  # nothing a terminal sends
                self._buffer = self._buffer[2:]
                return Key("other")
            return None
        self._buffer = self._buffer[found.end() :]
        name = _SEQUENCE.get(found[0][2:], "other")
        if name == "paste":
            self._pasting = True
            return Key("begin-paste")
        return Key(name)

    def _pasted(self) -> Key | None:
        text, ended, rest = self._buffer.partition(PASTE_END)
        if not ended and len(self._buffer) < MAX_PASTE:
            return None
        if ended:
            self._pasting = False
            self._buffer = rest
        else:  # hand over what cannot be part of the end
            keep = len(PASTE_END) - 1
            text, self._buffer = text[:-keep], text[-keep:]
        return Key("paste", text.replace("\r\n", "\n").replace("\r", "\n"))
