from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import decode, decode_host

GOLDEN = Path(__file__).parents[4] / "golden" / "claude"
LINES = [
    (json.loads(line)["dir"], json.loads(line)["line"].encode())
    for one in sorted(GOLDEN.glob("2.*/*.jsonl"))
    for line in one.read_text(encoding="utf-8").splitlines()[1:]
]
# Known to the driver by their type alone: nobody reads more than a field or two of them.
UNTYPED = {
    ("active_goal", ""),
    ("autocompact_state", ""),
    ("conversation_reset", ""),
    ("prompt_suggestion", ""),
    ("tool_use_summary", ""),
    ("transcript_mirror", ""),
    ("system", "background_tasks_changed"),
    ("system", "commands_changed"),
    ("system", "control_request_progress"),
    ("system", "hook_response"),
    ("system", "hook_started"),
    ("system", "informational"),
    ("system", "model_refusal_fallback"),
    ("system", "model_refusal_no_fallback"),
    ("system", "session_state_changed"),
    ("system", "session_title_changed"),
    ("system", "task_notification"),
    ("system", "task_progress"),
    ("system", "task_started"),
    ("system", "task_updated"),
    ("system", "thinking_tokens"),
}
SEEN = {type(decode(line)) for way, line in LINES if way == "out"}


def test_every_line_of_the_recordings_is_a_message() -> None:
    assert w.Odd not in SEEN
    said = [decode(line) for way, line in LINES if way == "out"]
    unknown = {(one.type, one.subtype) for one in said if isinstance(one, w.Unknown)}
    assert unknown == UNTYPED


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
        w.OtherRequest,
        w.CompactBoundary,
        w.PermissionDenied,
        w.RateLimitEvent,
        w.ToolProgress,
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
    asked = [one for one in told if isinstance(one, w.HostAsked)]
    assert {"initialize", "interrupt", "set_model", "mcp_status"} <= {
        one.subtype for one in asked if one.request is not None
    }


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
