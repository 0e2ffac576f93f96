"""A scripted gateway behind a URL: its own little HTTP, and frames made by hand.

It proves that it knows a token, upgrades, wants the token, and then speaks as the scripted
gateway does; or it misbehaves as it is told to.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from tests.harness.scripted_gateway import Peer, ScriptedGateway
from tests.harness.waiting import WAIT_S

TOKEN_ID, SECRET = "abc123", "s" * 43
TOKEN = f"fbt_{TOKEN_ID}.{SECRET}"


def text_frame(messages: Sequence[bytes]) -> bytes:
    return Frame(Opcode.TEXT, b"\n".join(messages)).serialize(mask=False)


class ScriptedUrl:
    """``answer`` replaces the proof's response, ``upgrade`` the upgrade's; ``end`` a close code."""

    def __init__(self, gateway: ScriptedGateway, *, base_path: str = "") -> None:
        self.gateway = gateway
        self.base_path = base_path
        self.proves = True
        self.answer = b""
        self.upgrade = b""
        self.end = 0  # close with this code instead of a welcome
        self.heads: list[str] = []  # the first line and Host of every request
        self.tokens: list[str] = []  # that were sent to us
        self.pings = 0
        self.deaf = False  # whether nothing is read any more
        self.port = 0
        self._tls: ssl.SSLContext | None = None
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}{self.base_path}"

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        self.gateway.hang_up()
        async with asyncio.timeout(WAIT_S):
            while self.gateway.peers:
                await asyncio.sleep(0.005)
            await self._server.wait_closed()

    async def restart(self) -> None:
        await self.stop()
        await self.start(self._tls)

    # ---- one connection ----------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(self.gateway, writer, text_frame)
        self.gateway.greet(peer)
        try:
            frames = await self._come_in(reader, peer)
            while frames is not None and (data := await reader.read(65536)):
                while self.deaf:
                    await asyncio.sleep(0.005)
                frames.receive_data(data)
                self._take(frames, peer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.gateway.peers.remove(peer)
            writer.close()

    async def _come_in(self, reader: asyncio.StreamReader, peer: Peer) -> ServerProtocol | None:
        """Answer plain requests until one is an upgrade."""
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            host = next(line for line in lines if line.lower().startswith("host:"))
            self.heads.append(f"{lines[0]} {host}")
            if "Upgrade: websocket" in lines:
                break
            peer.write(self.answer or self._proof(lines[0].split(" ")[1]))
        if self.upgrade:
            peer.write(self.upgrade)
            return None
        frames = ServerProtocol()
        frames.receive_data(head)
        [request] = frames.events_received()
        assert isinstance(request, Request)
        assert request.path == f"{self.base_path}/api/v1/ws"
        assert "Origin" not in request.headers
        assert "Authorization" not in request.headers
        frames.send_response(frames.accept(request))
        peer.write(b"".join(frames.data_to_send()))
        return frames

    def _proof(self, target: str) -> bytes:
        parts = urlsplit(target)
        assert parts.path == f"{self.base_path}/api/v1/proof"
        asked = parse_qs(parts.query)
        assert asked["token_id"] == [TOKEN_ID]
        key = hashlib.sha256((SECRET if self.proves else "other").encode()).digest()
        proof = hmac.new(key, asked["nonce"][0].encode(), hashlib.sha256).hexdigest()
        return response(200, json.dumps({"proof": proof}).encode())

    def _take(self, frames: ServerProtocol, peer: Peer) -> None:
        for frame in frames.events_received():
            assert isinstance(frame, Frame)
            if frame.opcode is Opcode.PING:
                self.pings += 1
            if frame.opcode is not Opcode.TEXT:
                continue
            message = bytes(frame.data)
            if not peer.adapter.greeted and b'"auth"' in message:
                self.tokens.append(json.loads(message)["token"])
                if self.end:
                    peer.write(closing(self.end))
            elif not self.end:
                self.gateway.hear(peer, message + b"\n")
        for data in frames.data_to_send():
            if data:
                peer.write(data)
            else:
                peer.writer.close()


def closing(code: int, reason: bytes = b"enough") -> bytes:
    return Frame(Opcode.CLOSE, code.to_bytes(2, "big") + reason).serialize(mask=False)


def response(status: int, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
    head = f"HTTP/1.1 {status} Because\r\nContent-Length: {len(body)}\r\n{''.join(lines)}\r\n"
    return head.encode() + body


@asynccontextmanager
async def listening(
    gateway: ScriptedGateway, *, base_path: str = "", tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedUrl]:
    """A door of that gateway's on a port of its own."""
    door = ScriptedUrl(gateway, base_path=base_path)
    await door.start(tls)
    try:
        yield door
    finally:
        await door.stop()
