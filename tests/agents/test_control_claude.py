"""A team lead steers the real CLI by control messages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.client.control.channels import UnixChannel
from flybridge.client.control.sender import Sender, Target
from flybridge.model import events as ev
from flybridge.store.teams import Member, Rule, TeamFile, Teams
from tests.agents.rig import VERSIONS, Bridge
from tests.agents.talk import Talk, scripted, waiting

pytestmark = pytest.mark.needs("claude-cli")


@pytest.fixture(scope="module", params=VERSIONS)
def bridge(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    """A gateway that this user may steer."""
    bridge = Bridge(request.param, tmp_path_factory.mktemp("c"))
    lead = Member(team="default", name="lead", principal=f"uid:{os.geteuid()}")
    rules = (Rule(effect="allow", team="default"),)
    TeamFile(bridge.state_dir.teams).save(Teams(members=(lead,), rules=rules))
    bridge.start()
    yield bridge
    bridge.close()


async def target_of(talk: Talk) -> Target:
    (row,) = [one for one in await talk.client.list() if one["session"] == talk.session]
    return Target(
        team="default",
        session_id=row["conversation"],
        agent_id=f"claude:{row['conversation']}",
        sender="lead",
        thread_id=row["conversation"],
    )


def asked(bridge: Bridge, words: str) -> int:
    """How many messages with these words the model was ever shown, in the newest request."""
    about = [one for one in bridge.api.turns if any(words in text for text in one.given())]
    return sum(text.count(words) for text in about[-1].given()) if about else 0


async def test_a_message_is_seen_by_the_agent_once_and_that_is_proven(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("warm")
        sender, target = Sender(UnixChannel(bridge.state_dir)), await target_of(talk)
        can = await sender.capabilities(target)
        assert can.result == "ok"
        text = scripted("steered-once", {"say": "steered answer"})
        first = await sender.stdin(target, text, request_id="once")
        assert (first.result, first.detail) == ("ok", "started")
        await talk.get(ev.TextDone, where=lambda one: one.text == "steered answer")
        await talk.get(ev.TurnEnded, 2)
        again = await sender.stdin(target, text, request_id="once")
        assert (again.result, again.duplicate, again.detail) == ("ok", True, "started")
        assert (again.stage, again.outcome) == ("observed", "done")
        await talk.turn("after")
        assert asked(bridge, "steered-once") == 1


async def test_a_turn_is_stopped_and_the_next_one_is_not(bridge: Bridge, tmp_path: Path) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("warm")
        sender, target = Sender(UnixChannel(bridge.state_dir)), await target_of(talk)
        idle = await sender.interrupt(target, request_id="idle")
        assert (idle.result, idle.detail) == ("ok", "idle")
        mark, go = tmp_path / "mark", tmp_path / "go"
        await talk.say("first", waiting(mark, go), {"say": "never said"})
        prompt = await talk.get(ev.PermissionRequested)
        turn = (await talk.get(ev.TurnStarted, 2)).turn
        again = await sender.interrupt(target, request_id="idle")
        assert (again.result, again.detail, again.duplicate) == ("ok", "idle", True)
        assert talk.transcript.turn == turn, "an interrupt of before stopped it"
        stopped = await sender.interrupt(target, turn_id=turn, request_id="stop")
        assert stopped.result == "ok"
        await talk.get(ev.TurnEnded, 2)
        assert not mark.exists(), f"{prompt.prompt} ran"
        await talk.say("second", {"say": "in two parts", "deltas": 2, "hold": str(go)})
        await talk.get(ev.TurnStarted, 3)
        late = await sender.interrupt(target, turn_id=turn, request_id="late")
        assert late.result == "not_live"
        repeated = await sender.interrupt(target, turn_id=turn, request_id="stop")
        assert (repeated.result, repeated.duplicate) == ("ok", True)
        go.touch()
        ended = await talk.get(ev.TurnEnded, 3)
        assert ended.reason == "done"
