"""What a page, a proxy or somebody on the network can do to a real server: cases 1 to 12."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.abuse import rules
from tests.abuse.clients import API, Who, say_bytes
from tests.abuse.rig import Server, serving
from tests.abuse.test_matrix import calls
from tests.harness.frames import CONT, PING, frame
from tests.harness.processes import peak_bytes

EVIL = "http://evil.example"
ORIGINS = [
    EVIL,
    "null",
    "file://",
    "http://localhost:5173",
    "http://127.0.0.1",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://trusted.com.evil.com",
    "http://evil.example:{port}",
    "http://[::ffff:127.0.0.1]:{port}",
    "http://[0:0:0:0:0:0:0:1]:{port}",
    "http://LOCALHOST:{port}",
    "http://127.0.0.1:{port}/",
    "chrome-extension://abcdef",
    "",
]
HOSTS = [
    "evil.example:{port}",
    "localhost.evil.com:{port}",
    "localhost.:{port}",
    "LOCALHOST:{port}",
    "0.0.0.0:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "a@127.0.0.1:{port}",
    "127.0.0.1:{port}@evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:0{port}",
    "127.1:{port}",
    "[::1",
    "",
]


def alive(server: Server) -> bool:
    return server.http().call("GET", "/health").status == 200


# ---- pages of other sites ------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ORIGINS)
def test_abuse_01_a_page_of_another_site_never_has_a_socket(
    server: Server, owner: Who, origin: str
) -> None:
    for headers in ({}, owner.headers):
        before = len(server.audited(outcome="refused"))
        socket = server.websocket()
        assert socket.upgrade({"origin": origin.format(port=server.port), **headers}) == 403
        socket.close()
        assert len(server.audited(outcome="refused")) == before + 1


def test_abuse_02_a_rebound_name_gets_nothing_anywhere(server: Server, owner: Who) -> None:
    evil = {"host": f"evil.example:{server.port}"}
    http = server.http(owner)
    for method, target, body in calls():
        got = http.call(method, target, body, headers=evil)
        assert (got.status, got.code) == (421, "wrong_host"), target
    assert server.websocket().upgrade({**owner.headers, **evil}) == 421
    assert http.call("GET", "/me").status == 200  # nobody was logged out


@pytest.mark.parametrize("host", HOSTS)
def test_abuse_03_only_our_own_names_are_ours(server: Server, owner: Who, host: str) -> None:
    named = {"host": host.format(port=server.port)}
    assert server.http(owner).call("GET", "/me", headers=named).status == 421
    assert server.websocket().upgrade({**owner.headers, **named}) in (400, 421)
    assert alive(server)


def test_abuse_03_two_names_or_none_are_no_name(server: Server) -> None:
    ours = f"host: 127.0.0.1:{server.port}\r\n"
    path = f"{API}/health"
    for head in [
        f"GET {path} HTTP/1.1\r\n{ours}host: evil.example\r\n",
        f"GET {path} HTTP/1.1\r\n{ours}{ours}",
        f"GET {path} HTTP/1.1\r\n",
        f"GET {path} HTTP/1.0\r\n",
        f"GET http://evil.example{path} HTTP/1.1\r\n{ours}",
        f"GET http://127.0.0.1:{server.port}{path} HTTP/1.1\r\nhost: evil.example\r\n",
        f"GET //evil.example{path} HTTP/1.1\r\nhost: evil.example\r\n",
    ]:
        said = say_bytes(server.port, f"{head}connection: close\r\n\r\n".encode())
        assert said.split()[1] in (b"400", b"421"), head
    assert alive(server)


def test_abuse_03_each_of_our_own_names_is_good(server: Server) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        head = f"GET {API}/health HTTP/1.1\r\nhost: {host}:{server.port}\r\nconnection: close\r\n"
        assert say_bytes(server.port, f"{head}\r\n".encode()).split()[1] == b"200"


@pytest.mark.parametrize("origin", ORIGINS)
def test_abuse_04_only_our_own_pages_get_anything(server: Server, owner: Who, origin: str) -> None:
    foreign = {"origin": origin.format(port=server.port)}
    http = server.http(owner)
    for method, target, body in calls():
        got = http.call(method, target, body, headers=foreign)
        assert (got.status, got.code) == (403, "wrong_origin"), target
        assert not [one for one in got.headers if one.lower().startswith("access-control")]
    ours = {"origin": f"http://127.0.0.1:{server.port}"}
    assert http.call("GET", "/me", headers=ours).status == 200


CHANGING = [one for one in calls() if one[0] not in ("GET", "HEAD")]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_abuse_05_what_a_form_can_send_changes_nothing(
    server: Server, owner: Who, kind: str
) -> None:
    http = server.http(owner)
    for method, target, _ in CHANGING:
        form = {"content-type": kind}
        got = http.call(method, target, b"{}", headers={**form, "origin": EVIL})
        assert got.status == 403, target
        for site in ("cross-site", "same-site", "none"):
            got = http.call(method, target, b"{}", headers={**form, "sec-fetch-site": site})
            assert got.status == 403, target
        assert http.call(method, target, b"{}", headers=form).status == 415, target
    assert http.call("GET", "/me").status == 200


def test_abuse_06_looking_changes_nothing(server: Server, owner: Who) -> None:
    http = server.http(owner)
    looks = [one for one in calls() if one[0] == "GET"]
    assert len(looks) > 20

    def state() -> object:
        told = [http.call("GET", path).json for path in ("/sessions", "/tokens")]
        return told, server.audited(outcome="done"), server.told()

    before = state()
    for _, target, _ in looks:
        for image in (
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": dest}
            for dest in ("image", "script", "style")
        ):
            assert http.call("GET", target, headers=image).status == 403, target
        got = http.call("GET", target)
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in got.headers["content-security-policy"]
    assert state() == before


# ---- where it listens ----------------------------------------------------------------------------


def test_abuse_08_an_address_that_others_reach_needs_tls(short_tmp: Path) -> None:
    server = Server(short_tmp)
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        status, out, err = server.run("serve", "--port", "0", "--host", host)
        assert status == 1, (out, err)
        assert "--tls-cert" in err
        assert not server.state.exists()


@pytest.mark.abuse(8, 22)
def test_with_tls_others_are_let_in_to_log_in_and_cookies_stay_with_it(
    short_tmp: Path, certificate: tuple[str, str]
) -> None:
    import http.client
    import json
    import ssl

    cert, key = certificate
    tls = ("--host", "0.0.0.0", "--tls-cert", cert, "--tls-key", key)
    with serving(short_tmp, *tls) as server:
        context = ssl.create_default_context(cafile=cert)
        context.check_hostname = False
        there = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=20)
        there.request("GET", f"{API}/sessions")
        refused = there.getresponse()
        assert (refused.status, bool(refused.read())) == (401, True)
        ticket = json.dumps({"ticket": server.link()})
        there.request("POST", f"{API}/login", ticket, {"content-type": "application/json"})
        answer = there.getresponse()
        answer.read()
        cookie = answer.headers["set-cookie"]
        there.close()
        assert cookie.startswith("__Host-")
        for flag in ("HttpOnly", "SameSite=Strict", "Secure", "Path=/"):
            assert flag in cookie.split("; ")
        assert say_bytes(server.port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")[:5] != b"HTTP/"


def squatter(sock: socket.socket, heard: list[bytes]) -> None:
    """Somebody who took our port, and would like to be told a token."""
    while True:
        try:
            connection, _ = sock.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(10)
            heard.append(connection.recv(65536))
            answer = b'{"proof":"' + b"0" * 64 + b'"}'
            head = (
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            )
            connection.sendall(head % len(answer) + answer)
            heard.append(connection.recv(65536))


def test_abuse_09_a_squatter_on_our_port_is_told_no_token(fresh: Server) -> None:
    token = fresh.token("view").token
    port = fresh.port
    assert fresh.stop() == 0
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", port)) as taken:
        listening = threading.Thread(target=squatter, args=(taken, heard))
        listening.start()
        code = (
            "import asyncio, sys\nfrom flybridge.client import connect\n"
            "asyncio.run(connect(sys.argv[1], token=sys.stdin.read()))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, f"http://127.0.0.1:{port}"],
            input=token,
            capture_output=True,
            text=True,
            env=fresh.env,
            timeout=50,
        )
        status, _, err = fresh.run("serve", "--port", str(port))
        taken.shutdown(socket.SHUT_RDWR)
        listening.join(20)
    assert done.returncode != 0
    assert heard
    assert token.rpartition(".")[2].encode() not in b"".join(heard)
    assert (status, "cannot listen" in err) == (1, True)


# ---- what proxies say, and what they are told ----------------------------------------------------


def test_abuse_10_nobodys_word_for_where_they_come_from_is_taken(fresh: Server) -> None:
    spoofed = ["x-forwarded-for", "forwarded", "x-real-ip", "true-client-ip"]
    http = fresh.http(source="127.0.0.9")
    found = []
    for n in range(15):
        headers = dict.fromkeys(spoofed, f"203.0.113.{n}")
        wrong = {"authorization": f"Bearer fbt_{n:016x}.guess", **headers}
        found.append(http.call("GET", "/me", headers=wrong).status)
    assert found == [401] * 10 + [429] * 5
    assert {one["source"] for one in fresh.audited(event="login")} == {"127.0.0.9"}


def test_abuse_10_nobodys_word_for_who_they_are_is_taken(server: Server) -> None:
    names = ["x-forwarded-user", "remote-user", "x-remote-user", "x-webauth-user", "x-auth-request"]
    claims = dict.fromkeys(names, "admin")
    assert server.http().call("GET", "/me", headers=claims).status == 401
    ours = f"127.0.0.1:{server.port}"
    rebound = {"host": "evil.example", "x-forwarded-host": ours, "forwarded": f"host={ours}"}
    assert server.http().call("GET", "/health", headers=rebound).status == 421
    other = {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https"}
    assert server.http().call("GET", "/health", headers=other).status == 200


SECOND = b"GET /api/v1/health HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n"
HEAD = (
    b"POST /api/v1/login HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
)
SMUGGLED = {
    "a length and chunks": HEAD
    + b"content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    + SECOND,
    "two lengths": HEAD + b"content-length: 2\r\ncontent-length: 70\r\n\r\n{}" + SECOND,
    "chunks twice": HEAD + b"transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + SECOND,
    "another coding": HEAD + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n" + SECOND,
    "a folded line": HEAD + b"x: a\r\n b\r\ncontent-length: 0\r\n\r\n" + SECOND,
    "a bare LF": HEAD.replace(b"\r\n", b"\n") + b"content-length: 0\n\n" + SECOND,
    "a bare CR": HEAD + b"x: a\rcontent-length: 70\r\n\r\n" + SECOND,
    "a space before the colon": HEAD + b"content-length : 2\r\n\r\n{}" + SECOND,
    "a length with a sign": HEAD + b"content-length: +2\r\n\r\n{}" + SECOND,
    "a length in hex": HEAD + b"content-length: 0x2\r\n\r\n{}" + SECOND,
    "a head without an end": HEAD + b"x: " + b"a" * 70_000 + b"\r\n\r\n" + SECOND,
    "many headers": HEAD + b"x: a\r\n" * 10_000 + b"\r\n" + SECOND,
    "a NUL in a header": HEAD + b"x: a\0b\r\ncontent-length: 0\r\n\r\n" + SECOND,
    "a bad chunk": HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" + SECOND,
}


@pytest.mark.parametrize("data", SMUGGLED.values(), ids=SMUGGLED.keys())
def test_abuse_11_what_two_readers_might_read_differently_is_the_last_word(
    server: Server, data: bytes
) -> None:
    said = say_bytes(server.port, data.replace(b"{port}", str(server.port).encode()))
    assert said.count(b"HTTP/1.1 ") <= 1, said
    assert not said or said.split()[1].startswith(b"4"), said
    assert b'"ok":true' not in said
    assert alive(server)


# ---- frames --------------------------------------------------------------------------------------


FRAMES = {
    "unmasked": (frame(b"{}", mask=None), 1002),
    "a reserved bit": (frame(b"{}", rsv=4), 1002),
    "an unknown opcode": (frame(b"{}", 3), 1002),
    "half a ping": (frame(b"x", PING, fin=False), 1002),
    "a long ping": (frame(b"x" * 126, PING), 1002),
    "a flood of pings": (frame(b"x", PING) * 10_000, 1008),
    "1 GiB": (frame(b"x", size=2**30), 1009),
    "2^63 bytes": (frame(b"x", size=2**63 - 1), 1009),
    "10,000 pieces": (frame(b"{", fin=False) + frame(b"", CONT, fin=False) * 10_000, 1009),
    "no UTF-8": (frame(b"\xff\xfe"), 1007),
    "something compressed": (frame(b"\xaa" * 1000, rsv=4), 1002),
}


@pytest.mark.parametrize("name", FRAMES)
def test_abuse_12_a_bad_frame_ends_its_socket_and_costs_little(
    server: Server, owner: Who, name: str
) -> None:
    data, code = FRAMES[name]
    before = peak_bytes(server.pid)
    socket = server.websocket()
    offered = {"sec-websocket-extensions": "permessage-deflate; client_max_window_bits"}
    assert socket.upgrade({**owner.headers, **offered}) == 101
    assert "sec-websocket-extensions" not in socket.head
    socket.say({"type": "hello", "proto": 1})
    assert socket.hear()["type"] == "welcome"
    socket.send(data)
    assert socket.ending() == code
    socket.close()
    assert alive(server)
    assert peak_bytes(server.pid) - before < 16 << 20


@pytest.fixture(autouse=True, scope="module")
def _same_process(server: Server) -> Iterator[None]:
    """Whatever happens to it here, it is the process that was started."""
    pid = server.pid
    yield
    os.kill(pid, 0)
    assert "Traceback" not in server.log.read_text()


def test_every_route_is_tried() -> None:
    assert len(calls()) == len(rules.ROUTES)
