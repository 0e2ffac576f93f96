from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.ids import PromptId, SessionId
from flybridge.model.requests import Detach
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.runtime.services import Limits
from flybridge.session.authorisation import Caller
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import EVERYTHING, House, ListClient
from tests.harness.waiting import until

ASKS = steps({"tool": "Bash", "input": {"command": "ls"}, "ask": True, "result": "files"})


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, limits=Limits(held_inputs=2, agents=2), grace_s=1.0)
    yield house
    await house.end()


def visitor(*scopes: str) -> ListClient:
    return ListClient(
        Caller(principal="you", scopes=frozenset(scopes), process="2:2:b")  # type: ignore[arg-type]
    )


async def test_a_message_runs_once_and_its_reply_says_how_far_it_got(house: House) -> None:
    live = await house.open()
    reply = await house.say(live, "hi", "r1")
    assert (reply.stage, reply.error, reply.duplicate) == (Stage.DONE, "", False)
    assert len(recorder.executed(str(house.record))) == 1
    assert house.client.seqs() == list(range(1, len(house.client.events) + 1))


async def test_the_same_request_again_gets_the_recorded_outcome(house: House) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    again = await house.say(live, "hi", "r1")
    assert (again.stage, again.duplicate) == (Stage.DONE, True)
    assert len(recorder.executed(str(house.record))) == 1


async def test_a_hundred_duplicates_at_once_run_once(house: House) -> None:
    live = await house.open()
    replies = await asyncio.gather(*(house.say(live, "hi", "r1") for _ in range(100)))
    assert {reply.stage for reply in replies} == {Stage.DONE}
    assert sum(not reply.duplicate for reply in replies) == 1
    assert len(recorder.executed(str(house.record))) == 1


async def test_another_body_under_the_same_id_is_refused(house: House) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    assert (await house.say(live, "other", "r1")).error == "request_id_reused"


async def test_two_principals_do_not_share_ids(house: House) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    other = visitor("view", "input")
    reply = await house.say(live, "mine", "r1", client=other)
    assert (reply.stage, reply.duplicate) == (Stage.DONE, False)


async def test_a_reply_that_takes_too_long_says_so_and_the_input_goes_on(house: House) -> None:
    live = await house.open()
    gate = house.folder / "gate"
    text = steps({"wait_file": str(gate)}, {"say": "done"})
    reply = await house.say(live, text, "r1", wait_ms=50)
    assert reply.error == "in_progress"
    gate.touch()
    assert (await house.say(live, text, "r1")).stage is Stage.DONE


async def test_two_answers_to_one_prompt_have_one_winner(house: House) -> None:
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    answers = [
        c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision=one)
        for one in ("allow", "deny")
    ]
    first = await house.submit(live.session, answers[0], "a1", Stage.DONE)
    second = await house.submit(live.session, answers[1], "a2")
    again = await house.submit(live.session, answers[0], "a1")
    assert first.stage is Stage.DONE
    assert (second.error, "allow by me" in second.message) == ("already_decided", True)
    assert again.duplicate
    await house.saw(e.TurnEnded)
    assert len(recorder.ran(str(house.record))) == 1


async def test_only_who_may_approve_answers(house: House) -> None:
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    allow = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    guest = visitor("view", "input", "interrupt", "spawn")
    assert (await house.submit(live.session, allow, "a1", client=guest)).error == "not_allowed"
    assert recorder.ran(str(house.record)) == []
    assert (await house.submit(live.session, allow, "a1")).error == ""


async def test_an_answer_to_nothing_is_refused(house: House) -> None:
    live = await house.open()
    allow = c.AnswerPermission(prompt=PromptId("prm_x"), digest="", decision="allow")
    assert (await house.submit(live.session, allow, "a1")).error == "already_closed"


async def test_an_interrupt_ends_the_turn_it_was_meant_for(house: House) -> None:
    live = await house.open()
    await house.say(live, steps({"stall": 60}), "r1", Stage.OBSERVED)
    turn = (await house.saw(e.TurnStarted)).turn
    reply = await house.submit(live.session, c.Interrupt(turn=turn), "i1", Stage.DONE)
    assert reply.stage is Stage.DONE
    assert (await house.saw(e.TurnEnded)).reason == "interrupted"
    late = await house.submit(live.session, c.Interrupt(turn=turn), "i2")
    assert late.error == "stale_turn"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("nonsense", {}),
        ("open", {}),
        ("open", {"agent": "recorder", "cwd": "/no/such/place", "request": "x"}),
        ("open", {"agent": "recorder", "cwd": "relative", "request": "x"}),
        ("open", {"agent": "recorder", "cwd": "/tmp", "request": ""}),
        (
            "open",
            {
                "agent": "recorder",
                "cwd": "/tmp",
                "request": "x",
                "labels": {"flybridge.opener": ""},
            },
        ),
    ],
)
async def test_bad_questions_get_a_named_error(
    house: House, name: str, params: dict[str, object]
) -> None:
    assert (await house.ask(name, **params)).error == "invalid_request"


