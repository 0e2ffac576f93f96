"""Trouble with the model's API, and limits."""

from __future__ import annotations

import json

import pytest

from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from tests.agents.rig import Bridge
from tests.agents.talk import Talk

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §11a")
async def test_a_bad_key_is_an_error_that_ends_the_turn(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        refused = {"status": 401, "message": "invalid x-api-key"}
        ended = await talk.turn("api-401", refused)
        assert ended.reason == "error"
        assert talk.all(ev.Error)[0].code == "authentication_failed"
        await talk.turn("api-401-after", {"say": "Here again."})
        assert talk.transcript.text == "Here again."
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("rule 29")
async def test_a_rate_limit_is_retried_and_then_answered(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        limited = {"status": 429, "times": 1, "headers": {"retry-after": "0"}}
        ended = await talk.turn("api-429-once", {**limited, "blocks": [{"say": "At last."}]})
        assert ended.reason == "done"
        assert talk.transcript.text == "At last."
        shown = [] if bridge.claude.version == "2.1.38" else [1]  # the old one retries silently
        assert [one.attempt for one in talk.all(ev.Retry)] == shown
        assert talk.unknown() == []
    assert bridge.api.count("api-429-once") == 2


@pytest.mark.conforms("stream-json §11a")
async def test_a_rate_limit_that_stays_ends_the_turn(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        limited = {"status": 429, "headers": {"retry-after": "0"}, "message": "slow down"}
        ended = await talk.turn("api-429", limited)
        assert ended.reason == "error"
        assert len(talk.all(ev.Error)) == 1
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, ("invalid_request", "unknown")), (529, ("overloaded", "server_error", "unknown"))],
)
@pytest.mark.conforms("stream-json §11a", "PN-2", "rule 19")
async def test_an_api_that_refuses_ends_the_turn_with_its_reason(
    bridge: Bridge, status: int, code: tuple[str, ...]
) -> None:
    async with await Talk.open(bridge) as talk:
        ended = await talk.turn(f"api-{status}", {"status": status, "message": "not today"})
        assert ended.reason == "error"
        result = json.loads(bytes(ended.detail))  # type: ignore[arg-type]
        assert (result["subtype"], result["is_error"]) == ("success", True)
        (told,) = talk.all(ev.Error)
        assert told.code in code
        assert str(status) in told.text or "not today" in told.text or "verload" in told.text
        await talk.turn(f"api-{status}-after", {"say": "Here again."})
        assert talk.transcript.text == "Here again."
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.parametrize("trouble", [{"fault": "overloaded_error"}, {"cut": True}])
@pytest.mark.conforms("rule 12")
async def test_an_answer_that_breaks_off_is_shown_once_at_most_as_complete(
    bridge: Bridge, trouble: dict[str, object]
) -> None:
    async with await Talk.open(bridge) as talk:
        half = {"blocks": [{"say": "Half of it."}], "times": 1, **trouble}
        request = await talk.say(f"api-breaks-{next(iter(trouble))}", half)
        assert await talk.outcome(request) == "done"
        whole = [one.text for one in talk.all(ev.TextDone) if one.status == "complete"]
        assert "Half of it." in whole
        assert {one.item for one in talk.all(ev.ItemStarted)} == {
            one.item for one in talk.all(ev.TextDone)
        }
        await talk.turn(f"api-breaks-{next(iter(trouble))}-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


async def test_an_answer_that_is_too_long_goes_on(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        cut = {"blocks": [{"say": "This is too"}], "stop": "max_tokens"}
        request = await talk.say("api-max-tokens", cut, {"say": "long."})
        assert await talk.outcome(request) == "done"
        assert "This is too" in talk.transcript.text
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


async def test_a_refusal_is_told(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        refused = {"blocks": [{"say": "I would rather not."}], "stop": "refusal"}
        ended = await talk.turn("api-refusal", refused)
        if bridge.claude.version == "2.1.38":
            assert (ended.reason, len(talk.all(ev.Error))) == ("error", 1)
        else:  # it says so, and has the model go on once
            assert [one for one in talk.all(ev.Notice) if "safeguards stopped" in one.text]
        await talk.turn("api-refusal-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


# ---- limits ----------------------------------------------------------------------------------


@pytest.mark.conforms("stream-json §3d", "stream-json §11c", "PN-6")
async def test_a_limit_of_rounds_ends_the_turn_as_a_limit(bridge: Bridge) -> None:
    reads = [{"tool": "Read", "input": {"file_path": str(bridge.claude.cwd)}}] * 3
    async with await Talk.open(bridge, options=Options(max_turns=2)) as talk:
        ended = await talk.turn("limit-rounds", *reads, {"say": "never said"})
        assert ended.reason == "limit"
        assert json.loads(bytes(ended.detail))["subtype"] == "error_max_turns"  # type: ignore[arg-type]
        await talk.turn("limit-rounds-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §3d", "stream-json §11d", "PN-6")
async def test_a_limit_of_money_ends_the_turn_as_a_limit(bridge: Bridge) -> None:
    usage = {"input_tokens": 900_000, "output_tokens": 900_000}
    read = {"tool": "Read", "input": {"file_path": str(bridge.claude.cwd)}}
    async with await Talk.open(bridge, options=Options(max_budget_usd=0.01)) as talk:
        spent = {"blocks": [read], "usage": usage}
        ended = await talk.turn("limit-money", spent, {"say": "maybe said"})
        assert ended.reason == "limit"
        assert json.loads(bytes(ended.detail))["subtype"] == "error_max_budget_usd"  # type: ignore[arg-type]
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("stream-json §3d", "PN-6")
async def test_a_shape_that_never_fits_ends_the_turn_as_a_limit(bridge: Bridge) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    wrong = [{"tool": "StructuredOutput", "input": {"b": n}} for n in range(12)]
    options = Options(json_schema=json.dumps(schema))
    async with await Talk.open(bridge, options=options) as talk:
        ended = await talk.turn("limit-shape", *wrong)
        told = json.loads(bytes(ended.detail))  # type: ignore[arg-type]
        assert told["subtype"] == "error_max_structured_output_retries"
        assert ended.reason == "limit"
        assert talk.unknown() == []


# ---- a start that fails -----------------------------------------------------------------------


@pytest.mark.conforms("rule 4")
async def test_an_agent_that_cannot_start_says_why(bridge: Bridge) -> None:
    async with await Talk.open(bridge, agent="misled") as talk:
        exited = await talk.get(ev.AgentExited)
        assert (exited.why, exited.status) == ("exit", 1)
        assert "nowhere.json" in exited.stderr_tail
