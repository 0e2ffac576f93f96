"""Slash commands: what they print, and what they do to the conversation."""

from __future__ import annotations

import json

import pytest

from flybridge.model import events as ev
from tests.agents.rig import Bridge
from tests.agents.talk import Talk

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §6", "stream-json §13d", "rule 21")
async def test_what_a_slash_command_prints_is_a_notice(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("slash-before", {"say": "one"})
        ended = await talk.turn("/context")
        (said,) = [one.text for one in talk.all(ev.Notice)]
        assert said.startswith("## Context Usage")
        assert ended.message == ""
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §13b")
async def test_an_unknown_slash_command_is_said_to_be_unknown_or_is_a_prompt(
    bridge: Bridge,
) -> None:
    async with await Talk.open(bridge) as talk:
        ended = await talk.turn("/no-such-command")
        if bridge.claude.version == "2.1.38":
            assert "Unknown skill" in ended.message
            assert talk.all(ev.TextDone) == []
        elif bridge.claude.version == "2.1.200":
            (said,) = talk.all(ev.Notice)
            assert (said.text, said.command) == ("Unknown command: /no-such-command", True)
            assert talk.all(ev.TextDone) == []
        else:
            assert len(talk.all(ev.TextDone)) == 1
        assert talk.unknown() == []


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
@pytest.mark.conforms("stream-json §7e", "rule 21")
async def test_a_cleared_conversation_is_the_one_that_is_resumed(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("clear-before", {"say": "Before the mast."})
        await talk.turn("/clear")
        assert talk.all(ev.Notice)
        await talk.turn("clear-after", {"say": "After the mast."})
        before, after = dict.fromkeys(
            one.agent_session for one in talk.all(ev.AgentReady) if one.agent_session
        )
        assert before != after
        await bridge.saved("After the mast.")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        await talk.turn("clear-resumed", {"say": "Still here."})
        assert talk.all(ev.AgentReady)[-1].agent_session == after
        assert talk.unknown() == []
    last = bridge.api.turns[-1].said()
    assert "After the mast." in last
    assert "Before the mast." not in last


@pytest.mark.conforms("stream-json §3c", "stream-json §6", "stream-json §13c", "PN-13", "PN-17")
async def test_what_was_spent_is_printed_on_demand(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("cost-before", {"say": "one"})
        turns = len(bridge.api.turns)
        request = await talk.say("/cost")
        assert await talk.outcome(request) == "done"
        printed = "\n".join(one.text for one in talk.all(ev.Notice))
        assert "cost" in printed.lower()
        assert "$0." in printed
        assert "<local-command" not in printed
        assert len(bridge.api.turns) == turns
        assert talk.all(ev.TurnEnded)[-1].message == ""
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §13a", "stream-json §17")
async def test_a_conversation_is_compacted_and_goes_on(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        await talk.turn("compact-before", {"say": "A long story."})
        await talk.turn("compact-longer", {"say": "A longer one."})  # 2.1.200 refuses a single turn
        request = await talk.say("/compact")
        assert await talk.outcome(request) == "done"
        assert [one.phase for one in talk.all(ev.ContextCompacted)] == ["started", "done"]
        told = json.loads(bytes(talk.all(ev.ContextCompacted)[-1].detail))  # type: ignore[arg-type]
        assert told["trigger"] == "manual"
        notices = [one.text for one in talk.all(ev.Notice)]
        assert [one for one in notices if "Nothing worth telling." in one]  # the summary
        await talk.turn("compact-after", {"say": "Going on."})
        assert talk.transcript.text.endswith("Going on.")
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    last = bridge.api.turns[-1]
    assert "A long story." not in last.said()
    assert "Nothing worth telling." in "\n".join(last.given())


# The model that 2.1.200 starts with takes 1M tokens, and there it never compacts by itself.
@pytest.mark.parametrize("bridge", ["2.1.38", "2.1.325"], indirect=True)
@pytest.mark.conforms("stream-json §17")
async def test_a_context_that_is_full_is_compacted_by_itself(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        full = {"say": "Too much.", "deltas": 2}
        usage = {"input_tokens": 2_000_000, "output_tokens": 10}
        await talk.turn("full-before", {"blocks": [full], "usage": usage})
        request = await talk.say("full-after", {"say": "Going on."})
        assert await talk.outcome(request) == "done"
        assert "done" in [one.phase for one in talk.all(ev.ContextCompacted)]
        told = json.loads(bytes(talk.all(ev.ContextCompacted)[-1].detail))  # type: ignore[arg-type]
        assert told["trigger"] == "auto"
        assert len(talk.all(ev.TextDone)) == 2
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §13c")
async def test_where_there_is_nothing_to_compact_the_turn_ends_all_the_same(
    bridge: Bridge,
) -> None:
    async with await Talk.open(bridge) as talk:
        request = await talk.say("/compact")
        assert await talk.outcome(request) == "done"
        (said,) = [one.text for one in talk.all(ev.Notice)]
        assert said == "Error: No messages to compact"
        assert talk.all(ev.TurnEnded)[-1].reason == "done"
        await talk.turn("compact-nothing-after", {"say": "Here."})
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §13a", "PN-17")
async def test_a_command_of_the_project_is_a_prompt(bridge: Bridge) -> None:
    files = {".claude/commands/hail.md": "Hail the captain: $ARGUMENTS\n"}
    async with await Talk.open(bridge, cwd=bridge.repository("command", files)) as talk:
        request = await talk.say("/hail Ahab")
        assert await talk.outcome(request) == "done"
        told = json.loads(bytes(talk.all(ev.AgentReady)[-1].detail))  # type: ignore[arg-type]
        assert "hail" in told["slash_commands"]
        assert len(talk.all(ev.TextDone)) == 1
        assert talk.unknown() == []
    assert "Hail the captain: Ahab" in "\n".join(bridge.api.turns[-1].given())


@pytest.mark.conforms("stream-json §13a")
async def test_every_command_of_its_own_ends_its_turn(bridge: Bridge) -> None:
    known = ("compact", "context", "cost", "init", "pr-comments", "release-notes", "review")
    more = ("security-review", "insights", "debug")
    async with await Talk.open(bridge) as talk:
        await talk.turn("commands-before", {"say": "one"})
        told = json.loads(bytes(talk.all(ev.AgentReady)[-1].detail))  # type: ignore[arg-type]
        listed = [one for one in (*known, *more) if one in told["slash_commands"]]
        assert {"compact", "context", "init", "security-review"} <= set(listed)
        for name in listed:
            request = await talk.say(f"/{name}")
            assert await talk.outcome(request) == "done", name
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.parametrize("name", ["config", "fast", "help", "keybindings-help"])
@pytest.mark.conforms("stream-json §13b")
async def test_a_command_for_terminals_only_ends_its_turn_and_says_something(
    bridge: Bridge, name: str
) -> None:
    async with await Talk.open(bridge) as talk:
        ended = await talk.turn(f"/{name}")
        if bridge.claude.version == "2.1.38" and name != "keybindings-help":
            assert ended.message == f"Unknown skill: {name}"
        said = [*talk.all(ev.Notice), *talk.all(ev.TextDone)]
        assert said or ended.message or name == "keybindings-help"
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


async def test_d01_local_commands_leave_every_input_with_its_own_turn(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        for words in ("hello", "/cost", "hello again", "/no-such-command", "last"):
            answers = () if words.startswith("/") else ({"say": f"Heard {words}."},)
            request = await talk.say(words, *answers)
            assert await talk.outcome(request) == "done", words
            (consumed,) = [one for one in talk.all(ev.InputConsumed) if one.key.endswith(request)]
            assert consumed.turn == talk.all(ev.TurnEnded)[-1].turn, words
        assert talk.transcript.text.endswith("Heard last.")
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_d04_a_skill_that_appears_while_it_runs_is_listed(bridge: Bridge) -> None:
    folder = bridge.repository("appears")
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("appears-before", {"say": "one"})
        assert "fresh" not in talk.all(ev.AgentReady)[-1].commands
        skill = folder / ".claude" / "skills" / "fresh" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("---\nname: fresh\ndescription: a new one\n---\nBe fresh.\n")
        await talk.turn("/reload-skills")
        told = await talk.get(ev.AgentReady, where=lambda one: "fresh" in one.commands)
        assert told.commands["fresh"] == "prompt"
        assert talk.unknown() == []
