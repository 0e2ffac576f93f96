"""A client of server-sent events that keeps the rules of the specification, and the bytes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from flybridge.listeners.http.route import API
from tests.harness.http_harness import Web
from tests.harness.waiting import WAIT_S


class Frame:
    def __init__(self, id_: str, data: Any) -> None:
        self.id = id_
        self.data = data

    def __repr__(self) -> str:
        return f"Frame({self.id!r}, {self.data!r})"


class EventSource:
    """One stream. ``last_id`` is what a browser would come back with."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.last_id = ""
        self.comments = 0
        self.status = 0
        self.head = ""
        self.frames: list[Frame] = []
        self.chunks = 0
        self._text = b""

    @classmethod
    async def open(cls, web: Web, session: str, query: str = "", **who: Any) -> EventSource:
        last_id = who.pop("last_id", "")
        headers = web.headers(**who) | ({"last-event-id": last_id} if last_id else {})
        reader, writer = await asyncio.open_connection("127.0.0.1", web.port, limit=1 << 26)
        lines = [
            f"GET {web.base}{API}/sessions/{session}/stream{query} HTTP/1.1",
            f"host: 127.0.0.1:{web.port}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        self = cls(reader, writer)
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT_S)
        self.head = head.decode().lower()
        self.status = int(self.head.split()[1])
        self.last_id = last_id
        return self

    async def hear(self) -> Frame | None:
        """The next frame; None when the stream is over."""
        while b"\n\n" not in self._text:
            chunk = await asyncio.wait_for(self._chunk(), WAIT_S)
            if not chunk:
                return None
            self.chunks += 1
            self._text += chunk
        block, _, self._text = self._text.partition(b"\n\n")
        assert b"\r" not in block
        data = []
        for line in block.split(b"\n"):
            name, _, value = line.partition(b": ")
            if name == b"id":
                self.last_id = value.decode()
            elif name == b"data":
                data.append(value)
            elif line.startswith(b":"):
                self.comments += 1
        if not data:
            return await self.hear()
        frame = Frame(self.last_id, json.loads(b"\n".join(data)))
        self.frames.append(frame)
        return frame

    async def _chunk(self) -> bytes:
        try:
            size = int(await self._reader.readuntil(b"\r\n"), 16)
            return (await self._reader.readexactly(size + 2))[:-2]
        except asyncio.IncompleteReadError:
            return b""

    async def until(self, kind: str, **wanted: Any) -> Frame:
        """Hear on until a message of this kind, with these fields."""
        while True:
            frame = await self.hear()
            assert frame is not None, f"over before {kind}"
            inner = frame.data.get("event", frame.data)
            if inner.get("type") == kind and all(inner.get(k) == v for k, v in wanted.items()):
                return frame

    async def hear_for_ever(self) -> None:
        while await self.hear() is not None:
            pass

    def stop_reading(self) -> None:
        """Take nothing more from the socket."""
        self._reader._transport.pause_reading()  # type: ignore[attr-defined]

    def read_again(self) -> None:
        self._reader._transport.resume_reading()  # type: ignore[attr-defined]

    def events(self) -> list[Any]:
        return [one.data for one in self.frames if one.data["type"] == "event"]

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            pass
