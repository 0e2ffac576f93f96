"""Conversations: new, resumed, continued, forked, listed; and what they cost."""

from __future__ import annotations

import json

import pytest

from flybridge.errors import BusyError
from flybridge.model import events as ev
from flybridge.model.commands import SetMode, SetModel
from tests.agents.rig import Bridge
from tests.agents.talk import Talk

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


def conversation(talk: Talk) -> str:
    """The agent's own id of what is talked about."""
    return [one.agent_session for one in talk.all(ev.AgentReady) if one.agent_session][-1]


@pytest.mark.conforms("stream-json §7a", "stream-json §7f", "stream-json §18 processes")
async def test_a_new_session_is_a_new_conversation_and_is_listed(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as one, await Talk.open(bridge) as other:
        await one.turn("new-one", {"say": "one"})
        await other.turn("new-other", {"say": "other"})
        assert conversation(one) != conversation(other)
        listed = {row["session"]: row for row in await one.client.list()}
        assert {one.session, other.session} <= listed.keys()
        assert listed[one.session]["cwd"] == str(bridge.claude.cwd)
        assert bridge.agent_of(one.session) != bridge.agent_of(other.session)
        before = bridge.agent_of(one.session)
        await one.turn("new-one-again", {"say": "again"})
        assert bridge.agent_of(one.session) == before  # kept alive from turn to turn


@pytest.mark.conforms("stream-json §7b")
async def test_a_conversation_is_resumed_in_another_session(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as first:
        await first.turn("resume-before", {"say": "Remember the buoy."})
        await bridge.saved("Remember the buoy.")
        known = conversation(first)
    async with await Talk.open(bridge, resume=known) as second:
        await second.turn("resume-after", {"say": "I do."})
        assert conversation(second) == known
        assert second.all(ev.SessionOpened)[0].resumed == known
        assert second.unknown() == []
    assert "Remember the buoy." in bridge.api.turns[-1].said()
    assert bridge.api.count("resume-before") == 1


@pytest.mark.conforms("stream-json §7d")
async def test_a_fork_goes_on_in_a_copy_and_leaves_the_first_alone(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as first:
        await first.turn("fork-before", {"say": "Remember the mole."})
        await bridge.saved("Remember the mole.")
        known = conversation(first)
        async with await Talk.open(bridge, resume=known, fork=True) as second:
            await second.turn("fork-there", {"say": "In the copy."})
            assert conversation(second) != known
            assert "Remember the mole." in bridge.api.turns[-1].said()
            assert second.unknown() == []
        await first.turn("fork-here", {"say": "In the first."})
        assert conversation(first) == known
    last = bridge.api.turns[-1].said()
    assert "Remember the mole." in last
    assert "In the copy." not in last


@pytest.mark.conforms("stream-json §7c")
async def test_the_latest_conversation_of_a_folder_is_continued(bridge: Bridge) -> None:
    folder = bridge.repository("continue")
    async with await Talk.open(bridge, cwd=folder) as first:
        await first.turn("continue-before", {"say": "Remember the jetty."})
        await bridge.saved("Remember the jetty.")
        known = conversation(first)
    async with await Talk.open(bridge, cwd=folder, continue_latest=True) as second:
        await second.turn("continue-after", {"say": "I do."})
        assert conversation(second) == known
        assert second.unknown() == []
    assert "Remember the jetty." in bridge.api.turns[-1].said()


@pytest.mark.conforms("rule 25")
async def test_a_conversation_has_one_writer(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as first:
        await first.turn("writer-one", {"say": "Mine."})
        await bridge.saved("Mine.")
        with pytest.raises(BusyError):
            await Talk.open(bridge, resume=conversation(first))


@pytest.mark.conforms("rule 4", "rule 26")
async def test_a_conversation_that_is_not_there_is_said_to_be_lost(bridge: Bridge) -> None:
    nobody = "00000000-0000-4000-8000-000000000000"
    async with await Talk.open(bridge, resume=nobody) as talk:
        lost = await talk.get(ev.ConversationLost)
        assert nobody in lost.reason
        await talk.get(ev.AgentExited)
        request = await talk.say("lost-after", {"say": "A new one."})
        assert await talk.outcome(request) == "done"
        assert conversation(talk) != nobody


@pytest.mark.conforms("rule 26")
async def test_what_was_set_in_a_session_holds_after_its_agent_is_gone(bridge: Bridge) -> None:
    model = "claude-haiku-4-5-20251001"
    async with await Talk.open(bridge) as talk:
        await talk.turn("kept-before", {"say": "Remember the lamp."})
        assert await talk.settle(SetModel(model=model)) == "done"
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        await bridge.saved("Remember the lamp.")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        await talk.turn("kept-after", {"say": "I do."})
        ready = talk.all(ev.AgentReady)[-1]
        assert (ready.model, ready.mode) == (model, "acceptEdits")
    assert bridge.api.turns[-1].body["model"] == model


# ---- what it costs -----------------------------------------------------------------------------


def spent(*answers: tuple[int, int]) -> list[dict[str, object]]:
    return [
        {"blocks": [{"say": "."}], "usage": {"input_tokens": given, "output_tokens": said}}
        for given, said in answers
    ]


@pytest.mark.conforms(
    "stream-json §3d", "stream-json §12", "PN-10", "PN-11", "PN-19", "rule 19", "rule 30"
)
async def test_each_turn_has_its_own_cost_and_the_agent_counts_on(bridge: Bridge) -> None:
    model = "claude-sonnet-4-5-20250929"
    async with await Talk.open(bridge, model=model) as talk:
        ends = [await talk.turn(f"cost-{n}", *spent((1000 * n, 100 * n))) for n in (1, 2, 3)]
        told = [json.loads(bytes(one.detail)) for one in ends]  # type: ignore[arg-type]
        totals = [one["total_cost_usd"] for one in told]
        assert totals == sorted(totals)
        steps = [after - before for before, after in zip([0.0, *totals], totals, strict=False)]
        assert [one.cost_usd for one in ends] == pytest.approx(steps)
        usage = [json.loads(bytes(one.usage))["output_tokens"] for one in ends]  # type: ignore[arg-type]
        assert usage == [100, 200, 300]  # of each turn, not of all
        models = [one["modelUsage"][model] for one in told]
        assert [one["outputTokens"] for one in models] == [100, 300, 600]  # of all
        assert all(one["contextWindow"] and one["maxOutputTokens"] for one in models)
        assert [one["num_turns"] for one in told] == [1, 1, 1]
        api_ms = [one["duration_api_ms"] for one in told]
        assert api_ms == sorted(api_ms)
        assert all(one["duration_ms"] > 0 for one in told)
        assert talk.transcript.cost_usd == pytest.approx(totals[-1])


@pytest.mark.conforms("stream-json §12")
async def test_a_resumed_conversation_does_not_pay_for_its_past_again(bridge: Bridge) -> None:
    async with await Talk.open(bridge, model="claude-sonnet-4-5-20250929") as talk:
        first = await talk.turn("paid-before", *spent((500_000, 1000)))
        await bridge.saved("paid-before")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        second = await talk.turn("paid-after", *spent((10, 1)))
        assert second.cost_usd < first.cost_usd / 10
        assert talk.transcript.cost_usd == pytest.approx(first.cost_usd + second.cost_usd)


@pytest.mark.conforms("stream-json §13d", "PN-11", "rule 20", "rule 30")
async def test_the_context_is_what_the_model_was_last_given(bridge: Bridge) -> None:
    model = "claude-sonnet-4-5-20250929"
    usage = {"input_tokens": 1000, "cache_read_input_tokens": 200, "output_tokens": 7}
    async with await Talk.open(bridge, model=model) as talk:
        ended = await talk.turn("context", {"blocks": [{"say": "."}], "usage": usage})
        told = json.loads(bytes(ended.gauges["context"]))
        assert told["tokens"] == 1200
        assert told["window"] == 200_000
        assert json.loads(talk.gauges["context"])["tokens"] == 1200
