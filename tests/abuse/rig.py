"""A real ``flybridge serve`` with agents, and everybody who may want something of it.

Nothing here is ours in the middle: requests are written by the standard library or byte by
byte, and the native protocol is spoken by little programs of a few lines. Where it matters who
somebody is, they are who they seem: a person's program has a terminal, an agent's runs below
its keeper.
"""

from __future__ import annotations

import base64
import fcntl
import http.client
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from flybridge.testing import recorder
from tests.harness import leftovers
from tests.abuse import shell_agent
from tests.harness.login import headers_from
from tests.harness.http_harness import Got
from tests.harness.websocket_harness import CLOSE, PING, PONG, TEXT, frame

WAIT_S = 20.0
API = "/api/v1"
NO_MARK = "no run has this mark"
TALK_SCOPES = frozenset({"view", "input", "interrupt"})
ALL_SCOPES = TALK_SCOPES | {"approve", "spawn", "admin"}
PRIVATE = ("FLYBRIDGE_", "XDG_", "ANTHROPIC_", "CLAUDE")

# Says hello, then each message of its stdin, and prints the replies.
TALK = """
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(sys.argv[1])
f = s.makefile("rwb")
def say(message):
    f.write(json.dumps(message).encode() + b"\\n")
    f.flush()
say({"type": "hello", "proto": 1})
told = [json.loads(f.readline())]
for message in json.load(sys.stdin):
    say(message)
    while message.get("ref"):
        line = f.readline()
        got = json.loads(line) if line else {"type": "error", "code": "hung up"}
        if got["type"] == "error" or got.get("ref") == message["ref"]:
            told.append(got)
            break
print(json.dumps(told))
"""

# Says one message on each of many connections, all at once when told to, and prints the replies.
CROWD = """
import json, socket, sys
path, message = sys.argv[1], sys.argv[2].encode()
files = []
for _ in range(int(sys.argv[3])):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect(path)
    f = s.makefile("rwb")
    f.write(b'{"type":"hello","proto":1}\\n')
    f.flush()
    f.readline()
    files.append(f)
print("ready", flush=True)
sys.stdin.readline()
for f in files:
    f.write(message + b"\\n")
    f.flush()
told = []
for f in files:
    while (got := json.loads(f.readline()))["type"] != "reply":
        pass
    told.append(got)
print(json.dumps(told), flush=True)
"""


