"""Reaching a gateway behind a URL: who is talked to, and what they get to see."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from flybridge.client.gateway import Client
from flybridge.client.transport.tokens import Token
from flybridge.client.transport.url import Url, UrlAddress, parse_url
from flybridge.errors import (
    GatewayError,
    GatewayUnreachableError,
    NotAuthenticatedError,
    RemoteProtocolError,
)
from tests.harness.scripted_gateway import ScriptedGateway
from tests.harness.scripted_url import TOKEN, ScriptedUrl, listening, response
from tests.harness.waiting import WAIT_S


def client_of(door: ScriptedUrl) -> Client:
    return Client(UrlAddress(door.url, Token(TOKEN)), name="test")


@pytest.mark.parametrize(
    ("text", "host", "port", "path", "websocket"),
    [
        ("http://127.0.0.1:8420", "127.0.0.1", 8420, "", "ws://127.0.0.1:8420/api/v1/ws"),
        ("http://localhost/", "localhost", 80, "", "ws://localhost/api/v1/ws"),
        ("ws://[::1]:1/", "::1", 1, "", "ws://[::1]:1/api/v1/ws"),
        (
            "https://Boat.example/a/b/",
            "boat.example",
            443,
            "/a/b",
            "wss://boat.example/a/b/api/v1/ws",
        ),
        ("wss://boat.example:8443", "boat.example", 8443, "", "wss://boat.example:8443/api/v1/ws"),
    ],
)
def test_an_address_is_read(text: str, host: str, port: int, path: str, websocket: str) -> None:
    url = parse_url(text)
    secure = text.startswith(("https", "wss"))
    assert url == Url(host=host, port=port, base_path=path, secure=secure)
    assert url.websocket == websocket


@pytest.mark.parametrize(
    "text",
    [
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1:0",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:x",
        "http://me:hunter2@127.0.0.1",
        "https://boat.example?token=hunter2",
        "https://boat.example#hunter2",
        "https://boat.example/a b",
        "https://boat.example/\r\nX: hunter2",
        "https://bo\u0430t.example",
        "http://[::1",
    ],
)
def test_what_is_no_address_is_not_repeated(text: str) -> None:
    with pytest.raises(GatewayError, match="address looks like") as caught:
        parse_url(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("host", ["10.0.0.1", "boat.example", "127.0.0.1.example", "[fe80::1]"])
def test_a_token_never_goes_over_the_network_in_the_clear(host: str) -> None:
    with pytest.raises(GatewayError, match="in the clear"):
        parse_url(f"http://{host}:8420")


async def test_a_gateway_that_proves_itself_gets_the_token_on_the_same_connection(
    door: ScriptedUrl, gateway: ScriptedGateway
) -> None:
    async with client_of(door) as client:
        await client.connection()
        assert client.welcome is not None
        assert gateway.peers[0].adapter.client == "test"
    assert door.tokens == [TOKEN]
    assert gateway.connections == 1
    proof, upgrade = door.heads
    assert proof.startswith("GET /api/v1/proof?token_id=abc123&nonce=")
    assert upgrade == f"GET /api/v1/ws HTTP/1.1 Host: 127.0.0.1:{door.port}"


async def test_below_a_base_path(gateway: ScriptedGateway) -> None:
    async with listening(gateway, base_path="/boat") as door, client_of(door) as client:
        gateway.asks["status"] = lambda params: {"ok": True}
        assert await client.status() == {"ok": True}


async def test_abuse_9_a_squatter_on_our_port_never_sees_the_token(door: ScriptedUrl) -> None:
    door.proves = False
    with pytest.raises(GatewayError, match="it was not sent"):
        await client_of(door).connection()
    assert door.tokens == []
    assert len(door.heads) == 1, "nothing was asked of it any more"


@pytest.mark.parametrize("answer", [response(302, Location="http://127.0.0.1:1/"), response(404)])
async def test_no_address_but_the_given_one_is_talked_to(door: ScriptedUrl, answer: bytes) -> None:
    door.answer = answer
    with pytest.raises(GatewayError, match="it was not sent"):
        await client_of(door).connection()
    door.answer, door.upgrade = b"", answer
    with pytest.raises(GatewayError):
        await client_of(door).connection()
    assert door.tokens == []


async def test_another_program_on_that_port_is_no_gateway(door: ScriptedUrl) -> None:
    door.answer = b"SSH-2.0-OpenSSH_9.2\r\n\r\n"
    with pytest.raises(RemoteProtocolError, match="no gateway"):
        await client_of(door).connection()
    door.answer, door.upgrade = b"", b"220 mail.example ESMTP\r\n\r\n"
    with pytest.raises(RemoteProtocolError, match="no gateway"):
        await client_of(door).connection()


async def test_nobody_listening_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    address = UrlAddress(f"http://127.0.0.1:{port}", Token(TOKEN))
    with pytest.raises(
        GatewayUnreachableError, match=f"no gateway answers at http://127.0.0.1:{port}"
    ):
        await address.connect("test")


@pytest.mark.parametrize(
    ("status", "kind"), [(401, NotAuthenticatedError), (503, GatewayUnreachableError)]
)
async def test_a_refused_upgrade_is_named(
    door: ScriptedUrl, status: int, kind: type[Exception]
) -> None:
    door.upgrade = response(status, b'{"detail":"no"}')
    with pytest.raises(kind):
        await client_of(door).connection()


# ---- TLS -----------------------------------------------------------------------------------------


@pytest.fixture
def with_tls(certificate: tuple[str, str]) -> tuple[str, ssl.SSLContext]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return certificate[0], context


async def test_with_tls_the_certificate_is_the_proof(
    gateway: ScriptedGateway, with_tls: tuple[str, ssl.SSLContext]
) -> None:
    cert, tls = with_tls
    async with listening(gateway, tls=tls) as door:
        address = UrlAddress(door.url, Token(TOKEN), cafile=cert)
        async with Client(address) as client:
            await client.connection()
        assert len(door.heads) == 1, "no question before the upgrade"
        assert door.tokens == [TOKEN]


async def test_a_certificate_nobody_vouches_for_gets_nothing(
    gateway: ScriptedGateway, with_tls: tuple[str, ssl.SSLContext]
) -> None:
    cert, tls = with_tls
    async with listening(gateway, tls=tls) as door:
        with pytest.raises(GatewayError, match="not who it says it is"):
            await UrlAddress(door.url, Token(TOKEN)).connect("test")
        other = door.url.replace("127.0.0.1", "localhost")
        with pytest.raises(GatewayError, match="not who it says it is"):
            await UrlAddress(other, Token(TOKEN), cafile=cert).connect("test")
        assert door.heads == []


async def test_a_server_that_does_not_speak_tls_is_named(door: ScriptedUrl) -> None:
    address = UrlAddress(door.url.replace("http", "https"), Token(TOKEN))
    async with asyncio.timeout(WAIT_S):
        with pytest.raises(GatewayError):
            await address.connect("test")


def test_authorities_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(GatewayError, match="cannot be used"):
        UrlAddress("https://boat.example", Token(TOKEN), cafile=tmp_path / "none")
