from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.agents.claude.driver.arguments import build_args
from flybridge.agents.claude.options import SCHEMA
from flybridge.errors import FlybridgeError
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec, Options, StartOptions
from flybridge.model.ids import SessionId
from flybridge.model.legacy_options import (
    from_legacy,
    joined,
    recorded,
    start_fields,
    start_options,
    to_legacy,
)
from flybridge.session.decide import Context, open_session
from flybridge.session.evolve import evolve
from flybridge.session.incarnations import start_spec
from flybridge.session.state import State, decode_state, encode_state

GOLDEN = Path(__file__).parents[2] / "golden" / "claude" / "arguments.json"
ROWS: list[dict[str, Any]] = json.loads(GOLDEN.read_text())  # written by 0.1


def argv(spec: OpenSpec, version: str) -> list[str] | str:
    try:
        return build_args(spec, version)
    except FlybridgeError as error:
        return error.code


def resumed(event: bytes, *, snapshot: bool) -> OpenSpec:
    """Return how a later life starts after an event that 0.1 wrote."""
    state = State(session=SessionId("ses_1"))
    evolve(state, msgspec.json.decode(event, type=e.Event), 1, 0)
    if snapshot:
        state = decode_state(encode_state(state))
    return start_spec(state)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['version']} {row['options']}"[:60])
def test_a_session_of_0_1_starts_with_the_same_arguments(row: dict[str, Any]) -> None:
    opened = {"type": "session.opened", "agent": "claude", "cwd": "/p", "model": "opus"}
    event = json.dumps({**opened, "options": row["options"]}).encode()
    expected = row.get("argv", row.get("refused"))
    for snapshot in (False, True):
        assert argv(resumed(event, snapshot=snapshot), row["version"]) == expected
    options = msgspec.convert(row["options"], Options)
    spec = OpenSpec(agent="claude", cwd="/p", model="opus", **start_fields(from_legacy(options)))
    assert argv(spec, row["version"]) == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["options"])[:60])
def test_the_two_forms_are_the_same_options(row: dict[str, Any]) -> None:
    options = msgspec.convert(row["options"], Options)
    start = from_legacy(options)
    assert to_legacy(start) == options
    assert SCHEMA.validate(start.agent_options, "claude") == start.agent_options


def test_every_old_option_is_common_or_in_the_schema() -> None:
    names = set(Options.__struct_fields__) - {"effort", "max_budget_usd", "transport"}
    assert names == {option.name for option in SCHEMA}


def test_a_change_of_0_1_is_read_whole() -> None:
    state = State(session=SessionId("ses_1"), start=StartOptions(agent_options={"fast": True}))
    evolve(state, e.SessionChanged(options=Options(effort="high", max_turns=2)), 1, 0)
    assert state.start == StartOptions(effort="high", agent_options={"max_turns": 2})
    evolve(state, e.SessionChanged(title="t"), 2, 0)
    assert state.start.effort == "high"


def test_a_snapshot_of_0_1_is_read_and_one_of_today_says_the_same_to_it() -> None:
    old = b'{"session":"ses_1","options":{"effort":"low","tools":[],"transport":"socket"}}'
    state = decode_state(old)
    expected = StartOptions(effort="low", transport="socket", agent_options={"tools": ()})
    assert (state.start, state.legacy) == (expected, None)
    again = json.loads(encode_state(state))
    assert again["options"] == {"effort": "low", "tools": [], "transport": "socket"}
    assert state.legacy is None


def test_what_another_agent_calls_the_same_does_not_fit_the_old_form() -> None:
    start = StartOptions(agent_options={"tools": "hammer", "speed": 3, "max_turns": 2})
    assert to_legacy(start) == Options(max_turns=2)
    assert recorded(start, to_legacy(start)) == start


def test_a_session_without_options_has_a_small_row() -> None:
    spec = OpenSpec(agent="a", cwd="/")
    (opened, _) = open_session(spec, Context(now_ms=1)).events
    row = json.loads(msgspec.json.encode(opened))
    assert row == {"type": "session.opened", "agent": "a", "cwd": "/"}
    spec = OpenSpec(agent="a", cwd="/", budget_usd=1.5, agent_options={"max_turns": 2})
    (opened, _) = open_session(spec, Context(now_ms=1)).events
    row = json.loads(msgspec.json.encode(opened))
    assert row["options"] == {"max_turns": 2, "max_budget_usd": 1.5}
    assert (row["budget_usd"], row["agent_options"]) == (1.5, {"max_turns": 2})


def test_of_two_forms_in_one_request_todays_wins() -> None:
    asked = StartOptions(effort="low", agent_options={"max_turns": 1})
    old = Options(effort="high", max_turns=2, max_budget_usd=3, fast=True, transport="socket")
    assert joined(asked, old) == StartOptions(
        effort="low",
        budget_usd=3,
        transport="socket",
        agent_options={"max_turns": 1, "fast": True},
    )
    assert joined(asked, None) == joined(asked, Options()) == asked


def test_options_are_read_from_whatever_has_them() -> None:
    start = StartOptions(effort="low", budget_usd=1, agent_options={"a": 1})
    spec = OpenSpec(agent="a", cwd="/", **start_fields(start))
    assert start_options(spec) == start
