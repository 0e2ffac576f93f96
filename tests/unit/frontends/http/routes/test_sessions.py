from __future__ import annotations

import msgspec
import pytest

from flybridge.frontends.http.routes.sessions import NewSession
from flybridge.runtime.methods.sessions import OpenParams
from flybridge.session.views import SessionView
from flybridge.testing import recorder
from tests.harness.http_harness import Web
from tests.harness.waiting import until


async def test_a_session_is_opened_listed_and_looked_at(web: Web) -> None:
    live = await web.open(title="first", labels={"team": "red"})
    listed = (await web.call("GET", "/sessions")).json["sessions"]
    assert [(one["session"], one["title"]) for one in listed] == [(live.session, "first")]
    assert listed[0]["labels"] == {"team": "red"}
    got = await web.call("GET", f"/sessions/{live.session}")
    assert got.status == 200
    assert msgspec.json.decode(got.body, type=SessionView).title == "first"


async def test_the_same_request_opens_one_session(web: Web) -> None:
    body = {"agent": "recorder", "cwd": str(web.house.folder)}
    first = await web.call("POST", "/sessions", body, key="k")
    again = await web.call("POST", "/sessions", body, key="k")
    assert first.json == again.json
    other = await web.call("POST", "/sessions", body, key="k2")
    assert other.json != first.json


async def test_a_request_without_a_name_opens_nothing(web: Web) -> None:
    body = {"agent": "recorder", "cwd": str(web.house.folder)}
    got = await web.call("POST", "/sessions", body)
    assert (got.status, got.code) == (400, "invalid_request")
    got = await web.call("POST", "/sessions", {**body, "request": "a"}, key="b")
    assert (got.status, got.code) == (400, "invalid_request")
    assert (await web.call("GET", "/sessions")).json == {"sessions": []}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("?archived=true", 1),
        ("?archived=false", 1),
        ("?agent=recorder", 2),
        ("?agent=other", 0),
        ("?label=team", 1),
        ("?label=team%3Dred", 1),
        ("?label=team%3Dblue", 0),
    ],
)
async def test_the_list_is_filtered(web: Web, query: str, count: int) -> None:
    live = await web.open(labels={"team": "red"})
    await web.open("second")
    got = await web.call("PATCH", f"/sessions/{live.session}", {"archived": True})
    assert got.status == 200, got
    got = await web.call("GET", f"/sessions{query}")
    assert len(got.json["sessions"]) == count


async def test_a_session_is_renamed_archived_and_brought_back(web: Web) -> None:
    live = await web.open()
    path = f"/sessions/{live.session}"
    got = await web.call("PATCH", path, {"title": "new", "archived": True})
    assert (got.json["title"], got.json["archived"]) == ("new", True)
    got = await web.call("PATCH", path, {"archived": False})
    assert (got.json["title"], got.json["archived"]) == ("new", False)
    assert (await web.call("PATCH", path, {})).status == 400


async def test_a_deleted_session_is_gone(web: Web) -> None:
    live = await web.open()
    path = f"/sessions/{live.session}"
    assert (await web.call("DELETE", path)).status == 200
    await until(lambda: not web.house.sessions.rows())
    got = await web.call("GET", path)
    assert (got.status, got.code) == (404, "session_not_found")


async def test_a_stopped_agent_starts_again_with_the_next_input(web: Web) -> None:
    live = await web.open()
    assert (await web.say(live, "one", "k1")).status == 200
    assert (await web.call("POST", f"/sessions/{live.session}/stop", {})).status == 200
    await until(lambda: live.memory.state.phase == "none")
    assert (await web.say(live, "two", "k2")).json["stage"] == "done"
    assert len(recorder.executed(web.house.record)) == 2


async def test_a_session_is_forked_continued_and_resumed(web: Web) -> None:
    live = await web.open(title="mother")
    path = f"/sessions/{live.session}"
    early = await web.call("POST", f"{path}/fork", {}, key="f0")
    assert (early.status, early.code) == (400, "invalid_request")  # nothing was said yet
    await web.say(live, "hello", "k1")
    fork = await web.call("POST", f"{path}/fork", {"title": "child"}, key="f1")
    assert fork.status == 201, fork
    assert fork.json["session"] != live.session
    assert (await web.call("POST", f"{path}/fork", {"title": "child"}, key="f1")).json == fork.json
    listed = {
        one["session"]: one["title"]
        for one in (await web.call("GET", "/sessions")).json["sessions"]
    }
    assert listed[fork.json["session"]] == "child"
    same = await web.call("POST", f"{path}/resume", {}, key="r1")
    assert same.json["session"] == live.session  # it is not closed: it goes on by itself
    more = await web.call("POST", f"{path}/continue", {}, key="c1")
    assert more.status == 201, more


async def test_a_closed_session_goes_on_in_a_new_one(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    conversation = live.memory.state.agent_session
    close = {"command": {"type": "close"}, "until": "accepted"}
    path = f"/sessions/{live.session}"
    assert (await web.call("POST", f"{path}/commands", close, key="c")).status == 200
    await until(lambda: live.memory.state.phase == "none")
    got = await web.call("POST", f"{path}/resume", {}, key="r1")
    assert got.json["session"] != live.session
    assert got.json["resumed"] == conversation


def test_every_way_to_open_a_session_can_be_said() -> None:
    ours = {field.name: field.type for field in msgspec.structs.fields(NewSession)}
    theirs = {field.name: field.type for field in msgspec.structs.fields(OpenParams)}
    # a key makes a process the opener of a session: over HTTP nobody is a process
    assert ours.keys() | {"key_digest", "ci_key"} == theirs.keys()
