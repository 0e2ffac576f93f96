"""What a model says: streamed, and then exact; thoughts told from texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flybridge.model import events as ev
from tests.agents.rig import Bridge
from tests.agents.talk import Talk

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §1", "stream-json §3c", "PN-6", "PN-20", "rule 1", "rule 12")
async def test_a_text_is_streamed_and_then_exact(bridge: Bridge) -> None:
    text = "Ahoy! " + "a wave and another wave, " * 40 + "⚓🚢 end"
    async with await Talk.open(bridge) as talk:
        ended = await talk.turn("turn-text", {"say": text, "deltas": 50})
        assert [one.text for one in talk.all(ev.TextDone)] == [text]
        assert talk.all(ev.TextDone)[0].status == "complete"
        assert talk.transcript.text == text
        assert (ended.reason, ended.message) == ("done", "")
        assert ended.cost_usd > 0
        assert talk.all(ev.AgentReady)[-1].version == bridge.claude.version
        assert len(talk.all(ev.InputConsumed)) == 1
        assert talk.unknown() == []
    assert bridge.api.count("turn-text") == 1


@pytest.mark.conforms("stream-json §2a", "stream-json §4")
async def test_a_second_turn_knows_the_first(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("turn-first", {"say": "The first answer."})
        await talk.turn("turn-second", {"say": "The second answer."})
        assert [one.text for one in talk.all(ev.TextDone)] == [
            "The first answer.",
            "The second answer.",
        ]
        assert [one.turn for one in talk.all(ev.TurnStarted)] == ["trn_1", "trn_2"]
        assert talk.unknown() == []
    last = bridge.api.turns[-1]
    assert "The first answer." in last.said()
    assert (bridge.api.count("turn-first"), bridge.api.count("turn-second")) == (1, 1)


@pytest.mark.conforms("stream-json §14")
async def test_thoughts_are_told_from_texts(bridge: Bridge) -> None:
    blocks = [{"think": "Let me see, ", "repeat": 3, "deltas": 9}, {"redacted": "c2VjcmV0"}]
    async with await Talk.open(bridge) as talk:
        await talk.turn("turn-thinking", [*blocks, {"say": "Seen."}])
        thoughts = [(one.text, one.redacted) for one in talk.all(ev.ThinkingDone)]
        assert thoughts == [("Let me see, " * 3, False), ("", True)]
        assert [one.text for one in talk.all(ev.TextDone)] == ["Seen."]
        assert talk.unknown() == []


@pytest.mark.needs("netns")
async def test_the_cli_runs_where_there_is_no_network(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("rig-network", {"say": "Nobody out there."})
        assert bridge.networks_of(talk.session) == ["lo"]


@pytest.mark.conforms("stream-json §3e", "rule 3")
async def test_no_character_is_lost_where_reads_cut_it(bridge: Bridge) -> None:
    part, times = "⚓🚢👩‍👩‍👧é", 30_000  # lines far longer than a read: cut wherever the pipe likes
    async with await Talk.open(bridge) as talk:
        await talk.turn("text-wide", {"say": part, "repeat": times, "deltas": 7})
        (done,) = talk.all(ev.TextDone)
        assert await talk.whole(done) == part * times
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §3e")
async def test_a_flood_of_deltas_is_shown_and_then_exact(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("text-flood", {"say": "wave, ", "repeat": 20_000, "deltas": 20_000})
        (done,) = talk.all(ev.TextDone)
        assert await talk.whole(done) == "wave, " * 20_000
        assert 0 < talk.seen[done.item] <= 20_000  # the last of them may come only in the whole
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §3b", "stream-json §4", "stream-json §14")
async def test_each_block_of_an_answer_is_an_item_in_its_order(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "blocks.txt"
    made.write_text("x\n")
    read = {"tool": "Read", "input": {"file_path": str(made)}}
    async with await Talk.open(bridge) as talk:
        answer = [{"think": "Hm."}, {"say": "Reading."}, read]
        await talk.turn("text-blocks", answer, {"say": "Read."})
        started = talk.all(ev.ItemStarted)
        assert [one.kind for one in started] == ["thinking", "text", "tool", "text"]
        assert len({one.item for one in started}) == 4
        closed = [
            one.item
            for one in talk.events
            if isinstance(one, ev.TextDone | ev.ThinkingDone | ev.ToolResult)
        ]
        assert closed == [one.item for one in started]
        kinds = [type(one) for one in talk.events]
        begun, ended = kinds.index(ev.TurnStarted), kinds.index(ev.TurnEnded)
        assert all(begun < at < ended for at, one in enumerate(kinds) if one is ev.ItemStarted)
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §3e", "PN-16")
async def test_a_tool_is_named_before_its_input_is_there(bridge: Bridge, tmp_path: Path) -> None:
    made, go = bridge.claude.cwd / "named.txt", tmp_path / "go"
    made.write_text("x\n")
    given = {"file_path": str(made)}
    read = {"tool": "Read", "input": given, "deltas": 4, "hold": str(go), "hold_after": 2}
    async with await Talk.open(bridge) as talk:
        request = await talk.say("text-named", read, {"say": "Read."})
        started = await talk.get(ev.ItemStarted)
        assert (started.kind, started.name) == ("tool", "Read")
        assert talk.all(ev.ToolStarted) == []
        go.touch()
        assert await talk.outcome(request) == "done"
        assert json.loads(bytes(talk.all(ev.ToolStarted)[0].input)) == given  # type: ignore[arg-type]


@pytest.mark.conforms(
    "stream-json §3a", "stream-json §7e", "stream-json §9e", "PN-9", "rule 2", "rule 6"
)
async def test_an_agent_says_who_it_is_and_what_it_has(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.get(ev.AgentReady)
        assert talk.all(ev.TurnStarted) == []  # ready before anybody has said anything
        first = json.loads(bytes(talk.all(ev.AgentReady)[0].detail))  # type: ignore[arg-type]
        assert {"commands", "models"} <= set(first)
        await talk.turn("text-init", {"say": "Hello."})
        ready = talk.all(ev.AgentReady)[-1]
        told = json.loads(bytes(ready.detail))  # type: ignore[arg-type]
        assert told["cwd"] == str(bridge.claude.cwd)
        assert told["session_id"] == ready.agent_session
        assert told["permissionMode"] == ready.mode == "default"
        assert told["model"] == ready.model
        assert {"Bash", "Read", "Edit", "Write"} <= set(told["tools"])
        assert ("Glob" in told["tools"]) is (bridge.claude.version == "2.1.38")
        lists = ("slash_commands", "skills", "agents", "plugins", "mcp_servers")
        assert [name for name in lists if not isinstance(told[name], list)] == []
        assert told["claude_code_version"] == bridge.claude.version
        assert (told["output_style"], told["fast_mode_state"]) == ("default", "off")
        assert told["apiKeySource"] == "ANTHROPIC_API_KEY"


@pytest.mark.conforms("stream-json §3")
async def test_what_is_no_message_on_stdout_is_kept_and_changes_nothing(bridge: Bridge) -> None:
    text = "".join(f"wave {n}, " for n in range(100))
    async with await Talk.open(bridge, agent="noisy") as talk:
        await talk.turn("text-noise", {"say": text, "deltas": 50})
        assert [one.text for one in talk.all(ev.TextDone)] == [text]
        assert talk.all(ev.AgentReady)[-1].version == bridge.claude.version
        assert len(talk.unknown()) >= 5
        assert [one for one in talk.unknown() if "npm warn" in one]
        if bridge.claude.version == "2.1.325":  # known for what it is, whatever is printed first
            assert await talk.client.query(talk.session, "context")
        await talk.turn("text-noise-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
