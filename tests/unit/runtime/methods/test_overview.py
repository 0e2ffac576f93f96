from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.model.ids import SessionId
from flybridge.runtime.methods.file_search import FileParams
from flybridge.runtime.methods.overview import Overview
from flybridge.runtime.methods.sessions import NoParams, SessionQuestions
from tests.harness.runtime_harness import EVERYTHING, House


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, grace_s=0.5)
    yield house
    await house.end()


async def test_all_questions_are_in_one_table_and_none_is_there_twice(house: House) -> None:
    overview = Overview(house.services, house.sessions)
    ours = overview.table()
    assert {name: one.scope for name, one in ours.items()} == {
        "agents": "view",
        "files": "input",
        "panel": "view",
        "agent_info": "view",
        "dial_in": "spawn",
        "claim": "spawn",
        "prompts": "view",
        "usage": "view",
        "resume": "spawn",
        "continue": "spawn",
        "fork": "spawn",
    }
    theirs = SessionQuestions(house.sessions, house.journal, house.services.blobs).table()
    assert not ours.keys() & theirs.keys()


async def test_agents_are_there_whether_they_can_be_used_or_not(house: House) -> None:
    found = await Overview(house.services, house.sessions).agents(EVERYTHING, NoParams())
    assert [(one.name, one.installed, one.problem) for one in found.agents] == [
        ("courier", True, ""),
        ("missing", False, "agent_not_found"),
        ("recorder", True, ""),
    ]
    assert [one.kind for one in found.agents] == ["courier", "claude", "claude"]
    assert found.agents[2].version
    courier, _, recorder = found.agents
    assert [(mode.id, mode.name) for mode in courier.known_modes] == [
        ("bypassPermissions", "Bypass the city"),
        ("ask", "Ask at the door"),
        ("free", ""),
    ]
    assert set(recorder.modes) <= {mode.id for mode in recorder.known_modes if mode.name}
    assert found.default == ""


async def test_the_agent_to_offer_first_is_the_configured_one(house: House) -> None:
    overview = Overview(house.services, house.sessions, default_agent="recorder")
    assert (await overview.agents(EVERYTHING, NoParams())).default == "recorder"


async def test_agents_whose_past_conversations_can_be_listed_are_marked(house: House) -> None:
    overview = Overview(house.services, house.sessions, histories={"claude"})
    found = await overview.agents(EVERYTHING, NoParams())
    assert [(one.name, one.history) for one in found.agents] == [
        ("courier", False),
        ("missing", True),
        ("recorder", True),
    ]


@pytest.mark.parametrize(("started_in", "offered"), [("tmp", True), ("/", False)])
async def test_the_folder_it_was_started_in_is_offered_unless_that_is_the_root(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_in: str, offered: bool
) -> None:
    monkeypatch.chdir(tmp_path if started_in == "tmp" else started_in)
    found = await Overview(house.services, house.sessions).agents(EVERYTHING, NoParams())
    assert found.folder == (str(tmp_path) if offered else "")


async def test_files_are_those_of_the_sessions_directory(house: House, tmp_path: Path) -> None:
    (tmp_path / "hull.py").touch()
    live = await house.open(cwd=str(tmp_path))
    overview = Overview(house.services, house.sessions)
    params = FileParams(session=SessionId(live.session), query="hull")
    found = await overview.files(EVERYTHING, params)
    assert [one.path for one in found.files] == ["hull.py"]
