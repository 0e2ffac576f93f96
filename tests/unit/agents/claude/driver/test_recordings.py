"""Every recorded conversation with the real programs goes through the driver without loss."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from flybridge.agents.claude.driver.convert.words import SYNTHETIC
from flybridge.model.deliveries import Answer, Gauge
from flybridge.model.events import AgentReady, Error, Unrecognised
from flybridge.model.facts import Fact, ItemClosed, TurnOver
from flybridge.testing.drivers import Heard
from tests.harness.claude_recordings import (
    FACTS,
    FILES,
    NAMES,
    described,
    recording,
    replay,
    summary,
)

CUT = "…[cut"  # how the recordings mark a text that was shortened
SINGLE_ANSWERS = {"user", "control_response", "control_request"}

# What recorded hosts wrote and ours does not, with how often: nothing else is left out.
LEFT_OUT = {
    "a question, or a request of another kind": 85,  # questions are compared all the same
    "answers a request our driver refuses by itself": 12,
    "answers with a number": 2,
    "answers with more or less than answers": 6,
    "declares hooks, servers, agents or prompts of the host's own": 10,
    "no longer open, or refused": 12,
    "remembers what nobody suggested": 8,
    "a block that people do not write": 2,
    "says that no person said it": 2,
}


def test_there_are_recordings_of_every_pinned_version() -> None:
    assert len(FILES) >= 90
    assert {name.partition("/")[0] for name in NAMES} == {"2.1.38", "2.1.200", "2.1.325"}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_recording_is_unrecognised(name: str) -> None:
    facts = replay(name).play(end=True).facts
    assert [one.text for one in facts if isinstance(one, Unrecognised)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_conversation_gives_these_facts(name: str) -> None:
    assert summary(name) == FACTS[name]


def test_the_facts_are_those_of_the_recordings_and_no_others() -> None:
    assert sorted(FACTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_turn_ends_once(name: str) -> None:
    """A result ends a turn; one before any turn says that the CLI could not start."""
    said = [json.loads(line) for line in recording(name).said()]
    results = [one for one in said if one["type"] == "result"]
    facts = replay(name).play().facts
    over = [one for one in facts if isinstance(one, TurnOver)]
    never = [one for one in facts if isinstance(one, Error) and one.code == "agent"]
    assert len(over) + len(never) == len(results)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_spent_adds_up_to_the_recorded_total(name: str) -> None:
    """Unless the count began anew, or went on from one that this process never told."""
    said = [json.loads(line) for line in recording(name).said()]
    totals = [one["total_cost_usd"] for one in said if one["type"] == "result"]
    if recording(name).spec().resume or totals != sorted(totals):
        return
    facts = replay(name).play().facts
    spent = sum(one.cost_usd for one in facts if isinstance(one, TurnOver))
    assert spent == pytest.approx(totals[-1] if totals else 0.0)


@pytest.mark.parametrize("name", [one for one in NAMES if "sdk_reconnect" not in one])
def test_streamed_text_adds_up_to_the_complete_text(name: str) -> None:
    """But for the one whose WebSocket lost some of it: the CLI never says it again."""
    played = replay(name).play()
    closed = {one.item: one for one in played.facts if isinstance(one, ItemClosed)}
    for item, shown in played.shown.items():
        whole = closed[item].text if item in closed else None
        if whole is not None and CUT not in whole:
            assert shown == whole


# ---- what a later version may add ----------------------------------------------------------------

HOLOGRAM = {"type": "hologram", "beam": [1, 2, 3]}


@pytest.mark.parametrize("name", NAMES)
def test_fields_that_nobody_knows_yet_cost_nothing(name: str) -> None:
    facts = changed(name, lambda said: {"hologram": HOLOGRAM, **said, "hologram2": None})
    assert " ".join(described(one) for one in facts) == FACTS[name]
    ready = [one for one in facts if isinstance(one, AgentReady) and one.agent_session]
    assert all(one.detail is not UNSET and b"hologram" in bytes(one.detail) for one in ready)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_that_nobody_knows_yet_are_kept_beside_the_others(name: str) -> None:
    facts = changed(name, with_a_hologram)
    kept = [one.text for one in facts if isinstance(one, Unrecognised)]
    assert kept == [json.dumps(HOLOGRAM, separators=(",", ":"))] * len(kept)
    assert [described(one) for one in facts if not isinstance(one, Unrecognised)] == (
        FACTS[name].split()
    )
    said = [json.loads(line) for line in recording(name).said()]
    assert len(kept) == len([one for one in said if is_the_models(one)])


def is_the_models(said: dict[str, Any]) -> bool:
    """Whether this is an answer of a model's, and not the CLI's own words."""
    if said["type"] != "assistant" or "local_command_source" in said:
        return False
    return said["message"]["model"] != SYNTHETIC or "error" in said


def with_a_hologram(said: dict[str, Any]) -> dict[str, Any]:
    if not is_the_models(said):
        return said
    message = said["message"]
    return {**said, "message": {**message, "content": [*message["content"], HOLOGRAM]}}


def changed(name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Fact | Answer]:
    """The facts of a recording each of whose lines was changed."""
    one = replay(name)
    steps = [
        Heard(json.dumps(change(json.loads(step.line)), separators=(",", ":")).encode())
        if isinstance(step, Heard)
        else step
        for step in one.conversation.steps
    ]
    conversation = msgspec.structs.replace(one.conversation, steps=tuple(steps))
    played = msgspec.structs.replace(one, conversation=conversation).play()
    return [fact for fact in played.facts if not isinstance(fact, Gauge)]


# ---- what our driver writes in the host's place --------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_driver_writes_what_the_recorded_host_wrote(name: str) -> None:
    for one in replay(name).written:
        assert plain(one.ours) == plain(one.host)


def test_what_is_not_written_is_known() -> None:
    left_out = Counter(one.why for name in NAMES for one in replay(name).left_out)
    asked = left_out.pop("a question") + left_out.pop("a request of another kind")
    assert {**left_out, "a question, or a request of another kind": asked} == LEFT_OUT
    assert sum(len(replay(name).written) for name in NAMES) >= 700


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """A line without what differs by design: our ids, and the forms that mean the same."""
    assert message["type"] in SINGLE_ANSWERS
    kept = {
        name: value
        for name, value in message.items()
        if name not in ("uuid", "request_id", "session_id", "parent_tool_use_id")
    }
    if kept["type"] == "user":
        kept["message"] = plain_prompt(kept["message"])
    elif kept["type"] == "control_request":
        kept["request"] = {
            name: value for name, value in kept["request"].items() if name != "cancel_queued"
        }  # the recorded host let its queue run
    else:
        kept["response"] = plain_answer(kept["response"])
    return kept


def plain_prompt(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": blocks}


def plain_answer(response: dict[str, Any]) -> dict[str, Any]:
    """What is remembered is so for the session only, wherever the host put it."""
    verdict = {**response["response"]}
    if "updatedPermissions" in verdict:
        rules = verdict["updatedPermissions"]
        verdict["updatedPermissions"] = [{**one, "destination": "session"} for one in rules]
    return {**response, "response": verdict}
