"""What can be done with a credential, or with none: cases 14 to 23, on a real server."""

from __future__ import annotations

import itertools
import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.clients import API, NOBODY, WebSocket, Who, say_bytes
from tests.abuse.rig import Server
from tests.harness.login import headers_from
from tests.harness.waiting import WAIT_S, wait_until

GUESS = "fbt_0123456789abcdef.guess"
_sources = (f"127.0.{a}.{b}" for a, b in itertools.product(range(1, 9), range(1, 255)))


def elsewhere() -> str:
    """A place nobody came from before: whoever is wrong there is limited there."""
    return next(_sources)


# ---- good for nothing ----------------------------------------------------------------------------

WRONG = [
    b"",
    b"Bearer",
    b"Bearer ",
    b"Bearer \xe9",
    b"Bearer fbt_",
    b"Bearer fbt_.",
    b"Bearer fbt_x.y",
    b"Basic dXNlcjpwYXNz",
    b"Bearer \xf0\x9f\x94\x91",
    b"Bearer fbt_\xff\xfe.\x80",
    b"Bearer " + b"x" * 8000,
]


@pytest.mark.parametrize("given", WRONG)
def test_abuse_14_no_token_that_is_none_breaks_anything(server: Server, given: bytes) -> None:
    plain = server.http().call("GET", "/me")
    head = f"GET {API}/me HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nconnection: close\r\n"
    said = say_bytes(server.port, head.encode() + b"authorization: " + given + b"\r\n\r\n")
    assert said.startswith((b"HTTP/1.1 401 ", b"HTTP/1.1 429 "))
    assert said.startswith(b"HTTP/1.1 429 ") or said.endswith(plain.body)


def test_abuse_14_a_good_token_that_is_cut_or_longer_is_none(server: Server) -> None:
    token = server.token("view").token
    for wrong in (token[:-1], token + "A", token[4:], token.upper(), f"{token} {token}"):
        http = server.http(Who("", {"authorization": f"Bearer {wrong}"}, frozenset()), elsewhere())
        assert http.call("GET", "/me").status == 401
    http = server.http(Who("", {"authorization": f"Bearer {token}"}, frozenset()))
    assert http.call("GET", "/me").status == 200


def test_abuse_15_nothing_in_an_address_logs_in(server: Server, owner: Who) -> None:
    token, ticket = server.token("view").token, server.link()
    secrets = token.rpartition(".")[2], ticket
    for query in (f"token={token}", f"access_token={token}", f"ticket={ticket}"):
        assert server.http().call("GET", f"/me?{query}").status == 401
        assert server.http(owner).call("GET", f"/me?{query}").status == 400
        assert server.http().call("GET", f"//login?{query}").status in (200, 400)
        assert "set-cookie" not in server.http().call("GET", f"//login?{query}").headers
        assert server.websocket().upgrade(target=f"{API}/ws?{query}") == 404
    kept = (server.state / "audit.log").read_text() + server.log.read_text()
    assert not [one for one in secrets if one in kept]
    assert server.http().call("POST", "/login", {"ticket": ticket}).status == 200
    again = server.http(source=elsewhere()).call("POST", "/login", {"ticket": ticket})
    assert again.status == 401  # it was good once


def test_abuse_16_guessing_ends_soon_wherever_it_comes_from(fresh: Server) -> None:
    owner, token = fresh.login(), fresh.token("view")
    fresh.ask("password.set", password="correct horse battery")
    owner = fresh.login()
    decoys = {"x-api-key": "1", "x-forwarded-for": "192.0.2.7", "cookie": "flybridge-0=a.b"}

    def guess(source: str, n: int) -> int:
        if n % 4 == 0:
            headers = {"authorization": f"Bearer fbt_{n:016x}.guess", **decoys}
            return fresh.http(source=source).call("GET", "/me", headers=headers).status
        if n % 4 == 1:
            socket = fresh.websocket(source)
            assert socket.upgrade() in (101, 429)
            socket.say({"type": "auth", "token": f"fbt_{n:016x}.guess", "decoy": n})
            return {4401: 401, 4429: 429}[socket.ending()]
        body = {"password": f"guess {n}"} if n % 4 == 2 else {"ticket": f"guess{n}"}
        return fresh.http(source=source).call("POST", "/login", body, headers=decoys).status

    one = [guess("127.0.0.5", n) for n in range(20)]
    assert one.count(401) == 10
    assert one[10:] == [429] * 10
    many = [guess(f"127.0.1.{n}", n) for n in range(1, 130)]
    assert one.count(401) + many.count(401) == 100
    assert many[-20:] == [429] * 20
    right = {"password": "correct horse battery"}
    assert fresh.http(source="127.0.9.9").call("POST", "/login", right).status == 429
    assert fresh.http(owner).call("GET", "/me").status == 200  # nobody locks the owner out
    assert fresh.http(fresh.login()).call("GET", "/me").status == 200  # nor keeps them from coming
    assert fresh.http(token).call("GET", "/me").status == 200
    wrong = fresh.audited(event="login", outcome="refused")
    assert len([one for one in wrong if one["code"] != "too_many_tries"]) == 100


