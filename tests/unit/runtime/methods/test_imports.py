from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model import events as e
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.ids import SessionId
from flybridge.runtime.methods.imports import IMPORTED
from flybridge.runtime.unit_of_work import replay
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Past
from flybridge.store.memory import MemoryJournal
from flybridge.testing import recorder
from flybridge.testing.faulty import Fault, FaultyJournal
from tests.harness.runtime_harness import House, ListClient
from tests.harness.stub_records import CONVERSATION, OTHER, Records, told


def house(folder: Path, *pasts: Past, journal: Any = None) -> tuple[House, Records]:
    made, records = House(folder, journal), Records(*pasts)
    made.services.conversations = records
    return made, records


async def take(house: House, conversation: str = CONVERSATION, **more: Any) -> dict[str, Any]:
    reply = await house.ask("import", **{"agent": "recorder", **more}, conversation=conversation)
    assert not reply.error, reply
    return value(reply)


def value(reply: Reply) -> dict[str, Any]:
    return dict(msgspec.json.decode(reply.value))  # type: ignore[arg-type]


def log(house: House, session: str) -> list[e.Event]:
    return [one.event for one in replay(house.journal, SessionId(session), 0)]


async def test_a_conversation_becomes_a_session_without_an_agent(short_tmp: Path) -> None:
    one, _ = house(short_tmp, told(turns=2))
    done = await take(one)
    assert (done["known"], done["turns"], done["title"]) == (False, 2, "boats")
    (row,) = one.sessions.rows()
    assert (row.session, row.cwd, row.title) == (done["session"], "/home/ada/boat", "boats")
    assert (row.archived, row.conversation) == (True, CONVERSATION)
    assert row.labels == {IMPORTED: CONVERSATION}
    assert one.sessions.loaded(row.session) is None  # a thousand of them cost no memory
    assert one.services.agents == 0
    kinds = [type(event) for event in log(one, row.session)]
    assert kinds[:2] == [e.SessionOpened, e.History]
    assert kinds[-2:] == [e.History, e.SessionChanged]
    await one.end()


async def test_it_may_be_put_where_everybody_sees_it(short_tmp: Path) -> None:
    one, _ = house(short_tmp, told())
    done = await take(one, archived=False, title="mine")
    (row,) = one.sessions.rows()
    assert (row.archived, row.title, done["title"]) == (False, "mine", "mine")
    await one.end()


async def test_however_often_it_is_imported_it_is_there_once(short_tmp: Path) -> None:
    one, records = house(short_tmp, told(), told(OTHER))
    replies = await asyncio.gather(*(take(one) for _ in range(4)))
    assert len({reply["session"] for reply in replies}) == 1
    assert sorted(reply["known"] for reply in replies) == [False, True, True, True]
    before = log(one, replies[0]["session"])
    reads = len(records.reads)
    assert (await take(one))["known"]
    assert len(records.reads) == reads  # not even looked at again
    assert log(one, replies[0]["session"]) == before
    someone = ListClient(Caller(principal="else", scopes=frozenset({"spawn"}), process="2:2:b"))
    asked = {"agent": "recorder", "conversation": CONVERSATION}
    assert value(await one.ask("import", someone, **asked))["session"] == replies[0]["session"]
    assert (await take(one, OTHER))["session"] != replies[0]["session"]
    await one.end()


async def test_a_conversation_that_a_session_of_ours_had_is_that_session(short_tmp: Path) -> None:
    one, _ = house(short_tmp, told())
    live = await one.open(resume=CONVERSATION)
    await one.saw(e.AgentConnected)
    done = await take(one)
    assert (done["session"], done["known"]) == (live.session, True)
    assert len(one.sessions.rows()) == 1
    await one.end()


async def test_the_same_id_of_another_kind_is_another_conversation(short_tmp: Path) -> None:
    one, _ = house(short_tmp, told())
    live = await one.open("courier", resume=CONVERSATION)
    await one.saw(e.AgentReady)
    assert one.sessions.rows()[0].conversation == CONVERSATION
    done = await take(one)
    assert (done["session"] != live.session, done["known"]) == (True, False)
    await one.end()


async def test_the_first_message_goes_on_with_it(short_tmp: Path) -> None:
    past = msgspec.structs.replace(told(), cwd=str(short_tmp))
    one, records = house(short_tmp, past)
    session = SessionId((await take(one))["session"])
    await one.attach(session)
    live = one.sessions.get(session)
    assert live.memory.state.turns == 0
    assert (await one.say(live, "hi", "r1")).stage is Stage.DONE
    assert [event.resumed for event in one.client.of(e.AgentStarted)] == [True]
    (launched,) = [r.data for r in recorder.read_record(one.record) if r.kind == "started"]
    assert f"--resume {CONVERSATION}" in " ".join(launched["started"])
    assert live.memory.state.turns == 1
    assert records.claimed == []
    await one.end()


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"conversation": OTHER}, "session_not_found"),
        ({"agent": "missing"}, "not_supported"),
        ({"conversation": "empty"}, "invalid_request"),
        ({"conversation": "busy"}, "busy"),
    ],
)
async def test_what_cannot_be_imported_leaves_nothing(
    short_tmp: Path, params: dict[str, str], code: str
) -> None:
    one, records = house(short_tmp, told(), told("empty", turns=0))
    records.users["busy"] = [4711]
    asked = {"agent": "recorder", "conversation": CONVERSATION, **params}
    assert (await one.ask("import", **asked)).error == code
    assert one.sessions.rows() == []
    await one.end()


class Trusting:
    """One folder is trusted."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def holds(self, folder: Path, kind: str, /) -> bool:
        return folder == self._folder and kind == "claude"

    def add(self, folder: Path, kind: str = "", /) -> None:
        raise AssertionError("an import trusts nothing")

    def remove(self, folder: Path, kind: str = "", /) -> bool:
        return False

    def by_kind(self) -> dict[str, list[str]]:
        return {"claude": self.all()}

    def all(self) -> list[str]:
        return [str(self._folder)]


@pytest.mark.parametrize(("folder", "obeyed"), [("/home/ada/boat", True), ("/elsewhere", False)])
async def test_what_a_folder_brings_is_left_out_unless_it_is_trusted(
    short_tmp: Path, folder: str, obeyed: bool
) -> None:
    one, _ = house(short_tmp, told())
    one.services.trusted = Trusting(folder)
    await take(one)
    (row,) = one.sessions.rows()
    options = one.sessions.get(row.session).memory.state.start.agent_options
    assert options == ({} if obeyed else ClaudeAgent().restricted({}))
    await one.end()


async def test_only_who_may_open_sessions_may_import_them(short_tmp: Path) -> None:
    one, _ = house(short_tmp, told())
    viewer = ListClient(Caller(principal="v", scopes=frozenset({"view", "input"})))
    asked = {"agent": "recorder", "conversation": CONVERSATION}
    assert (await one.ask("import", viewer, **asked)).error == "not_allowed"
    one.services.conversations = None
    assert (await one.ask("import", **asked)).error == "not_supported"
    await one.end()


async def test_a_disk_that_refused_is_used_again_once_it_works(short_tmp: Path) -> None:
    journal = FaultyJournal(MemoryJournal(), commit=Fault(first=1, last=1))
    one, _ = house(short_tmp, told(), journal=journal)
    asked = {"agent": "recorder", "conversation": CONVERSATION}
    assert (await one.ask("import", **asked)).error == "storage_failed"
    assert one.sessions.rows() == []
    assert not (await take(one))["known"]
    await one.end()