async def test_missing_things_have_names(house: House) -> None:
    asked = {"cwd": "/tmp", "request": "x"}
    assert (await house.ask("open", agent="nobody", **asked)).error == "agent_not_found"
    assert (await house.ask("open", agent="missing", **asked)).error == "agent_not_found"
    assert (await house.ask("view", session="ses_no")).error == "session_not_found"
    assert (await house.attach(SessionId("ses_no"))).error == "session_not_found"
    reply = await house.submit(SessionId("ses_no"), c.Close(), "c1")
    assert reply.error == "session_not_found"


async def test_a_request_needs_an_id_of_reasonable_length(house: House) -> None:
    live = await house.open()
    for request in ("", "x" * 999):
        assert (await house.submit(live.session, c.Close(), request)).error == "invalid_request"


async def test_a_visitor_without_scopes_gets_nothing(house: House) -> None:
    live = await house.open()
    nobody = visitor()
    asked = {"agent": "recorder", "cwd": "/tmp", "request": "x"}
    replies = [
        await house.ask("list", nobody),
        await house.ask("view", nobody, session=live.session),
        await house.ask("page", nobody, session=live.session),
        await house.ask("open", nobody, **asked),
        await house.ask("stop_agent", nobody, session=live.session),
        await house.attach(live.session, nobody),
        await house.submit(live.session, c.Interrupt(), "i", client=nobody),
    ]
    assert {reply.error for reply in replies} == {"not_allowed"}
    opener = visitor("view", "spawn")
    assert (await house.ask("open", opener, mode="acceptEdits", **asked)).error == "not_allowed"


async def test_who_may_only_open_sessions_opens_none_that_grant_anything(house: House) -> None:
    asked = {"agent": "recorder", "cwd": "/tmp", "request": "x"}
    for options in (
        {"skip_permissions": True},
        {"allow_bypass": True},
        {"allowed_tools": ["Bash"]},
        {"add_dirs": ["/etc"]},
        {"settings": "{}"},
        {"mcp_config": ["{}"]},
        {"plugin_dirs": ["/tmp"]},
        {"setting_sources": ["user"]},
        {"agents": "{}"},
    ):
        reply = await house.ask("open", visitor("view", "spawn"), options=options, **asked)
        assert (reply.error, next(iter(options)) in reply.message) == ("not_allowed", True)
    harmless = {"effort": "high", "max_turns": 3, "disallowed_tools": ["Bash"]}
    reply = await house.ask("open", visitor("view", "spawn"), options=harmless, **asked)
    assert reply.error == ""


async def test_options_reach_the_agent_in_every_life(house: House) -> None:
    live = await house.open(options={"max_turns": 3, "system_prompt": "-be brief"})
    await house.say(live, "hi", "r1")
    await house.ask("stop_agent", session=live.session)
    await house.say(live, "hi", "r2")
    started = [one for one in recorder.read_record(str(house.record)) if one.kind == "started"]
    assert len(started) == 2
    for one in started:
        assert "--system-prompt=-be brief" in one.data["started"]


async def test_what_makes_no_sense_together_is_refused_before_anything_starts(
    house: House,
) -> None:
    asked = {"agent": "recorder", "cwd": "/tmp", "request": "x"}
    for params in (
        {"resume": "abc", "continue_latest": True},
        {"continue_latest": True, "from_pr": "1"},
        {"mode": "plan", "options": {"skip_permissions": True}},
        {"options": {"effort": "enormous"}},
    ):
        reply = await house.ask("open", **asked, **params)
        assert reply.error == "agent_start", reply
    assert (await house.ask("open", **asked, options={"max_turns": "x"})).error == "invalid_request"
    for options in ({"agents": "no json"}, {"max_turns": -1}):
        reply = await house.ask("open", **asked, agent_options=options)
        assert (reply.error, next(iter(options)) in reply.message) == ("invalid_option", True)
        old = await house.ask("open", **asked, options=options)
        assert (old.error, old.message) == (reply.error, reply.message)
    assert house.sessions.rows() == []


async def test_a_message_to_an_agent_that_is_ending_starts_the_next_one(house: House) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    row = live.memory.incarnation
    assert row is not None
    os.kill(row.agent_pid, signal.SIGSTOP)  # it cannot end before it is let
    stopping = asyncio.create_task(house.ask("stop_agent", session=live.session))
    await until(lambda: row.asked_to_end)
    assert row.state == "live"
    saying = asyncio.create_task(house.say(live, "again", "r2"))
    await asyncio.sleep(0)  # it is asked, and waits for the end
    os.kill(row.agent_pid, signal.SIGCONT)
    assert (await saying).stage is Stage.DONE
    await stopping
    assert live.memory.state.lives == 2


