"""A real ``flybridge serve`` with agents, and everybody who may want something of it.

Nothing here is ours in the middle: requests are written by the standard library or byte by
byte, and the native protocol is spoken by little programs of a few lines. Where it matters who
somebody is, they are who they seem: a person's program has a terminal, an agent's runs below
its keeper.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import socket
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flybridge.testing import recorder
from tests.abuse import shell_agent
from tests.abuse.clients import NOBODY, Http, WebSocket, Who
from tests.harness import leftovers
from tests.harness.agent_programs import agent, recorder_program, steps
from tests.harness.gateway_process import GatewayProcess
from tests.harness.http_harness import Got
from tests.harness.login import headers_from
from tests.harness.waiting import WAIT_S, wait_until

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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class Server(GatewayProcess):
    """A gateway that serves, with a recorder and an agent that has a shell."""

    def __init__(self, base: Path) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
        super().__init__(base, env={**own, "HOME": str(base), "TMPDIR": str(base)})
        self._names = 0
        self._open: list[Http | WebSocket] = []
        self._serves_at = 0
        root = Path(__file__).parents[2]
        shell = [
            *("env", f"PYTHONPATH={root}", f"FLYBRIDGE_STATE={self.state}"),
            *(sys.executable, "-P", "-m", shell_agent.__name__, "--record", str(self.record)),
            *("--hands", str(base / "hands")),
        ]
        recorder = recorder_program(self.record)
        self.configure(f"agents:\n{agent('recorder', recorder)}{agent('shell', shell)}")

    def start(self, *args: str) -> None:
        """Start it and wait for its address, on the port it had before if it had one.

        The port is chosen here and said, as people say it: a cookie's name carries it.
        """
        self._serves_at = self._serves_at or free_port()
        self.serve(*args, port=self._serves_at)

    def close(self) -> None:
        """End everything, and see that it ended."""
        for connection in self._open:
            connection.close()
        if self.is_running:
            told = self.talk([{"type": "ask", "ref": "l", "name": "list"}])
            for row in told[-1]["value"]["sessions"]:
                self.ask("stop_agent", session=row["session"])
            assert self.stop() == 0, self.log.read_text()
        leftovers.expect_none_below(self.base)

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
        assert self.say(owner, session, steps(step), key, "observed").status == 200
        found: list[Any] = wait_until(
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
