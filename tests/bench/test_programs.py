"""The two programs in C: an agent our driver understands, and clients that are hard to please."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.pieces import compiled
from flybridge.agents.claude.wire.decode import decode
from flybridge.agents.claude.wire.messages import Odd, Unknown

UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
TURN_ENDED = '{"type":"event","session":"s","epoch":1,"seq":%d,"event":{"type":"turn.ended"}}'


@pytest.fixture(autouse=True)
def _has_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("could not run: needs cc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


async def output_of(program: Path, *arguments: str, stdin: bytes = b"") -> list[bytes]:
    process = await asyncio.create_subprocess_exec(
        str(program),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    stdout, _ = await process.communicate(stdin)
    assert process.returncode == 0
    return stdout.splitlines()


@pytest.mark.parametrize(
    "what",
    [
        *("deltas 20 7", "durable 6", "mixed 2", "paced 3 1000", "big 1"),
        *("prose 300 9000 200", "story 4"),
    ],
)
async def test_every_line_of_the_fake_cli_is_one_that_we_know(what: str) -> None:
    lines = await output_of(compiled("fake_cli"), "--emit", what)
    strange = [line[:200] for line in lines if isinstance(decode(line), Unknown | Odd)]
    assert strange == []
    assert json.loads(lines[-1])["type"] == "result"


async def test_the_fake_cli_answers_a_request_and_echoes_a_message() -> None:
    asked = b'{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}\n'
    said = b'{"type":"user","uuid":"u1","message":{"role":"user","content":"BENCH deltas 2 2"}}\n'
    lines = await output_of(compiled("fake_cli"), stdin=asked + said)
    answer, echo = json.loads(lines[0]), json.loads(lines[1])
    assert answer["response"]["request_id"] == "r1"
    assert (echo["uuid"], echo["isReplay"]) == ("u1", True)


def frame(*messages: str) -> bytes:
    payload = "\n".join(messages).encode()
    return b"\x81\x7e" + len(payload).to_bytes(2, "big") + payload


async def disorder_in(messages: Sequence[str]) -> int:
    """What the clients think of a server that sends this after they have attached."""
    ready = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        attached = '{"type":"reply","ref":"attach","value":{"head":0}}'
        writer.write(UPGRADED + frame(attached, '{"type":"view","session":"s"}'))
        await ready.wait()
        writer.write(frame(*messages))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        load = await asyncio.create_subprocess_exec(
            *(str(compiled("load")), f"port={port}", "session=s", "turns=1"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert load.stdout is not None
        assert await load.stdout.readline() == b"ready\n"
        ready.set()
        found = json.loads(await load.stdout.readline())
        assert await load.wait() == 0
    assert found["unfinished"] == 0
    return int(found["disorder"])


def event(seq: int) -> str:
    return json.dumps({"type": "event", "session": "s", "epoch": 1, "seq": seq, "event": {}})


def preview(since: int, upto: int) -> str:
    shown = {"type": "preview", "session": "s", "item": "i1", "since": since, "upto": upto}
    return json.dumps({**shown, "text": "words"}, separators=(",", ":"))


def compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"))


async def test_clients_accept_what_is_in_order() -> None:
    good = [event(1), preview(0, 3), preview(3, 5), preview(0, 6), event(2), TURN_ENDED % 3]
    assert await disorder_in([compact(one) for one in good]) == 0


@pytest.mark.parametrize(
    "bad",
    [
        [event(1), event(3), TURN_ENDED % 4],
        [event(1), event(1), TURN_ENDED % 2],
        [event(2), event(1), TURN_ENDED % 2],
        [preview(0, 3), preview(4, 5), TURN_ENDED % 1],
        [preview(0, 3), preview(2, 5), TURN_ENDED % 1],
        [preview(1, 3), TURN_ENDED % 1],
    ],
    ids=["gap", "double", "disorder", "lost text", "doubled text", "text without a start"],
)
async def test_clients_notice_what_is_lost_or_doubled(bad: list[str]) -> None:
    assert await disorder_in([compact(one) for one in bad]) > 0
