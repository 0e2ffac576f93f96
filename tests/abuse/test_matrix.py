"""Every route, question and command, for everybody, by every door.

What there is comes from the tables of the program; what it takes is said by ``rules.py``. A
refusal is an answer that says so, one line in the audit log, and nothing at the agent.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from flybridge.gateway.routes import ROUTES
from flybridge.session.authorisation import _NEEDS
from tests.abuse import rules
from tests.abuse.clients import API, Who
from tests.abuse.rig import ALL_SCOPES, TALK_SCOPES, Hands, Server
from tests.abuse.visitor import over_http, over_websocket
from tests.repo.tree import PACKAGE

PARTS = {"session": "ses_none", "digest": "0" * 64, "conversation": "none"}
NAMES = {
    "static": "login.js",
    "views": "prompts",
    "query": "context",
    "tokens": "nobody",
    "devices": "nobody",
}
OPEN_SCOPES = TALK_SCOPES | {"spawn"}


# ---- the tables ----------------------------------------------------------------------------------


def questions() -> dict[str, str]:
    """Every ``"name": Question("scope", …)`` in the source."""
    found: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                found |= dict(_asked(node))
    return found


def _asked(node: ast.Dict) -> Iterator[tuple[str, str]]:
    for key, value in zip(node.keys, node.values, strict=True):
        made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        if made and value.func.id == "Question":  # type: ignore[attr-defined]
            assert isinstance(key, ast.Constant), ast.dump(node)
            scope = value.args[0]  # type: ignore[attr-defined]
            yield str(key.value), str(scope.value)


def test_every_route_question_and_command_has_a_rule() -> None:
    assert {one.name: str(one.scope) for one in ROUTES} == rules.ROUTES
    assert questions() == rules.QUESTIONS
    tags = {str(kind.__struct_config__.tag): need for kind, need in _NEEDS.items()}  # type: ignore[attr-defined]
    assert tags == rules.COMMANDS


def may(scopes: frozenset[str], need: str) -> bool:
    """Whoever may do anything at all may look."""
    return need == rules.PUBLIC or {"view", need} <= scopes


def target_of(name: str) -> str:
    """A route's path, with something in the place of its parameters."""
    path = name.partition(" ")[2]
    folder = path.split("/")[-2] if path.endswith("{name}") else ""
    path = re.sub(r"{(\w+)}", lambda one: {**PARTS, "name": NAMES.get(folder, "")}[one[1]], path)
    return path.removeprefix(API) if path.startswith(API) else f"/{path}"


def calls() -> list[list[Any]]:
    """One request to each route. The last one logs out."""
    names = sorted(rules.ROUTES, key=lambda name: name.endswith("/logout"))
    return [
        [
            method := name.partition(" ")[0],
            target_of(name),
            {} if method in ("POST", "PATCH") else None,
        ]
        for name in names
    ]


def expected(scopes: frozenset[str] | None) -> list[int]:
    """What each of these calls comes to; 0: it is let in, whatever is said to it there."""
    names = sorted(rules.ROUTES, key=lambda name: name.endswith("/logout"))
    if scopes is None:
        return [0 if rules.ROUTES[name] == rules.PUBLIC else 401 for name in names]
    return [0 if may(scopes, rules.ROUTES[name]) else 403 for name in names]


def statuses(done: Sequence[Sequence[Any]]) -> list[int]:
    assert not [one for one in done if one[0] >= 500]
    return [status if status in (401, 403) else 0 for status, _ in done]


# ---- messages ------------------------------------------------------------------------------------


