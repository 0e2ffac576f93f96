"""Control messages to a whole gateway: from a program, from an agent, from afar."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from flybridge.client.control.signed import public_of, sign
from flybridge.wire.control import signed
from flybridge.wire.control.times import format_time
from tests.abuse.clients import Who
from tests.abuse.rig import Hands, Server
from tests.abuse.visitor import over_http
from tests.harness.waiting import wait_until

ME = f"uid:{os.geteuid()}"
TEXT = "#ref# said by reference"
# Says one line for each of its stdin's messages at the control socket, and prints the answers.
SEND = """
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(sys.argv[1])
f = s.makefile("rwb")
told = []
for message in json.load(sys.stdin):
    f.write(json.dumps(message).encode() + b"\\n")
    f.flush()
    told.append(json.loads(f.readline()))
print(json.dumps(told))
"""


class Steering:
    """A session that members of a team may steer, and those who try."""

    def __init__(self, server: Server, owner: Who, name: str) -> None:
        self.server = server
        self.team = name
        labels = {"flybridge.team": name}
        self.session = server.open(owner, name, "shell", labels=labels)
        self.owner = owner
        self._count = 0

    def member(self, name: str, principal: str, *, allowed: bool = True) -> None:
        self.server.ask("team.add", team=self.team, name=name, principal=principal)
        if allowed:
            self.server.ask("team.rule", effect="allow", team=self.team, sender=name)

    def message(self, sender: str, **more: Any) -> dict[str, Any]:
        self._count += 1
        said = {
            "type": "control.stdin.request",
            "v": 1,
            "request_id": f"{self.team}-{self._count}",
            "team": self.team,
            "session_id": self.session,
            "agent_id": f"shell:{self.session}",
            "sender": sender,
            "sent_at": format_time(time.time_ns() // 10**6),
            "content": f"#{self.team}-{self._count}#",
            **more,
        }
        return {key: one for key, one in said.items() if one is not None}

    def sending(self, *messages: dict[str, Any]) -> dict[str, Any]:
        """The program that sends all this, as a shell would start it."""
        socket = str(self.server.state / "control.sock")
        argv = [sys.executable, "-I", "-S", "-c", SEND, socket]
        return {"argv": argv, "stdin": json.dumps(list(messages))}

    def send(self, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        """As a program of this user's."""
        how = self.sending(*messages)
        done = subprocess.run(
            how["argv"], input=how["stdin"], capture_output=True, text=True, timeout=30
        )
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    def refs(self, **more: Any) -> dict[str, Any]:
        data = TEXT.encode()
        return {
            "path": "file",
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "mime": "text/plain",
            **more,
        }


@pytest.fixture(scope="module")
def steering(server: Server, owner: Who) -> Steering:
    one = Steering(server, owner, "red")
    one.member("me", ME)
    (first,) = one.send(one.message("me"))
    assert first["result"] in ("ok", "timeout"), first
    return one


def codes(acks: list[dict[str, Any]]) -> list[str]:
    return [one.get("error", {}).get("code", one["result"]) for one in acks]


def test_21_who_somebody_claims_to_be_is_not_who_they_are(steering: Steering) -> None:
    steering.member("other", "uid:99999")
    told = len(steering.server.told())
    said = [steering.message(one) for one in ("other", "nobody", "uid:0", "agent")]
    assert codes(steering.send(*said)) == ["unknown_sender"] * 4
    assert len(steering.server.told()) == told


def test_43_and_44_a_name_is_taken_for_good(steering: Steering) -> None:
    """Abuse cases 43 and 44."""
    message = steering.message("me")
    first, again, other = steering.send(message, message, {**message, "content": "x"})
    assert first["result"] == again["result"] == "ok"
    assert again["duplicate"] is True
    assert codes([other]) == ["request_id_reused"]
    assert len(steering.server.told(message["content"])) == 1


def test_48_a_message_of_yesterday_or_tomorrow_is_not_taken(steering: Steering) -> None:
    times = ["2020-01-01T00:00:00Z", "2090-01-01T00:00:00Z", "2026-01-01T00:00:00", "x" * 50]
    said = [steering.message("me", sent_at=one) for one in times]
    assert codes(steering.send(*said)) == ["too_old", "too_new", "invalid_time", "invalid_time"]


def test_46_only_a_plain_file_beneath_the_folder_is_read(steering: Steering) -> None:
    inbox = steering.server.state / "inbox"
    outside = steering.server.state / "outside"
    for path in (inbox / "file", outside):
        path.write_text(TEXT)
    (inbox / "link").symlink_to(outside)
    (inbox / "hard").hardlink_to(outside)
    os.mkfifo(inbox / "fifo")
    bad: list[dict[str, Any]] = [
        {"path": "../outside"},
        {"path": str(outside)},
        {"path": "/etc/passwd"},
        {"path": "link"},
        {"path": "hard"},
        {"path": "fifo"},
        {"path": "."},
        {"size_bytes": 1},
        {"sha256": "0" * 64},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"size_bytes": 17 << 20},
        {"mime": "image/png"},
    ]
    said = [steering.message("me", content=None, content_ref=steering.refs(**one)) for one in bad]
    acks = steering.send(*said)
    assert {one["result"] for one in acks} == {"rejected"}
    assert all(code.startswith(("ref_", "content_", "unsupported_")) for code in codes(acks))
    assert steering.server.told("said by reference") == []
    good = steering.message("me", content=None, content_ref=steering.refs())
    assert codes(steering.send(good)) == ["ok"]
    wait_until(lambda: len(steering.server.told("said by reference")) == 1)
    (inbox / "file").unlink()
    (again,) = steering.send(good)
    assert (again["result"], again["duplicate"]) == ("ok", True), "the file is not needed twice"


