"""Every route against everybody who could come: the table itself says what has to happen."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from flybridge.auth.authority import ALL_SCOPES, FILE_SCOPES
from flybridge.gateway.routes import PUBLIC_ROUTES, ROUTES
from flybridge.listeners.http.route import API, PUBLIC, Route
from flybridge.model import commands as c
from flybridge.runtime.keeper.process import start_time
from flybridge.session.authorisation import Scope, scope_of
from tests.harness.http_harness import Got, Web
from tests.harness.waiting import until

# Values for the parameters of paths: things that do not exist. A route that is let through says
# so with a 2xx, 400, 404 or 422, never with a 401 or 403.
NAMES = {
    "session": "ses_none",
    "name": "summary",
    "digest": "0" * 64,
    "conversation": "none",
}
SCOPES: list[Scope] = ["view", "input", "interrupt", "approve", "spawn", "admin"]
COMMANDS: dict[str, Any] = {
    "send_input": {"content": [{"type": "text", "text": "x"}]},
    "edit_queued": {"key": "k", "content": []},
    "cancel_queued": {"key": "k"},
    "answer_permission": {"prompt": "p", "digest": "d", "decision": "allow"},
    "answer_question": {"prompt": "p", "digest": "d"},
    "interrupt": {},
    "set_model": {"model": "m"},
    "set_mode": {"mode": "m"},
    "set_effort": {"effort": "e"},
    "set_fast": {"on": True},
    "set_thinking": {"tokens": 1},
    "stop_task": {"task": "t"},
    "mcp": {"server": "s", "action": "reconnect"},
    "rename": {"title": "t"},
    "archive": {},
    "delete": {},
    "close": {},
}


def path_of(route: Route) -> str:
    path = re.sub(r"{(\w+)}", lambda found: NAMES[found[1]], route.path)
    return "//" + path.removeprefix("/") if not path.startswith(API) else path.removeprefix(API)


async def knock(web: Web, route: Route, **who: Any) -> Got:
    return await web.call(route.method, path_of(route), {} if route.body else None, **who)


def test_these_routes_are_public() -> None:
    print("\n".join(sorted(PUBLIC_ROUTES)))  # noqa: T201  for whoever reads the run
    assert {one.name for one in ROUTES if one.scope == PUBLIC} == PUBLIC_ROUTES
    assert len(PUBLIC_ROUTES) == 15


def test_every_route_has_a_rule_and_a_name_of_its_own() -> None:
    assert {one.scope for one in ROUTES} <= {*SCOPES, "control", PUBLIC}
    assert len({one.name for one in ROUTES}) == len(ROUTES)
    assert len({one.handler for one in ROUTES}) == len(ROUTES)
    for one in ROUTES:
        known = {field.name for field in msgspec.structs.fields(one.params)}
        assert set(re.findall(r"{(\w+)}", one.path)) <= known, one.name
        assert one.summary


def credentials(web: Web) -> Iterator[tuple[str, frozenset[Scope], dict[str, Any]]]:
    """Everybody who could come: their name, what they hold, what they bring."""
    yield "nobody", frozenset(), {"cookie": ""}
    for scope in sorted(FILE_SCOPES):
        yield f"token {scope}", frozenset({scope}), {"token": web.token(scope)}
    yield "token", FILE_SCOPES, {"token": web.token(*sorted(FILE_SCOPES))}
    for scope in SCOPES:
        yield f"guest {scope}", frozenset({scope}), {"cookie": web.login(scope)}
        both: frozenset[Scope] = frozenset({"view", scope})
        yield f"guest view {scope}", both, {"cookie": web.login(*both)}
    yield "owner", ALL_SCOPES, {"cookie": web.cookie}


def is_right(route: Route, scopes: frozenset[Scope], got: Got) -> bool:
    if route.scope == PUBLIC:
        return got.status not in (403, 405, 500)
    if not scopes:
        return got.status == 401
    if not {"view", route.scope} <= scopes:
        return (got.status, got.code) == (403, "not_allowed")
    return got.status not in (401, 403, 405, 500)


async def test_every_route_lets_through_whom_it_should_and_nobody_else(web: Web) -> None:
    wrong = []
    everybody = list(credentials(web))
    for route in ROUTES:
        ends = route.name == "POST /api/v1/logout"  # what the other routes are tried with
        for name, scopes, who in list(credentials(web)) if ends else everybody:
            if ends and name == "owner":
                who = {"cookie": web.login()}
            got = await knock(web, route, **who)
            if not is_right(route, scopes, got):
                wrong.append((route.name, name, got))
    assert wrong == []


async def test_a04_a_cookie_alone_gets_what_a_stranger_gets(web: Web) -> None:
    """Cookies know no ports: whoever listens on another one is sent ours."""
    cookie = web.login().cookie
    wrong = []
    for route in ROUTES:
        got = await knock(web, route, cookie=cookie)
        nobody = await knock(web, route, cookie="")
        if route.scope == PUBLIC:
            right = (got.status, got.body) == (nobody.status, nobody.body)
        else:
            right = (got.status, got.code) == (401, "login_incomplete")
        if not right:
            wrong.append((route.name, got))
    assert wrong == []


async def test_an_agents_descendant_loses_what_a_person_holds(web: Web) -> None:
    """Whoever asks here is this very process: let it be the keeper."""
    web.keepers = [(os.getpid(), start_time(os.getpid()) or "")]
    wrong = []
    for route in ROUTES:
        got = await knock(web, route, cookie=web.cookie)
        if route.scope in ("approve", "spawn", "admin", "control"):
            right = (got.status, got.code) == (403, "not_allowed")
        else:
            right = got.status not in (401, 403) or route.name == "POST /api/v1/login"
        if not right:
            wrong.append((route.name, got))
        if route.name == "POST /api/v1/logout":
            web.cookie = web.login()
    assert wrong == []
    assert (await web.call("GET", "/me")).json["of_agent"] is True
    ticket = web.authority.ticket()
    assert (await web.call("POST", "/login", {"ticket": ticket})).status == 403


def test_every_command_is_tried() -> None:
    known = {str(one.__struct_config__.tag) for one in get_args(c.Command)}
    assert COMMANDS.keys() == known


async def test_every_command_lets_through_whom_it_should_and_nobody_else(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k0")
    wrong = []
    for name, scopes, who in credentials(web):
        for tag, fields in COMMANDS.items():
            needs = scope_of(msgspec.convert({"type": tag, **fields}, type=c.Command))
            if {needs, "view"} <= scopes and tag in ("delete", "close", "send_input"):
                continue  # they would be done; other tests do them
            body = {"command": {"type": tag, **fields}, "until": "accepted"}
            path = f"/sessions/{live.session}/commands"
            key = f"{name.replace(' ', '-')}-{tag}"
            got = await web.call("POST", path, body, key=key, **who)
            may = {needs, "view"} <= scopes
            expected = got.status not in (401, 403) if may else got.status in (401, 403)
            if not expected:
                wrong.append((tag, name, got))
    assert wrong == []
    await until(lambda: live.memory.state.turn == "")
