"""Whose program is at the other end of a connection: real ones, as they stand between people and
their gateway.

sshd, nginx, relays, browsers in sandboxes, other users and other namespaces; and an agent that
hides its descriptors. The table they are judged by is in docs/howto/serve.md.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from flybridge.session.authorisation import FORWARDED
from tests.abuse.clients import API, WebSocket, Who
from tests.abuse.judging import NOBODY, OTHER, Judge, as_user, judging, need_user
from tests.abuse.rig import ALL_SCOPES, TALK_SCOPES, Hands, Server, allow
from tests.abuse.rig import free_port as unused_port
from tests.harness.browsers import chromium
from tests.harness.login import as_lines, headers_from
from tests.harness.relay import ask, relaying
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.needs("linux")
WWW = "www-data"
CONNECT = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.recv(1)"
)


def visit(judge: Judge, port: int = 0) -> None:
    """Connect as this very process, and stay until the verdict is there."""
    with socket.create_connection(("127.0.0.1", port or judge.port), timeout=60) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n")
        sock.recv(65536)


@pytest.fixture
def public_tmp() -> Iterator[Path]:
    """An empty folder that other users can look into."""
    folder = Path(tempfile.mkdtemp(prefix="fb-public-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def listens(port: int) -> bool:
    """Return whether somebody listens at a port, without a connection that would be judged."""
    return f" 0100007F:{port:04X} 00000000:0000 0A " in Path("/proc/net/tcp").read_text()


@contextmanager
def program(argv: Sequence[str], **more: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run something in a group of its own; all of it ends with the test."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(argv, start_new_session=True, **quiet, **more) as running:  # type: ignore[call-overload]
        try:
            yield running
        finally:
            os.killpg(running.pid, 9)


def verdict_on(judge: Judge, argv: Sequence[str]) -> tuple[str, str]:
    with program(argv):
        return judge.verdict()


# ---- a person, with one agent or more alive ------------------------------------------------------


def test_a02_a_browser_keeps_all_its_rights_while_an_agent_lives(
    server: Server, owner: Who
) -> None:
    """An ordinary user had none: what a keeper holds cannot be listed."""
    session = server.open(owner, "a02", "shell")
    prompt = server.asking(owner, session, "a02")
    me = server.http(owner).call("GET", "/me").json
    assert (frozenset(me["scopes"]), me["of_agent"], me["peer"]) == (ALL_SCOPES, False, "person")
    assert server.login().scopes == ALL_SCOPES  # and another one can sign in
    socket = server.websocket()
    assert socket.upgrade(owner.headers) == 101
    socket.say({"type": "hello", "proto": 1})
    assert set(socket.hear()["scopes"]) == ALL_SCOPES
    body = {"command": allow(prompt), "until": "observed", "wait_ms": 20_000}
    got = server.http(owner).call("POST", f"/sessions/{session}/commands", body, key="allow")
    assert got.status == 200, got
    wait_until(lambda: not server.is_open(owner, session, prompt["prompt"]))


# ---- an agent that hides its socket --------------------------------------------------------------

INSIDE = r"""
import array, ctypes, os, socket, sys, threading, time
how, port, login, method, path, body = sys.argv[1:]
port = int(port)
libc = ctypes.CDLL(None, use_errno=True)
request = (
    f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{login}"
    f"Connection: close\r\nContent-Type: application/json\r\nIdempotency-Key: k{os.getpid()}\r\n"
    f"Content-Length: {len(body)}\r\n\r\n{body}"
).encode()

def connect():
    sock = socket.socket()
    if how == "device":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
    sock.connect(("127.0.0.1", port))
    return sock

def read(sock):
    out = b"".join(iter(lambda: sock.recv(65536), b""))
    os.write(1, out.partition(b"\r\n\r\n")[2] + b"\n")

def plain():
    sock = connect()
    sock.sendall(request)
    read(sock)

def own_table():
    assert libc.unshare(0x400) == 0  # CLONE_FILES
    plain()

def without_leader():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.005)
    plain()
    os._exit(0)

if how in ("plain", "device"):
    plain()
elif how == "undumpable":
    assert libc.prctl(4, 0, 0, 0, 0) == 0
    plain()
elif how == "thread":
    thread = threading.Thread(target=own_table)
    thread.start()
    thread.join()
elif how == "leader":
    threading.Thread(target=without_leader).start()
    libc.pthread_exit(None)
elif how == "flight":
    sock = connect()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # the kernel sends it by itself, later
    sock.sendall(request)
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    rights = array.array("i", [sock.fileno()])
    first.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    sock.close()
    time.sleep(1.5)
    fd = array.array("i", second.recvmsg(1, 64)[1][0][2][:4])[0]
    read(socket.socket(fileno=fd))
