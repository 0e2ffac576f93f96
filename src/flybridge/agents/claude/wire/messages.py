"""The messages of stream-json, named as on the wire. Both roles, no behaviour.

Only what somebody reads is typed; everything else stays in the line. A field that a
newer CLI may change, and whose change must not cost the whole message, is ``Raw``.
Content is ``list[Raw]``: one unknown block in a typed list would kill its message.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, field

from flybridge.agents.claude.wire.host_requests import HostRequest

MaybeRaw: TypeAlias = Raw | UnsetType

# ---- stream events: the model's answer while it grows. The hot path, hence gc=False ----------


class Delta(Struct, frozen=True, gc=False):
    """One piece of a block. Flat on purpose: a new kind of delta must not be an error."""

    text: str = ""
    thinking: str = ""
    partial_json: str = ""


class BlockDelta(Struct, frozen=True, gc=False, tag="content_block_delta"):
    index: int
    delta: Delta


class BlockStart(Struct, frozen=True, tag="content_block_start"):
    index: int
    content_block: Raw


class BlockStop(Struct, frozen=True, tag="content_block_stop"):
    index: int


class MessageHead(Struct, frozen=True, kw_only=True):
    id: str = ""
    model: str = ""
    usage: MaybeRaw = UNSET


class MessageStart(Struct, frozen=True, tag="message_start"):
    message: MessageHead


class MessageDelta(Struct, frozen=True, tag="message_delta"):
    delta: MaybeRaw = UNSET  # has no type of its own: only blocks' deltas do
    usage: MaybeRaw = UNSET


class MessageStop(Struct, frozen=True, tag="message_stop"):
    pass


class Ping(Struct, frozen=True, tag="ping"):
    pass


StreamPart: TypeAlias = (
    BlockDelta | BlockStart | BlockStop | MessageStart | MessageDelta | MessageStop | Ping
)


class StreamEvent(Struct, frozen=True, gc=False, tag="stream_event"):
    event: StreamPart
    parent_tool_use_id: str | None = None


# ---- content blocks -----------------------------------------------------------------------------


class TextBlock(Struct, frozen=True, tag="text"):
    text: str


class ThinkingBlock(Struct, frozen=True, tag="thinking"):
    thinking: str
    signature: MaybeRaw = UNSET


class RedactedThinkingBlock(Struct, frozen=True, tag="redacted_thinking"):
    data: MaybeRaw = UNSET


class ToolUseBlock(Struct, frozen=True, tag="tool_use"):
    id: str
    name: str
    input: MaybeRaw = UNSET


class ServerToolUseBlock(Struct, frozen=True, tag="server_tool_use"):
    """A tool the model's API runs itself: a search of the web, say."""

    id: str
    name: str
    input: MaybeRaw = UNSET


class ServerToolResultBlock(Struct, frozen=True):
    """What came of that. Its type names the tool: web_search_tool_result, and so on."""

    tool_use_id: str
    content: MaybeRaw = UNSET


class ToolResultBlock(Struct, frozen=True, kw_only=True, tag="tool_result"):
    tool_use_id: str
    content: MaybeRaw = UNSET  # text, or a list of blocks
    is_error: bool | None = None


class Source(Struct, frozen=True, kw_only=True):
    type: Literal["base64", "text"]
    media_type: str
    data: str


class ImageBlock(Struct, frozen=True, tag="image"):
    source: Source


class DocumentBlock(Struct, frozen=True, tag="document"):
    source: Source
    title: str | UnsetType = UNSET


Block: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ServerToolUseBlock
    | ToolResultBlock
    | ImageBlock
    | DocumentBlock
)

# ---- what the CLI says -------------------------------------------------------------------------


class AssistantBody(Struct, frozen=True, kw_only=True):
    id: str = ""
    type: str = "message"
    role: str = "assistant"
    model: str = ""
    content: list[Raw]
    stop_reason: str | None = None
    usage: MaybeRaw = UNSET


class Assistant(Struct, frozen=True, kw_only=True, tag="assistant"):
    """One complete block of an answer: one message per block, all with the same ``id``."""

    message: AssistantBody
    parent_tool_use_id: str | None = None
    uuid: MaybeRaw = UNSET
    error: MaybeRaw = UNSET
    aborted: bool | UnsetType = UNSET
    local_command_source: MaybeRaw = UNSET  # newer: a slash command printed this
    local_command_outcome: MaybeRaw = UNSET  # newer: it failed, or wants a terminal
    context_usage: MaybeRaw = UNSET  # newer: what /context counted
    subagent_type: MaybeRaw = UNSET  # newer: who speaks


class UserBody(Struct, frozen=True, kw_only=True):
    role: str = "user"
    content: Raw  # text, or a list of blocks


class User(Struct, frozen=True, kw_only=True, tag="user"):
    """A tool's result, an echo of an input (``isReplay``), or text the CLI made up."""

    message: UserBody
    parent_tool_use_id: str | None = None
    uuid: str | UnsetType = UNSET
    is_replay: bool | UnsetType = field(name="isReplay", default=UNSET)
    is_synthetic: bool | UnsetType = field(name="isSynthetic", default=UNSET)
    tool_use_result: MaybeRaw = UNSET
    tool_result_meta: MaybeRaw = UNSET


class Result(Struct, frozen=True, kw_only=True, tag="result"):
    """The end of a turn. Nothing but the subtype may stop it from being understood."""

    subtype: str = "success"
    is_error: bool = False
    result: MaybeRaw = UNSET
    errors: MaybeRaw = UNSET
    terminal_reason: MaybeRaw = UNSET
    total_cost_usd: MaybeRaw = UNSET
    usage: MaybeRaw = UNSET
    model_usage: MaybeRaw = field(name="modelUsage", default=UNSET)
    model_usage_since_last_result: MaybeRaw = UNSET
    permission_denials: MaybeRaw = UNSET
    origin: MaybeRaw = UNSET  # what began the turn, where it was no input


