from __future__ import annotations

import asyncio
import os

import msgspec
import pytest

from flybridge.auth.login import Login
from flybridge.frontends.http.routes.access import PERSON_ONLY, Me, RecordPage, TokenList
from flybridge.runtime.keeper.process import start_time
from flybridge.session.authorisation import FORWARDED
from tests.harness.http_harness import Web
from tests.harness.login import headers_for
from tests.harness.relay import ask, relaying


async def test_a_ticket_is_traded_for_a_cookie_once(web: Web) -> None:
    ticket = web.authority.ticket()
    got = await web.call("POST", "/login", {"ticket": ticket}, cookie="")
    assert (got.status, got.json) == (200, {"ok": True, "key": got.json["key"]})
    name, _, rest = got.headers["set-cookie"].partition("=")
    value, *flags = rest.split("; ")
    assert name == f"flybridge-{web.port}"
    assert set(flags) == {"Path=/", "Max-Age=2592000", "HttpOnly", "SameSite=Strict"}
    me = await web.call("GET", "/me", cookie=Login(value, got.json["key"]))
    assert msgspec.json.decode(me.body, type=Me).scopes == [
        *("admin", "approve", "input", "interrupt", "spawn", "view")
    ]
    again = await web.call("POST", "/login", {"ticket": ticket}, cookie="")
    assert (again.status, again.code) == (401, "not_authenticated")


async def test_a04_a_login_without_its_key_is_incomplete_and_keeps_its_cookie(web: Web) -> None:
    login = web.login()
    for given in (login.cookie, Login(login.cookie, "x"), Login(login.cookie, web.login().key)):
        got = await web.call("GET", "/me", cookie=given)
        assert (got.status, got.code) == (401, "login_incomplete")
        assert "sign in again" in got.json["detail"]
        assert "set-cookie" not in got.headers  # another tab may be about to store the key
    assert (await web.call("GET", "/me", cookie=login)).status == 200
    refused = [record for record in web.records if record.code == "login_incomplete"]
    assert len(refused) == 3
    assert (await web.call("GET", f"/me?key={login.key}", cookie=login.cookie)).status == 401


async def test_the_password_is_traded_for_a_cookie(web: Web) -> None:
    await web.authority.set_password("correct horse")
    wrong = await web.call("POST", "/login", {"password": "battery staple"}, cookie="")
    assert wrong.status == 401
    got = await web.call("POST", "/login", {"password": "correct horse"}, cookie="")
    assert got.status == 200
    assert "set-cookie" in got.headers


@pytest.mark.parametrize("body", [{}, {"ticket": "a", "password": "b"}, {"token": "a"}])
async def test_a_login_brings_one_thing(web: Web, body: dict[str, str]) -> None:
    assert (await web.call("POST", "/login", body, cookie="")).status == 400


async def test_a_login_that_ended_is_over(web: Web) -> None:
    cookie = web.login()
    got = await web.call("POST", "/logout", {}, cookie=cookie)
    assert got.status == 200
    assert "Max-Age=0" in got.headers["set-cookie"]
    got = await web.call("GET", "/me", cookie=cookie)
    assert got.status == 401
    assert "Max-Age=0" in got.headers["set-cookie"]  # a browser would send it for ever


async def test_a_token_does_not_log_out(web: Web) -> None:
    token = web.token("view")
    assert (await web.call("POST", "/logout", {}, token=token)).status == 400
    assert (await web.call("GET", "/me", token=token)).status == 200


async def test_a_token_is_made_shown_once_and_revoked(web: Web) -> None:
    got = await web.call("POST", "/tokens", {"name": "ci", "scopes": ["view"]})
    token = got.json["token"]
    assert (await web.call("GET", "/me", token=token)).json["scopes"] == ["view"]
    listed = await web.call("GET", "/tokens")
    found = msgspec.json.decode(listed.body, type=TokenList)
    assert [one.name for one in found.tokens] == ["ci"]
    assert token.rpartition(".")[2].encode() not in listed.body
    assert (await web.call("DELETE", "/tokens/ci")).json["name"] == "ci"
    assert (await web.call("GET", "/me", token=token)).status == 401
    assert (await web.call("DELETE", "/tokens/ci")).status == 400


@pytest.mark.parametrize("scope", ["approve", "spawn", "admin"])
async def test_no_token_holds_what_a_person_should(web: Web, scope: str) -> None:
    got = await web.call("POST", "/tokens", {"name": "x", "scopes": ["view", scope]})
    assert (got.status, got.code) == (400, "invalid_request")
    assert web.authority.tokens() == ()


async def test_a_server_proves_that_it_knows_a_token(web: Web) -> None:
    token = web.token("view")
    name = token.removeprefix("fbt_").partition(".")[0]
    path = f"/proof?token_id={name}&nonce=0123456789abcdef"
    got = await web.call("GET", path, cookie="")
    assert got.json["proof"] == web.authority.proof(name, b"0123456789abcdef")
    here = f"127.0.0.1:{web.port}"
    assert got.json["address"] == here
    signed = web.authority.address_proof(name, b"0123456789abcdef", here)
    assert got.json["address_proof"] == signed
    assert (await web.call("GET", "/proof?token_id=x&nonce=short", cookie="")).status == 400


async def test_the_audit_log_is_read_page_by_page(web: Web) -> None:
    for n in range(5):
        await web.call("POST", "/tokens", {"name": f"t{n}"})
    whole = msgspec.json.decode((await web.call("GET", "/audit")).body, type=RecordPage)
    assert [one.n for one in whole.records] == list(range(1, len(whole.records) + 1))
    got = await web.call("GET", "/audit?after=1&limit=2")
    assert [one["n"] for one in got.json["records"]] == [2, 3]
    got = await web.call("GET", "/audit?newest=true&limit=2")
    assert [one["target"] for one in got.json["records"]] == ["t3", "t4"]


