"""An agent that dials in, as Claude Code 2.1.38 does: the recorder agent behind a WebSocket.

    python dialler.py [--record FILE ...] --sdk-url URL [...]

It comes back when its connection is lost, says then which message was its last, and what the
recorder said meanwhile is lost. ``--binary``: frames are binary; ``--torn``: every line comes in
two frames. Told to end (TERM), it ends with 143.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

AGAIN_S = 0.1
GIVE_UP_S = 30.0


class Dialler:
    def __init__(self, url: str, child: subprocess.Popen[bytes], *, binary: bool, torn: bool):
        self._url = url
        self._child = child
        self._binary = binary
        self._torn = torn
        self._last = ""
        self._socket: ClientConnection | None = None

    def hear(self) -> None:
        """Everything the recorder says, to whoever is there; to nobody, if nobody is."""
        assert self._child.stdout is not None
        for line in self._child.stdout:
            try:
                self._last = json.loads(line).get("uuid") or self._last
            except ValueError:
                pass
            socket = self._socket
            try:
                for piece in self._pieces(line) if socket is not None else ():
                    socket.send(piece)  # type: ignore[union-attr]
            except ConnectionClosed:
                pass
        status = self._child.wait()
        if self._socket is not None:
            self._socket.close()
        os._exit(status if status >= 0 else 128 - status)

    def _pieces(self, line: bytes) -> list[bytes | str]:
        half = len(line) // 2
        pieces = [line[:half], line[half:]] if self._torn else [line]
        return list(pieces) if self._binary else [one.decode("latin-1") for one in pieces]

    def stay(self) -> None:
        """Connect, and again whenever the connection is gone."""
        deadline = time.monotonic() + GIVE_UP_S
        while time.monotonic() < deadline:
            headers = {"X-Last-Request-Id": self._last} if self._last else {}
            try:
                with connect(
                    self._url, additional_headers=headers, max_size=None, compression=None
                ) as socket:
                    self._socket = socket
                    deadline = time.monotonic() + GIVE_UP_S
                    self._obey(socket)
            except (OSError, InvalidHandshake, ConnectionClosed):
                pass
            self._socket = None
            time.sleep(AGAIN_S)

    def _obey(self, socket: ClientConnection) -> None:
        assert self._child.stdin is not None
        for message in socket:
            data = message.encode() if isinstance(message, str) else message
            self._child.stdin.write(data)
            self._child.stdin.flush()


def main() -> None:
    words = sys.argv[1:]
    if "--version" in words:
        os.write(1, b"2.1.38 (Claude Code)\n")
        return
    at = words.index("--sdk-url")
    url = words[at + 1]
    del words[at : at + 2]
    binary, torn = "--binary" in words, "--torn" in words
    words = [one for one in words if one not in ("--binary", "--torn")]
    child = subprocess.Popen(
        [sys.executable, "-I", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def leave(_signum: int, _frame: FrameType | None) -> None:
        child.kill()
        os._exit(143)

    signal.signal(signal.SIGTERM, leave)
    dialler = Dialler(url, child, binary=binary, torn=torn)
    threading.Thread(target=dialler.hear, daemon=True).start()
    dialler.stay()
    child.kill()


if __name__ == "__main__":
    main()