def until(what: Callable[[], Any], within_s: float = WAIT_S) -> Any:
    """Wait for something to be there; what it is."""
    deadline = time.monotonic() + within_s
    while not (found := what()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class Who(NamedTuple):
    """Somebody with a credential: the headers that carry it, and what it is good for."""

    name: str
    headers: dict[str, str]
    scopes: frozenset[str]

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


NOBODY = Who("nobody", {}, frozenset())


class Http:
    """One connection at a time, by the standard library's client; ``source``: from where."""

    def __init__(self, port: int, who: Who = NOBODY, source: str = "127.0.0.1") -> None:
        self.port = port
        self.who = who
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=WAIT_S, source_address=(source, 0)
        )

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Got:
        """Ask for something below the interface's path, or for a page (``//login``)."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {**self.who.headers, **({"idempotency-key": key} if key else {})}
        if method in ("POST", "PATCH", "PUT"):
            given["content-type"] = "application/json"
        target = path[1:] if path.startswith("//") else API + path
        return self.raw(method, target, data, {**given, **(headers or {})})

    def raw(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> Got:
        connection = self._connection
        connection.request(method, target, body=data, headers=dict(headers))
        found = connection.getresponse()
        if found.getheader("content-type") == "text/event-stream":
            connection.close()  # it would never end
            return Got(found.status, found.headers, b"")
        return Got(found.status, found.headers, found.read())

    def close(self) -> None:
        self._connection.close()


def say_bytes(port: int, data: bytes, *, host: str = "127.0.0.1") -> bytes:
    """What the server says to these very bytes, until it hangs up."""
    with socket.create_connection((host, port), timeout=WAIT_S) as sock:
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: sock.recv(65536), b""))
        except ConnectionError:
            return b""


class WebSocket:
    """A WebSocket, frame by frame."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self.port = port
        self._sock = socket.create_connection(
            ("127.0.0.1", port), timeout=WAIT_S, source_address=(source, 0)
        )
        self._file = self._sock.makefile("rb")
        self._heard: list[Any] = []
        self._refs = 0
        self.head = ""
        self.body = b""

    def upgrade(
        self, headers: Mapping[str, str] | None = None, *, target: str = f"{API}/ws"
    ) -> int:
        wanted = {
            "host": f"127.0.0.1:{self.port}",
            "upgrade": "websocket",
            "connection": "Upgrade",
            "sec-websocket-key": base64.b64encode(os.urandom(16)).decode(),
            "sec-websocket-version": "13",
        } | {name.lower(): value for name, value in (headers or {}).items()}
        lines = [f"GET {target} HTTP/1.1", *(f"{k}: {v}" for k, v in wanted.items()), "", ""]
        self.send("\r\n".join(lines).encode("latin-1"))
        head = b"".join(iter(self._file.readline, b"\r\n"))
        self.head = head.decode("latin-1").lower()
        if size := re.search(r"content-length: (\d+)", self.head):
            self.body = self._file.read(int(size[1]))
        return int(head.split(b" ")[1])

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def say(self, *messages: dict[str, Any]) -> None:
        self.send(frame("\n".join(map(json.dumps, messages)).encode()))

    def next_frame(self) -> tuple[int, bytes]:
        first, size = self._read(2)
        if size == 126:
            (size,) = struct.unpack("!H", self._read(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self._read(8))
        return first & 15, self._read(size)

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) != size:
            raise ConnectionError("it hung up")
        return data

    def hear(self) -> Any:
        while not self._heard:
            opcode, payload = self.next_frame()
            if opcode == PING:
                self.send(frame(payload, PONG))
            elif opcode == CLOSE:
                raise ConnectionError(f"closed: {struct.unpack('!H', payload[:2])[0]}")
            else:
                assert opcode == TEXT
                self._heard = [json.loads(line) for line in payload.split(b"\n")]
        return self._heard.pop(0)

    def hear_event(self, kind: str) -> Any:
        """The next event of that kind."""
        while (heard := self.hear())["type"] != "event" or heard["event"]["type"] != kind:
            pass
        return heard["event"]

    def ending(self) -> int:
        """Read on to the close frame and the end; its code."""
        while (found := self.next_frame())[0] != CLOSE:
            pass
        assert self._file.read() == b""
        return int(struct.unpack("!H", found[1][:2])[0]) if found[1] else 1005

    def request(self, message: dict[str, Any]) -> Any:
        """Say something and wait for its reply."""
        self._refs += 1
        ref = f"r{self._refs}"
        self.say({**message, "ref": ref})
        while (heard := self.hear()).get("ref") != ref:
            pass
        return heard

    def ask(self, name: str, /, **params: Any) -> Any:
        return self.request({"type": "ask", "name": name, "params": params})

    def close(self) -> None:
        self._file.close()
        self._sock.close()