"""


@pytest.mark.parametrize("how", ["plain", "thread", "leader", "flight", "device", "undumpable"])
def test_a05_an_agent_with_a_persons_login_approves_nothing_however_it_holds_its_socket(
    server: Server, owner: Who, how: str
) -> None:
    session = server.open(owner, f"a05{how}", "shell")
    prompt = server.asking(owner, session, f"a05{how}")
    hands = Hands(server)

    def inside(method: str, path: str, body: object = None) -> dict[str, object]:
        text = "" if body is None else json.dumps(body)
        argv = [sys.executable, "-c", INSIDE, how, str(server.port), as_lines(owner.headers)]
        done = hands.run([*argv, method, API + path, text], env=server.env)
        found: dict[str, object] = json.loads(done["out"])
        return found

    me = inside("GET", "/me")
    assert set(me["scopes"]) == TALK_SCOPES  # type: ignore[call-overload]
    assert me["peer"] in ("agent", "forwarded")
    body = {"command": allow(prompt), "until": "written", "wait_ms": 3000}
    answer = inside("POST", f"/sessions/{session}/commands", body)
    assert (answer["status"], answer["code"]) == (403, "not_allowed")
    for path in ("/tokens", "/audit"):
        assert inside("GET", path)["status"] == 403
    if me["peer"] == "agent":
        assert inside("POST", "/login", {"ticket": server.link()})["code"] == "not_allowed"
    for_browser = str(server.ask("login.link", use="browser")["link"]).partition("#")[2]
    assert inside("POST", "/login", {"ticket": for_browser})["code"] == "not_allowed"
    assert server.is_open(owner, session, prompt["prompt"])
    server.ask("stop_agent", session=session)


# ---- browsers in sandboxes -----------------------------------------------------------------------


def browser(folder: Path, port: int, *more: str) -> list[str]:
    program = chromium()
    assert program is not None
    unsafe = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [
        *(program, "--headless", *unsafe, *more, f"--user-data-dir={folder / 'profile'}"),
        *("--no-first-run", "--dump-dom", f"http://127.0.0.1:{port}/"),
    ]


@pytest.mark.needs("chromium")
def test_a02_chromium_is_a_persons(short_tmp: Path) -> None:
    with judging() as judge:
        assert verdict_on(judge, browser(short_tmp, judge.port)) == ("person", "-")


@pytest.mark.needs("chromium", "bwrap")
def test_a02_chromium_in_bubblewrap_is_a_persons(short_tmp: Path) -> None:
    """As Flatpak runs it: in a user and a process namespace of its own."""
    wrapped = [
        "bwrap",
        "--unshare-user",
        "--unshare-pid",
        "--dev-bind",
        "/",
        "/",
        "--proc",
        "/proc",
    ]
    with judging() as judge:
        argv = [*wrapped, *browser(short_tmp, judge.port, "--no-sandbox")]
        assert verdict_on(judge, argv) == ("person", "-")


# ---- what passes connections on ------------------------------------------------------------------


@contextmanager
def ssh_forward(folder: Path, user: str, target: int) -> Iterator[int]:
    """Yield the near end of a real `ssh -L`, through a server of our own."""
    for name in ("host", "id"):
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(argv, check=True, timeout=60)
    (folder / "id.pub").chmod(0o644)
    port, near = unused_port(), unused_port()
    (folder / "sshd").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nStrictModes no\n"
        f"AuthorizedKeysFile {folder}/id.pub\nUsePAM no\nPidFile none\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    server = [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd")]
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"]
    options += ["ExitOnForwardFailure=yes", "ConnectionAttempts=50", "LogLevel=ERROR"]
    client = ["ssh", "-N", "-F", "none", "-i", str(folder / "id"), "-p", str(port)]
    client += [word for option in options for word in ("-o", option)]
    client += ["-L", f"{near}:127.0.0.1:{target}", f"{user}@127.0.0.1"]
    with (
        (folder / "log").open("wb") as log,
        program(server, stderr=log),
        program(client, stderr=log),
    ):
        wait_until(lambda: listens(near))
        yield near


@pytest.mark.needs("sshd")
def test_a02_a_real_ssh_forward_signs_in_and_approves_with_a_login_made_for_it(
    server: Server, owner: Who, short_tmp: Path
) -> None:
    """As an ordinary user, with an agent alive. Where sshd runs as root, what its child holds
    cannot be seen; here it runs as this user, so nothing but a login for it is sure to suffice."""
    server.open(owner, "ssh", "shell")
    user = pwd.getpwuid(os.geteuid()).pw_name
    link = str(server.ask("login.link", use="remote")["link"]).partition("#")[2]
    with ssh_forward(short_tmp, user, server.port) as near:
        status, found, headers = ask(near, server.port, "POST", "/login", {"ticket": link})
        assert status == 200
        login = headers_from(headers, json.dumps(found).encode())
        _, me, _ = ask(near, server.port, "GET", "/me", None, login)
        assert (frozenset(me["scopes"]), me["reason"]) == (ALL_SCOPES, "")
        assert me["peer"] in ("person", "forwarded")


def test_a02_a_forwarded_websocket_is_told_why_it_has_less_before_it_asks(
    server: Server, owner: Who
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root sees what a relay of its own holds")
    with relaying(server.port) as near:
        socket = WebSocket(near)
        host = f"127.0.0.1:{server.port}"
        assert socket.upgrade({**owner.headers, "host": host}) == 101
        socket.say({"type": "hello", "proto": 1})
        welcome = socket.hear()
        socket.close()
    assert (frozenset(welcome["scopes"]), welcome["peer"]) == (TALK_SCOPES, "forwarded")
    assert welcome["reason"] == FORWARDED


@pytest.mark.needs("root", "sshd")
def test_a02_an_ssh_forward_through_the_systems_sshd_is_forwarded(public_tmp: Path) -> None:
    """sshd's child for a user who signed in hides its memory."""
    need_user(NOBODY)
    name = pwd.getpwuid(NOBODY).pw_name
    with (
        judging(as_user(NOBODY)) as judge,
        ssh_forward(public_tmp, name, judge.port) as near,
    ):
        visit(judge, near)
        assert judge.verdict() == ("forwarded", "-")


