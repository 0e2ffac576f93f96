"""Our class in the slot of the uvicorn that is pinned: what it calls, and what it is given.

This is the test that fails when a new uvicorn expects something else.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from uvicorn import Config, Server
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from flybridge.listeners.websocket import WebSocketClient
from tests.harness.frames import frame
from tests.harness.waiting import WAIT_S, until
from tests.harness.websocket_harness import OpenDoor, echo, hello_app


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[OpenDoor, Server]]:
    """A real server of theirs, with a trivial application of ours."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    place = OpenDoor(folder)
    door = place.listen_on(sock.getsockname()[1])
    config = Config(
        hello_app, ws=door.protocol_class(), http="h11", lifespan="off", log_config=None
    )
    server = Server(config)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    serving = asyncio.ensure_future(server._serve([sock]))  # serve() would take our signals
    try:
        await until(lambda: server.started)
        yield place, server
    finally:
        server.should_exit = True
        await asyncio.wait_for(serving, WAIT_S)
        for guest in place.guests:
            await guest.close()
    assert not server.server_state.connections


async def test_an_upgrade_works_and_http_beside_it(short_tmp: Path) -> None:
    async with served(short_tmp) as (place, server):
        guest = await place.guest()
        plain = await place.dial()
        plain.send(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        plain.headers = {}
        assert await plain.response() == 200
        assert plain.headers["content-type"] == "text/plain"
        guest.send(frame(echo("1", "still")))
        assert (await guest.hear())["value"] == "still"
        assert len(server.server_state.connections) == 2


async def test_an_upgrade_on_a_connection_that_served_http_before(short_tmp: Path) -> None:
    async with served(short_tmp) as (place, _):
        guest = await place.dial()
        guest.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await asyncio.wait_for(guest.reader.readuntil(b"hello\r\n0\r\n\r\n"), WAIT_S)
        assert head.startswith(b"HTTP/1.1 200")
        assert await guest.upgrade(**place.login()) == 101
        await guest.greet()


async def test_a_refused_upgrade_is_an_answer_and_the_end(short_tmp: Path) -> None:
    async with served(short_tmp) as (place, server):
        guest = await place.dial()
        assert await guest.upgrade(Origin="http://evil.example") == 403
        assert await guest.gone() == b""
        await until(lambda: not server.server_state.connections)


async def test_a_server_that_ends_ends_sockets_with_a_word(short_tmp: Path) -> None:
    async with served(short_tmp) as (place, server):
        known, stranger = await place.guest(), await place.upgraded()
        deaf = await place.guest()
        deaf.writer.transport.pause_reading()  # type: ignore[attr-defined]
        server.should_exit = True
        assert await known.ending() == (1012, "the gateway ends")
        assert (await stranger.ending())[0] == 1012


async def test_a_client_that_does_not_read_cannot_keep_a_server_from_ending(
    short_tmp: Path,
) -> None:
    async with served(short_tmp) as (place, server):
        deaf = await place.guest()
        deaf.writer.transport.pause_reading()  # type: ignore[attr-defined]
        (client,) = place.door.clients
        assert client.transport is not None
        while not client.transport.get_write_buffer_size():
            client.transport.write(b"\x81\x7e\xff\xff" + b"x" * 65535)
        server.should_exit = True
        await until(lambda: not server.server_state.connections)


@pytest.mark.parametrize(
    "name",
    [
        "connection_made",
        "data_received",
        "connection_lost",
        "eof_received",
        "shutdown",
        "pause_writing",
        "resume_writing",
    ],
)
def test_we_have_what_their_own_class_has(name: str) -> None:
    theirs = inspect.signature(getattr(WebSocketsSansIOProtocol, name))
    ours = inspect.signature(getattr(WebSocketClient, name))
    assert len(ours.parameters) == len(theirs.parameters)


def test_we_are_made_as_their_own_class_is() -> None:
    theirs = inspect.signature(WebSocketsSansIOProtocol)
    assert list(inspect.signature(WebSocketClient).parameters) == list(theirs.parameters)
    made = inspect.getsource(h11_impl.H11Protocol.handle_websocket_upgrade)
    for expected in ("config=", "server_state=", "app_state=", "connection_made", "data_received"):
        assert expected in made
