from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from flybridge.wire.claude import messages as w
from flybridge.wire.claude.decode import decode, decode_host

GOLDEN = Path(__file__).parents[2] / "golden" / "claude"
LINES = [
    (json.loads(line)["dir"], json.loads(line)["line"].encode())
    for one in sorted(GOLDEN.glob("2.*/*.jsonl"))
    for line in one.read_text(encoding="utf-8").splitlines()[1:]
]
SEEN = {type(decode(line)) for way, line in LINES if way == "out"}


def test_every_line_of_the_recordings_is_a_message() -> None:
    assert w.Odd not in SEEN
    said = [decode(line) for way, line in LINES if way == "out"]
    unknown = {(one.type, one.subtype) for one in said if isinstance(one, w.Unknown)}
    assert unknown == {
        ("system", "background_tasks_changed"),
        ("system", "task_notification"),
        ("system", "task_progress"),
        ("system", "task_started"),
        ("system", "task_updated"),
        ("system", "thinking_tokens"),
    }


@pytest.mark.parametrize(
    "kind",
    [
        w.StreamEvent,
        w.Assistant,
        w.User,
        w.Result,
        w.Init,
        w.Status,
        w.ApiRetry,
        w.CanUseTool,
        w.Cancel,
        w.ControlResponse,
        w.CommandLifecycle,
    ],
)
def test_the_recordings_have_every_common_message(kind: type) -> None:
    assert kind in SEEN


def test_every_line_the_recorded_host_wrote_is_understood_by_an_agent_of_ours() -> None:
    told = [decode_host(line) for way, line in LINES if way == "in"]
    assert {type(one) for one in told} == {w.Prompt, w.HostAsked, w.ControlResponse}
    assert all(one.request is not None for one in told if isinstance(one, w.HostAsked))


def test_content_stays_raw_so_that_one_unknown_block_costs_nothing() -> None:
    line = b'{"type":"assistant","message":{"content":[{"type":"hologram"},{"type":"text"}]}}'
    message = decode(line)
    assert isinstance(message, w.Assistant)
    assert [bytes(raw) for raw in message.message.content] == [
        b'{"type":"hologram"}',
        b'{"type":"text"}',
    ]


def test_wire_names_are_the_wires_own() -> None:
    assert msgspec.json.encode(w.Allow(updated_input=msgspec.Raw(b"{}"))) == (
        b'{"behavior":"allow","updatedInput":{}}'
    )
    assert b'"isReplay":true' in msgspec.json.encode(
        w.User(message=w.UserBody(content=msgspec.Raw(b'""')), is_replay=True)
    )
