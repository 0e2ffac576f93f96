"""The handheld, as its program behaves: written from what was measured on it, with all its limits.

Its whole receive buffer holds 4,091 bytes of payload; one more and it hangs for good. It reads
text frames in one piece, with a length of 7 or 16 bits. It never answers a ping or a close. It
finds fields by looking for their names, knows two escapes, and copies texts into buffers of fixed
size. Whatever it could not have lived with is an assertion here.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import struct
from typing import Any

from tests.harness.frames import frame
from tests.harness.waiting import WAIT_S

HANGS_BEYOND = 4091
BUFFERS = {
    "agent": 32,
    "message": 128,
    "promptToolType": 64,
    "promptToolDetail": 1024,
    "promptDescription": 256,
}
STATES = ("working", "waiting", "idle", "error", "done")
REQUEST = (
    "GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
)
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def field(payload: str, name: str) -> str | None:
    """A text field as the program finds it: no parser, two escapes, no more."""
    found = re.search(rf'"{name}":"((?:[^"\\]|\\.)*)"', payload)
    if found is None:
        return None
    escapes = set(re.findall(r"\\(.)", found[1]))
    assert escapes <= {'"', "\\"}, f"an escape it does not know: {escapes}"
    return re.sub(r"\\(.)", r"\1", found[1])


class Handheld:
    """One device, connected."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.slots: dict[int, dict[str, Any]] = {}  # what is on its screens
        self.heard: list[dict[str, Any]] = []
        self.pings = 0

    @classmethod
    async def connect(
        cls, port: int, *, source: str = "127.0.0.1", token: str = "", host: str = ""
    ) -> Handheld:
        streams = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
        held = cls(*streams)
        more = f"Authorization: Bearer {token}\r\n" if token else ""
        said = REQUEST.format(host=host or f"192.168.178.20:{port}", more=more)
        held._writer.write(said.encode())
        try:
            head = await asyncio.wait_for(held._reader.readuntil(b"\r\n\r\n"), WAIT_S)
        except BaseException:
            held.close()
            raise
        assert head.startswith(b"HTTP/1.1 101 "), head
        assert f"Sec-WebSocket-Accept: {ACCEPT}".encode() in head
        assert b"Extensions" not in head
        return held

    # ---- what it shows -------------------------------------------------------------------------

    async def hear(self, within_s: float = WAIT_S) -> dict[str, Any]:
        """The next message, once it has survived it."""
        while True:
            async with asyncio.timeout(within_s):
                opcode, payload = await self._frame()
            if opcode == 9:
                self.pings += 1  # and that is all that happens
                continue
            assert opcode == 1, f"opcode {opcode}"
            return self._live_with(payload.decode())

    async def _frame(self) -> tuple[int, bytes]:
        first, size = await self._reader.readexactly(2)
        assert first & 0x80, "a message in pieces"
        assert not first & 0x70, "compressed"
        assert not size & 0x80, "masked"
        assert size < 127, "a length of 64 bits"
        if size == 126:
            (size,) = struct.unpack("!H", await self._reader.readexactly(2))
        assert size <= HANGS_BEYOND, f"hangs: {size} bytes"
        return first & 15, await self._reader.readexactly(size)

    def _live_with(self, payload: str) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(payload)
        assert "\0" not in payload
        assert "\\u" not in payload
        assert len(payload.encode()) <= 3500
        if message["type"] == "agent_status":
            self._draw(payload, message)
        self.heard.append(message)
        return message

    def _draw(self, payload: str, message: dict[str, Any]) -> None:
        for name, size in BUFFERS.items():
            text = field(payload, name)
            assert text == message.get(name), "it reads something else"
            assert text is None or len(text.encode()) < size, f"{name} overflows"
        assert isinstance(message["agent"], str)
        assert message["state"] in STATES
        assert isinstance(message["progress"], int)
        self.slots[message["slot"]] = message

    async def wait_for(self, state: str, slot: int = 0, **wanted: Any) -> dict[str, Any]:
        """Wait until a slot shows this."""
        seen = self.slots.get(slot)
        while seen is None or seen["state"] != state or not wanted.items() <= seen.items():
            await self.hear()
            seen = self.slots.get(slot)
        return seen

    async def quiet(self, for_s: float = 0.15) -> bool:
        """Whether nothing comes for a while."""
        try:
            await self.hear(for_s)
        except TimeoutError:
            return True
        return False

    async def ended(self) -> bool:
        """Wait until TCP ends: the one thing that tells it that nobody is there."""
        async with asyncio.timeout(WAIT_S):
            try:
                await self._reader.read()
            except ConnectionError:
                pass
        return True

    # ---- what it sends -------------------------------------------------------------------------

    def say(self, kind: str, **fields: Any) -> None:
        self.send(json.dumps({"type": kind, **fields}, ensure_ascii=False).encode())

    async def answer(self, action: str, detail: str, slot: int = 0) -> None:
        """Wait for a prompt, and press until it is gone: a press that comes too soon after
        another prompt does not count, and the prompt is shown again."""
        shown = await self.wait_for("waiting", slot, promptToolDetail=detail)
        while shown["state"] == "waiting" and shown.get("promptToolDetail") == detail:
            self.press(action, slot)
            await self.hear()
            shown = self.slots[slot]

    def press(self, action: str, slot: int = 0, **more: Any) -> None:
        self.say("action", action=action, slot=slot, **more)

    def prompt(self, text: str, slot: int = 0) -> None:
        self.say("command", command=text, slot=slot)

    def send(self, payload: bytes, opcode: int = 1, *, fin: bool = True) -> None:
        """One masked frame with these very bytes."""
        self._writer.write(frame(payload, opcode, fin=fin, mask=os.urandom(4)))

    def raw(self, data: bytes) -> None:
        self._writer.write(data)

    def close(self) -> None:
        self._writer.close()
