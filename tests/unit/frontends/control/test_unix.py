"""The Unix socket: one JSON a line, and who is there is who the kernel says."""

from __future__ import annotations

import time

import pytest

from flybridge.listeners import unix
from flybridge.runtime.keeper import keeper_program
from flybridge.store.teams import Member, Rule, Teams
from tests.harness.control_harness import Line, Steered
from tests.harness.http_harness import OWNER
from tests.harness.waiting import until


async def test_a_message_and_its_acknowledgement(place: Steered) -> None:
    live = await place.ready()
    line = await Line.to(place.path)
    ack = await line.ask(place.message(live, sender="boss"))
    assert (ack["type"], ack["result"]) == ("control.stdin.ack", "ok")
    assert place.lines() == ["hello"]
    assert [one.principal for one in place.notes] == [OWNER, OWNER]
    line.close()


async def test_many_messages_at_once_each_have_theirs(place: Steered) -> None:
    live = await place.ready()
    line = await Line.to(place.path)
    asked = [place.message(live, "capabilities", sender="boss") for _ in range(50)]
    for one in asked:
        line.say(one)
    told = [await line.hear() for _ in asked]
    assert {one["request_id"] for one in told} == {one["request_id"] for one in asked}
    line.close()


async def test_a_bad_message_does_not_end_the_conversation(place: Steered) -> None:
    live = await place.ready()
    line = await Line.to(place.path)
    assert (await line.ask(b"nonsense"))["type"] == "control.error"
    assert (await line.ask(place.message(live, v=7, sender="boss")))["result"] == "rejected"
    assert (await line.ask(place.message(live, sender="boss")))["result"] == "ok"
    line.close()


async def test_nothing_else_can_be_said_here(place: Steered) -> None:
    line = await Line.to(place.path)
    for words in (b'{"type":"hello","proto":1}', b'{"type":"ask","ref":"1","name":"list"}'):
        assert (await line.ask(words))["type"] == "control.error"
    line.close()


async def test_a_sender_may_be_silent_for_long(
    place: Steered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unix, "HELLO_S", 0.05)
    live = await place.ready()
    quiet = await Line.to(place.path)
    over = time.monotonic() + 0.2
    await until(lambda: time.monotonic() > over)
    assert (await quiet.ask(place.message(live, sender="boss")))["result"] == "ok"
    quiet.close()


@pytest.mark.abuse(27)
async def test_abuse_27_an_agent_sends_in_its_own_name_and_only_where_that_is_allowed(
    place: Steered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever connects here is this very process: let it run below a keeper."""
    live = await place.ready()
    monkeypatch.setattr(keeper_program, "is_keeper", lambda one: True)
    monkeypatch.setattr("flybridge.auth.peer.is_keeper", lambda *_: True)
    line = await Line.to(place.path)
    as_person = await line.ask(place.message(live, sender="boss"))
    assert as_person["error"]["code"] == "unknown_sender"
    agent = Member(team="default", name="worker", principal=f"agent:{OWNER}")
    place.file.save(Teams(members=(agent,), rules=()))
    denied = await line.ask(place.message(live, sender="worker"))
    assert denied["error"]["code"] == "policy_denied"
    only = Rule(effect="allow", team="default", sender="worker", session=live.session)
    place.file.save(Teams(members=(agent,), rules=(only,)))
    assert (await line.ask(place.message(live, sender="worker")))["result"] == "ok"
    line.close()