async def test_the_list_and_the_pages_show_what_there_is(house: House) -> None:
    live = await house.open(title="work")
    await house.say(live, "hi", "r1")
    listed = msgspec.json.decode((await house.ask("list")).value)["sessions"]  # type: ignore[arg-type]
    assert [(one["title"], one["status"], one["why"]) for one in listed] == [
        ("work", "idle", "nothing")
    ]
    page = msgspec.json.decode((await house.ask("page", session=live.session, after=2)).value)  # type: ignore[arg-type]
    assert [one["seq"] for one in page["events"]] == list(range(3, page["head"] + 1))
    view = msgspec.json.decode((await house.ask("view", session=live.session)).value)  # type: ignore[arg-type]
    assert view["turns"] == 1


async def test_a_client_can_come_back_to_any_place_and_leave(house: House) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    head = live.memory.state.seq
    late, newest, lost = ListClient(), ListClient(), ListClient()
    await house.attach(live.session, late, after=3, epoch=1)
    await house.attach(live.session, newest, last=2)
    reply = await house.attach(live.session, lost, after=3, epoch=7)
    assert msgspec.json.decode(reply.value)["reset"] is True  # type: ignore[arg-type]
    await until(lambda: late.views and newest.views and lost.views)
    assert late.seqs() == list(range(4, head + 1))
    assert newest.seqs() == [head - 1, head]
    assert lost.seqs() == list(range(1, head + 1))
    await house.desk.handle(late, Detach(session=live.session))
    house.desk.gone(newest)
    house.desk.drained(lost)
    await house.say(live, "more", "r2")
    assert late.seqs()[-1] == newest.seqs()[-1] == head
    await until(lambda: lost.seqs()[-1] > head)


async def test_opening_twice_under_one_request_opens_once(house: House) -> None:
    asked = {"agent": "recorder", "cwd": str(house.folder), "request": "same"}
    replies = await asyncio.gather(*(house.ask("open", **asked) for _ in range(5)))
    assert len({bytes(reply.value) for reply in replies}) == 1  # type: ignore[arg-type]
    assert len(house.sessions.rows()) == 1


async def test_limits_are_limits(house: House) -> None:
    live = await house.open()
    await house.open(request="second")
    asked = {"agent": "recorder", "cwd": "/tmp", "request": "third"}
    assert (await house.ask("open", **asked)).error == "busy"
    await house.say(live, steps({"stall": 60}), "r0", Stage.OBSERVED)
    queued = [await house.say(live, "q", f"q{n}", Stage.ACCEPTED, mode="queue") for n in range(3)]
    assert [reply.error for reply in queued] == ["", "", "busy"]


async def test_a_failure_of_ours_is_a_reply_too(house: House) -> None:
    broken = ListClient(EVERYTHING)

    async def fails(caller: Caller, params: NoParams) -> object:
        raise RuntimeError("boom")

    parts = house.sessions, house.services.hub, house.journal, house.services.blobs
    house.desk = Desk(*parts, {"broken": Question("view", NoParams, fails)})
    assert (await house.ask("broken", broken)).error == "internal"


async def test_closing_and_deleting_a_session_ends_its_agent(house: House) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    await house.submit(live.session, c.Close(), "c1", Stage.DONE)
    await house.saw(e.AgentExited)
    text = c.SendInput(content=(Text("x"),))
    assert (await house.submit(live.session, text, "r2")).error == "session_closed"
    await house.submit(live.session, c.Delete(), "d1", Stage.DONE)
    await until(lambda: house.client.ended == ["session_deleted"])
    assert (await house.ask("view", session=live.session)).error == "session_not_found"
    assert house.sessions.rows() == []


async def test_a_conversation_has_one_writer_and_a_copy_may_be_made(house: House) -> None:
    asked = {"agent": "recorder", "cwd": str(house.folder)}
    for params in ({"fork": True}, {"resume": "../etc"}, {"resume": "-x"}):
        reply = await house.ask("open", request="bad", **asked, **params)
        assert reply.error == "invalid_request"
    live = await house.open()
    await house.say(live, "hi", "r1")
    mine = live.memory.state.agent_session
    assert mine
    again = await house.ask("open", request="second", resume=mine, **asked)
    assert again.error == "busy"
    copy = await house.open(request="copy", resume=mine, fork=True)
    assert (await house.say(copy, "hi", "r2")).stage is Stage.DONE
    started = [one for one in recorder.read_record(str(house.record)) if one.kind == "started"]
    assert "--fork-session" in started[-1].data["started"]
