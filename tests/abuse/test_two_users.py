"""A gateway and its agents under a user of their own: docs/howto/run-agents-as-another-user.md.

Three users: the gateway's, a person's who is listed in ``serve.users``, and one that nobody named.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.clients import API
from tests.abuse.judging import NOBODY, OTHER, as_user, need_user
from tests.abuse.rig import ALL_SCOPES, TALK_SCOPES, Hands, Server, allow
from tests.harness.agent_programs import steps
from tests.harness.login import KEY_HEADER
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.needs("linux", "root")
STRANGER = 4344

# Makes one request with a login (its headers as JSON) and prints status, JSON and cookie.
REQUEST = r"""
import http.client, json, secrets, sys
port, method, path, body, login = sys.argv[1:]
headers = json.loads(login) if login else {}
if body:
    headers |= {"content-type": "application/json"}
if '"command"' in body:
    headers |= {"idempotency-key": secrets.token_hex(8)}
if path.endswith(("/ws", "/control")):
    headers |= {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13",
                "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA=="}
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
connection.request(method, path, body or None, headers)
got = connection.getresponse()
data = got.read() if got.status != 101 else b""
try:
    found = json.loads(data)
except ValueError:
    found = None
print(json.dumps([got.status, found, (got.getheader("set-cookie") or "").partition(";")[0]]))
"""


class OwnUser(Server):
    """A server that runs as another user than the people who use it."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.configure(f"{self.config.read_text()}serve:\n  users: [{OTHER}]\n")
        self.under = as_user(NOBODY)
        for path in [base, *base.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)

    def talking(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        found = super().talking(messages)
        return {**found, "argv": [*as_user(NOBODY), *found["argv"]]}

    def request(
        self, uid: int, method: str, path: str, body: object = None, login: str = ""
    ) -> tuple[int, Any, str]:
        """Send a request as a program of this user."""
        text = "" if body is None else json.dumps(body)
        target = path if path.startswith("//") else API + path
        argv = [*as_user(uid), sys.executable, "-I", "-c", REQUEST, str(self.port), method]
        argv += [target.replace("//", "/"), text, login]
        done = subprocess.run(argv, capture_output=True, timeout=60, cwd="/", check=True)
        status, found, given = json.loads(done.stdout)
        return status, found, given

    def sign_in(self, uid: int) -> str:
        """Follow a printed link as this user; return the headers of the login, as JSON."""
        status, out, err = self.run("open", "--print")
        assert status == 0, err
        ticket = out.strip().partition("#")[2]
        status, found, cookie = self.request(uid, "POST", "/login", {"ticket": ticket})
        assert status == 200, found
        return json.dumps({"cookie": cookie, KEY_HEADER: found["key"]})


@pytest.fixture(scope="module")
def gateway() -> Iterator[OwnUser]:
    need_user(NOBODY)
    need_user(OTHER)
    base = Path(tempfile.mkdtemp(prefix="fb-two-", dir="/tmp"))
    base.chmod(0o755)
    server = OwnUser(base)
    try:
        server.start()
        yield server
    finally:
        server.close()
        shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="module")
def login(gateway: OwnUser) -> str:
    return gateway.sign_in(OTHER)


def opened(gateway: OwnUser, login: str, name: str, agent: str) -> str:
    body = {"agent": agent, "cwd": str(gateway.work), "request": name}
    status, found, _ = gateway.request(OTHER, "POST", "/sessions", body, login)
    assert status == 201, found
    return str(found["session"])


