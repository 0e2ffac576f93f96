from __future__ import annotations

import typing

import msgspec
import pytest

from flybridge.agents.claude.wire import host_requests as h

WRITTEN: list[tuple[h.HostRequest, str]] = [
    (h.Initialize(), '{"subtype":"initialize"}'),
    (h.Interrupt(), '{"subtype":"interrupt"}'),
    (h.Interrupt(cancel_queued=True), '{"subtype":"interrupt","cancel_queued":true}'),
    (h.SetModel("m"), '{"subtype":"set_model","model":"m"}'),
    (h.SetPermissionMode("plan"), '{"subtype":"set_permission_mode","mode":"plan"}'),
    (
        h.SetMaxThinkingTokens(None),
        '{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}',
    ),
    (h.StopTask("t"), '{"subtype":"stop_task","task_id":"t"}'),
    (h.McpReconnect("s"), '{"subtype":"mcp_reconnect","serverName":"s"}'),
    (h.McpToggle("s", False), '{"subtype":"mcp_toggle","serverName":"s","enabled":false}'),
    (h.McpAuthenticate("s"), '{"subtype":"mcp_authenticate","serverName":"s"}'),
    (h.CancelAsyncMessage("u"), '{"subtype":"cancel_async_message","message_uuid":"u"}'),
    (
        h.ApplyFlagSettings(msgspec.Raw(b'{"effortLevel":"low"}')),
        '{"subtype":"apply_flag_settings","settings":{"effortLevel":"low"}}',
    ),
    (h.McpStatus(), '{"subtype":"mcp_status"}'),
    (h.GetContextUsage(), '{"subtype":"get_context_usage"}'),
    (h.GetUsage(), '{"subtype":"get_usage"}'),
    (h.ListModels(), '{"subtype":"list_models"}'),
    (h.GetSettings(), '{"subtype":"get_settings"}'),
    (h.GetPlan(), '{"subtype":"get_plan"}'),
    (h.GetSessionCost(), '{"subtype":"get_session_cost"}'),
    (h.GetStatus(), '{"subtype":"get_status"}'),
    (h.ListPermissionRules(), '{"subtype":"list_permission_rules"}'),
    (h.GetHooksListing(), '{"subtype":"get_hooks_listing"}'),
    (h.GetMemoryDialog(), '{"subtype":"get_memory_dialog"}'),
    (h.GetWorkspaceDiff(), '{"subtype":"get_workspace_diff"}'),
    (h.FileSuggestions("src/"), '{"subtype":"file_suggestions","query":"src/"}'),
    (h.GetTaskOutput("b1"), '{"subtype":"get_task_output","task_id":"b1"}'),
    (
        h.RewindFiles(user_message_id="u"),
        '{"subtype":"rewind_files","user_message_id":"u","dry_run":true}',
    ),
]


@pytest.mark.parametrize(("request_", "text"), WRITTEN, ids=lambda one: type(one).__name__)
def test_a_request_is_written_as_the_cli_reads_it_and_read_back(
    request_: h.HostRequest, text: str
) -> None:
    assert msgspec.json.encode(request_).decode() == text
    assert msgspec.json.decode(text, type=h.HostRequest) == request_


def test_every_request_is_here() -> None:
    assert {type(request) for request, _ in WRITTEN} == set(typing.get_args(h.HostRequest))