def test_47_from_afar_no_file_can_be_named(steering: Steering) -> None:
    server = steering.server
    who = server.token("control")
    steering.member("far", f"token:{who.token.partition('_')[2].partition('.')[0]}")
    (server.state / "inbox" / "file").write_text(TEXT)
    said = steering.message("far", content=None, content_ref=steering.refs())
    got = server.http(who).call("POST", "/control", said)
    assert (got.status, got.json["error"]["code"]) == (200, "ref_not_local")
    fine = server.http(who).call("POST", "/control", steering.message("far"))
    assert fine.json["result"] == "ok"


def test_31_a_control_token_is_good_for_nothing_else(steering: Steering) -> None:
    who = steering.server.token("control")
    calls = [["GET", path, None] for path in ("/sessions", "/me", "/agents", "/prompts")]
    done = over_http(steering.server.http(who), calls)
    assert [status for status, _ in done] == [403] * 4


def test_27_what_runs_inside_an_agent_sends_as_an_agent(
    steering: Steering, server: Server, owner: Who
) -> None:
    """Its own connection is no person's: it may steer what the rules let agents steer, and it
    never answers a prompt."""
    inside = Steering(server, owner, "blue")
    inside.member("me", ME)
    inside.member("worker", f"agent:{ME}", allowed=False)
    prompt = server.asking(owner, inside.session, "ask")
    hands = Hands(server)

    def send(*messages: dict[str, Any]) -> list[dict[str, Any]]:
        done = hands.run(**inside.sending(*messages))
        assert done["status"] == 0, done
        found: list[dict[str, Any]] = json.loads(done["out"])
        return found

    target = {"session_id": steering.session, "agent_id": f"shell:{steering.session}"}
    acks = send(
        inside.message("me"),
        inside.message("worker"),
        inside.message("me", team=steering.team, **target),
    )
    assert codes(acks) == ["unknown_sender", "policy_denied", "unknown_sender"]
    server.ask("team.rule", effect="allow", team="blue", sender="worker", what="interrupt")
    assert codes(send(inside.message("worker"))) == ["policy_denied"]
    answers = len(server.answers())
    server.ask("team.rule", effect="allow", team="blue", sender="worker", what="stdin")
    assert codes(send(inside.message("worker", content="yes, allow it"))) == ["ok"]
    assert server.is_open(owner, inside.session, prompt["prompt"])
    assert len(server.answers()) == answers


def test_28_nobody_else_can_listen_in_its_place(steering: Steering) -> None:
    """The socket lies in a folder that is this user's alone, and is this user's alone."""
    path = Path(steering.server.state) / "control.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


def test_63_every_message_is_in_the_chain(steering: Steering) -> None:
    message = steering.message("me")
    steering.send(message)
    found = steering.server.audited(request=message["request_id"])
    assert [one["event"] for one in found] == ["control.stdin.request", "control.stdin.ack"]
    assert {one["team"] for one in found} == {"red"}


def test_50_a_relay_brings_what_was_signed_and_nothing_else(steering: Steering) -> None:
    server, key = steering.server, bytes(range(32))
    audience = server.ask("team.pin", name="far", public=public_of(key))["gateway"]
    steering.member("far-lead", "key:far")
    relay = server.http(server.token("control"))

    def seal(body: dict[str, Any], *, by: bytes = key, to: str = audience) -> dict[str, Any]:
        expires_at = format_time(time.time_ns() // 10**6 + 60_000)
        data = signed.to_sign(body, kid="far", audience=to, expires_at=expires_at)
        found: dict[str, Any] = json.loads(signed.put_together(data, sign(by, data)))
        return found

    message = steering.message("far-lead")
    good = seal(message)
    head, payload, signature = good["jws"].split(".")
    for forged in (
        seal(message, by=bytes(32)),
        seal(message, to="gw_other"),
        {**good, "jws": f"{head}.{payload}.{'A' * len(signature)}"},
        {**good, "jws": f"{head}.{payload}."},
        {**good, "jws": good["jws"].replace(".", "", 1)},
    ):
        got = relay.call("POST", "/control", forged)
        assert (got.status, got.code) == (400, "invalid_request")
    assert server.told(message["content"]) == []
    assert relay.call("POST", "/control", message).json["error"]["code"] == "unknown_sender"
    first, again = (relay.call("POST", "/control", good).json for _ in "12")
    assert (first["result"], again["result"], again["duplicate"]) == ("ok", "ok", True)
    assert len(server.told(message["content"])) == 1
    assert server.audited(event="control.bad", outcome="refused")
