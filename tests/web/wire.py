"""A wire between the browser and the gateway that can be cut, and mended."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from typing import Any

RESET = struct.pack("ii", 1, 0)  # closed with a reset: nobody says goodbye on a cut wire
PIECE = 1 << 16
MAX_WAITING = 64
LOST = r"WebSocket|ERR_|Failed to load resource"  # what a browser says of a cut wire


def through_wire(login: Any) -> Any:
    """A login as a browser keeps it that goes to ``localhost``, at the other end of a wire."""
    cookies = [{**cookie, "domain": "localhost"} for cookie in login["cookies"]]
    origins = [
        {**origin, "origin": origin["origin"].replace("127.0.0.1", "localhost")}
        for origin in login["origins"]
    ]
    return {"cookies": cookies, "origins": origins}


class Wire:
    """Listens on a port of its own and passes everything on to ``target``."""

    def __init__(self) -> None:
        self.target = 0  # a port of this machine
        self.is_down = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=MAX_WAITING)
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._numb: set[socket.socket] = set()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def browser_arg(self) -> str:
        """Started with this, a browser goes through the wire to the host ``localhost``; the
        gateway goes by that name, too."""
        return f"--host-resolver-rules=MAP localhost 127.0.0.1:{self.port}"

    def cut(self) -> None:
        """End every connection that there is, in the middle of whatever it says."""
        with self._lock:
            ends, self._open = list(self._open), set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def take_down(self) -> None:
        """Cut it, and let nobody through until it is mended."""
        with self._lock:
            self.is_down = True
        self.cut()

    def numb(self) -> None:
        """Let nothing more through the connections that there are, and tell nobody: as when a
        phone slept. New ones are as good as ever."""
        with self._lock:
            self._numb |= self._open

    def mend(self) -> None:
        self.is_down = False

    def close(self) -> None:
        self.is_down = True
        self._listener.close()
        self.cut()

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:  # whoever takes it down meanwhile must find it, or it must find that
                is_down = self.is_down
                self._open |= set() if is_down else {near, far}
            if is_down:
                near.close()
                far.close()
                continue
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(PIECE):
                if one not in self._numb:
                    other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        with self._lock:
            self._open -= {one, other}
            self._numb -= {one, other}
