"""What a host asks of the CLI in control_request, named as on the wire."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, field


class Initialize(Struct, frozen=True, tag="initialize", tag_field="subtype"):
    pass


class Interrupt(Struct, frozen=True, tag="interrupt", tag_field="subtype"):
    cancel_queued: bool | UnsetType = UNSET  # newer: take back what waits, too


class SetModel(Struct, frozen=True, tag="set_model", tag_field="subtype"):
    model: str | UnsetType = UNSET


class SetPermissionMode(Struct, frozen=True, tag="set_permission_mode", tag_field="subtype"):
    mode: str


class SetMaxThinkingTokens(Struct, frozen=True, tag="set_max_thinking_tokens", tag_field="subtype"):
    max_thinking_tokens: int | None


class StopTask(Struct, frozen=True, tag="stop_task", tag_field="subtype"):
    """Newer only: an old CLI never answers it."""

    task_id: str


class McpReconnect(Struct, frozen=True, tag="mcp_reconnect", tag_field="subtype"):
    server_name: str = field(name="serverName")


class McpToggle(Struct, frozen=True, tag="mcp_toggle", tag_field="subtype"):
    server_name: str = field(name="serverName")
    enabled: bool


class McpAuthenticate(Struct, frozen=True, tag="mcp_authenticate", tag_field="subtype"):
    """Newer only. The answer has the address at which a person logs in."""

    server_name: str = field(name="serverName")


class CancelAsyncMessage(Struct, frozen=True, tag="cancel_async_message", tag_field="subtype"):
    """Newer only: take back a message that waits. The answer says whether it still did."""

    message_uuid: str


class ApplyFlagSettings(Struct, frozen=True, tag="apply_flag_settings", tag_field="subtype"):
    """Newer only. What it does not understand of the settings it ignores without a word."""

    settings: Raw


class McpStatus(Struct, frozen=True, tag="mcp_status", tag_field="subtype"):
    pass


class GetContextUsage(Struct, frozen=True, tag="get_context_usage", tag_field="subtype"):
    pass


class GetUsage(Struct, frozen=True, tag="get_usage", tag_field="subtype"):
    pass


class ListModels(Struct, frozen=True, tag="list_models", tag_field="subtype"):
    pass


class GetSettings(Struct, frozen=True, tag="get_settings", tag_field="subtype"):
    pass


class GetPlan(Struct, frozen=True, tag="get_plan", tag_field="subtype"):
    pass


class GetSessionCost(Struct, frozen=True, tag="get_session_cost", tag_field="subtype"):
    pass


class GetStatus(Struct, frozen=True, tag="get_status", tag_field="subtype"):
    pass


class ListPermissionRules(Struct, frozen=True, tag="list_permission_rules", tag_field="subtype"):
    pass


class GetHooksListing(Struct, frozen=True, tag="get_hooks_listing", tag_field="subtype"):
    pass


class GetMemoryDialog(Struct, frozen=True, tag="get_memory_dialog", tag_field="subtype"):
    pass


class GetWorkspaceDiff(Struct, frozen=True, tag="get_workspace_diff", tag_field="subtype"):
    pass


class FileSuggestions(Struct, frozen=True, tag="file_suggestions", tag_field="subtype"):
    query: str


class GetTaskOutput(Struct, frozen=True, tag="get_task_output", tag_field="subtype"):
    task_id: str


class RewindFiles(Struct, frozen=True, kw_only=True, tag="rewind_files", tag_field="subtype"):
    """What the files would be again, as they were before a message; only told, not done."""

    user_message_id: str
    dry_run: bool = True


HostRequest: TypeAlias = (
    Initialize
    | Interrupt
    | SetModel
    | SetPermissionMode
    | SetMaxThinkingTokens
    | StopTask
    | McpReconnect
    | McpToggle
    | McpAuthenticate
    | CancelAsyncMessage
    | ApplyFlagSettings
    | McpStatus
    | GetContextUsage
    | GetUsage
    | ListModels
    | GetSettings
    | GetPlan
    | GetSessionCost
    | GetStatus
    | ListPermissionRules
    | GetHooksListing
    | GetMemoryDialog
    | GetWorkspaceDiff
    | FileSuggestions
    | GetTaskOutput
    | RewindFiles
)