def asks(session: str, cwd: str) -> dict[str, dict[str, Any]]:
    """Every question, in a way that does little even where it is answered."""
    of = {"session": session}
    return {
        "open": {"agent": "recorder", "cwd": f"{cwd}/none", "request": "x"},
        "import": {"agent": "recorder", "conversation": "none"},
        "list": {},
        "changes": {"after": 0},
        "view": of,
        "page": of,
        "blob": {"digest": "0" * 64},
        "query": {**of, "name": "none"},
        "stop_agent": of,
        "claim": {**of, "key": "none"},
        "dial_in": of,
        "resume": {**of, "request": ""},
        "continue": {**of, "request": ""},
        "fork": {**of, "request": ""},
        "agents": {},
        "files": of,
        "panel": {**of, "name": "prompts"},
        "agent_info": {**of, "name": "modes"},
        "prompts": {},
        "usage": {},
        "status": {},
        "stop": {},
        "trust.list": {},
        "trust.add": {"folder": f"{cwd}/none"},
        "trust.remove": {"folder": f"{cwd}/none"},
        "token.create": {"name": ""},
        "token.list": {},
        "token.revoke": {"name": "nobody"},
        "login.link": {},
        "password.set": {"password": ""},
        "control": {},
        "team.list": {},
        "team.add": {"team": "red", "name": "matrix"},
        "team.remove": {"team": "red", "name": "nobody"},
        "team.rule": {"effect": "forget", "team": "red"},
        "team.pin": {"name": "none", "public": "none"},
        "team.unpin": {"name": "none"},
        "devices.list": {},
        "devices.pair": {"code": "none", "name": ""},
        "devices.token": {"name": ""},
        "devices.revoke": {"name": "nobody"},
        "slots.set": {"slots": [{"agent": "nobody"}]},
        "ci_key.create": {"name": "\n", "modes": ["plan"]},
        "ci_key.list": {},
        "ci_key.revoke": {"name": "nobody"},
    }


COMMANDS: dict[str, dict[str, Any]] = {
    "send_input": {"content": []},
    "edit_queued": {"key": "none", "content": []},
    "cancel_queued": {"key": "none"},
    "answer_permission": {"prompt": "prm_none", "digest": "0", "decision": "allow"},
    "answer_question": {"prompt": "prm_none", "digest": "0"},
    "interrupt": {},
    "set_model": {"model": "m"},
    "set_mode": {"mode": "plan"},
    "set_effort": {"effort": "low"},
    "set_fast": {"on": True},
    "set_thinking": {"tokens": 1},
    "stop_task": {"task": "none"},
    "mcp": {"server": "none", "action": "reconnect"},
    "rename": {"title": "x"},
    "archive": {"archived": False},
    "close": {},
    "delete": {},
}
ENDS = ("stop", "close", "delete", "set_mode")  # said only by those who are refused


def messages(session: str, cwd: str, scopes: frozenset[str]) -> list[tuple[dict[str, Any], bool]]:
    """Everything that can be said, and whether it is refused to whoever has these scopes."""
    found: list[tuple[dict[str, Any], bool]] = []
    for name, params in asks(session, cwd).items():
        about = {"view"} if "session" in params else set()
        refused = not about | {rules.QUESTIONS[name]} <= scopes
        if refused or name not in ENDS:
            found.append(({"type": "ask", "name": name, "params": params}, refused))
    for number, (tag, fields) in enumerate(COMMANDS.items()):
        refused = not may(scopes, rules.COMMANDS[tag])
        command = {"type": tag, **fields}
        submit = {"type": "submit", "session": session, "request": f"m{number}"}
        if refused or tag not in ENDS:
            found.append(({**submit, "command": command, "until": "accepted"}, refused))
    return [({**one, "ref": str(n)}, refused) for n, (one, refused) in enumerate(found)]


def test_everything_is_said_to_the_matrix() -> None:
    assert asks("", "").keys() == rules.QUESTIONS.keys()
    assert COMMANDS.keys() == rules.COMMANDS.keys()


# ---- who -----------------------------------------------------------------------------------------

TOKENS = [
    scopes for size in (1, 2, 3) for scopes in itertools.combinations(sorted(TALK_SCOPES), size)
]
LOGINS = [
    ("view",),
    ("approve",),
    ("view", "approve"),
    ("view", "spawn"),
    ("view", "admin"),
    ("approve", "spawn", "admin"),
    tuple(sorted(ALL_SCOPES)),
]


