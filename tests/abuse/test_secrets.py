"""What is written down, and where nothing may be: cases 24, 61, 62, 63 and 65."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.runtime.keeper.keeper_program import is_keeper, lineage, read_file
from flybridge.store.audit import verify
from flybridge.testing import recorder
from tests.abuse.clients import Who
from tests.abuse.rig import Server, allow
from tests.abuse.shell_agent import carry_out
from tests.harness import leftovers
from tests.harness.login import KEY_HEADER
from tests.harness.waiting import wait_until
from tests.repo.tree import ROOT

SAID = "canary-said-to-the-agent"
TOOL = "canary-in-a-tools-input"
ANSWER = "canary-in-an-answer"
VALUE = "canary-in-the-environment"
ENVIRON_BYTES = 4 * 2**20
PASSWORD = "canary-as-a-password"


class Secrets:
    """A server where everything that is secret was used once, and what came of it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.owner = server.login()
        self.token = server.token("view", "input")
        self.ticket = server.link()
        self.bodies: list[bytes] = []
        self.values = [
            self.token.token.rpartition(".")[2],
            self.ticket,
            self.owner.headers["cookie"].rpartition(".")[2],
            self.owner.headers[KEY_HEADER],
        ]
        self._use()
        server.ask("password.set", password=PASSWORD)
        wrong = server.http(source="127.0.0.3").call("POST", "/login", {"password": f"{PASSWORD}x"})
        self.bodies.append(wrong.body)
        self.owner = server.login()
        self.values += [self.owner.headers["cookie"].rpartition(".")[2], PASSWORD]
        self.values.append(self.owner.headers[KEY_HEADER])

    def _use(self) -> None:
        server, owner = self.server, self.owner
        self.session = server.open(owner, "24", "shell")
        assert server.say(owner, self.session, f"{SAID} one", "k1").status == 200
        prompt = server.asking(owner, self.session, "k2", input={"command": f"echo {TOOL}"})
        denied = allow(prompt, decision="deny", message=ANSWER)
        path = f"/sessions/{self.session}/commands"
        for who, body in ((self.token, allow(prompt)), (owner, denied)):
            got = server.http(who).call("POST", path, {"command": body}, key="a")
            self.bodies.append(got.body)
        wait_until(lambda: len(server.events(owner, self.session, "turn.ended")) == 2)
        self._blunder()

    def _blunder(self) -> None:
        """Requests that are wrong, with secrets in them."""
        server, owner = self.server, self.owner
        secret, ticket = self.token.token, self.ticket
        bad = Who("", {"authorization": f"Bearer {secret}x"}, frozenset())
        http = server.http(source="127.0.0.2")
        http.who = bad
        said = [
            http.call("GET", "/me"),
            http.call("GET", f"/me?token={secret}"),
            server.http(owner).call("GET", f"/me?token={secret}"),
            server.http(source="127.0.0.2").call("POST", "/login", {"ticket": f"{ticket}x"}),
            server.http(owner).call("POST", "/login", {"ticket": 1, "password": PASSWORD}),
            server.http(owner).call("POST", "/sessions", {"agent": 7, "cwd": SAID}),
            server.http(owner).call("GET", "/tokens"),
            server.http(owner).call("GET", "/audit"),
            server.http(owner).call("GET", "/metrics"),
            server.http(owner).call("GET", "/openapi.json"),
            server.http(owner).call("GET", "/nothing", headers={"x-secret": secret}),
        ]
        self.bodies += [one.body for one in said]

    def processes(self) -> list[int]:
        """Everything that runs here: the gateway, keepers, agents.

        An ordinary user cannot look into keepers; they are found above their agents.
        """
        found = leftovers.find_processes(leftovers.NO_RUN, self.server.base, own=True)
        pids = {one.pid for one in found}
        above = [ancestor for pid in pids for ancestor in lineage(pid) or []]
        return sorted(pids | {ancestor.pid for ancestor in above if is_keeper(ancestor)})


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secrets]:
    server = Server(tmp_path_factory.mktemp("a"))
    server.env |= {"SOME_API_KEY": VALUE, "FLYBRIDGE_TOKEN": VALUE, "FLYBRIDGE_SECRET": VALUE}
    try:
        server.start()
        yield Secrets(server)
    finally:
        server.close()


def holding(data: bytes, values: list[str]) -> list[str]:
    return [one for one in values if one.encode() in data]


def test_abuse_24_no_credential_is_in_any_argument_or_in_an_agents_environment(
    secrets: Secrets,
) -> None:
    pids = secrets.processes()
    assert len(pids) >= 3  # a gateway, a keeper, an agent
    lines = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)
    assert b"keeper_program" in lines
    assert holding(lines, [*secrets.values, VALUE, SAID, TOOL]) == []
    agents = [pid for pid in pids if pid != secrets.server.pid]
    environs = b"".join(read_file(f"/proc/{pid}/environ", ENVIRON_BYTES) for pid in agents)
    assert b"FLYBRIDGE_SESSION=" in environs  # we did look at an agent's
    assert holding(environs, [*secrets.values, VALUE, SAID, TOOL]) == []
    seen = {one.pid for one in recorder.read_record(secrets.server.record)}
    assert seen & set(pids)


