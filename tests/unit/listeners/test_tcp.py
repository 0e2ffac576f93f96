from __future__ import annotations

import asyncio
import errno
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flybridge.errors import GatewayError
from flybridge.listeners.tcp import (
    Complaints,
    TcpDoor,
    TcpLimits,
    TcpSpec,
    check_bind,
    raise_file_limit,
)
from tests.harness.waiting import WAIT_S, until

Send = Callable[[dict[str, Any]], Awaitable[None]]


async def app(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Send) -> None:
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return
        size += len(message["body"])
        if not message.get("more_body"):
            break
    body = f"{scope['method']} {scope['path']} {size}".encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Upgraded(asyncio.Protocol):
    """Takes whatever is upgraded, and says so."""

    def __init__(self, config: object, server_state: Any, app_state: object) -> None:
        self._connections = server_state.connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        assert isinstance(self.transport, asyncio.Transport)
        self.transport.write(b"upgraded " + data.split()[1])

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)

    def shutdown(self) -> None:
        self.transport.close()


@pytest.fixture
async def door() -> AsyncIterator[TcpDoor]:
    door = await opened(TcpLimits())
    yield door
    await door.close()


async def opened(limits: TcpLimits) -> TcpDoor:
    door = TcpDoor(TcpSpec(port=0), limits)
    door.bind()
    await door.open(app, Upgraded)
    return door


class Visitor:
    """A plain socket, used from the loop."""

    def __init__(self, door: TcpDoor, host: str = "127.0.0.1") -> None:
        self._sock = socket.create_connection((host, door.port), 5)
        self._sock.setblocking(False)

    async def say(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._sock, data)

    async def hear(self) -> bytes:
        """The next bytes; nothing when the other end has hung up."""
        loop = asyncio.get_running_loop()
        try:
            return await asyncio.wait_for(loop.sock_recv(self._sock, 65536), WAIT_S)
        except ConnectionError:
            return b""

    async def rest(self) -> bytes:
        out = b""
        while data := await self.hear():
            out += data
        return out

    def close(self) -> None:
        self._sock.close()

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def talk(door: TcpDoor, data: bytes) -> bytes:
    """Everything that is answered to these bytes until the other end hangs up."""
    with Visitor(door) as visitor:
        await visitor.say(data)
        return await visitor.rest()


GET = b"GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"


async def test_requests_are_answered_on_both_kinds_of_loopback(door: TcpDoor) -> None:
    assert (await talk(door, GET)).endswith(b"GET /x 0")
    try:
        visitor = Visitor(door, "::1")
    except OSError:  # a machine without IPv6
        return
    with visitor:
        await visitor.say(GET)
        assert (await visitor.rest()).endswith(b"GET /x 0")


async def test_a_small_answer_does_not_wait_for_the_one_before_it(door: TcpDoor) -> None:
    """Head and body are two writes: held back by the kernel, each answer would take 40 ms."""
    with Visitor(door) as visitor:
        await visitor.say(GET.replace(b"close", b"keep-alive"))
        await visitor.hear()
        (one,) = door._state.connections
        sock = one.transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_an_upgrade_goes_to_the_other_class(door: TcpDoor) -> None:
    upgrade = b"GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
    with Visitor(door) as visitor:
        await visitor.say(upgrade)
        assert await visitor.hear() == b"upgraded /ws"
        await door.close()
        assert await visitor.hear() == b""


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost : a\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nx\x00y: z\r\n\r\n",
        b"\x16\x03\x01\x02\x00" * 100 + b"\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET / HTTP/1.1\nhost: a\n\n",
        b"GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\n\tb\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\rx: y\r\n\r\n",
    ],
)
async def test_abuse_11_what_two_readers_might_read_in_two_ways_is_not_read(
    door: TcpDoor, data: bytes
) -> None:
    answer = await talk(door, data)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), answer
    assert (await talk(door, GET)).endswith(b"GET /x 0")


@pytest.mark.parametrize(
    "start", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab"]
)
async def test_abuse_64_a_head_or_a_body_that_never_ends_is_given_up(start: bytes) -> None:
    door = await opened(TcpLimits(head_s=0.05, body_s=0.05))
    with Visitor(door) as visitor:
        await visitor.say(start)
        assert await visitor.hear() == b""
    await door.close()


async def test_abuse_64_more_bytes_buy_no_more_time() -> None:
    door = await opened(TcpLimits(head_s=0.2))
    with Visitor(door) as visitor:
        listening = asyncio.create_task(visitor.hear())
        for byte in b"GET / HTTP/1.1\r\nx: " + b"y" * 4000:
            if listening.done():
                break
            await visitor.say(bytes([byte]))
            await asyncio.sleep(0.005)
        assert listening.done()
        assert await listening == b""
    await door.close()


async def test_a_connection_is_used_again() -> None:
    door = await opened(TcpLimits(head_s=0.05))
    with Visitor(door) as visitor:
        for n in range(3):
            await visitor.say(b"POST /%d HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nab" % n)
            assert (await visitor.hear()).endswith(b"POST /%d 2" % n)
            await asyncio.sleep(0.1)  # longer than a head may take: nothing has begun yet
    await door.close()


