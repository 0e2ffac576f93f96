"""The key of a session: who shows it decides there, an agent never does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from flybridge.auth.peer import OPEN, TALK
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.audit import Record
from flybridge.runtime.access.claims import digest_of
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.overview import Overview
from flybridge.session.authorisation import KEY, Caller
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House, ListClient

SECRET = "k" * 43
ASK = steps({"tool": "Bash", "input": {"command": "echo hi"}, "ask": True, "result": "hi"})
SCRIPT = Caller(principal="me", scopes=OPEN, process="8:1:boot")
AGENT = Caller(principal="agent:me", scopes=TALK, process="9:1:boot", of_agent=True)


class Claimed:
    """A session that somebody opened with a key, with a prompt that waits."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.noted: list[Record] = []
        extra = Overview(house.services, house.sessions).table()
        parts = house.sessions, house.services.hub, house.journal, house.services.blobs
        house.desk = Desk(*parts, extra, self.noted.append)

    async def asking(self) -> LiveSession:
        live = await self.house.open(key_digest=digest_of(SECRET))
        await self.house.say(live, ASK, "ask", wait_ms=0)
        await self.house.saw(e.PermissionRequested)
        return live

    async def claim(self, who: Caller, session: str, key: str) -> str:
        return (await self.house.ask("claim", ListClient(who), session=session, key=key)).error

    async def answer(self, who: Caller, live: LiveSession, request: str) -> str:
        asked = self.house.client.of(e.PermissionRequested)[-1]
        allow = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
        reply = await self.house.submit(live.session, allow, request, client=ListClient(who))
        return reply.error


@pytest.fixture
async def claimed(short_tmp: Path) -> AsyncIterator[Claimed]:
    house = House(short_tmp)
    yield Claimed(house)
    await house.end()


async def test_who_shows_the_key_decides_in_that_session(claimed: Claimed) -> None:
    live = await claimed.asking()
    assert await claimed.answer(SCRIPT, live, "early") == "not_allowed"
    assert await claimed.claim(SCRIPT, live.session, SECRET[1:]) == "invalid_request"
    assert await claimed.answer(SCRIPT, live, "wrong") == "not_allowed"
    assert await claimed.claim(SCRIPT, live.session, SECRET) == ""
    another = msgspec.structs.replace(SCRIPT, process="8:2:boot")
    assert await claimed.answer(another, live, "another") == "not_allowed"
    assert await claimed.answer(SCRIPT, live, "now") == ""


async def test_an_agent_with_the_key_decides_nothing(claimed: Claimed) -> None:
    live = await claimed.asking()
    assert await claimed.claim(AGENT, live.session, SECRET) == "not_allowed"
    bold = msgspec.structs.replace(AGENT, scopes=OPEN)
    assert await claimed.claim(bold, live.session, SECRET) == "not_allowed"
    assert await claimed.claim(SCRIPT, live.session, SECRET) == ""
    same = msgspec.structs.replace(bold, process=SCRIPT.process)
    assert await claimed.answer(same, live, "as if") == "not_allowed"
    assert [one.outcome for one in claimed.noted if one.event == "claim"] == [
        "refused",
        "refused",
        "done",
    ]


async def test_a_session_without_a_key_cannot_be_claimed(claimed: Claimed) -> None:
    live = await claimed.house.open()
    for key in (SECRET, "0", digest_of("")):
        assert await claimed.claim(SCRIPT, live.session, key) == "invalid_request"
    nobody = msgspec.structs.replace(SCRIPT, process="")
    assert await claimed.claim(nobody, live.session, SECRET) == "invalid_request"


async def test_only_a_digest_is_kept_and_no_list_shows_it(claimed: Claimed) -> None:
    house = claimed.house
    live = await claimed.asking()
    await claimed.claim(SCRIPT, live.session, SECRET)
    assert live.memory.state.labels[KEY] == digest_of(SECRET)
    listed = (await house.ask("list")).value
    assert digest_of(SECRET) not in json.dumps(msgspec.json.decode(listed))  # type: ignore[arg-type]
    kept = b"".join(one.wire for one in house.journal.read(live.session, 0, 1 << 20))
    assert SECRET.encode() not in kept
    assert SECRET not in str(claimed.noted)
    bad = await house.ask(
        "open", agent="recorder", cwd=str(house.folder), request="b", key_digest="x"
    )
    assert bad.error == "invalid_request"
    ours = {"labels": {KEY: digest_of("mine")}, "request": "c"}
    bad = await house.ask("open", agent="recorder", cwd=str(house.folder), **ours)
    assert bad.error == "invalid_request"
