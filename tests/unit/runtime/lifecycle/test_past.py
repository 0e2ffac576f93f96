from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.errors import StorageError
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.runtime.unit_of_work import load_memory, replay
from flybridge.session.state import encode_state
from flybridge.testing import recorder
from tests.harness.runtime_harness import House
from tests.harness.stub_records import CONVERSATION, OTHER, Records, told
from tests.harness.waiting import until


def house(folder: Path, records: Records) -> House:
    made = House(folder)
    made.services.conversations = records
    return made


@pytest.mark.parametrize("fork", [False, True])
async def test_a_session_that_goes_on_with_a_conversation_begins_with_it(
    short_tmp: Path, fork: bool
) -> None:
    records = Records(told(turns=2))
    one = house(short_tmp, records)
    live = await one.open(resume=CONVERSATION, fork=fork)
    await one.saw(e.AgentConnected)
    tags = one.client.tags()
    assert tags[:2] == ["session.opened", "history"]
    assert tags.index("agent.started") == 2 + 2 * 7 + 1
    assert [one.text for one in one.client.of(e.TextDone)] == ["answer 1", "answer 2"]
    state = live.memory.state
    assert (state.turns, state.cost_usd, state.turn, state.past) == (0, 0.0, "", False)
    assert (state.inputs, state.items) == ({}, {})
    assert (state.spoke, state.forks) == (not fork, CONVERSATION if fork else "")
    assert records.reads == [("recorder", CONVERSATION, str(short_tmp))]
    assert threading.get_ident() not in records.threads
    await one.say(live, "hi", "r1")
    assert live.memory.state.turns == 1
    await one.end()


async def test_it_is_one_commit_with_the_times_it_had(short_tmp: Path) -> None:
    one = house(short_tmp, Records(told(turns=600)))
    live = await one.open(resume=CONVERSATION)
    entries = list(replay(one.journal, live.session, 0))
    assert [one.seq for one in entries] == list(range(1, len(entries) + 1))
    times = {type(one.event): one.at_ms for one in entries[:5]}
    assert times[e.TurnStarted] == 1000
    assert times[e.SessionOpened] == times[e.History] > 1000
    batches = one.journal.read(live.session, 0, 1 << 30)
    assert batches[0].count < 600 * 7  # pieces a client can take one at a time
    await one.saw(e.AgentStarted)
    assert one.client.seqs()[: len(entries)] == [one.seq for one in entries]
    loaded = one.journal.load(live.session)
    assert loaded is not None
    assert loaded.row.conversation == CONVERSATION
    await one.end()
    again = load_memory(one.journal, msgspec.structs.replace(loaded, snapshot=None))
    assert encode_state(again.state) == encode_state(live.memory.state)


async def test_what_is_too_long_is_stored_before_it_is_named(short_tmp: Path) -> None:
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    one = house(short_tmp, Records(told(blobs={digest: b"hello"})))
    await one.open(resume=CONVERSATION)
    await one.saw(e.AgentConnected)
    assert one.services.blobs.get(digest) == b"hello"
    await one.end()


@pytest.mark.parametrize("error", [StorageError("no disk"), ZeroDivisionError("ours")])
async def test_what_cannot_be_read_is_said_and_keeps_nobody_from_working(
    short_tmp: Path, error: Exception
) -> None:
    records = Records()
    records.error = error
    one = house(short_tmp, records)
    live = await one.open(resume=CONVERSATION)
    (notice,) = one.client.of(e.Notice) or [await one.saw(e.Notice)]
    assert notice.text.startswith("what was said before cannot be shown: ")
    assert ("no disk" in notice.text) == isinstance(error, StorageError)
    assert (await one.say(live, "hi", "r1")).stage is Stage.DONE
    await one.end()


async def test_a_new_conversation_or_another_kind_of_agent_has_no_past(short_tmp: Path) -> None:
    records = Records(told())
    one = house(short_tmp, records)
    await one.open()
    assert records.reads == []
    assert (await one.ask("open", agent="missing", cwd="/", request="x", resume=OTHER)).error
    await one.end()


async def test_the_same_request_twice_at_once_opens_one_session_with_one_past(
    short_tmp: Path,
) -> None:
    one = house(short_tmp, Records(told()))
    asked = {"agent": "recorder", "cwd": str(short_tmp), "request": "r", "resume": CONVERSATION}
    replies = await asyncio.gather(*(one.ask("open", **asked) for _ in range(3)))
    assert len({bytes(reply.value) for reply in replies}) == 1  # type: ignore[arg-type]
    (row,) = one.sessions.rows()
    tags = [type(entry.event) for entry in replay(one.journal, row.session, 0)]
    assert tags.count(e.SessionOpened) == 1
    assert tags.count(e.History) == 2
    await one.end()


# ---- one writer ----------------------------------------------------------------------------------


async def test_a_conversation_that_is_open_elsewhere_can_only_be_forked(short_tmp: Path) -> None:
    records = Records(told())
    records.users[CONVERSATION] = [4711]
    one = house(short_tmp, records)
    asked: dict[str, Any] = {
        "agent": "recorder",
        "cwd": str(short_tmp),
        "resume": CONVERSATION,
    }
    refused = await one.ask("open", request="r", **asked)
    assert refused.error == "busy"
    assert "process 4711 has this conversation open" in refused.message
    assert one.sessions.rows() == []
    await one.open(request="f", fork=True, **asked)
    await one.saw(e.AgentConnected)
    assert records.claimed == []
    await one.end()


async def test_a_message_does_not_start_a_second_writer(short_tmp: Path) -> None:
    records = Records(told())
    one = house(short_tmp, records)
    live = await one.open(resume=CONVERSATION)
    await until(lambda: live.link)
    assert records.claimed == []  # given back: from here on the agent shows by itself
    await one.sessions.stop_agent(live.session)
    records.users[CONVERSATION] = [4711]
    reply = await one.say(live, "hi", "r1")
    assert reply.error == "not_delivered"
    exited = one.client.of(e.AgentExited)[-1]
    assert exited.why == "not_started"
    assert "process 4711 has this conversation open" in exited.stderr_tail
    records.users.clear()
    again = await one.say(live, "hi", "r1")
    assert again.stage is Stage.DONE
    assert len(recorder.executed(one.record)) == 1
    assert records.guesses == [True, False, False]  # from the second life on it was ours
    await one.end()
