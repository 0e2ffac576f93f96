"""Clients of an HTTP server that say exactly what they are told to, right or wrong.

Requests are written by the standard library or byte by byte; nothing here is ours in the middle.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.harness.frames import CLOSE, PING, PONG, TEXT, frame, upgrade_request
from tests.harness.http_harness import Got
from tests.harness.waiting import WAIT_S

API = "/api/v1"


class Who(NamedTuple):
    """Somebody with a credential: the headers that carry it, and what it is good for."""

    name: str
    headers: dict[str, str]
    scopes: frozenset[str]

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


NOBODY = Who("nobody", {}, frozenset())


class Http:
    """One connection at a time, by the standard library's client; ``source``: from where."""

    def __init__(self, port: int, who: Who = NOBODY, source: str = "127.0.0.1") -> None:
        self.port = port
        self.who = who
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=WAIT_S, source_address=(source, 0)
        )

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Got:
        """Ask for something below the interface's path, or for a page (``//login``)."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {**self.who.headers, **({"idempotency-key": key} if key else {})}
        if method in ("POST", "PATCH", "PUT"):
            given["content-type"] = "application/json"
        target = path[1:] if path.startswith("//") else API + path
        return self.raw(method, target, data, {**given, **(headers or {})})

    def raw(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> Got:
        connection = self._connection
        connection.request(method, target, body=data, headers=dict(headers))
        found = connection.getresponse()
        if found.getheader("content-type") == "text/event-stream":
            connection.close()  # it would never end
            return Got(found.status, found.headers, b"")
        return Got(found.status, found.headers, found.read())

    def close(self) -> None:
        self._connection.close()


def say_bytes(port: int, data: bytes, *, host: str = "127.0.0.1") -> bytes:
    """What the server says to these very bytes, until it hangs up."""
    with socket.create_connection((host, port), timeout=WAIT_S) as sock:
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: sock.recv(65536), b""))
        except ConnectionError:
            return b""


class WebSocket:
    """A WebSocket, frame by frame."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self.port = port
        self._sock = socket.create_connection(
            ("127.0.0.1", port), timeout=WAIT_S, source_address=(source, 0)
        )
        self._file = self._sock.makefile("rb")
        self._heard: list[Any] = []
        self._refs = 0
        self.head = ""
        self.body = b""

    def upgrade(
        self, headers: Mapping[str, str] | None = None, *, target: str = f"{API}/ws"
    ) -> int:
        self.send(upgrade_request(f"127.0.0.1:{self.port}", target, headers or {}))
        head = b"".join(iter(self._file.readline, b"\r\n"))
        self.head = head.decode("latin-1").lower()
        if size := re.search(r"content-length: (\d+)", self.head):
            self.body = self._file.read(int(size[1]))
        return int(head.split(b" ")[1])

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def say(self, *messages: dict[str, Any]) -> None:
        self.send(frame("\n".join(map(json.dumps, messages)).encode()))

    def next_frame(self) -> tuple[int, bytes]:
        first, size = self._read(2)
        if size == 126:
            (size,) = struct.unpack("!H", self._read(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self._read(8))
        return first & 15, self._read(size)

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) != size:
            raise ConnectionError("it hung up")
        return data

    def hear(self) -> Any:
        while not self._heard:
            opcode, payload = self.next_frame()
            if opcode == PING:
                self.send(frame(payload, PONG))
            elif opcode == CLOSE:
                raise ConnectionError(f"closed: {struct.unpack('!H', payload[:2])[0]}")
            else:
                assert opcode == TEXT
                self._heard = [json.loads(line) for line in payload.split(b"\n")]
        return self._heard.pop(0)

    def hear_event(self, kind: str) -> Any:
        """The next event of that kind."""
        while (heard := self.hear())["type"] != "event" or heard["event"]["type"] != kind:
            pass
        return heard["event"]

    def ending(self) -> int:
        """Read on to the close frame and the end; its code."""
        while (found := self.next_frame())[0] != CLOSE:
            pass
        assert self._file.read() == b""
        return int(struct.unpack("!H", found[1][:2])[0]) if found[1] else 1005

    def request(self, message: dict[str, Any]) -> Any:
        """Say something and wait for its reply."""
        self._refs += 1
        ref = f"r{self._refs}"
        self.say({**message, "ref": ref})
        while (heard := self.hear()).get("ref") != ref:
            pass
        return heard

    def ask(self, name: str, /, **params: Any) -> Any:
        return self.request({"type": "ask", "name": name, "params": params})

    def close(self) -> None:
        self._file.close()
        self._sock.close()
