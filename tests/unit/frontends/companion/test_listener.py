"""The device door: where it listens, what it says of itself, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from flybridge.auth.tcp_peer import TcpPeers
from flybridge.errors import GatewayError
from flybridge.frontends.companion.listener import CompanionDoor, CompanionSpec, make_door
from tests.harness.companion_harness import HERE, Rig, companion
from tests.harness.handheld import Handheld
from tests.harness.waiting import WAIT_S, until


async def get(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(HERE, port)
    writer.write(data)
    try:
        async with asyncio.timeout(WAIT_S):
            return await reader.read()
    finally:
        writer.close()


async def test_health_tells_only_that_the_server_is_up(rig: Rig) -> None:
    said = await get(rig.door.port, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    assert said.endswith(b'\r\n\r\n{"ok":true}')


@pytest.mark.parametrize(
    "data",
    [
        b"\0\0\0\0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 500 + b"\r\n",
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_answered_and_ended(rig: Rig, data: bytes) -> None:
    said = await get(rig.door.port, data)
    assert said.startswith(b"HTTP/1.1 4")
    await until(lambda: not rig.door.connections)


async def test_a_page_in_a_browser_is_not_let_in(rig: Rig) -> None:
    """Abuse case 1."""
    head = (
        b"GET / HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Version: 13\r\n\r\n"
    )
    assert (await get(rig.door.port, head)).startswith(b"HTTP/1.1 403 ")


async def test_it_says_loudly_that_it_is_open(
    short_tmp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "flybridge.frontends.companion.listener"):
        async with companion(short_tmp, grace_s=0.5):
            pass
    assert "without TLS" in caplog.text


async def test_devices_hear_the_end_of_tcp_when_the_gateway_ends(short_tmp: Path) -> None:
    async with companion(short_tmp, grace_s=0.5) as rig:
        held = await rig.ready()
        await rig.door.close()
        assert await held.ended()


async def test_somebody_who_never_says_what_they_want_is_hung_up_on(rig: Rig) -> None:
    held = Handheld(*await asyncio.open_connection(HERE, rig.door.port))
    await until(lambda: rig.door.connections)
    loop = asyncio.get_running_loop()
    real = loop.time
    loop.time = lambda: real() + 11.0  # type: ignore[method-assign]
    try:
        assert await held.ended()
    finally:
        loop.time = real  # type: ignore[method-assign]
        held.close()


async def test_a_port_that_is_taken_is_said(rig: Rig) -> None:
    for spec in (
        CompanionSpec(host=HERE, port=rig.door.port),
        CompanionSpec(host="198.51.100.1", port=0),
    ):
        door = CompanionDoor(spec, rig.desk, rig.devices, rig.host, now_ms=rig.now_ms)
        with pytest.raises(GatewayError):
            door.bind()


async def test_a_door_is_made_with_what_its_slots_hold(rig: Rig) -> None:
    spec = CompanionSpec(host=HERE, port=0, agent="recorder", dir="/somewhere")
    door = make_door(
        spec,
        rig.desk,
        rig.house.sessions,
        rig.devices,
        now_ms=rig.now_ms,
        peers=TcpPeers(rig.house.sessions.keepers),
    )
    assert (door.host.spec(3).agent, door.host.spec(3).dir) == ("recorder", "/somewhere")
