from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.demo.script import SCENES
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.audit import Record
from flybridge.model.deliveries import Stage
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.live_session import LiveSession
from tests.harness.agent_programs import steps
from tests.harness.forged_lines import answered, introduced, moded
from tests.harness.runtime_harness import House
from tests.harness.waiting import until

ASKS = steps({"tool": "Bash", "input": {"command": "ls"}, "ask": True, "result": "files"})


class Watched(House):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.noted: list[Record] = []
        self.services.audit = self.noted.append


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[Watched]:
    house = Watched(short_tmp)
    yield house
    await house.end()


async def test_a01_alarm_an_answer_of_somebody_else_is_in_log_and_audit(house: Watched) -> None:
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    asked = await house.saw(e.PermissionRequested)
    answered(live, asked)
    alarm = await house.saw(e.AlarmRaised)
    assert (alarm.code, alarm.prompt) == ("prompt_answered_elsewhere", asked.prompt)
    assert [(r.event, r.outcome, r.code, r.session, r.target, r.detail) for r in house.noted] == [
        ("alarm", "raised", alarm.code, live.session, asked.prompt, alarm.text)
    ]
    assert len(house.client.of(e.AlarmRaised)) == 1
    listed = (await house.ask("list")).value
    assert alarm.text.encode() in bytes(listed)  # type: ignore[arg-type]


async def test_a01_alarm_a_mode_that_somebody_else_set_is_in_log_and_audit(house: Watched) -> None:
    live = await house.open()
    await house.say(live, "hello", "r1")
    moded(live, "acceptEdits")
    alarm = await house.saw(e.AlarmRaised)
    assert alarm.code == "mode_changed_elsewhere"
    assert [record.code for record in house.noted] == [alarm.code]


async def test_a01_alarm_what_people_decide_is_none(house: Watched) -> None:
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    asked = await house.saw(e.PermissionRequested)
    allowed = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    await house.submit(live.session, allowed, "a1", Stage.DONE)
    await until(lambda: not live.memory.state.turn)
    await house.submit(live.session, c.SetMode(mode="acceptEdits"), "m1", Stage.DONE)
    await house.say(live, "more", "r2")
    await house.sessions.stop_agent(live.session)
    await house.say(live, "again", "r3")
    await until(lambda: not live.memory.state.turn)
    assert house.client.of(e.AlarmRaised) == []
    assert house.noted == []


async def test_a09_a_claim_is_in_the_audit_log(house: Watched) -> None:
    victim = await house.open(request="victim")
    await house.say(victim, "hello", "v1")
    name = victim.memory.state.agent_session
    thief = await house.open(request="thief")
    await house.say(thief, steps(introduced(name)), "t1")
    await house.saw(e.AlarmRaised)
    assert [(record.code, record.session) for record in house.noted] == [
        ("conversation_id_taken", thief.session)
    ]


PLAYED = [scene.name for scene in SCENES if scene.name != "crash"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a01_alarm_no_scene_of_the_demo_agent_raises_one(
    short_tmp: Path, decision: Literal["allow", "deny"]
) -> None:
    house = Watched(short_tmp)
    demo = ClaudeAgent(name="demo", program=[sys.executable, "-P", "-m", "flybridge.agents.demo"])
    environment = {"PATH": "/usr/bin:/bin"}
    house.services.shelf = AgentShelf({"demo": (demo, environment)})
    try:
        live = await house.open("demo", model="flybridge-demo-fast")
        for scene in PLAYED:
            await house.say(live, scene, scene, Stage.ACCEPTED)
            await until(lambda: _played(house, live, decision))
        assert house.client.of(e.PermissionClosed)
        assert house.client.of(e.AlarmRaised) == []
    finally:
        await house.end()


def _played(house: House, live: LiveSession, decision: Literal["allow", "deny"]) -> bool:
    """Answer what is asked; whether nothing is left to do."""
    state = live.memory.state
    for name, prompt in list(state.prompts.items()):
        command: c.Command = (
            c.AnswerQuestion(prompt=name, digest=prompt.digest, declined=True)
            if prompt.kind == "question"
            else c.AnswerPermission(prompt=name, digest=prompt.digest, decision=decision)
        )
        live.submit(command, principal="me", request=f"answer-{name}")
    return not (state.turn or state.inputs or state.prompts)