class Init(Struct, frozen=True, kw_only=True, tag="init", tag_field="subtype"):
    """system/init: what the CLI is and has. Comes at the start of every turn."""

    cwd: str = ""
    session_id: str = ""
    tools: MaybeRaw = UNSET
    mcp_servers: MaybeRaw = UNSET
    model: str = ""
    permission_mode: str = field(name="permissionMode", default="")
    slash_commands: MaybeRaw = UNSET
    claude_code_version: str = ""


class Status(Struct, frozen=True, kw_only=True, tag="status", tag_field="subtype"):
    """system/status: requesting, compacting or null; also the news of another mode."""

    status: str | None = None
    permission_mode: str | UnsetType = field(name="permissionMode", default=UNSET)
    compact_result: MaybeRaw = UNSET
    compact_error: MaybeRaw = UNSET


class ApiRetry(Struct, frozen=True, kw_only=True, tag="api_retry", tag_field="subtype"):
    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0
    error_status: MaybeRaw = UNSET
    error: MaybeRaw = UNSET


class CompactBoundary(
    Struct, frozen=True, kw_only=True, tag="compact_boundary", tag_field="subtype"
):
    compact_metadata: MaybeRaw = UNSET


class PermissionDenied(
    Struct, frozen=True, kw_only=True, tag="permission_denied", tag_field="subtype"
):
    """system/permission_denied: the CLI said no by itself, nobody was asked."""

    tool_name: str
    tool_use_id: str = ""
    message: str = ""


class CanUseTool(Struct, frozen=True, kw_only=True):
    """control_request can_use_tool: may this tool run with this input?"""

    request_id: str
    tool_name: str
    input: Raw
    tool_use_id: str = ""
    permission_suggestions: list[Raw] | None = None
    decision_reason: MaybeRaw = UNSET
    rest: MaybeRaw = UNSET  # the request's other fields, as the CLI wrote them


class OtherRequest(Struct, frozen=True, kw_only=True):
    """A control_request of another subtype, or a malformed one: it still wants an answer."""

    request_id: str
    subtype: str
    line: bytes


class Cancel(Struct, frozen=True, tag="control_cancel_request"):
    request_id: str


class CommandLifecycle(Struct, frozen=True, kw_only=True, tag="command_lifecycle"):
    command_uuid: str
    state: str


class RateLimitEvent(Struct, frozen=True, tag="rate_limit_event"):
    rate_limit_info: Raw


class ToolProgress(Struct, frozen=True, kw_only=True, tag="tool_progress"):
    """Here ``parent_tool_use_id`` is the running tool itself, not a sub-agent's parent."""

    parent_tool_use_id: str | None = None
    elapsed_time_seconds: float = 0


class KeepAlive(Struct, frozen=True, tag="keep_alive"):
    pass


class Unknown(Struct, frozen=True, kw_only=True):
    """A message with a type, but none that is known here, or not in this shape."""

    type: str
    subtype: str
    parent: str
    line: bytes


class Odd(Struct, frozen=True, kw_only=True):
    """A line that is no message at all: noise, a cut line, bytes that are not text."""

    reason: str
    line: bytes


# ---- both directions ----------------------------------------------------------------------------


class ControlRequest(Struct, frozen=True, tag="control_request"):
    request_id: str
    request: Raw


class ResponseBody(Struct, frozen=True, kw_only=True):
    subtype: str = "success"
    request_id: str
    response: MaybeRaw = UNSET
    error: MaybeRaw = UNSET
    error_code: MaybeRaw = UNSET  # newer
    pending_permission_requests: MaybeRaw = UNSET  # where initialize was refused


class ControlResponse(Struct, frozen=True, tag="control_response"):
    """An answer; with --replay-user-messages the CLI also repeats the host's own answers."""

    response: ResponseBody


Message: TypeAlias = (
    StreamEvent
    | Assistant
    | User
    | Result
    | Init
    | Status
    | ApiRetry
    | CompactBoundary
    | PermissionDenied
    | CanUseTool
    | OtherRequest
    | Cancel
    | ControlResponse
    | CommandLifecycle
    | RateLimitEvent
    | ToolProgress
    | KeepAlive
    | Unknown
    | Odd
)

# ---- what the host says -------------------------------------------------------------------------


class Prompt(Struct, frozen=True, kw_only=True, tag="user"):
    """What a person says. ``uuid`` is the CLI's idempotency key: a repeat is never run."""

    session_id: str = ""
    parent_tool_use_id: str | None = None
    message: UserBody
    uuid: str | UnsetType = UNSET


class Allow(Struct, frozen=True, kw_only=True, tag="allow", tag_field="behavior"):
    """``updatedInput`` is not optional: without it an old CLI denies the call."""

    updated_input: Raw = field(name="updatedInput")
    updated_permissions: list[Raw] | UnsetType = field(name="updatedPermissions", default=UNSET)


class Deny(Struct, frozen=True, kw_only=True, tag="deny", tag_field="behavior"):
    message: str
    interrupt: bool | UnsetType = UNSET


Verdict: TypeAlias = Allow | Deny


class UpdateEnvironment(Struct, frozen=True, tag="update_environment_variables"):
    variables: dict[str, str]


class HostAsked(Struct, frozen=True, kw_only=True):
    """A control_request of the host; ``request`` None: a subtype not known here."""

    request_id: str
    subtype: str
    request: HostRequest | None


HostMessage: TypeAlias = (
    Prompt | HostAsked | ControlResponse | KeepAlive | UpdateEnvironment | Unknown | Odd
)
