"""The messages themselves: their tags, their names on the wire, and their defaults."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from flybridge.frontends.ipc.wire import messages as w


@pytest.mark.conforms("ipc: ipc_version")
def test_every_outbound_message_carries_the_version() -> None:
    for kind in get_args(w.Outbound):
        fields = {one.name: one for one in msgspec.structs.fields(kind)}
        assert fields["ipc_version"].default == 2, kind


def test_every_type_of_the_protocol_is_there() -> None:
    inbound = {one.__struct_config__.tag for one in get_args(w.Inbound)}
    assert inbound == {
        *("protocol_init", "user_message", "tool_approval", "question_answer", "interrupt"),
        *("permission_mode", "model_change", "session_command", "stop_task", "view"),
    }
    outbound = {one.__struct_config__.tag for one in get_args(w.Outbound)}
    assert outbound == {
        *("protocol_ack", "session_init", "system_metadata", "assistant_text", "thinking_text"),
        *("tool_use", "tool_result", "tool_use_structured", "control_request_forward"),
        *("control_request_cancel", "cost_update", "compact_boundary", "turn_complete"),
        *("turn_cancelled", "error", "view", "tool_approval_request", "question"),
    }


def test_names_on_the_wire_are_the_protocols_own() -> None:
    said = msgspec.json.decode(msgspec.json.encode(w.SystemMetadata(permission_mode="plan")))
    assert said["permissionMode"] == "plan"
    assert "apiKeySource" in said
    assert "modelUsage" in msgspec.json.decode(msgspec.json.encode(w.CostUpdate()))


@pytest.mark.conforms("ipc: modes")
def test_all_six_modes_are_known() -> None:
    assert {"dontAsk", "delegate"} < set(w.MODES)
    assert len(w.MODES) == 6
