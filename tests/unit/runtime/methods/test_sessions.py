from __future__ import annotations

import msgspec

from flybridge.model import commands as c
from flybridge.model.audit import Record
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.methods.sessions import NoParams, Question, SessionQuestions
from flybridge.session.authorisation import Caller
from tests.harness.runtime_harness import EVERYTHING, House, ListClient


def limited(*sessions: str) -> ListClient:
    return ListClient(
        Caller(principal="token:1", scopes=EVERYTHING.scopes, sessions=frozenset(sessions))
    )


async def test_who_may_know_of_one_session_knows_of_no_other(house: House) -> None:
    """Abuse case 38."""
    mine = await house.open(request="mine")
    other = await house.open(request="other")
    client = limited(mine.session)
    for name in ("view", "page", "query", "stop_agent"):
        reply = await house.ask(name, client, session=other.session, name="mcp")
        nothing = await house.ask(name, client, session="ses_none", name="mcp")
        assert reply.error == nothing.error == "session_not_found"
        assert reply.message == nothing.message.replace("ses_none", other.session)
    assert (await house.attach(other.session, client)).error == "session_not_found"
    reply = await house.submit(other.session, c.Interrupt(), "i", client=client)
    assert reply.error == "session_not_found"
    listed = msgspec.json.decode((await house.ask("list", client)).value)  # type: ignore[arg-type]
    assert [one["session"] for one in listed["sessions"]] == [mine.session]
    assert (await house.ask("view", client, session=mine.session)).error == ""


async def test_rights_that_were_used_and_refused_are_written_down(house: House) -> None:
    noted: list[Record] = []
    parts = house.sessions, house.services.hub, house.journal, house.services.blobs
    house.desk = Desk(*parts, {}, noted.append)
    live = await house.open()
    nobody = ListClient(Caller(principal="you", scopes=frozenset({"view"}), source="10.0.0.1"))
    await house.ask("stop_agent", nobody, session=live.session)
    await house.submit(live.session, c.Delete(), "d", client=nobody)
    await house.say(live, "hello", "r1")
    await house.submit(live.session, c.SetMode(mode="plan"), "m1")
    assert [(one.event, one.outcome, one.principal, one.detail) for one in noted] == [
        ("open", "done", "me", ""),
        ("stop_agent", "refused", "you", "interrupt"),
        ("delete", "refused", "you", "spawn"),
        ("set_mode", "done", "me", "mode plan"),
    ]
    assert noted[1].source == "10.0.0.1"
    assert (noted[2].session, noted[2].request) == (live.session, "d")


async def test_an_agent_that_somebody_follows_may_be_spared(house: House) -> None:
    live = await house.open()  # and follow it
    asked = {"session": live.session, "unless_followed": True}
    spared = await house.ask("stop_agent", **asked)
    assert msgspec.json.decode(spared.value) == {"stopped": False}  # type: ignore[arg-type]
    house.desk.detach(house.client, live.session)
    ended = await house.ask("stop_agent", **asked)
    assert msgspec.json.decode(ended.value) == {"stopped": True}  # type: ignore[arg-type]


async def test_a_question_says_what_it_needs_and_takes(house: House) -> None:
    parts = house.sessions, house.journal, house.services.blobs
    table = SessionQuestions(*parts).table()
    assert (table["open"].scope, table["stop_agent"].scope) == ("spawn", "interrupt")

    async def hello(caller: Caller, _: NoParams) -> object:
        return {"hello": caller.principal}

    more = house.sessions, house.services.hub, house.journal, house.services.blobs
    house.desk = Desk(*more, {"hello": Question("admin", NoParams, hello)})
    assert msgspec.json.decode((await house.ask("hello")).value) == {"hello": "me"}  # type: ignore[arg-type]
    nobody = ListClient(Caller(principal="you", scopes=frozenset({"view"})))
    assert (await house.ask("hello", nobody)).error == "not_allowed"


async def test_a_request_that_opened_a_session_opens_no_other_one(house: House) -> None:
    """Abuse case 43."""
    wanted = {"agent": "recorder", "cwd": str(house.folder), "request": "same"}
    first = await house.ask("open", **wanted)
    assert (await house.ask("open", **wanted)).value == first.value
    for other in ({"agent": "missing"}, {"cwd": "/"}):
        assert (await house.ask("open", **{**wanted, **other})).error == "request_id_reused"
    assert len(house.sessions.rows()) == 1
