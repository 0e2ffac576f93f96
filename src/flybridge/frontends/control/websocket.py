"""The WebSocket for control messages.

A token in the head of the upgrade says who it is. A sender is a program, so it can do that; and
one that runs below an agent must be told from all others before anything is heard from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flybridge.frontends.control.progress import ReportingClient
from flybridge.listeners import frames
from flybridge.listeners.connection import SharedWrites
from flybridge.listeners.websocket import WebSocketClient, WebSocketDoor
from flybridge.session.authorisation import Caller
from flybridge.wire.control.messages import MAX_MESSAGE_BYTES

PATH = "/ws/control"


def one_frame_each(messages: Sequence[bytes]) -> bytes:
    """Return a frame for each message, also where several are ready at once."""
    return b"".join(frames.text_frame([message]) for message in messages)


class ControlSocketDoor(WebSocketDoor):
    """Senders that came by WebSocket."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.path = self.gate.base_path + PATH
        self.writes = SharedWrites(one_frame_each)

    def protocol_class(self) -> type[WebSocketClient]:
        class SenderOfThisDoor(ControlSocket):
            door = self

        return SenderOfThisDoor


class ControlSocket(ReportingClient, WebSocketClient):
    """One of those."""

    def admit(self, caller: Caller, *, max_line: int = MAX_MESSAGE_BYTES) -> None:
        super().admit(caller, max_line=max_line)
        if self.may_ask():  # it may have been taken back while we looked who it is
            self._wait(self.door.timing.ping_s, self._ping)  # there is no hello to wait for

    def _authenticate(self, message: bytes) -> None:
        """A token comes with the upgrade, or there is nobody."""
        self.end(frames.NOT_AUTHENTICATED)