@pytest.mark.parametrize("loose", [b"GET /y HTTP/1.1\nhost: a\n\n", GET[:-2] + b"x:\r\n 1\r\n\r\n"])
async def test_a15_a_pipelined_request_is_held_to_the_same_form(
    door: TcpDoor, loose: bytes
) -> None:
    good = b"GET /x HTTP/1.1\r\nhost: a\r\n\r\n"
    assert (await talk(door, loose)).startswith(b"HTTP/1.1 400 ")
    answers = await talk(door, good + loose)
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert answers.count(b"HTTP/1.1 400 ") == 1
    assert b"GET /y" not in answers
    assert (await talk(door, good + GET)).count(b"HTTP/1.1 200 ") == 2


async def test_abuse_64_connections_have_a_number() -> None:
    door = await opened(TcpLimits(of_one_source=3))
    many = [Visitor(door) for _ in range(3)]
    for visitor in many:  # each has a request that is not complete
        await visitor.say(b"POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n")
    await asyncio.sleep(0.05)
    with Visitor(door) as visitor:
        assert await visitor.hear() == b""
    await many[0].say(b"ab")
    assert (await many[0].hear()).endswith(b"POST /x 2")
    assert (await talk(door, GET)).endswith(b"GET /x 0")
    for one in many:
        one.close()
    await door.close()


async def test_a14_idle_connections_of_the_same_user_make_room() -> None:
    door = await opened(TcpLimits(of_one_source=3, connections=5))
    idle = [Visitor(door) for _ in range(8)]
    assert (await talk(door, GET)).endswith(b"GET /x 0")
    for visitor in idle[:5]:
        assert await visitor.hear() == b""
    await idle[-1].say(GET)
    assert (await idle[-1].hear()).endswith(b"GET /x 0")
    for visitor in idle:
        visitor.close()
    await until(lambda: door.connections == 0)
    assert len(door._counts) == 0
    assert not door._counts._open
    assert not door._counts._idle
    await door.close()


async def test_abuse_9_a_port_that_is_taken_is_an_error(door: TcpDoor) -> None:
    second = TcpDoor(TcpSpec(port=door.port))
    with pytest.raises(GatewayError, match=f"port {door.port}"):
        second.bind()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "127.0.0.1.evil"])
def test_abuse_8_an_address_that_others_reach_needs_tls(host: str) -> None:
    with pytest.raises(GatewayError, match="--tls-cert"):
        check_bind(TcpSpec(host=host))
    check_bind(TcpSpec(host=host, tls_cert="c", tls_key="k"))


@pytest.mark.parametrize("host", ["", "127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_needs_none(host: str) -> None:
    check_bind(TcpSpec(host=host))


def test_what_cannot_be_served_is_said_before() -> None:
    for spec in (TcpSpec(tls_cert="c"), TcpSpec(tls_key="k"), TcpSpec(base_path="x")):
        with pytest.raises(GatewayError):
            check_bind(spec)


async def test_a_certificate_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("nonsense")
    spec = TcpSpec(port=0, tls_cert=str(tmp_path / "c"), tls_key=str(tmp_path / "c"))
    door = TcpDoor(spec)
    door.bind()
    with pytest.raises(GatewayError, match="certificate"):
        await door.open(app, Upgraded)


async def test_with_a_certificate_it_speaks_tls_and_nothing_else(
    certificate: tuple[str, str],
) -> None:
    cert, key = certificate
    door = TcpDoor(TcpSpec(port=0, tls_cert=cert, tls_key=key))
    door.bind()
    await door.open(app, Upgraded)
    context = ssl.create_default_context(cafile=cert)
    context.check_hostname = False
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port, ssl=context)
    writer.write(GET)
    assert (await reader.read()).endswith(b"GET /x 0")
    writer.close()
    await writer.wait_closed()
    assert not (await talk(door, GET)).startswith(b"HTTP/1.1 200")
    await door.close()


async def test_a_stop_lets_an_answer_out(door: TcpDoor) -> None:
    with Visitor(door) as visitor:
        await visitor.say(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\na")
        await asyncio.sleep(0.05)
        closing = asyncio.create_task(door.close())
        await asyncio.sleep(0.05)
        await visitor.say(b"b")
        assert b"POST / 2" in await visitor.rest()
        await closing
    with pytest.raises(ConnectionRefusedError):
        Visitor(door)


async def test_abuse_64_that_no_file_is_left_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop, complain = asyncio.get_running_loop(), Complaints()
    full = OSError(errno.EMFILE, "Too many open files")
    for _ in range(1000):
        complain(loop, {"message": "socket.accept() out of system resource", "exception": full})
    assert [one.getMessage() for one in caplog.records] == [
        "no more connections can be taken: Too many open files"
    ]
    complain(loop, {"message": "something else", "exception": ValueError("x")})
    assert len(caplog.records) == 2


def test_abuse_64_there_are_files_for_as_many_as_may_come() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
        raise_file_limit(600)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(600, hard), hard)
        raise_file_limit(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(600, hard), hard)
        raise_file_limit(hard + 1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_what_was_upgraded_is_not_given_up_for_a_body_that_never_comes() -> None:
    door = await opened(TcpLimits(head_s=0.05, body_s=0.05))
    upgrade = b"GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
    with Visitor(door) as visitor:
        await visitor.say(upgrade)
        assert await visitor.hear() == b"upgraded /ws"
        await asyncio.sleep(0.2)
        await visitor.say(b"still here")
        assert await visitor.hear() == b"upgraded here"
    await door.close()
