"""What stands in each kind of message of the measured versions.

Taken from recordings of many conversations and from the probes themselves. The ``fields`` of
``flybridge doctor --probe claude --json`` are in this form, for the day another one is measured.
"""

from __future__ import annotations

from flybridge.agents.claude.measured import MIDDLE, NEWER, OLDER

_OLDER = {
    "assistant": "error message parent_tool_use_id session_id type uuid",
    "control_cancel_request": "request_id type",
    "control_request/can_use_tool": (
        "request request.agent_id request.blocked_path request.decision_reason "
        "request.input request.permission_suggestions request.subtype request.tool_name "
        "request.tool_use_id request_id type"
    ),
    "control_request/hook_callback": (
        "request request.callback_id request.input request.subtype request.tool_use_id "
        "request_id type"
    ),
    "control_request/mcp_message": (
        "request request.message request.server_name request.subtype request_id type"
    ),
    "control_response": "response type",
    "result": (
        "duration_api_ms duration_ms errors is_error modelUsage num_turns "
        "permission_denials result session_id stop_reason subtype total_cost_usd type "
        "usage uuid"
    ),
    "stream_event/content_block_delta": "event parent_tool_use_id session_id type uuid",
    "stream_event/content_block_start": "event parent_tool_use_id session_id type uuid",
    "stream_event/content_block_stop": "event parent_tool_use_id session_id type uuid",
    "stream_event/message_delta": "event parent_tool_use_id session_id type uuid",
    "stream_event/message_start": "event parent_tool_use_id session_id type uuid",
    "stream_event/message_stop": "event parent_tool_use_id session_id type uuid",
    "system/compact_boundary": "compact_metadata session_id subtype type uuid",
    "system/hook_response": (
        "exit_code hook_event hook_id hook_name outcome output session_id stderr stdout "
        "subtype type uuid"
    ),
    "system/hook_started": "hook_event hook_id hook_name session_id subtype type uuid",
    "system/init": (
        "agents apiKeySource claude_code_version cwd fast_mode_state mcp_servers model "
        "output_style permissionMode plugins session_id skills slash_commands subtype "
        "tools type uuid"
    ),
    "system/status": "permissionMode session_id status subtype type uuid",
    "tool_progress": (
        "elapsed_time_seconds parent_tool_use_id session_id tool_name tool_use_id type uuid"
    ),
    "tool_use_summary": "preceding_tool_use_ids session_id summary type uuid",
    "user": "isReplay message parent_tool_use_id session_id tool_use_result type uuid",
}
_NEWER = {
    "active_goal": "session_id type uuid value",
    "assistant": (
        "aborted agent_id api_error api_error_status api_error_type context_usage error "
        "is_api_error_message local_command_outcome local_command_run "
        "local_command_source message parent_tool_use_id refused_message_id request_id "
        "session_id subagent_type task_description thinking_display thinking_duration_ms "
        "timestamp tool_use_meta type user_message_uuid user_message_uuids uuid"
    ),
    "autocompact_state": "session_id type uuid value",
    "command_lifecycle": "command_uuid session_id state type uuid",
    "control_cancel_request": "request_id type",
    "control_request/can_use_tool": (
        "request request.agent_id request.blocked_path request.decision_reason "
        "request.decision_reason_type request.description request.display_name "
        "request.input request.mcp_server request.permission_suggestions "
        "request.requires_user_interaction request.server_policy_ask_only request.subtype "
        "request.tool_name request.tool_use_id request_id type"
    ),
    "control_request/hook_callback": (
        "request request.callback_id request.input request.subtype request.tool_use_id "
        "request_id type"
    ),
    "control_request/mcp_message": (
        "request request.message request.server_name request.subtype request_id type"
    ),
    "control_response": "response type",
    "conversation_reset": (
        "new_conversation_id session_id timestamp trigger type user_message_uuid uuid"
    ),
    "prompt_suggestion": "session_id suggestion type uuid",
    "rate_limit_event": "rate_limit_info session_id type uuid",
    "result": (
        "api_error api_error_status api_error_type duration_api_ms duration_ms errors "
        "fast_mode_disabled_reason fast_mode_state first_content_frame_ms "
        "first_request_cache_read_input_tokens first_request_input_tokens "
        "input_attachments_detail is_error local_command message_normalization_detail "
        "modelUsage model_usage_since_last_result num_turns origin permission_denials "
        "process_turn_index queued_turn_count request_build_detail request_sent_wall_ms "
        "result result_index safety_stops session_id stop_reason subagent_stats subtype "
        "terminal_reason time_to_request_cpu_ms time_to_request_loop_lag_ms "
        "time_to_request_major_faults time_to_request_ms time_to_request_phases_ms "
        "tool_schema_build_detail total_cost_usd ttft_ms ttft_stream_ms "
        "turn_start_resume_kind type usage user_message_uuid user_message_uuids uuid"
    ),
    "stream_event/content_block_delta": (
        "api_message_id event parent_tool_use_id session_id thinking_display type uuid"
    ),
    "stream_event/content_block_start": (
        "api_message_id event parent_tool_use_id session_id thinking_display type uuid"
    ),
    "stream_event/content_block_stop": (
        "api_message_id event parent_tool_use_id session_id type uuid"
    ),
    "stream_event/message_delta": "api_message_id event parent_tool_use_id session_id type uuid",
    "stream_event/message_start": (
        "api_message_id event owed_rows parent_tool_use_id session_id thinking_display "
        "ttft_ms type user_message_uuid user_message_uuids uuid"
    ),
    "stream_event/message_stop": (
        "abandoned_blocks api_message_id event parent_tool_use_id session_id type uuid"
    ),
    "system/api_retry": (
        "attempt error error_status max_retries retry_delay_ms session_id subtype type uuid"
    ),
    "system/background_tasks_changed": "session_id subtype tasks type uuid",
    "system/compact_boundary": "compact_metadata logical_parent_uuid session_id subtype type uuid",
    "system/control_request_progress": "request_id session_id status subtype type uuid",
    "system/hook_response": (
        "exit_code hook_event hook_id hook_name outcome output session_id stderr stdout "
        "subtype type uuid"
    ),
    "system/hook_started": "hook_event hook_id hook_name session_id subtype type uuid",
    "system/commands_changed": "commands session_id subtype type uuid",
    "system/informational": "content level prevent_continuation session_id subtype type uuid",
    "system/init": (
        "additional_directories agents analytics_disabled apiKeySource capabilities "
        "claude_code_version cwd fast_mode_disabled_reason fast_mode_state mcp_servers "
        "memory_paths messaging_socket_path model original_cwd output_style "
        "per_turn_effort_active permissionMode plugins product_feedback_disabled "
        "session_id skills slash_commands startup_timing subtype terminal_slash_commands "
        "tools type ultrathink_available ultrathink_typed_raises user_message_uuids uuid "
        "view_mode"
    ),
    "system/model_refusal_fallback": (
        "api_refusal_category api_refusal_explanation content direction fallback_model "
        "original_model refused_user_message_uuid request_id retracted_message_uuids "
        "scope session_id subtype trigger type uuid"
    ),
    "system/model_refusal_no_fallback": (
        "api_refusal_category api_refusal_explanation content original_model "
        "refused_user_message_uuid request_id session_id subtype type uuid"
    ),
    "system/permission_denied": "message session_id subtype tool_name tool_use_id type uuid",
    "system/session_state_changed": "sdk_host_only session_id state subtype type uuid",
    "system/session_title_changed": "session_id subtype title type uuid",
    "system/status": (
        "compact_error compact_output_chars compact_result permissionMode session_id "
        "status subtype type user_message_uuids uuid"
    ),
    "system/task_notification": (
        "ambient output_file run_id session_id skip_transcript status subtype summary "
        "task_id tool_use_id type usage uuid"
    ),
    "system/task_progress": (
        "description last_tool_name run_id session_id subagent_type subtype task_id "
        "tool_use_id type usage uuid"
    ),
    "system/task_started": (
        "ambient description is_backgrounded prompt run_id session_id skip_transcript "
        "spawn_depth subagent_type subtype task_id task_type tool_use_id type uuid"
    ),
    "system/task_updated": "patch run_id session_id subtype task_id type uuid",
    "system/thinking_tokens": (
        "estimated_tokens estimated_tokens_delta session_id subtype type uuid"
    ),
    "tool_progress": (
        "elapsed_time_seconds heartbeat parent_tool_use_id session_id tool_name "
        "tool_use_id type uuid"
    ),
    "tool_use_summary": "preceding_tool_use_ids session_id summary type uuid",
    "transcript_mirror": "entries filePath type",
    "user": (
        "agent_id isReplay isSynthetic message parent_tool_use_id refused_message_id "
        "session_id subagent_type task_description timestamp tool_result_meta "
        "tool_use_result type uuid"
    ),
}
# The middle one is held to the list of the newer one, with the one field that it has beside it.
KNOWN: dict[str, dict[str, str]] = {OLDER: _OLDER, MIDDLE: _NEWER, NEWER: _NEWER}
