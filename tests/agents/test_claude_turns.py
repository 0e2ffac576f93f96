"""Interrupts, messages while a turn runs, and what became of each input."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from flybridge.model import events as ev
from flybridge.model.commands import Interrupt, SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, scripted, waiting

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §2b", "stream-json §10a", "stream-json §10b", "rule 12")
async def test_an_interrupt_stops_a_text_and_keeps_what_was_said(
    bridge: Bridge, tmp_path: Path
) -> None:
    never = str(tmp_path / "never")
    async with await Talk.open(bridge) as talk:
        said = {"say": "half of it and the rest", "deltas": 4, "hold": never, "hold_after": 2}
        request = await talk.say("stop-text", said)
        await talk.streamed("half of it ")
        stop = await talk.submit(Interrupt())
        assert await talk.outcome(stop) == "done"
        ended = await talk.get(ev.TurnEnded)
        told = json.loads(bytes(ended.detail))  # type: ignore[arg-type]
        assert (ended.reason, told["subtype"]) == ("interrupted", "error_during_execution")
        assert told["is_error"] is (bridge.claude.version != "2.1.38")
        assert await talk.outcome(request) == "done"
        done = talk.all(ev.TextDone)[0]
        assert (done.text, done.status) == ("half of it ", "partial")
        await talk.turn("stop-text-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §2b", "PN-6", "rule 19")
async def test_an_interrupt_stops_a_tool(bridge: Bridge, tmp_path: Path) -> None:
    mark, never = bridge.claude.cwd / "stop", tmp_path / "never"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("stop-tool", waiting(mark, never), {"say": "never said"})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.get(ev.InputOutcome, where=lambda one: one.key.startswith("prompt:"))
        stop = await talk.submit(Interrupt())
        assert await talk.outcome(stop) == "done"
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status in ("error", "partial")
        await talk.turn("stop-tool-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("rule 22")
async def test_an_interrupt_takes_back_what_waits_where_the_version_can(
    bridge: Bridge, tmp_path: Path
) -> None:
    never = str(tmp_path / "never")
    async with await Talk.open(bridge) as talk:
        await talk.say("stop-queue", {"say": "slow words", "hold": never, "hold_after": 0})
        await talk.get(ev.ItemStarted)
        waits = await talk.say("stop-queue-waits", {"say": "after all"})
        await talk.written(waits)
        assert await talk.settle(Interrupt()) == "done"
        old = bridge.claude.version != "2.1.325"  # where it runs next
        assert await talk.outcome(waits) == ("done" if old else "cancelled")
        await talk.turn("stop-queue-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert bridge.api.count("stop-queue-waits") == (1 if old else 0)


@pytest.mark.conforms("rule 11")
async def test_a_message_during_a_tool_is_taken_into_the_turn(
    bridge: Bridge, tmp_path: Path
) -> None:
    mark, go = bridge.claude.cwd / "busy", tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        answers = ({"say": "Waited."}, {"say": "More."})
        first = await talk.say("busy-tool", waiting(mark, go), *answers)
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.get(ev.InputOutcome, where=lambda one: one.key.startswith("prompt:"))
        second = await talk.say("busy-tool-steer: and hurry")
        await talk.written(second)
        go.touch()
        assert await talk.outcome(first) == "done"
        assert await talk.outcome(second) == "done"
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert bridge.api.count("busy-tool-steer: and hurry") == 1


@pytest.mark.conforms("rule 11")
async def test_messages_during_a_text_are_all_answered(bridge: Bridge, tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        held = {"say": "slow words", "hold": str(go), "hold_after": 0}
        first = await talk.say("busy-text-1", held)
        await talk.get(ev.ItemStarted)
        rest = [await talk.say(f"busy-text-{n}", {"say": f"answer {n}"}) for n in (2, 3)]
        for request in rest:
            await talk.written(request)
        go.touch()
        for request in (first, *rest):
            assert await talk.outcome(request) == "done"
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert [bridge.api.count(f"busy-text-{n}") for n in (1, 2, 3)] == [1, 1, 1]


@pytest.mark.conforms("rule 22")
async def test_a_queued_message_waits_for_the_end_of_the_turn(
    bridge: Bridge, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        held = {"say": "slow words", "hold": str(go), "hold_after": 0}
        first = await talk.say("queue-1", held)
        await talk.get(ev.ItemStarted)
        second = await talk.say("queue-2", {"say": "then this"}, mode="queue")
        go.touch()
        assert [await talk.outcome(one) for one in (first, second)] == ["done", "done"]
        kinds = [type(one) for one in talk.events]
        sent = next(
            at
            for at, one in enumerate(talk.events)
            if isinstance(one, ev.InputDispatched) and one.key.endswith(second)
        )
        assert kinds.index(ev.TurnEnded) < sent
        assert [one.text for one in talk.all(ev.TextDone)] == ["slow words", "then this"]


@pytest.mark.conforms("rule 11")
async def test_every_input_gets_its_own_outcome_whatever_the_results(
    bridge: Bridge, tmp_path: Path
) -> None:
    """Absorbed, merged, failed, local and plain inputs: results never tell which is which."""
    go = tmp_path / "go"
    async with await Talk.open(bridge) as talk:
        held = {"say": "slow", "hold": str(go), "hold_after": 0}
        requests = [await talk.say("ledger-1", held)]
        await talk.get(ev.ItemStarted)
        requests.append(await talk.say("ledger-2", {"say": "two"}))
        requests.append(await talk.say("/context"))
        requests.append(await talk.say("ledger-3", {"status": 401}))
        requests.append(await talk.say("ledger-4", {"say": "four"}, mode="queue"))
        go.touch()
        assert [await talk.outcome(one) for one in requests] == ["done"] * 5
        keys = [one.key for one in talk.all(ev.InputOutcome)]
        assert len(keys) == len(set(keys)) == 5
        assert talk.without_outcome() == set()
    assert [bridge.api.count(f"ledger-{n}") for n in (1, 2, 4)] == [1, 1, 1]


@pytest.mark.conforms("rule 9")
async def test_a_request_that_is_repeated_is_said_once(bridge: Bridge) -> None:
    """A client that heard no reply says it again; so does one that comes after a death."""
    async with await Talk.open(bridge) as talk:
        said = SendInput(content=(Text(scripted("repeated", {"say": "Once."})),))
        request = str(uuid.uuid4())
        replies = [await talk.reply_to(said, request=request, until=Stage.DONE) for _ in range(3)]
        assert [(one.error, one.duplicate) for one in replies] == [
            ("", False),
            ("", True),
            ("", True),
        ]
        await bridge.saved("Once.")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        assert (await talk.reply_to(said, request=request, until=Stage.DONE)).duplicate
        await talk.turn("repeated-after", {"say": "Here again."})
        assert len(talk.all(ev.InputAccepted)) == 2
    assert bridge.api.count("repeated\n") == 1
