"""The frames of an agent's connection: bytes in, lines and signs of arrival out. Nothing waits.

What an agent says are lines; how they lie in frames, and whether those are text or binary, is
its own affair: payloads are joined as they come. A line of ours is one text frame. Behind it goes
a ping that carries the line's number, and whoever handles frames in their order answers it when
the line is theirs.
"""

from __future__ import annotations

import logging
from typing import TypeAlias

from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from flybridge.listeners.frames import FLOOD, Allowance, Ending, text_frame

Heard: TypeAlias = bytes | int  # what was said, or the number of a line that has arrived
_NUMBER = 8  # bytes of a ping of ours
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
_log = logging.getLogger(__name__)
_log.setLevel(logging.WARNING)  # below that the library writes down contents


class AgentFrames:
    """One connection after its upgrade."""

    def __init__(self, max_frame: int) -> None:
        self._protocol = ServerProtocol(state=OPEN, max_size=max_frame, logger=_log)
        self._idle = Allowance(at_once=256, per_s=64)

    @property
    def open(self) -> bool:
        return self._protocol.state is OPEN

    def receive(self, data: bytes, now_s: float) -> list[Heard]:
        """What these bytes complete, in order. What is no frame ends the connection."""
        self._protocol.receive_data(data)
        heard: list[Heard] = []
        said: list[bytes] = []
        for event in self._protocol.events_received():
            assert isinstance(event, Frame)
            if event.opcode in _DATA and event.data:
                said.append(bytes(event.data))
            elif event.opcode is Opcode.PONG and len(event.data) == _NUMBER:
                heard += [b"".join(said), int.from_bytes(event.data, "big")]
                said = []
            elif not self._idle.take(now_s):
                self._protocol.fail(FLOOD.code, FLOOD.reason)
                break
        heard.append(b"".join(said))
        return [one for one in heard if one != b""]

    @staticmethod
    def line(data: bytes, number: int) -> bytes:
        """A line, newline included; with a number, what asks whether it has arrived."""
        frame = text_frame([data])
        if not number:
            return frame
        return frame + b"\x89%c%b" % (_NUMBER, number.to_bytes(_NUMBER, "big"))

    def close(self, ending: Ending) -> None:
        if self.open:
            self._protocol.send_close(ending.code, ending.reason)

    def take(self) -> list[bytes]:
        """What the library has to say: answers to pings, closing words; b"" ends it all."""
        return self._protocol.data_to_send()