def test_a04_a_listed_user_signs_in_starts_an_agent_and_approves(
    gateway: OwnUser, login: str
) -> None:
    session = opened(gateway, login, "one", "shell")
    _, me, _ = gateway.request(OTHER, "GET", "/me", login=login)
    assert (frozenset(me["scopes"]), me["peer"]) == (ALL_SCOPES, "person")
    step = {"tool": "Bash", "input": {"command": "true"}, "ask": True}
    content = [{"type": "text", "text": steps(step)}]
    body = {"command": {"type": "send_input", "content": content}, "until": "observed"}
    commands = f"/sessions/{session}/commands"
    assert gateway.request(OTHER, "POST", commands, body, login)[0] == 200

    def prompts(kind: str = "permission.requested") -> list[Any]:
        path = f"/sessions/{session}/events?max_bytes=1000000"
        _, page, _ = gateway.request(OTHER, "GET", path, login=login)
        return [one["event"] for one in page["events"] if one["event"]["type"] == kind]

    prompt = wait_until(prompts)[0]
    stolen = Hands(gateway)
    inside = [sys.executable, "-I", "-c", REQUEST, str(gateway.port)]
    done = stolen.run([*inside, "GET", f"{API}/me", "", login])
    _, agent, _ = json.loads(done["out"])
    assert (frozenset(agent["scopes"]), agent["peer"]) == (TALK_SCOPES, "agent")
    answer = {"command": allow(prompt), "until": "observed", "wait_ms": 20_000}
    done = stolen.run([*inside, "POST", API + commands, json.dumps(answer), login])
    assert json.loads(done["out"])[0] == 403
    assert gateway.request(OTHER, "POST", commands, answer, login)[0] == 200
    wait_until(lambda: prompts("permission.closed"))


def test_an_agent_of_that_gateway_cannot_read_what_is_the_persons(
    gateway: OwnUser, login: str
) -> None:
    """The wall: a browser's profile and keys belong to another user than the agents do."""
    opened(gateway, login, "two", "shell")
    home = Path(tempfile.mkdtemp(prefix="fb-home-", dir="/tmp"))
    try:
        (home / "cookies").write_text(login)
        for path in (home, home / "cookies"):
            os.chown(path, OTHER, OTHER)
        done = Hands(gateway).run(["cat", str(home / "cookies")])
        assert done["status"] != 0
        assert login not in done["out"]
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize("target", ["//", "//login", "/health", "/me", "/sessions", "/tokens"])
@pytest.mark.parametrize("with_login", [True, False])
def test_a04_a_user_whom_nobody_named_gets_nothing(
    gateway: OwnUser, login: str, target: str, with_login: bool
) -> None:
    given = login if with_login else ""
    status, found, new = gateway.request(STRANGER, "GET", target, login=given)
    assert (status, found["code"], new) == (403, "other_user", "")
    assert f"uid {STRANGER}" in found["detail"]
    assert "serve.users" in found["detail"]


@pytest.mark.parametrize("target", ["/ws", "//ws/control", "/sessions/ses_0/stream", "/prompts"])
def test_a04_nor_by_another_entrance(gateway: OwnUser, login: str, target: str) -> None:
    status, found, _ = gateway.request(STRANGER, "GET", target, login=login)
    assert (status, found["code"]) == (403, "other_user")


def test_a03_a_link_in_another_users_hands_is_worth_nothing_and_is_not_used_up(
    gateway: OwnUser,
) -> None:
    for use in ("browser", "print", "remote"):
        ticket = str(gateway.ask("login.link", use=use)["link"]).partition("#")[2]
        status, found, cookie = gateway.request(STRANGER, "POST", "/login", {"ticket": ticket})
        assert (status, found["code"], cookie) == (403, "other_user", "")
        assert gateway.request(OTHER, "POST", "/login", {"ticket": ticket})[0] == 200


def test_a_person_without_the_gateways_user_does_not_reach_its_own_socket(
    gateway: OwnUser,
) -> None:
    argv = [*as_user(OTHER), sys.executable, "-m", "flybridge", "status"]
    argv += ["--state", str(gateway.state)]
    env = {**gateway.env, "HOME": "/tmp"}
    done = subprocess.run(argv, capture_output=True, timeout=60, cwd="/", env=env)
    assert done.returncode != 0
