"""Said twice, at once, late, or in a strange way: cases 42 to 49, on a real server.

The recorder's file is the truth: it has one line for what may be said once.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from flybridge.testing import recorder
from tests.abuse.clients import API, WebSocket, Who, say_bytes
from tests.abuse.rig import Server, allow
from tests.harness.agent_programs import steps
from tests.harness.frames import frame
from tests.harness.login import as_lines
from tests.harness.waiting import wait_until

AT_ONCE = 50
SENDS = 100


def all_at_once(*some: Callable[[], None]) -> None:
    """Run all of them, begun together."""
    barrier = threading.Barrier(len(some))

    def begin(one: Callable[[], None]) -> None:
        barrier.wait(30)
        one()

    threads = [threading.Thread(target=begin, args=(one,)) for one in some]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
        assert not thread.is_alive()


def by_every_door(
    server: Server, owner: Who, session: str, command: dict[str, Any], count: int, **more: Any
) -> list[dict[str, Any]]:
    """Submit a command by many clients at once: a third each by HTTP, WebSocket and Unix socket;
    the replies. ``request`` may hold a ``{}`` for the number of the client."""
    name = more.pop("request")
    submit = {"type": "submit", "session": session, "command": command, **more}
    told: list[dict[str, Any]] = []
    share = count // 3
    sockets = [server.greeted(owner) for _ in range(share)]
    https = [server.http(owner) for _ in range(share)]
    for one in https:  # so that each has its connection, and was judged
        assert one.call("GET", "/me").status == 200

    def by_socket(socket: WebSocket, n: int) -> Callable[[], None]:
        wanted = {**submit, "request": name.format(f"ws{n}")}
        return lambda: told.append(socket.request(wanted))

    def by_http(n: int) -> Callable[[], None]:
        def call() -> None:
            body = {"command": command, **more}
            path = f"/sessions/{session}/commands"
            got = https[n].call("POST", path, body, key=name.format(f"http{n}"))
            found = got.json if got.status < 400 else {"error": got.code}
            told.append({"value": found, **found, "error": found.get("error", "")})

        return call

    unix = {**submit, "ref": "1", "request": name.format("unix")}
    with server.crowd(unix, count - 2 * share) as crowd:
        assert crowd.stdin is not None
        stdin = crowd.stdin

        def go() -> None:
            stdin.write("go\n")
            stdin.flush()

        clients = [by_socket(one, n) for n, one in enumerate(sockets)]
        all_at_once(go, *clients, *(by_http(n) for n in range(share)))
        assert crowd.stdout is not None
        told += json.loads(crowd.stdout.readline())
    assert len(told) == count
    return told


@pytest.mark.abuse(31, 42)
def test_fifty_who_answer_one_prompt_at_once_are_one_answer(server: Server, owner: Who) -> None:
    session = server.open(owner, "fifty")
    prompt = server.asking(owner, session, "ask", input={"command": "once"})
    before = len(server.answers())
    told = by_every_door(
        server, owner, session, allow(prompt), AT_ONCE, request="{}", until="written"
    )
    codes = Counter(one.get("error", "") for one in told)
    unix = AT_ONCE - 2 * (AT_ONCE // 3)  # they all say the same under one name
    assert codes[""] in (1, unix), codes
    assert codes[""] + codes["already_decided"] == AT_ONCE, codes
    assert len([one for one in told if not one.get("error") and not one.get("duplicate")]) == 1
    wait_until(lambda: {"command": "once"} in [one["input"] for one in recorder.ran(server.record)])
    assert len(server.answers()) == before + 1
    assert len(server.events(owner, session, "permission.closed")) == 1


def test_abuse_42_a_hundred_sends_of_one_request_are_one_line(server: Server, owner: Who) -> None:
    session = server.open(owner, "hundred")
    assert server.say(owner, session, "warm", "warm").status == 200
    command = {"type": "send_input", "content": [{"type": "text", "text": "said a hundred times"}]}
    more = {"request": "once", "until": "done", "wait_ms": 20_000}
    told = by_every_door(server, owner, session, command, SENDS, **more)
    assert Counter(one["value"]["outcome"] for one in told) == {"done": SENDS}
    assert len([one for one in told if not one.get("duplicate")]) == 1
    assert len(server.told("said a hundred times")) == 1


def test_abuse_43_a_name_belongs_to_who_took_it_and_to_what_was_said(
    server: Server, owner: Who
) -> None:
    session = server.open(owner, "43")
    assert server.say(owner, session, "one", "k").json["duplicate"] is False
    other = server.say(owner, session, "two", "k")
    assert (other.status, other.code) == (422, "request_id_reused")
    submit = {
        "type": "submit",
        "ref": "1",
        "session": session,
        "request": "k",
        "command": {"type": "send_input", "content": [{"type": "text", "text": "two"}]},
    }
    assert server.greeted(owner).request(submit)["error"] == "request_id_reused"
    assert server.talk([submit])[-1]["error"] == "request_id_reused"
    squatter, victim = server.token("view", "input"), server.token("view", "input")
    assert server.say(squatter, session, "squatted", "victims").json["duplicate"] is False
    mine = server.say(victim, session, "of the victim", "victims")
    assert (mine.status, mine.json["duplicate"]) == (200, False)
    again = server.say(owner, session, "one", "k")
    assert (again.json["duplicate"], again.json["stage"]) == (True, "done")
    said = [len(server.told(f'"text":"{text}"')) for text in ("one", "two", "of the victim")]
    assert said == [1, 0, 1]
    opening = {"agent": "shell", "cwd": str(server.work), "request": "43"}
    assert server.http(owner).call("POST", "/sessions", opening).code == "request_id_reused"


def test_abuse_44_an_old_name_is_never_forgotten(fresh: Server) -> None:
    """Names do not expire, so there is no window in which a replay would run again: not after a
    month, and not after a restart. There is no ``sent_at`` that could be faked, either."""
    owner = fresh.login()
    session = fresh.open(owner, "44")
    assert fresh.say(owner, session, "long ago", "old").json["duplicate"] is False
    assert fresh.stop() == 0
    month_ms = 31 * 24 * 3600 * 1000
    with sqlite3.connect(fresh.state / "journal.db") as journal:
        rows = journal.execute("SELECT body FROM inputs").fetchall()
        assert rows
        assert b"_ms" not in b"".join(body for (body,) in rows)  # a name has no age at all
        journal.execute("UPDATE sessions SET changed_ms = changed_ms - ?", (month_ms,))
    journal.close()
    fresh.start()
    again = fresh.say(owner, session, "long ago", "old")
    assert (again.json["duplicate"], again.json["outcome"]) == (True, "done")
    other = fresh.say(owner, session, "something else", "old")
    assert other.code == "request_id_reused"
    assert len(fresh.told("long ago")) == 1


def test_abuse_45_a_late_interrupt_meets_no_other_turn(server: Server, owner: Who) -> None:
    session = server.open(owner, "45")
    assert server.say(owner, session, "one", "k1").status == 200
    (first,) = server.events(owner, session, "turn.started")
    gate = server.base / "gate45"
    text = steps({"wait_file": str(gate)})
    assert server.say(owner, session, text, "k2", "observed").status == 200
    wait_until(lambda: len(server.events(owner, session, "turn.started")) == 2)
    late = {"type": "interrupt", "turn": first["turn"]}
    path = f"/sessions/{session}/commands"
    got = server.http(owner).call("POST", path, {"command": late}, key="i")
    assert (got.status, got.code) == (409, "stale_turn")
    submit = {"type": "submit", "ref": "1", "session": session, "command": late}
    assert server.greeted(owner).request({**submit, "request": "j"})["error"] == "stale_turn"
    assert server.talk([{**submit, "request": "l"}])[-1]["error"] == "stale_turn"
    gate.touch()
    wait_until(lambda: len(server.events(owner, session, "turn.ended")) == 2)
    assert ["reason" in one for one in server.events(owner, session, "turn.ended")] == [False] * 2


TIMES = ["2001-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2026-01-01T00:00:00", "x" * 10_000]


@pytest.mark.parametrize("sent_at", TIMES, ids=["past", "future", "no zone", "long"])
def test_abuse_48_nobodys_clock_decides_anything(server: Server, owner: Who, sent_at: str) -> None:
    """There is no time to lie about: a name is good for ever, and an HTTP body that claims one
    is refused. The native protocol passes over fields it does not know."""
    session = server.open(owner, "48")
    body = {"command": {"type": "archive"}, "sent_at": sent_at}
    got = server.http(owner).call("POST", f"/sessions/{session}/commands", body, key="k")
    assert (got.status, got.code) == (400, "invalid_request")
    assert len(got.body) < 1000
    command = {"type": "send_input", "content": [{"type": "text", "text": "whenever"}]}
    submit = {"type": "submit", "session": session, "request": "48", "command": command}
    reply = server.greeted(owner).request({**submit, "until": "done", "sent_at": sent_at})
    assert reply["value"]["outcome"] == "done"
    assert len(server.told("whenever")) == 1  # and the same name, four times, is one line


BODIES = {
    "a key twice": b'{"ticket":"a","ticket":"b"}',
    "NaN": b'{"ticket":NaN}',
    "Infinity": b'{"ticket":-Infinity}',
    "5000 digits": b'{"ticket":' + b"1" * 5000 + b"}",
    "1e999": b'{"ticket":1e999}',
    "deep": b"[" * 100_000,
    "deep and closed": b"[" * 50_000 + b"]" * 50_000,
    "half a surrogate": b'{"ticket":"\\ud800"}',
    "NUL": b'{"ticket":"\\u0000"}',
    "BOM": b'\xef\xbb\xbf{"ticket":"a"}',
    "two": b'{"ticket":"a"}{"ticket":"b"}',
    "not UTF-8": b'{"ticket":"\xff"}',
    "UTF-16": '{"ticket":"a"}'.encode("utf-16"),
    "nothing": b"",
}


@pytest.mark.parametrize("name", BODIES)
def test_abuse_49_json_that_is_not_plain_breaks_nothing(
    server: Server, owner: Who, name: str
) -> None:
    body = BODIES[name]
    session = server.open(owner, "49")
    http = server.http(owner)
    paths = ["/sessions", f"/sessions/{session}/commands", "/prompts/answers", "/tokens"]
    if len(body) < 8192:
        paths.append("/login")
    for path in paths:
        got = http.call("POST", path, body, key="k")
        assert (got.status, got.code) == (400, "invalid_request"), path
    asked = b'{"type":"ask","ref":"1","name":"list","params":%b}' % (body or b"x")
    socket = server.greeted(owner)
    for data in (body or b"x", asked):
        socket.send(frame(data))
    if name in ("not UTF-8", "UTF-16"):
        assert socket.ending() == 1007
    else:
        assert socket.ask("status")["value"]["pid"] == server.pid
    assert server.http().call("GET", "/health").status == 200


def test_abuse_49_two_objects_in_one_frame_are_no_message(server: Server, owner: Who) -> None:
    session = server.open(owner, "49b")
    command = '{"type":"send_input","content":[{"type":"text","text":"smuggled"}]}'
    submit = '{"type":"submit","ref":"1","session":"%s","request":"x","command":%s}'
    good = submit % (session, command)
    socket = server.greeted(owner)
    for data in (f"{good}{good}", f'{{"type":"hello","proto":1}}{good}', f"{good[:-1]}\r{good}"):
        socket.send(frame(data.encode()))
        heard = socket.hear()
        assert heard.get("error", heard.get("code")) in ("invalid_request", "protocol_remote")
    assert server.told("smuggled") == []


# ---- the server dies -----------------------------------------------------------------------------


def test_a_server_that_is_killed_is_back_before_the_agent_notices(fresh: Server) -> None:
    """Killed -9 while a turn streams and a prompt is open, started again on the same port: the
    same cookie comes in, the prompt is answered, and the agent has had one life."""
    owner = fresh.login()
    streams, asks = fresh.open(owner, "streams"), fresh.open(owner, "asks")
    prompt = fresh.asking(owner, asks, "ask", input={"command": "after all"})
    gate = fresh.base / "gate"
    held = {"say": "held", "deltas": 2, "hold": str(gate)}
    text = steps({"say": "before", "deltas": 3}, held, {"say": "after"})
    assert fresh.say(owner, streams, text, "k", "observed").status == 200
    watching = fresh.greeted(owner)
    attach = {"type": "attach", "session": streams}
    place = watching.request(attach)["value"]
    assert watching.hear_event("text.done")["text"] == "before"
    fresh.kill()
    with pytest.raises(OSError, match=r"hung up|reset"):
        watching.ending()
    fresh.start()
    back = fresh.greeted(owner)
    back.request({**attach, "epoch": place["epoch"], "after": place["head"]})
    submit = {"type": "submit", "session": asks, "request": "a", "command": allow(prompt)}
    answered = fresh.greeted(owner).request({**submit, "until": "written"})
    assert answered["value"]["outcome"]
    assert not answered.get("error")
    gate.touch()
    assert "reason" not in back.hear_event("turn.ended")  # as it was meant to
    texts = [one["text"] for one in fresh.events(owner, streams, "text.done")]
    assert texts == ["before", "held", "after"]
    wait_until(lambda: fresh.events(owner, asks, "turn.ended"))
    assert [one["input"] for one in recorder.ran(fresh.record)] == [{"command": "after all"}]
    for session in (streams, asks):
        assert fresh.events(owner, session, "agent.exited") == []
    assert len({one.pid for one in recorder.read_record(fresh.record)}) == 2


def test_a_request_that_is_torn_off_is_not_carried_out(server: Server, owner: Who) -> None:
    session = server.open(owner, "torn")
    command = {"type": "send_input", "content": [{"type": "text", "text": "torn off"}]}
    body = json.dumps({"command": command}).encode()
    head = (
        f"POST {API}/sessions/{session}/commands HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n"
        f"{as_lines(owner.headers)}idempotency-key: torn\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode()
    for cut in (len(body) - 1, len(body) // 2, 1):
        say_bytes(server.port, head + body[:cut])
    assert server.told("torn off") == []
    assert server.events(owner, session, "input.accepted") == []