@pytest.mark.abuse(17, 64)
def test_who_never_says_who_they_are_is_few_and_gone_soon(fresh: Server) -> None:
    owner = fresh.login()
    silent = [fresh.websocket() for _ in range(150)]
    statuses = [one.upgrade() for one in silent]
    assert (statuses.count(101), statuses.count(429)) == (64, 86)
    slow = [socket.create_connection(("127.0.0.1", fresh.port), WAIT_S) for _ in range(20)]
    for one in slow[10:]:
        one.sendall(b"GET / HTTP/1.1\r\nhost: ")  # and never on
    fresh.greeted(owner).ask("status")  # whoever is known comes in all the same
    endings = [one.ending() for one, status in zip(silent, statuses, strict=True) if status == 101]
    assert endings == [4408] * 64
    for one in slow:
        assert hung_up(one)
        one.close()
    assert fresh.websocket().upgrade() == 101


def hung_up(sock: socket.socket) -> bool:
    try:
        return sock.recv(100) == b""
    except ConnectionError:
        return True


BURSTS: list[list[dict[str, Any]]] = [
    [{"type": "ask", "ref": "1", "name": "list"}],
    [{"type": "hello", "proto": 1}, {"type": "ask", "ref": "1", "name": "list"}],
    [{"type": "auth", "token": GUESS}, {"type": "hello", "proto": 1}],
    [{"type": "hello", "proto": 1}, {"type": "auth", "token": "{token}"}],
]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("burst", BURSTS)
def test_abuse_18_nothing_is_done_before_it_is_known_for_whom(
    server: Server, owner: Who, burst: list[dict[str, Any]], together: bool
) -> None:
    session = server.open(owner, f"18{together}{BURSTS.index(burst)}")
    token = server.token("view", "input").token
    send = {
        "type": "submit",
        "ref": "9",
        "session": session,
        "request": "r",
        "command": {"type": "send_input", "content": [{"type": "text", "text": "never said"}]},
    }
    said = [{**one, **({"token": token} if one.get("token") == "{token}" else {})} for one in burst]
    socket = server.websocket(elsewhere())
    assert socket.upgrade() == 101
    for messages in [[*said, send]] if together else [[one] for one in [*said, send]]:
        try:
            socket.say(*messages)
        except ConnectionError:
            break
    assert socket.ending() == 4401
    assert server.events(owner, session, "input.accepted") == []
    assert server.told("never said") == []


# ---- taken back ----------------------------------------------------------------------------------


def heard_of(socket: WebSocket, server: Server, session: str) -> None:
    assert socket.request({"type": "attach", "session": session})["value"]


def test_abuse_19_a_revoked_token_is_worth_nothing_anywhere(server: Server, owner: Who) -> None:
    session = server.open(owner, "19")
    who = server.token("view", "input")
    sockets = [server.greeted(who) for _ in range(5)]
    for one in sockets:
        heard_of(one, server, session)
    stream = server.http(who)
    stream._connection.request("GET", f"{API}/sessions/{session}/stream", headers=who.headers)
    events = stream._connection.getresponse()
    assert events.status == 200
    status, out, err = server.run("token", "revoke", who.name)
    assert (status, out.startswith("revoked")) == (0, True), err
    assert [one.ending() for one in sockets] == [4401] * 5
    assert events.read()  # it was told what there was; then it ended
    assert server.http(who, elsewhere()).call("GET", "/me").status == 401
    assert server.websocket(elsewhere()).upgrade(who.headers) == 401


def test_abuse_20_a_new_password_ends_every_login(fresh: Server) -> None:
    old = fresh.login()
    token = fresh.token("view")
    session = fresh.open(old, "20")
    socket, other = fresh.greeted(old), fresh.greeted(token)
    heard_of(socket, fresh, session)
    fresh.ask("password.set", password="correct horse battery")
    assert socket.ending() == 4401
    assert fresh.http(old).call("GET", "/me").status == 401
    assert other.ask("status")["value"]["pid"] == fresh.pid  # a token is no login
    got = fresh.http().call("POST", "/login", {"password": "correct horse battery"})
    assert got.status == 200
    new = Who("", headers_from(got.headers, got.body), frozenset())
    assert fresh.http(new).call("GET", "/me").status == 200
    fresh.ask("password.set", password="another horse battery")
    assert fresh.http(new).call("GET", "/me").status == 401