@pytest.fixture(scope="module")
def session(server: Server, owner: Who) -> str:
    """A session with an agent that waits for an answer."""
    session = server.open(owner, "matrix", "shell")
    server.asking(owner, session, "ask")
    return session


class Ledger:
    """What agents and the audit log had been told before."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._told = len(server.told())
        self._refused = len(server.audited(outcome="refused"))

    def check(self, refusals: int, *, quiet: bool = False) -> None:
        """Each refusal was written down; ``quiet``: and nothing reached an agent."""
        assert len(self._server.audited(outcome="refused")) - self._refused == refusals
        assert not quiet or len(self._server.told()) == self._told


# ---- HTTP ----------------------------------------------------------------------------------------


def test_abuse_31_over_http_nobody_gets_anything(server: Server, session: str) -> None:
    ledger = Ledger(server)
    done = over_http(server.http(), calls())
    assert statuses(done) == expected(None)
    ledger.check(expected(None).count(401), quiet=True)


@pytest.mark.parametrize("scopes", TOKENS, ids="+".join)
def test_abuse_31_over_http_a_token_is_good_for_its_scopes(
    server: Server, session: str, scopes: tuple[str, ...]
) -> None:
    who = server.token(*scopes)
    ledger = Ledger(server)
    assert statuses(over_http(server.http(who), calls())) == expected(who.scopes)
    ledger.check(expected(who.scopes).count(403), quiet=True)


@pytest.mark.parametrize("scopes", LOGINS, ids="+".join)
def test_abuse_31_over_http_a_login_is_good_for_its_scopes(
    server: Server, session: str, scopes: tuple[str, ...]
) -> None:
    who = server.login(*scopes, name="guest")
    ledger = Ledger(server)
    assert statuses(over_http(server.http(who), calls())) == expected(who.scopes)
    ledger.check(expected(who.scopes).count(403), quiet=True)


@pytest.mark.parametrize("scopes", [*TOKENS, *LOGINS], ids="+".join)
def test_abuse_31_over_http_a_command_takes_its_own_scope(
    server: Server, session: str, scopes: tuple[str, ...]
) -> None:
    login = scopes in LOGINS[1:]
    who = server.login(*scopes, name="guest") if login else server.token(*scopes)
    ledger = Ledger(server)
    refusals = 0
    for message, refused in messages(session, "/", who.scopes):
        if message["type"] == "submit":
            body = {"command": message["command"], "until": "accepted"}
            key = f"{scopes}{message['request']}".replace(" ", "")
            got = server.http(who).call("POST", f"/sessions/{session}/commands", body, key=key)
            assert (got.status == 403) == refused, (message, got)
            refusals += refused
    ledger.check(refusals)


# ---- WebSocket -----------------------------------------------------------------------------------


def check_replies(said: list[tuple[dict[str, Any], bool]], replies: list[Any]) -> None:
    assert len(said) == len(replies)
    for (message, refused), reply in zip(said, replies, strict=True):
        assert (reply.get("error") == "not_allowed") == refused, (message, reply)
        assert "nothing is called" not in reply.get("message", ""), message


def test_abuse_31_over_a_websocket_nobody_gets_anything(server: Server, session: str) -> None:
    for message, _ in messages(session, "/", frozenset())[:20]:
        socket = server.websocket()
        assert socket.upgrade() == 101
        socket.say(message)
        assert socket.ending() in (4401, 4429)
        socket.close()


@pytest.mark.parametrize("scopes", TOKENS, ids="+".join)
def test_abuse_31_over_a_websocket_a_token_is_good_for_its_scopes(
    server: Server, session: str, scopes: tuple[str, ...]
) -> None:
    who = server.token(*scopes)
    socket = server.websocket()
    assert socket.upgrade() == 101
    socket.say({"type": "auth", "token": who.token}, {"type": "hello", "proto": 1})
    assert frozenset(socket.hear()["scopes"]) == who.scopes
    ledger = Ledger(server)
    said = messages(session, str(server.work), who.scopes)
    check_replies(said, [socket.request(message) for message, _ in said])
    ledger.check(sum(refused for _, refused in said))


@pytest.mark.parametrize("scopes", LOGINS, ids="+".join)
def test_abuse_31_over_a_websocket_a_login_is_good_for_its_scopes(
    server: Server, session: str, scopes: tuple[str, ...]
) -> None:
    who = server.login(*scopes, name="guest")
    ledger = Ledger(server)
    said = messages(session, str(server.work), who.scopes)
    told = over_websocket(server.port, who.headers, [message for message, _ in said])
    assert frozenset(told[0]["scopes"]) == who.scopes
    check_replies(said, told[1:])
    ledger.check(sum(refused for _, refused in said))


# ---- the Unix door -------------------------------------------------------------------------------


@pytest.mark.parametrize("at_terminal", [True, False])
def test_abuse_31_at_the_unix_door_a_terminal_makes_the_difference(
    server: Server, session: str, at_terminal: bool
) -> None:
    scopes = ALL_SCOPES if at_terminal else OPEN_SCOPES
    ledger = Ledger(server)
    said = messages(session, str(server.work), scopes)
    told = server.talk([message for message, _ in said], terminal=at_terminal)
    assert frozenset(told[0]["scopes"]) == scopes
    check_replies(said, told[1:])
    ledger.check(sum(refused for _, refused in said))


# ---- from below an agent -------------------------------------------------------------------------


@pytest.mark.parametrize("at_terminal", [True, False])
def test_abuse_26_at_the_unix_door_an_agent_only_talks(
    server: Server, session: str, at_terminal: bool
) -> None:
    hands = awake(server, session)
    ledger = Ledger(server)
    said = [one for one in messages(session, str(server.work), TALK_SCOPES) if calm(one[0])]
    told = hands.talk([message for message, _ in said], terminal=at_terminal)
    assert frozenset(told[0]["scopes"]) == TALK_SCOPES
    check_replies(said, told[1:])
    ledger.check(sum(refused for _, refused in said))


def whose(server: Server) -> dict[str, Callable[[], Who]]:
    return {"a person's cookie": server.login, "a token": lambda: server.token(*TALK_SCOPES)}


@pytest.mark.parametrize("credential", ["a person's cookie", "a token"])
def test_abuse_29_whatever_an_agent_brings_along_it_only_talks(
    server: Server, session: str, credential: str
) -> None:
    who = whose(server)[credential]()
    hands = awake(server, session)
    ledger = Ledger(server)
    said = [one for one in messages(session, str(server.work), TALK_SCOPES) if calm(one[0])]
    told = hands.visit(who, http=calls()[:-1], native=[message for message, _ in said])
    assert frozenset(told["native"][0]["scopes"]) == TALK_SCOPES
    check_replies(said, told["native"][1:])
    wanted = expected(TALK_SCOPES)[:-1]
    wanted[[one[1] for one in calls()].index("/login")] = 0  # without a ticket: it is asked for one
    assert statuses(told["http"]) == wanted
    ledger.check(sum(refused for _, refused in said) + wanted.count(403))


def calm(message: dict[str, Any]) -> bool:
    """It does not end the agent that says it."""
    return message.get("name") != "stop_agent"


def awake(server: Server, session: str) -> Hands:
    """The shell of an agent that was perhaps put away meanwhile."""
    told = {"type": "ask", "ref": "1", "name": "view", "params": {"session": session}}
    view = server.talk([told])[-1]["value"]
    if view["status"] not in ("running", "idle"):
        owner = server.login()
        assert server.say(owner, session, "wake", f"wake{server.port}{len(server.told())}").status
    return Hands(server)