async def test_behind_a_proxy_a_client_that_guesses_locks_out_nobody_else(web: Web) -> None:
    await web.authority.set_password("correct horse battery")
    web.app.api.client_header = b"x-forwarded-for"

    async def tried(password: str, client: str) -> int:
        headers = {"content-type": "application/json", "x-forwarded-for": f"9.9.9.9, {client}"}
        body = msgspec.json.encode({"password": password})
        return (await web.raw("POST", "/api/v1/login", body, headers)).status

    assert [await tried("wrong", "203.0.113.5") for _ in range(11)] == [401] * 10 + [429]
    assert await tried("correct horse battery", "203.0.113.5") == 429
    assert await tried("correct horse battery", "203.0.113.6") == 200


async def test_behind_a_proxy_a_refused_login_is_recorded_with_the_address_of_its_client(
    web: Web,
) -> None:
    web.app.api.client_header = b"x-forwarded-for"
    web.keepers = [(os.getpid(), start_time(os.getpid()) or "")]
    headers = {"content-type": "application/json", "x-forwarded-for": "203.0.113.7"}
    body = msgspec.json.encode({"ticket": web.authority.ticket()})
    assert (await web.raw("POST", "/api/v1/login", body, headers)).status == 403
    refused = web.records[-1]
    assert (refused.event, refused.outcome) == ("login", "refused")
    assert (refused.detail, refused.source) == ("agent", "203.0.113.7")


# ---- who holds the connection --------------------------------------------------------------------

TALK = ["input", "interrupt", "view"]
ALL = ["admin", "approve", "input", "interrupt", "spawn", "view"]


async def me_through(web: Web, port: int, login: Login) -> Me:
    headers = headers_for(web.authority.cookie, login)
    status, found, _ = await asyncio.to_thread(ask, port, web.port, "GET", "/me", None, headers)
    assert status == 200
    return msgspec.convert(found, Me)


async def test_a02_a_login_says_how_its_connection_was_judged(web: Web) -> None:
    me = msgspec.json.decode((await web.call("GET", "/me")).body, type=Me)
    assert (me.peer, me.scopes, me.withheld, me.reason) == ("person", ALL, [], "")
    token = await web.call("GET", "/me", token=web.token("view"))
    assert msgspec.json.decode(token.body, type=Me).peer == "person"


async def test_a02_a_login_holds_in_full_on_a_forwarded_connection_if_it_was_made_for_it(
    web: Web,
) -> None:
    await web.authority.set_password("correct horse")
    where = {"door": "http", "source": "test"}
    usual = web.authority.login(web.authority.ticket(), **where)
    remote = web.authority.login(web.authority.ticket(forwarding=True), **where)
    by_password = await web.authority.login_with_password("correct horse", **where)
    with relaying(web.port) as port:
        less = await me_through(web, port, usual)
        assert (less.peer, less.scopes) == ("forwarded", TALK)
        assert (less.withheld, less.reason) == (["admin", "approve", "spawn"], FORWARDED)
        assert not less.of_agent
        for login in (remote, by_password):
            me = await me_through(web, port, login)
            assert (me.peer, me.scopes, me.reason) == ("forwarded", ALL, "")
        headers = headers_for(web.authority.cookie, usual)
        got = await asyncio.to_thread(ask, port, web.port, "GET", "/tokens", None, headers)
        assert (got[0], got[1]["code"], got[1]["data"]["why"]) == (403, "not_allowed", FORWARDED)


async def test_a03_a_link_for_a_browser_here_works_for_a_person_and_nobody_else(web: Web) -> None:
    body = {"ticket": web.authority.ticket(person_only=True)}
    with relaying(web.port) as port:
        status, found, _ = await asyncio.to_thread(ask, port, web.port, "POST", "/login", body)
        assert (status, found["data"]["why"]) == (403, PERSON_ONLY)
    web.keepers = [(os.getpid(), start_time(os.getpid()) or "")]
    assert (await web.call("POST", "/login", body, cookie="")).status == 403
    web.keepers = None
    assert [(one.code, one.detail) for one in web.records if one.event == "login"][-2:] == [
        ("not_allowed", "forwarded"),
        ("not_allowed", "agent"),
    ]
    assert (await web.call("POST", "/login", body, cookie="")).status == 200  # it was not used up
    assert (await web.call("POST", "/login", body, cookie="")).status == 401


async def test_a03_a_printed_link_works_through_a_relay_with_fewer_rights(web: Web) -> None:
    with relaying(web.port) as port:
        for forwarding, scopes in ((False, TALK), (True, ALL)):
            body = {"ticket": web.authority.ticket(forwarding=forwarding)}
            status, found, headers = await asyncio.to_thread(
                ask, port, web.port, "POST", "/login", body
            )
            assert status == 200
            cookie = str(headers["set-cookie"]).partition("=")[2].partition(";")[0]
            login = Login(cookie=cookie, key=found["key"])
            assert (await me_through(web, port, login)).scopes == scopes


async def test_a05_whoever_has_no_good_ticket_causes_no_search(web: Web) -> None:
    """A search through all processes is too expensive for a stranger."""
    for _ in range(3):
        got = await web.call("POST", "/login", {"ticket": "x" * 43}, cookie="")
        assert got.status in (401, 429)
        assert (await web.call("GET", "/me", cookie="x" * 40)).status in (401, 429)
    assert web.searched == []
    assert (await web.call("GET", "/me")).status == 200
    assert len(web.searched) == 1
