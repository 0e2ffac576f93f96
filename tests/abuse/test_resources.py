"""Too much of everything: case 64, on a real server. The owner is served all the same."""

from __future__ import annotations

import resource
import socket
from pathlib import Path

import pytest

from tests.abuse.clients import API
from tests.abuse.rig import Server, serving
from tests.harness.agent_programs import steps
from tests.harness.login import as_lines
from tests.harness.processes import peak_bytes
from tests.harness.waiting import WAIT_S, wait_until

FEW_FILES = 256


def dial(server: Server, source: str) -> socket.socket | None:
    """A connection that says nothing; None where it is not taken."""
    try:
        sock = socket.create_connection(
            ("127.0.0.1", server.port), WAIT_S, source_address=(source, 0)
        )
    except OSError:
        return None
    return sock


def is_held(sock: socket.socket) -> bool:
    """Whether the other side still has it."""
    sock.setblocking(False)
    try:
        return sock.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def test_abuse_64_one_source_has_only_so_many_connections(fresh: Server) -> None:
    owner = fresh.login()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4096:
        pytest.skip("could not run: needs 4096 open files")
    some = [dial(fresh, "127.0.0.7") for _ in range(2100)]
    assert fresh.http(owner).call("GET", "/me").status == 200
    wait_until(lambda: sum(is_held(one) for one in some if one) <= 2000)
    assert peak_bytes(fresh.pid) < 256 << 20
    for one in some:
        if one:
            one.close()


def test_a14_idle_connections_from_the_owners_own_address_lock_nobody_out(fresh: Server) -> None:
    owner = fresh.login()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4096:
        pytest.skip("could not run: needs 4096 open files")
    some = [dial(fresh, "127.0.0.1") for _ in range(2100)]
    assert fresh.http(owner).call("GET", "/me").status == 200
    assert sum(is_held(one) for one in some if one) <= 2000
    for one in some:
        if one:
            one.close()


def test_abuse_64_when_no_file_is_left_whoever_is_in_stays_in(short_tmp: Path) -> None:
    server = Server(short_tmp)
    try:
        server.start()
        owner = server.login()
        session = server.open(owner, "64")
        inside = server.greeted(owner)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (FEW_FILES, FEW_FILES))
        some = [dial(server, "127.0.0.7") for _ in range(2 * FEW_FILES)]
        send = {"type": "send_input", "content": [{"type": "text", "text": "still here"}]}
        submit = {"type": "submit", "session": session, "request": "k", "command": send}
        reply = inside.request({**submit, "until": "accepted"})
        assert not reply.get("error"), reply
        assert inside.ask("status")["value"]["pid"] == server.pid
        for one in some:
            if one:
                one.close()
        wait_until(lambda: server.http(owner).call("GET", "/me").status == 200)
        assert len(server.log.read_bytes()) < 1 << 20  # it does not fill the disk with complaints
    finally:
        server.close()


def test_abuse_64_who_reads_a_byte_now_and_then_costs_little(fresh: Server) -> None:
    """A replay of everything there is, many times, by somebody who does not take it."""
    owner = fresh.login()
    session = fresh.open(owner, "64")
    text = steps({"say": "x" * 500_000})
    for n in range(8):
        assert fresh.say(owner, session, text, f"k{n}").json["stage"] == "done"
    before = peak_bytes(fresh.pid)
    slow = [fresh.greeted(owner) for _ in range(20)]
    for one in slow:
        one._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.say({"type": "attach", "ref": "a", "session": session})
    head = f"GET {API}/sessions/{session}/stream HTTP/1.1\r\nhost: 127.0.0.1:{fresh.port}\r\n"
    head += f"{as_lines(owner.headers)}\r\n"
    streams = [dial(fresh, "127.0.0.1") for _ in range(20)]
    for stream in streams:
        assert stream
        stream.sendall(head.encode())
        assert stream.recv(1)
    assert slow[0].next_frame()
    assert fresh.say(owner, session, "still served", "last").json["stage"] == "done"
    assert peak_bytes(fresh.pid) - before < 64 << 20
    for stream in streams:
        assert stream
        stream.close()


def test_abuse_64_agents_have_a_number(short_tmp: Path) -> None:
    server = Server(short_tmp)
    server.configure(server.config.read_text() + "limits:\n  sessions: 2\n")
    try:
        server.start()
        owner = server.login()
        gate = short_tmp / "gate"
        text = steps({"wait_file": str(gate)})
        for busy in [server.open(owner, f"s{n}") for n in range(2)]:
            assert server.say(owner, busy, text, "k", "observed").status == 200
        opening = {"agent": "recorder", "cwd": str(server.work), "request": "third"}
        for _ in range(20):
            got = server.http(owner).call("POST", "/sessions", opening)
            assert (got.status, got.code) == (409, "busy")
        interrupt = {"command": {"type": "interrupt"}}
        (first, *_) = server.ask("list")["sessions"]
        path = f"/sessions/{first['session']}/commands"
        got = server.http(owner).call("POST", path, interrupt, key="i")
        assert got.status == 200  # the owner can always stop something
        gate.touch()
    finally:
        server.close()


def test_abuse_64_streams_of_one_principal_have_a_number(fresh: Server) -> None:
    owner, other = fresh.login(), fresh.token("view")
    session = fresh.open(owner, "64")
    head = (
        f"GET {API}/sessions/{session}/stream HTTP/1.1\r\nhost: 127.0.0.1:{fresh.port}\r\n"
        f"authorization: {other.headers['authorization']}\r\n\r\n"
    ).encode()
    some = []
    for _ in range(80):
        sock = dial(fresh, "127.0.0.1")
        assert sock
        sock.sendall(head)
        some.append((sock, sock.recv(12)))
    statuses = [said.split()[1] for _, said in some]
    assert (statuses.count(b"200"), statuses.count(b"429")) == (64, 16)
    assert fresh.http(owner).call("GET", f"/sessions/{session}/stream").status == 200
    for sock, _ in some:
        sock.close()


@pytest.mark.parametrize("path", ["/sessions", "/blobs"])
def test_abuse_64_a_body_without_end_is_not_kept(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    with serving(tmp_path_factory.mktemp("a")) as server:
        owner = server.login()
        before = peak_bytes(server.pid)
        head = (
            f"POST {API}{path} HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n"
            f"{as_lines(owner.headers)}content-type: application/json\r\n"
            "transfer-encoding: chunked\r\n\r\n"
        ).encode()
        sock = dial(server, "127.0.0.1")
        assert sock
        chunk = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
        said = b""
        try:
            sock.sendall(head)
            for _ in range(200):
                sock.sendall(chunk)
        except OSError:
            pass
        try:
            said = sock.recv(1000)
        except OSError:
            pass
        sock.close()
        assert not said or b" 413 " in said
        assert peak_bytes(server.pid) - before < 96 << 20
        assert server.http(owner).call("GET", "/me").status == 200