class Server:
    """One state directory with a gateway that serves, and what was started there."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.state = base / "s"
        self.work = base / "w"
        self.record = base / "record"
        self.log = base / "log"
        self.port = 0
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)},
            leftovers.MARK: os.environ[leftovers.MARK],
            "HOME": str(base),
            "TMPDIR": str(base),
            "XDG_CONFIG_HOME": str(base / "c"),
        }
        self._process: subprocess.Popen[str] | None = None
        self._names = 0
        self._open: list[Http | WebSocket] = []
        self.work.mkdir()
        self._configure()

    def _configure(self) -> None:
        recorded = ["--record", str(self.record)]
        root = Path(__file__).parents[2]
        programs = {
            "recorder": [sys.executable, "-I", recorder.__file__, *recorded],
            "shell": [
                *("env", f"PYTHONPATH={root}", f"FLYBRIDGE_STATE={self.state}"),
                *(sys.executable, "-P", "-m", shell_agent.__name__, *recorded),
                *("--hands", str(self.base / "hands")),
            ],
        }
        agents = "".join(
            f"  {name}:\n    kind: claude\n    program: {json.dumps(argv)}\n"
            for name, argv in programs.items()
        )
        folder = self.base / "c" / "flybridge"
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(f"agents:\n{agents}")
        (folder / "config.yaml").chmod(0o600)

    # ---- the process -------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "flybridge", *args, "--state", str(self.state)]

    def start(self, *args: str) -> None:
        """Start it, on the port it had before if it had one.

        The port is chosen here and said, as people say it: a cookie's name carries it.
        """
        self.port = self.port or free_port()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.argv("serve", "--port", str(self.port), *args),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.env,
                cwd=self.work,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        found = re.fullmatch(r"Flybridge is at https?://[^:]+:(\d+)\S*\n", said)
        if found is None:
            self._process.communicate(timeout=WAIT_S)
            raise AssertionError(said + self.log.read_text())
        self.port = int(found[1])

    def kill(self) -> None:
        """As the machine would: without a word."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.communicate(timeout=WAIT_S)
        return self._process.returncode

    def close(self) -> None:
        """End everything, and see that it ended."""
        for connection in self._open:
            connection.close()
        if self._process is not None and self._process.poll() is None:
            told = self.talk([{"type": "ask", "ref": "l", "name": "list"}])
            for row in told[-1]["value"]["sessions"]:
                self.ask("stop_agent", session=row["session"])
            assert self.stop() == 0, self.log.read_text()
        left = leftovers.wait_until_gone(NO_MARK, self.base, WAIT_S, own=True)
        for one in left:
            leftovers.kill(one.pid)
        assert left == []

    # ---- who comes ---------------------------------------------------------------------------

    def run(self, *args: str, terminal: bool = True, stdin: str = "") -> tuple[int, str, str]:
        """Run a command of ours; with a terminal it is a person's."""
        done = shell_agent.carry_out(
            {"argv": self.argv(*args), "stdin": stdin, "env": self.env, "terminal": terminal}
        )
        return done["status"], done["out"], done["err"]

    def talk(self, messages: Sequence[dict[str, Any]], *, terminal: bool = True) -> list[Any]:
        """What the gateway says at its Unix door to somebody with a terminal, or without."""
        done = shell_agent.carry_out(
            {**self.talking(messages), "env": self.env, "terminal": terminal}
        )
        assert done["status"] == 0, done
        told: list[Any] = json.loads(done["out"])
        return told

    def talking(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The program that says all this at the Unix door, as a shell would start it."""
        argv = [sys.executable, "-I", "-S", "-c", TALK, str(self.state / "gateway.sock")]
        return {"argv": argv, "stdin": json.dumps(list(messages))}

    def ask(self, name: str, /, **params: Any) -> Any:
        """Ask as a person at a terminal."""
        reply = self.talk([{"type": "ask", "ref": "1", "name": name, "params": params}])[-1]
        assert not reply.get("error"), reply
        return reply["value"]

    @contextmanager
    def crowd(self, message: dict[str, Any], count: int) -> Iterator[subprocess.Popen[str]]:
        """A person's program with many connections at the Unix door: a line at its stdin makes
        all of them say the message; then it prints the replies."""
        main, side = pty.openpty()
        process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", "-c", CROWD, str(self.state / "gateway.sock")),
                *(json.dumps(message), str(count)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.env,
            start_new_session=True,
            pass_fds=(side,),
            preexec_fn=lambda: fcntl.ioctl(side, termios.TIOCSCTTY, 0),
        )
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.communicate(timeout=WAIT_S)
            os.close(main)
            os.close(side)

    def http(self, who: Who = NOBODY, source: str = "127.0.0.1") -> Http:
        self._open.append(found := Http(self.port, who, source))
        return found

    def websocket(self, source: str = "127.0.0.1") -> WebSocket:
        self._open.append(found := WebSocket(self.port, source))
        return found

    def greeted(self, who: Who) -> WebSocket:
        """A WebSocket of somebody who was welcomed."""
        found = self.websocket()
        assert found.upgrade(who.headers) == 101
        found.say({"type": "hello", "proto": 1})
        assert found.hear()["type"] == "welcome"
        return found

    # ---- credentials -------------------------------------------------------------------------

    def token(self, *scopes: str, **more: Any) -> Who:
        self._names += 1
        name = f"t{self._names}"
        token = self.ask("token.create", name=name, scopes=scopes, **more)["token"]
        return Who(name, {"authorization": f"Bearer {token}"}, frozenset(scopes))

    def link(self, *scopes: str, name: str = "") -> str:
        """A ticket that logs in once."""
        asked: dict[str, Any] = {"scopes": scopes} if scopes else {}
        link = str(self.ask("login.link", name=name, **asked)["link"])
        return link.partition("#")[2]

    def login(self, *scopes: str, name: str = "") -> Who:
        """Somebody in a browser, who followed a link."""
        got = self.http().call("POST", "/login", {"ticket": self.link(*scopes, name=name)})
        assert got.status == 200, got
        headers = headers_from(got.headers, got.body)
        return Who(name or "owner", headers, frozenset(scopes or ALL_SCOPES))

    # ---- sessions ----------------------------------------------------------------------------

    def open(self, owner: Who, request: str, agent: str = "recorder", **more: Any) -> str:
        body = {"agent": agent, "cwd": str(self.work), "request": request, **more}
        got = self.http(owner).call("POST", "/sessions", body)
        assert got.status == 201, got
        return str(got.json["session"])

    def say(
        self, who: Who, session: str, text: str, key: str, until: str = "done", **more: Any
    ) -> Got:
        command = {"type": "send_input", "content": [{"type": "text", "text": text}], **more}
        body = {"command": command, "until": until, "wait_ms": 20_000}
        return self.http(who).call("POST", f"/sessions/{session}/commands", body, key=key)

    def events(self, who: Who, session: str, kind: str) -> list[Any]:
        """All events of a kind in a session's log."""
        found: list[Any] = []
        after, http = 0, self.http(who)
        while True:
            page = http.call("GET", f"/sessions/{session}/events?after={after}").json
            if not page["events"]:
                return [one["event"] for one in found if one["event"]["type"] == kind]
            found += page["events"]
            after = found[-1]["seq"]

    def asking(self, owner: Who, session: str, key: str, **step: Any) -> dict[str, Any]:
        """Let the agent ask for a permission; the prompt."""
        before = len(self.events(owner, session, "permission.requested"))
        step = {"tool": "Bash", "input": {"command": "rm -rf build"}, "ask": True, **step}
        text = f"go\n@@ {json.dumps([step])}"
        assert self.say(owner, session, text, key, "observed").status == 200
        found: list[Any] = until(
            lambda: self.events(owner, session, "permission.requested")[before:]
        )
        prompt: dict[str, Any] = found[0]
        return prompt

    def is_open(self, owner: Who, session: str, prompt: str) -> bool:
        closed = self.events(owner, session, "permission.closed")
        return prompt not in [one["prompt"] for one in closed]

    # ---- what is true ------------------------------------------------------------------------

    def told(self, text: str = "") -> list[bytes]:
        """The lines that agents were told, if they hold this text."""
        return [one for one in recorder.lines(self.record) if text.encode() in one]

    def answers(self) -> list[bytes]:
        """Every answer an agent was given to a prompt."""
        return self.told('"control_response"')

    def audited(self, **wanted: str) -> list[dict[str, Any]]:
        """Records of the audit log that say this."""
        lines = (self.state / "audit.log").read_bytes().split(b"\n")[:-1]
        found = [json.loads(line) for line in lines]
        return [one for one in found if wanted.items() <= one.items()]


def allow(prompt: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The command that allows a prompt."""
    return {
        "type": "answer_permission",
        "prompt": prompt["prompt"],
        "digest": prompt["digest"],
        "decision": "allow",
        **more,
    }


@contextmanager
def serving(base: Path, *args: str) -> Iterator[Server]:
    """A server that is ready; all of it ends at the end."""
    server = Server(base)
    try:
        server.start(*args)
        yield server
    finally:
        server.close()


class Hands:
    """Whoever sits in an agent's shell."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._path = str(server.base / "hands")

    def run(self, argv: Sequence[str], **more: Any) -> dict[str, Any]:
        """Run a program below the agent."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(shell_agent.WITHIN_S + 5)
            sock.connect(self._path)
            sock.sendall(json.dumps({"argv": argv, **more}).encode() + b"\n")
            data = b"".join(iter(lambda: sock.recv(65536), b""))
        answer: dict[str, Any] = json.loads(data)
        return answer

    def ours(self, *args: str, **more: Any) -> dict[str, Any]:
        """Run a command of ours there."""
        return self.run(self._server.argv(*args), **more)

    def visit(self, who: Who, **wanted: Any) -> Any:
        """Come by TCP, from there, with somebody's credential (see visitor.py)."""
        asked = {"port": self._server.port, "headers": who.headers, **wanted}
        argv = [sys.executable, "-P", "-m", "tests.abuse.visitor"]
        done = self.run(argv, stdin=json.dumps(asked))
        assert done["status"] == 0, done
        return json.loads(done["out"])

    def talk(self, messages: Sequence[dict[str, Any]], **more: Any) -> list[Any]:
        """Speak the native protocol at the Unix door, from there."""
        told: list[Any] = json.loads(self.run(**{**self._server.talking(messages), **more})["out"])
        return told
