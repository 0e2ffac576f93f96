"""Who a message is: its id and its numbers, and the turn that works on it."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct):
    """One user message, or a turn that nobody here asked for."""

    msg_id: str
    seq: int
    consumed: bool = False  # the agent showed that it has it
    closed: bool = False  # its turn_complete was written
    stopped: bool = False  # an interrupt came after it
    tries: int = 1


class Growing(msgspec.Struct):
    """An open text or thought: how many deltas of it came, and what was passed on."""

    kind: str
    parent: str
    name: str = ""
    count: int = 0
    shown: str = ""


class Turn(msgspec.Struct):
    """What runs now. ``texts`` are its finished texts, in order."""

    message: Message
    merged: list[Message] = []
    rev: int = 0
    texts: list[str] = []
    introduced: bool = False  # system_metadata was written
    spoke: bool = False  # something of it was written: it keeps its message
    failed: bool = False  # an error was written


class Numbers:
    """Counts through the whole process, whatever sessions come and go."""

    def __init__(self) -> None:
        self._next = 0

    def draw(self) -> int:
        number, self._next = self._next, self._next + 1
        return number