def test_a02_a_relay_whose_descriptors_cannot_be_seen_is_forwarded() -> None:
    if os.geteuid() == 0:
        pytest.skip("root sees all of them")
    with judging() as judge, relaying(judge.port) as port:
        visit(judge, port)
        assert judge.verdict() == ("forwarded", "-")


def test_a02_a_relay_in_sight_passes_as_a_person() -> None:
    """What docs/howto/serve.md says of proxies: nobody sees which program asks behind one."""
    with judging() as judge, relaying(judge.port, uid=-1, seen=True) as port:
        visit(judge, port)
        assert judge.verdict() == ("person", "-")


@pytest.mark.needs("userns")
def test_a02_whoever_is_in_another_pid_namespace_is_forwarded() -> None:
    """The gateway is in a container's process namespace, and its peer is not: nobody is found."""
    inner = ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--mount-proc"]
    with judging(inner) as judge, relaying(judge.port, uid=-1, seen=True) as port:
        visit(judge, port)
        assert judge.verdict() == ("forwarded", "-")


@pytest.mark.needs("root")
def test_a02_a_relay_as_root_is_forwarded() -> None:
    need_user(NOBODY)
    with judging(as_user(NOBODY)) as judge, relaying(judge.port, uid=-1, command=("env",)) as port:
        visit(judge, port)
        assert judge.verdict() == ("forwarded", "-")


NGINX = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
user {user};
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{target}; proxy_set_header Host $http_host; }}
  }}
}}
"""


@pytest.mark.needs("root", "nginx")
@pytest.mark.parametrize(
    ("forwarders", "expected"),
    [((WWW,), ("forwarded", "-")), ((), ("refused", "other_user"))],
)
def test_a04_nginx_is_let_in_once_its_user_is_a_forwarder(
    public_tmp: Path, forwarders: tuple[str, ...], expected: tuple[str, str]
) -> None:
    need_user(NOBODY)
    port = unused_port()
    with judging(as_user(NOBODY), forwarders=forwarders) as judge:
        text = NGINX.format(folder=public_tmp, user=WWW, port=port, target=judge.port)
        (public_tmp / "conf").write_text(text)
        with program(["nginx", "-p", str(public_tmp), "-c", str(public_tmp / "conf")]):
            wait_until(lambda: listens(port))
            visit(judge, port)
            assert judge.verdict() == expected


# ---- other users ---------------------------------------------------------------------------------


@pytest.mark.needs("root")
@pytest.mark.parametrize(
    ("users", "expected"),
    [((OTHER,), ("person", "-")), ((), ("refused", "other_user"))],
)
def test_a04_a_browser_of_another_user_is_let_in_once_that_user_is_listed(
    users: tuple[int, ...], expected: tuple[str, str]
) -> None:
    need_user(NOBODY)
    with judging(as_user(NOBODY), users=users) as judge:
        argv = [*as_user(OTHER), sys.executable, "-c", CONNECT, str(judge.port)]
        assert verdict_on(judge, argv) == expected


@pytest.mark.needs("root")
def test_a04_another_user_who_binds_to_a_device_or_hangs_up_is_refused() -> None:
    need_user(NOBODY)
    bound = (
        "import socket, sys; s = socket.socket(); s.setsockopt(1, 25, b'lo\\0')\n"
        "s.connect(('127.0.0.1', int(sys.argv[1]))); s.recv(1)"
    )
    with judging(as_user(NOBODY)) as judge:
        argv = [*as_user(OTHER), sys.executable, "-c", bound, str(judge.port)]
        assert verdict_on(judge, argv) == ("refused", "other_user")
    gone = (
        "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1]))).send(b'x')"
    )
    with judging(as_user(NOBODY)) as judge:
        argv = [*as_user(OTHER), sys.executable, "-c", gone, str(judge.port)]
        assert verdict_on(judge, argv)[0] == "refused"
