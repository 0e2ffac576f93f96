"""Every frame of a device is understood, or is a reason; never a raise, never an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.frontends.companion.wire.decode import Rejected, decode, decode_for_device
from flybridge.frontends.companion.wire.messages import (
    MAX_SAID_BYTES,
    Action,
    AgentStatus,
    Configure,
    FromDevice,
    Say,
    SpawnRequest,
)

# Every text that the real app's network code produces, both generations.
REAL = [
    ('{"type":"action","agent":"CLAUDE","action":"yes","slot":0}', ("CLAUDE", "yes", 0)),
    ('{"type":"action","agent":"CLAUDE","action":"no","slot":0}', ("CLAUDE", "no", 0)),
    ('{"type":"action","agent":"CLAUDE","action":"always","slot":0}', ("CLAUDE", "always", 0)),
    ('{"type":"action","action":"yes","slot":1}', ("", "yes", 1)),
    ('{"type":"action","action":"always","slot":0}', ("", "always", 0)),
]


@pytest.mark.parametrize(("said", "wanted"), REAL)
def test_buttons_of_the_real_app_are_understood(said: str, wanted: tuple[str, str, int]) -> None:
    found = decode(said.encode())
    assert isinstance(found, Action)
    assert (found.agent, found.action, found.slot) == wanted


def test_everything_else_the_real_app_says_is_understood() -> None:
    said = '{"type":"command","agent":"CLAUDE","command":"spawn","slot":0}'
    assert decode(said.encode()) == Say(command="spawn", agent="CLAUDE", slot=0)
    on = decode(b'{"type":"config","agent":"CLAUDE","autoEdit":true}')
    assert on == Configure(agent="CLAUDE", auto_edit=True)
    assert decode(b'{"type":"config","autoEdit":false}') == Configure(auto_edit=False)


def test_no_slot_and_null_are_the_same() -> None:
    assert decode(b'{"type":"action","action":"no"}') == Action(action="no")
    assert decode(b'{"type":"action","action":"no","slot":null}') == Action(action="no")


BAD = [
    b"",
    b"not json",
    b"null",
    b"42",
    b"[]",
    b"{}",
    b'{"type":null}',
    b'{"type":"nonsense"}',
    b'{"type":"action"}',
    b'{"type":"ACTION","action":"yes"}',
    b'{"type":"action","action":"maybe"}',
    b'{"type":"action","action":"yes","slot":"0"}',
    b'{"type":"action","action":"yes","slot":0.5}',
    b'{"type":"action","action":"yes","slot":true}',
    b'{"type":"action","agent":"my "best" agent","action":"yes","slot":0}',
    b'{"type":"command","slot":0}',
    b'{"type":"command","command":" ","slot":0}',
    b'{"type":"command","command":7}',
    b'{"type":"config","autoEdit":"yes"}',
    b'{"type":"agent_status","slot":0}',
    b'{"type":"config","autoEdit":true}\n{"type":"config","autoEdit":false}',
    b'\xef\xbb\xbf{"type":"config","autoEdit":true}',
    b'{"type":"command","command":"\xff"}',
    b"[" * 100_000,
    b'{"type":"command","command":"' + b"a" * MAX_SAID_BYTES + b'"}',
]


@pytest.mark.parametrize("data", BAD)
def test_what_makes_no_sense_is_a_reason_and_no_answer(data: bytes) -> None:
    found = decode(data)
    assert isinstance(found, Rejected)
    assert found.reason
    assert not found.spawn


@pytest.mark.parametrize("slot", ['"1"', "1.5", "null", "{}"])
def test_a_wish_for_an_agent_in_no_slot_is_known_as_one(slot: str) -> None:
    found = decode(b'{"type":"spawn_request","slot":%s}' % slot.encode())
    assert isinstance(found, Rejected)
    assert found.spawn
    assert decode(b'{"type":"spawn_request"}') == Rejected(
        "Object missing required field `slot`", spawn=True
    )
    assert decode(b'{"type":"spawn_request","slot":-1}') == SpawnRequest(slot=-1)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
shaped = st.fixed_dictionaries(
    {"type": st.sampled_from(["action", "command", "config", "spawn_request", "auth"]) | anything},
    optional={
        "action": st.sampled_from(["yes", "no", "always", "escape"]) | anything,
        "command": anything,
        "slot": anything,
        "agent": anything,
        "autoEdit": anything,
        "token": anything,
    },
)


@given(st.binary() | shaped.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_message_or_a_reason(data: bytes) -> None:
    found: FromDevice | Rejected = decode(data)
    if isinstance(found, Action):
        told: dict[str, Any] = json.loads(data)
        assert told["action"] == found.action
    assert isinstance(decode_for_device(data), Rejected)


def test_a_program_that_is_a_device_reads_what_it_is_sent() -> None:
    data = b'{"type":"agent_status","agent":"a","state":"idle","slot":0,"active":true}'
    assert decode_for_device(data) == AgentStatus(agent="a", state="idle", slot=0, active=True)
