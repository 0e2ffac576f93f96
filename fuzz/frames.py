"""Whatever bytes come over a WebSocket: no error escapes, memory stays bounded, and all that is
answered are whole frames of whole messages, with nothing after the last one.

An input is a head and some frames, mostly good ones, then cut, lied about, mixed up and torn to
pieces at random. Each is made from the seed and its own number, so that it can be run again.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import struct
import tempfile
from collections import Counter
from pathlib import Path

import msgspec
from websockets.frames import EXTERNAL_CLOSE_CODES

from flybridge.listeners.upgrade import Timing
from flybridge.listeners.websocket import MAX_MESSAGE_BYTES, PATH, WebSocketClient
from tests.harness.frames import CLOSE, PING, PONG, TEXT, frame
from tests.harness.websocket_harness import OpenDoor
from tests.unit.listeners.loose_transport import LooseTransport
from tests.unit.listeners.websocket_corpus import BAD_TEXTS, GOOD_TEXTS

TICKS = 6
MAX_BUFFERED = 1.5 * 2**20
MAX_HELD = MAX_MESSAGE_BYTES + 2 * 65536
PORT = 8420


class FoundError(AssertionError):
    """An input that does what none may do."""


class State:
    """What uvicorn would hand over."""

    def __init__(self) -> None:
        self.connections: set[object] = set()


# ---- inputs ----------------------------------------------------------------------------------

MESSAGES = [
    b'{"type":"hello","proto":1}',
    b'{"type":"ask","ref":"1","name":"echo","params":{"a":[1,2,{"b":null}]}}',
    b'{"type":"ask","ref":"2","name":"echo","params":"' + b"x" * 70_000 + b'"}',
    b'{"type":"attach","ref":"3","session":"ses_1","after":7}',
    b'{"type":"detach","session":"ses_1"}',
    b'{"type":"submit","ref":"4","session":"s","request":"r","command":{"type":"interrupt"}}',
    b'{"type":"submit","ref":"5","session":"s","request":"r","command":{"type":"nothing"}}',
    b'{"type":"auth","token":"fbt_0.0"}',
    b'{"type":"ask","ref":"6","name":"echo","params":1e999}',
    b'{"type":"ask","ref":"\\ud800","name":"x"}',
    b'{"type":"ask","ref":"7"',
    b"[" * 3000,
    b"{}\n" * 40,
    b"\n\n\n",
    b"",
]
TEXTS = [*GOOD_TEXTS.values(), *BAD_TEXTS.values()]


class Maker:
    """Makes one input out of its chance."""

    def __init__(self, chance: random.Random, token: str, login: dict[str, str]) -> None:
        self.chance = chance
        self.token = token
        self.login = login

    def head(self) -> bytes:
        lines = [
            f"GET {PATH} HTTP/1.1",
            f"Host: 127.0.0.1:{PORT}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        ]
        if self.chance.random() < 0.6:
            halves = list(self.login.items())[: self.chance.choice([1, 2, 2])]
            lines += [f"{name}: {value}" for name, value in halves]
        if self.chance.random() < 0.1:
            self._spoil(lines)
        data = "\r\n".join([*lines, "", ""]).encode("latin-1")
        return self.mutated(data) if self.chance.random() < 0.03 else data

    def _spoil(self, lines: list[str]) -> None:
        other = ["Origin: null", "Host: x", "Content-Length: 9", "X: " + "y" * 9000, "Upgrade: h2c"]
        if self.chance.random() < 0.5:
            lines.append(self.chance.choice(other))
        else:
            del lines[self.chance.randrange(1, len(lines))]

    def frames(self) -> bytes:
        parts: list[bytes] = []
        if self.chance.random() < 0.7:
            parts.append(frame(b'{"type":"auth","token":"%b"}' % self.token.encode()))
        if self.chance.random() < 0.8:
            parts.append(frame(MESSAGES[0]))
        parts += [self.frame() for _ in range(self.chance.randrange(8))]
        if self.chance.random() < 0.1:
            parts = [self.chance.choice(parts or [b""])] * self.chance.randrange(300)
        data = b"".join(parts)
        return self.mutated(data) if self.chance.random() < 0.3 else data

    def frame(self) -> bytes:
        roll = self.chance.random()
        if roll < 0.4:
            return frame(self.payload())
        if roll < 0.6:
            return b"".join(self.fragments(self.payload()))
        return self.odd_frame()

    def odd_frame(self) -> bytes:
        chance = self.chance
        payload = self.payload()[:200] if chance.random() < 0.9 else self.payload()
        size = None if chance.random() < 0.9 else chance.choice([0, 125, 126, 65536, 2**31, 2**63])
        return frame(
            payload,
            chance.choice([0, 1, 2, 8, 9, 10, chance.randrange(16)]),
            fin=chance.random() < 0.7,
            rsv=chance.choice([0, 0, 0, chance.randrange(8)]),
            mask=None if chance.random() < 0.05 else chance.randbytes(4),
            size=size,
        )

    def payload(self) -> bytes:
        chance = self.chance
        roll = chance.random()
        if roll < 0.6:
            return chance.choice(MESSAGES)
        if roll < 0.8:
            return b'{"type":"ask","ref":"t","name":"%b"}' % chance.choice(TEXTS)
        if roll < 0.9:
            return struct.pack(
                "!H", chance.choice([1000, 1001, 1005, 4000, chance.randrange(65536)])
            )
        return chance.randbytes(chance.randrange(140))

    def fragments(self, payload: bytes) -> list[bytes]:
        size = max(1, len(payload) // self.chance.randrange(1, 6))
        parts = [payload[at : at + size] for at in range(0, len(payload), size)] or [b""]
        made = [frame(p, 0 if n else 1, fin=n == len(parts) - 1) for n, p in enumerate(parts)]
        if self.chance.random() < 0.3:
            made.insert(self.chance.randrange(len(made) + 1), frame(b"p", PING))
        if self.chance.random() < 0.2:
            self.chance.shuffle(made)
        return made

    def mutated(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self.chance.randrange(1, 4)):
            if changed:
                at = self.chance.randrange(len(changed))
                changed[at : at + self.chance.randrange(3)] = self.chance.randbytes(
                    self.chance.randrange(3)
                )
        return bytes(changed)

    def torn(self, data: bytes) -> list[bytes]:
        """As reads would bring it."""
        cuts = sorted(self.chance.randrange(len(data) + 1) for _ in range(self.chance.randrange(6)))
        at = [0, *cuts, len(data)]
        return [data[a:b] for a, b in itertools.pairwise(at) if a < b]


# ---- one input, and what must hold ---------------------------------------------------------------


async def try_one(place: OpenDoor, kind: type[WebSocketClient], maker: Maker) -> str:
    """Run one input; how it ended."""
    state = State()
    client = kind(None, state, {})
    transport = LooseTransport(stuck=maker.chance.random() < 0.2)
    transport.connect(client)
    client.data_received(maker.head())  # uvicorn hands it over whole
    for data in maker.torn(maker.frames()):
        if transport.eof or transport.closing:
            break
        client.data_received(data)
        if maker.chance.random() < 0.5:
            await asyncio.sleep(0)
        check_bounds(client, transport)
    for _ in range(TICKS):
        await asyncio.sleep(0)
    check_bounds(client, transport)
    if maker.chance.random() < 0.2:
        client.eof_received()
    transport.abort()
    await asyncio.sleep(0)
    if state.connections or place.door.clients or place.door.strangers:
        raise FoundError("somebody is left")
    return judge(transport.written, ended=transport.eof)


def check_bounds(client: WebSocketClient, transport: LooseTransport) -> None:
    if transport.get_write_buffer_size() > MAX_BUFFERED:
        raise FoundError(f"{transport.get_write_buffer_size()} bytes wait to be written")
    held = len(client._frames.reader.buffer) + sum(map(len, client._pieces._parts))
    if held > MAX_HELD:
        raise FoundError(f"{held} bytes are held")


def judge(written: bytes, *, ended: bool) -> str:
    """Read everything that was answered, strictly; the name of the end."""
    head, found, rest = written.partition(b"\r\n\r\n")
    if not found:
        raise FoundError(f"no answer at all: {written[:100]!r}")
    status = int(head.split(b" ")[1])
    if status != 101:
        if status >= 500 or b"problem+json" not in head:
            raise FoundError(f"answered with {head!r}")
        return f"refused with {status}"
    code = read_frames(rest)
    if ended and not code:
        raise FoundError("an end without a word")
    return f"closed with {code}" if code else "stayed open"


def read_frames(data: bytes) -> int:
    """Go through frames of a server; the code of the close frame, or nothing."""
    while data:
        first, size, at = data[0], data[1], 2
        if size == 126:
            size, at = struct.unpack("!H", data[2:4])[0], 4
        elif size == 127:
            size, at = struct.unpack("!Q", data[2:10])[0], 10
        payload, data = data[at : at + size], data[at + size :]
        if len(payload) != size or not first & 0x80 or first & 0x70:
            raise FoundError("no whole frame")
        if first & 15 == CLOSE:
            if data:
                raise FoundError("words after the last one")
            return close_code(payload)
        read_payload(first & 15, payload)
    return 0


def read_payload(opcode: int, payload: bytes) -> None:
    if opcode == TEXT:
        for line in payload.split(b"\n"):
            if not msgspec.json.decode(line)["type"]:
                raise FoundError(f"no message: {line[:100]!r}")
    elif opcode not in (PING, PONG) or len(payload) > 125:
        raise FoundError(f"a frame with opcode {opcode}")


def close_code(payload: bytes) -> int:
    code = int(struct.unpack("!H", payload[:2])[0]) if payload else 1005
    known = code in EXTERNAL_CLOSE_CODES or 3000 <= code < 5000 or not payload
    if code == 1011 or not known or len(payload) > 125:
        raise FoundError(f"closed with {code}")
    payload[2:].decode()
    return code


# ---- many ----------------------------------------------------------------------------------------


async def run(seed: int, first: int, count: int) -> Counter[str]:
    """Run inputs; how often each kind of end was found.

    Raises:
        FoundError: one of them did what none may do; its text names the number.
    """
    escaped: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: escaped.append(repr(context.get("exception") or context["message"]))
    )
    endings: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        place = OpenDoor(Path(folder), timing=Timing(hello_s=3600, ping_s=3600, pong_s=3600))
        kind = place.listen_on(PORT).protocol_class()
        login = place.login()
        for number in range(first, first + count):
            maker = Maker(random.Random(f"{seed}:{number}"), place.token, login)
            try:
                ending = await try_one(place, kind, maker)
                if escaped:
                    raise FoundError(escaped[0])
            except Exception as error:
                raise FoundError(f"seed {seed}, number {number}: {error!r}") from error
            endings[ending] += 1
            place.echo.handled.clear()
            place.echo.left.clear()
            place.audited.clear()
    return endings
