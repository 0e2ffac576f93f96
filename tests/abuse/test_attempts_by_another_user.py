"""Twenty attempts of another Unix user on this machine: each is refused.

The other user has what it could have got hold of: a person's whole login, a token, a sign-in
link from a command line, and the pids and paths that everybody can see.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.clients import API, Who
from tests.abuse.rig import Server, allow, serving
from tests.harness.waiting import wait_until

OTHER_UID = 54321
WITHIN_S = 60

TOOLS = """
import ctypes, http.client, json, os, signal, socket, sys
known = json.loads(sys.argv[1])
state, gateway, agent = known["state"], known["gateway"], known["agent"]
api, login, token = known["api"], known["login"], known["token"]
libc = ctypes.CDLL(None, use_errno=True)
def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
def debug(pid):
    if libc.ptrace(0x4206, pid, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def request(method, path, headers, body=None):
    c = http.client.HTTPConnection("127.0.0.1", known["port"], timeout=20)
    data = None if body is None else json.dumps(body)
    kind = {"content-type": "application/json", "idempotency-key": "k"} if data else {}
    c.request(method, path, data, {**kind, **headers})
    answer = c.getresponse()
    if answer.status != 403 or json.loads(answer.read())["code"] != "other_user":
        print("let in:", answer.status)
        sys.exit(0)
    raise PermissionError("other_user")
"""
ATTEMPTS = {
    "connect to the gateway": "connect(f'{state}/gateway.sock')",
    "connect to a keeper": "connect(known['keeper_socket'])",
    "list the state directory": "os.listdir(state)",
    "read the journal": "open(f'{state}/journal.db')",
    "read the credentials": "open(f'{state}/tokens')",
    "read the audit log": "open(f'{state}/audit.log')",
    "read the gateway's environment": "open(f'/proc/{gateway}/environ').read()",
    "list the gateway's descriptors": "os.listdir(f'/proc/{gateway}/fd')",
    "read the gateway's memory": "open(f'/proc/{gateway}/mem', 'rb')",
    "debug the gateway": "debug(gateway)",
    "stop the gateway": "os.kill(gateway, signal.SIGTERM)",
    "write to the agent's stdin": "os.open(f'/proc/{agent}/fd/0', os.O_WRONLY)",
    "read the agent's environment": "open(f'/proc/{agent}/environ').read()",
    "open the page": "request('GET', '/', {})",
    "ask who the login belongs to": "request('GET', api + '/me', login)",
    "list the sessions": "request('GET', api + '/sessions', login)",
    "answer a prompt": "request('POST', known['answer_path'], login, known['answer'])",
    "make a token": "request('POST', api + '/tokens', login, {'name': 'x'})",
    "use a sign-in link": "request('POST', api + '/login', {}, {'ticket': known['ticket']})",
    "use a token": "request('GET', api + '/sessions', token)",
    "follow the event stream": "request('GET', known['stream_path'], login)",
}


class Target:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.owner = server.login()
        self.session = server.open(self.owner, "victim")
        self.prompt = server.asking(self.owner, self.session, "ask")

    def known(self) -> dict[str, Any]:
        """Everything that the other user got hold of."""
        row = self.server.ask("list")["sessions"][0]
        agent = agent_of(self.server)
        return {
            "api": API,
            "port": self.server.port,
            "state": str(self.server.state),
            "gateway": self.server.pid,
            "agent": agent,
            "keeper_socket": next(map(str, self.server.state.rglob("*.sock"))),
            "login": self.owner.headers,
            "token": self.server.token("view", "input").headers,
            "ticket": self.server.link(),
            "answer_path": f"{API}/sessions/{row['session']}/commands",
            "stream_path": f"{API}/sessions/{row['session']}/stream",
            "answer": {"command": allow(self.prompt)},
        }


def agent_of(server: Server) -> int:
    """Return the pid of the recorder that runs below this server's keeper."""
    wanted = str(server.record).encode()

    def found() -> int:
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                try:
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if wanted in words and b"--record" in words:
                    return int(folder.name)
        return 0

    return int(wait_until(found))


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    if os.geteuid() != 0:  # the tests are skipped, and counted, for want of root
        pytest.skip("could not run: needs root")
    with serving(tmp_path_factory.mktemp("u")) as server:
        yield Target(server)


def as_other_user(code: str, known: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run the code as the other user, with the system's Python."""
    user = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups"]
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable
    argv = [*user, python, "-I", "-c", f"{TOOLS}\n{code}", json.dumps(known)]
    return subprocess.run(
        argv, capture_output=True, text=True, cwd="/", env={}, timeout=WITHIN_S, check=False
    )


@pytest.mark.needs("root")
@pytest.mark.parametrize("name", ATTEMPTS)
def test_attempt_by_another_user_is_refused(target: Target, name: str) -> None:
    done = as_other_user(ATTEMPTS[name], target.known())
    assert done.returncode == 1, done
    refusal = done.stderr.splitlines()[-1]
    assert refusal.startswith(("PermissionError", "OSError: [Errno 1]")), done
    assert target.server.is_open(target.owner, target.session, target.prompt["prompt"])


@pytest.mark.needs("root")
def test_the_same_requests_pass_for_the_owner(target: Target) -> None:
    """Show that the attempts fail because of the user, and not because they are malformed."""
    http = target.server.http(Who("owner", target.owner.headers, target.owner.scopes))
    assert http.call("GET", "/me").json["principal"] == f"uid:{os.geteuid()}"
    assert http.call("GET", "/sessions").status == 200
    ticket = target.server.link()
    assert target.server.http().call("POST", "/login", {"ticket": ticket}).status == 200


def test_there_are_twenty_attempts() -> None:
    assert len(ATTEMPTS) >= 20
