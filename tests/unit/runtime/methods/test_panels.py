from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Entry, Stage
from flybridge.model.ids import IncarnationId, PromptId
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods import panels as module
from flybridge.runtime.methods.panels import Gathered, PanelName, PanelParams, Panels
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import EVERYTHING, House


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, grace_s=0.5)
    yield house
    await house.end()


async def look(panels: Panels, live: LiveSession, name: PanelName) -> Any:
    found = await panels.panel(EVERYTHING, PanelParams(session=live.session, name=name))
    return json.loads(msgspec.json.encode(found))


async def test_each_part_says_what_it_is_there_for(house: House) -> None:
    live = await house.open(title="boat")
    await house.say(live, "hello", "r1")
    panels = Panels(house.sessions, house.journal)
    assert (await look(panels, live, "summary"))["title"] == "boat"
    settings = await look(panels, live, "settings")
    assert "plan" in settings["modes"]
    assert "set_model" in settings["commands"]
    assert settings["steers"] is True
    assert (await look(panels, live, "cost"))["turns"] == 1
    told = await look(panels, live, "help")
    assert told["version"]
    assert isinstance(told["tools"], list)
    commands = await look(panels, live, "commands")
    assert commands["commands"] == told["commands"]
    assert (await look(panels, live, "mcp"))["servers"] == []
    assert (await look(panels, live, "tasks"))["tasks"] == []
    assert set(await look(panels, live, "context")) == {"model", "context", "usage"}


@pytest.mark.parametrize(
    ("agent", "name"), [("courier", "Ask at the door"), ("recorder", "Ask first")]
)
async def test_modes_come_with_the_words_of_their_agent(
    house: House, agent: str, name: str
) -> None:
    live = await house.open(agent)
    settings = await look(Panels(house.sessions, house.journal), live, "settings")
    installed = live.installed
    assert installed is not None
    published = msgspec.to_builtins(installed.capabilities.known_modes)
    assert settings["known_modes"] == list(published)
    assert set(settings["modes"]) <= {mode["id"] for mode in settings["known_modes"]}
    default = next(mode for mode in settings["known_modes"] if mode["freedom"] == 0)
    assert default["name"] == name


async def test_models_are_described_in_our_terms_also_while_the_agent_is_off(
    house: House,
) -> None:
    live = await house.open("recorder")
    await house.say(live, "hello", "r1")  # it tells more of itself at the start of a turn
    panels = Panels(house.sessions, house.journal)
    (model,) = (await look(panels, live, "settings"))["models"]
    assert (model["id"], model["name"], model["efforts"]) == ("default", "Recorder", None)
    await house.sessions.stop_agent(live.session)
    again = Panels(house.sessions, house.journal)  # as after a restart: from the journal alone
    assert (await look(again, live, "settings"))["models"] == [model]
    courier = await house.open("courier", request="other")
    assert (await look(panels, courier, "settings"))["models"] == []


async def test_every_name_has_a_part(house: House) -> None:
    live = await house.open()
    panels = Panels(house.sessions, house.journal)
    for name in get_args(PanelName):
        assert isinstance(await look(panels, live, name), dict)


async def test_what_waits_is_in_the_queue(house: House) -> None:
    live = await house.open()
    gate = house.folder / "go"
    await house.say(live, steps({"wait_file": str(gate)}), "r1", stage=Stage.WRITTEN)
    await house.saw(e.TurnStarted)
    await house.say(live, "later", "r2", stage=Stage.ACCEPTED, mode="queue")
    panels = Panels(house.sessions, house.journal)
    assert [one["head"] for one in (await look(panels, live, "queue"))["queue"]] == ["later"]
    gate.touch()
    await house.saw(e.TurnEnded, 2)


async def test_an_open_prompt_is_whole_and_a_closed_one_is_gone(house: House) -> None:
    live = await house.open()
    text = steps({"tool": "Bash", "input": {"command": "ls"}, "ask": True})
    await house.say(live, text, "r1", stage=Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    panels = Panels(house.sessions, house.journal)
    found = (await look(panels, live, "prompts"))["prompts"]
    assert [(one["prompt"], one["input"], one["digest"]) for one in found] == [
        (asked.prompt, {"command": "ls"}, asked.digest)
    ]
    answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="deny")
    await house.submit(live.session, answer, "a1")
    await house.saw(e.TurnEnded)
    assert (await look(panels, live, "prompts"))["prompts"] == []


async def test_only_what_is_new_is_read(house: House) -> None:
    live = await house.open()
    await house.say(live, "one", "r1")
    panels = Panels(house.sessions, house.journal)
    first = await panels.gathered(live)
    assert first.after == live.memory.state.seq
    await house.say(live, "two", "r2")
    assert await panels.gathered(live) is first
    assert first.after == live.memory.state.seq
    assert first.turn is not None
    assert first.turn.turn == "trn_2"


async def test_only_so_much_is_kept(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_GATHERED", 1)
    panels = Panels(house.sessions, house.journal)
    first = await house.open()
    second = await house.open(request="second")
    await panels.gathered(first)
    await panels.gathered(second)
    assert list(panels._gathered) == [second.session]


def test_an_agents_end_leaves_no_prompt_open() -> None:
    found = Gathered()
    asked = e.QuestionRequested(prompt=PromptId("p"), questions=msgspec.Raw(b"[]"), digest="d")
    found.take(Entry(seq=1, at_ms=1, event=asked))
    assert list(found.prompts) == ["p"]
    gone = e.AgentExited(incarnation=IncarnationId("i"), why="exit")
    found.take(Entry(seq=2, at_ms=2, event=gone))
    assert found.prompts == {}


def test_d04_a_new_list_of_commands_leaves_the_rest_as_it_was() -> None:
    found = Gathered()
    whole = {"tools": ["Bash"], "slash_commands": ["a"]}
    part = {"commands": [{"name": "b"}], "slash_commands": ["b"]}
    details = [(whole, {"a": "local"}), (part, {"b": "prompt"})]
    for seq, (detail, commands) in enumerate(details, 1):
        raw = msgspec.Raw(msgspec.json.encode(detail))
        ready = e.AgentReady(version="1", commands=commands, detail=raw)
        found.take(Entry(seq=seq, at_ms=seq, event=ready))
    assert found.ready is not None
    assert (found.ready.version, found.ready.commands) == ("1", {"b": "prompt"})
    told = json.loads(bytes(found.ready.detail))  # type: ignore[arg-type]
    assert (told["tools"], told["slash_commands"]) == (["Bash"], ["b"])