def test_abuse_24_no_credential_is_in_any_file_of_ours(secrets: Secrets) -> None:
    files = [one for one in secrets.server.state.rglob("*") if one.is_file()]
    assert {"journal.db", "tokens", "audit.log"} <= {one.name for one in files}
    assert [(one.name, holding(one.read_bytes(), secrets.values)) for one in files] == [
        (one.name, []) for one in files
    ]
    modes = {one.name: one.stat().st_mode & 0o077 for one in files}
    assert {name for name, mode in modes.items() if mode} == set()


def test_abuse_24_no_answer_says_a_credential(secrets: Secrets) -> None:
    assert [body for body in secrets.bodies if holding(body, [*secrets.values, VALUE])] == []
    words = ("Traceback", str(secrets.server.base), ".py")
    assert [body for body in secrets.bodies if any(one.encode() in body for one in words)] == []


@pytest.mark.parametrize("command", [[], ["token", "create"], ["open"], ["serve"], ["chat"]])
def test_abuse_24_help_says_no_secret(secrets: Secrets, command: list[str]) -> None:
    server = secrets.server
    argv = [*server.argv()[:3], *command, "--help"]
    done = carry_out({"argv": argv, "env": server.env})
    assert done["status"] == 0
    assert holding((done["out"] + done["err"]).encode(), [*secrets.values, VALUE]) == []


@pytest.mark.abuse(24, 62)
def test_what_was_said_is_in_no_log(secrets: Secrets) -> None:
    kept = secrets.server.log.read_bytes() + (secrets.server.state / "audit.log").read_bytes()
    assert b'"answer_permission"' in kept  # that it was answered is; what was said is not
    said = [SAID, TOOL, ANSWER, VALUE, *secrets.values]
    assert holding(kept, said) == []
    own = secrets.server.state / "gateway.log"
    assert not own.exists() or holding(own.read_bytes(), said) == []


# ---- records -------------------------------------------------------------------------------------

EVIL = 'a\n{"n":1,"event":"login","outcome":"done"}\r\x1b[2J\u2028\x00'


def test_abuse_61_whatever_is_said_a_record_is_one_line(server: Server, owner: Who) -> None:
    log = server.state / "audit.log"
    before = len(log.read_bytes().splitlines())
    http = server.http(owner)
    http.call("DELETE", "/tokens/a%0A%7B%22n%22%3A1%7D")
    http.call("POST", "/tokens", {"name": EVIL})
    http.call("POST", "/sessions", {"agent": EVIL, "cwd": EVIL, "request": "x", "title": EVIL})
    http.call("GET", "/sessions/%0D%0A%7B%7D")
    http.raw("GET", "/api/v1/%0A%0Dx", None, {"host": "evil\x0bexample"})
    who = server.token("view")
    body = {"command": {"type": "rename", "title": EVIL}}
    session = server.open(owner, "61")
    server.http(who).call("POST", f"/sessions/{session}/commands", body, key="k")
    link = {"type": "ask", "ref": "1", "name": "login.link", "params": {"name": EVIL}}
    server.talk([link, {**link, "name": f"x{EVIL}"}])
    data = log.read_bytes()
    lines = data.split(b"\n")
    assert lines[-1] == b""
    records = [json.loads(line) for line in lines[:-1]]
    assert [one["n"] for one in records] == list(range(1, len(records) + 1))
    assert len(records) > before
    assert verify(log) == len(records)
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", data)
    for line in server.log.read_text().splitlines():
        assert {"at", "level", "from", "message"} <= json.loads(line).keys()


def test_abuse_63_a_log_that_was_changed_or_cut_is_found(fresh: Server) -> None:
    for n in range(3):
        fresh.token("view", days=n)
    assert fresh.stop() == 0
    log = fresh.state / "audit.log"
    whole = log.read_bytes()
    status, out, _ = fresh.run("audit", "verify")
    assert (status, str(len(whole.splitlines())) in out) == (0, True)
    lines = whole.splitlines(keepends=True)
    changes = {
        "changed": [*lines[:1], lines[1].replace(b"done", b"DONE"), *lines[2:]],
        "taken out": [*lines[:1], *lines[2:]],
        "cut off": lines[:-1],
        "swapped": [*lines[:1], lines[2], lines[1], *lines[3:]],
    }
    for what, changed in changes.items():
        log.write_bytes(b"".join(changed))
        status, out, err = fresh.run("audit", "verify")
        assert status == 1, what
        expected = len(lines) if what == "cut off" else 2
        assert re.search(rf"\b{expected}\b", out + err), (what, out, err)
    log.write_bytes(whole)
    fresh.start()


# ---- what we are made of -------------------------------------------------------------------------


def test_abuse_65_whatever_is_installed_is_pinned_and_has_its_hash() -> None:
    """Asking for known advisories needs a network; a release does that, no test does."""
    entries = re.split(r"^(?=[A-Za-z])", (ROOT / "requirements.lock").read_text(), flags=re.M)
    packages = [one for one in entries if one.strip() and not one.startswith("#")]
    assert len(packages) > 20
    for one in packages:
        assert re.match(r"[\w.\-]+(\[[\w,]+\])?==\S+ ", one), one
        assert "--hash=sha256:" in one
    assert "--require-hashes -r requirements.lock" in (ROOT / "Makefile").read_text()
    lock = json.loads((ROOT / "tests" / "agents" / "package-lock.json").read_text())
    agents = {name: one for name, one in lock["packages"].items() if name}
    assert agents
    assert [name for name, one in agents.items() if "integrity" not in one] == []