CLAIMS: dict[str, Any] = {
    "scopes": ["admin", "approve", "spawn"],
    "role": "admin",
    "sender": "root",
    "principal": "uid:0",
    "team": "all",
    "of_agent": False,
    "process": "1:1:1",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_abuse_21_nobody_is_who_they_say_they_are(server: Server, owner: Who, claim: str) -> None:
    session = server.open(owner, f"21{claim}")
    who = server.token("view")
    more = {claim: CLAIMS[claim]}
    command = {"type": "rename", "title": "x", **more}
    body = {"command": command, **more}
    path = f"/sessions/{session}/commands"
    assert server.http(who).call("POST", path, body, key="k").status in (400, 403)
    assert server.http(who).call("POST", path, {"command": command}, key="k").status == 403
    headers = {f"x-{claim}": str(CLAIMS[claim]), claim: str(CLAIMS[claim])}
    assert server.http(who).call("GET", "/tokens", headers=headers).status == 403
    socket = server.websocket()
    assert socket.upgrade() == 101
    socket.say({"type": "auth", "token": who.token, **more}, {"type": "hello", "proto": 1, **more})
    assert socket.hear()["scopes"] == ["view"]
    submit = {"type": "submit", "session": session, "request": "k", "command": command, **more}
    assert socket.request(submit)["error"] == "not_allowed"
    unix = server.talk([{**submit, "ref": "1"}, {"type": "hello", "proto": 1, **more}])
    assert unix[1]["value"]["outcome"]  # the owner may; what is claimed changes nothing


def test_abuse_22_a_login_is_always_a_new_one_that_scripts_cannot_read(server: Server) -> None:
    victim = server.login(name="guest")
    got = server.http(victim).call("POST", "/login", {"ticket": server.link()})
    name, _, value = got.headers["set-cookie"].partition("=")
    assert value.partition(";")[0] not in victim.headers["cookie"]
    flags = got.headers["set-cookie"].split("; ")[1:]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags)
    fixed = Who("", {"cookie": f"{name}=0123456789abcdef.chosen-by-somebody"}, frozenset())
    got = server.http(fixed, elsewhere()).call("POST", "/login", {"ticket": server.link()})
    assert "chosen-by-somebody" not in got.headers["set-cookie"]
    assert server.http(fixed, elsewhere()).call("GET", "/me").status == 401


def test_a13_a_cookie_that_somebody_planted_does_not_lock_anybody_out(server: Server) -> None:
    """A page on another port can set a cookie of our name, for a longer path: it comes first."""
    owner, guest = server.login(), server.login("view", name="guest")
    name = owner.headers["cookie"].partition("=")[0]
    for planted in ("x.y", "", "0123456789abcdef.z", guest.headers["cookie"].partition("=")[2]):
        cookie = f"{name}={planted}; {owner.headers['cookie']}; {name}={planted}"
        got = server.http(Who("", {**owner.headers, "cookie": cookie}, frozenset()))
        answer = got.call("GET", "/me")
        assert (answer.status, answer.headers["set-cookie"]) == (200, None)
        assert "admin" in answer.json["scopes"]  # the login of the key, not of the first cookie


# ---- files ---------------------------------------------------------------------------------------


def refuses(server: Server, *words: str) -> None:
    status, out, err = server.run("serve", "--port", "0")
    assert status != 0
    assert out == ""
    for word in words:
        assert re.search(word, err), err


def test_abuse_23_a_state_directory_that_others_can_use_is_refused(short_tmp: Path) -> None:
    server = Server(short_tmp)
    server.state.mkdir(mode=0o755)
    refuses(server, "open to others", "chmod 700")
    server.state.chmod(0o770)
    refuses(server, "open to others", "chmod 700")
    server.state.rename(short_tmp / "real")
    server.state.symlink_to(short_tmp / "real")
    refuses(server, "symbolic link")
    server.state.unlink()
    server.state.write_text("")
    refuses(server, "not a directory")


def test_abuse_23_a_file_of_tokens_that_others_can_use_is_refused(fresh: Server) -> None:
    fresh.token("view")
    assert fresh.stop() == 0
    tokens = fresh.state / "tokens"
    assert tokens.stat().st_mode & 0o777 == 0o600
    for mode in (0o644, 0o640, 0o602):
        tokens.chmod(mode)
        refuses(fresh, "tokens", f"chmod 600|{mode:o}")
    tokens.chmod(0o600)
    tokens.rename(fresh.base / "elsewhere")
    tokens.symlink_to(fresh.base / "elsewhere")
    refuses(fresh, "tokens")
    tokens.unlink()
    (fresh.base / "elsewhere").rename(tokens)
    fresh.start()


@pytest.mark.needs("root")
def test_abuse_23_what_belongs_to_somebody_else_is_refused(fresh: Server) -> None:
    fresh.token("view")
    assert fresh.stop() == 0
    os.chown(fresh.state / "tokens", 12345, 12345)
    refuses(fresh, "tokens")
    os.chown(fresh.state, 12345, 12345)
    refuses(fresh, "belongs to user 12345")
    for path in (fresh.state, fresh.state / "tokens"):
        os.chown(path, 0, 0)
    fresh.start()


def test_what_the_owner_sees_of_strangers(server: Server, owner: Who) -> None:
    """Nobody is refused in silence."""
    server.http(NOBODY, elsewhere()).call("GET", "/sessions")
    wait_until(lambda: server.audited(outcome="refused", code="not_authenticated"))
    got = server.http(owner).call("GET", "/audit?newest=true&limit=5")
    assert "not_authenticated" in [one.get("code") for one in got.json["records"]]
