"""How messages lie on a stream of bytes. Pure: bytes in, messages out, and the other way round."""

from __future__ import annotations

from typing import Protocol

from flybridge.errors import FlybridgeError
from flybridge.wire.lines import StrictLineSplitter


class Framing(Protocol):
    """One connection's way of framing. Write what :meth:`take` returns after every call."""

    over: FlybridgeError | None  # the other side ended it, or broke the rules; nothing more comes

    def receive(self, data: bytes) -> list[bytes]:
        """The messages that ``data`` completes.

        Raises:
            RemoteProtocolError: these are none.
        """
        ...

    def send(self, message: bytes) -> None:
        """One message; it leaves as soon as the other side is ready for it.

        Raises:
            LocalProtocolError: it is too long to be sent this way.
        """
        ...

    def ping(self) -> bool:
        """Ask for a sign of life; False: there is no need, the system tells who is gone."""
        ...

    def close(self) -> None:
        """Say goodbye."""
        ...

    def take(self) -> bytes:
        """What is to be written."""
        ...


class Lines:
    """One message a line: what the Unix socket speaks."""

    def __init__(self) -> None:
        self.over: FlybridgeError | None = None
        self._lines = StrictLineSplitter()
        self._out: list[bytes] = []

    def receive(self, data: bytes) -> list[bytes]:
        return self._lines.receive(data)

    def send(self, message: bytes) -> None:
        self._out += (message, b"\n")

    def ping(self) -> bool:
        return False

    def close(self) -> None:
        pass  # the end of the stream says it

    def take(self) -> bytes:
        out, self._out = self._out, []
        return b"".join(out)
