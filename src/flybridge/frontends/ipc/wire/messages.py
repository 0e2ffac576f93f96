"""The messages of the IPC, version 2: what a front end writes, and what it reads.

Inbound messages name only what the front end decides. Every outbound message carries
``ipc_version``; a field that is not there was not known, and a front end passes over fields
and types that it does not know.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

PROTOCOL_VERSION = 1
IPC_VERSION = 2
PENDING = "pending"
MAX_IMAGE_BYTES = 5 * 2**20
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MODES = ("default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "delegate")

SessionCommandName: TypeAlias = Literal["fork", "continue", "new"]


# ---- what a front end writes ---------------------------------------------------------------------


class ProtocolInit(msgspec.Struct, frozen=True, kw_only=True, tag="protocol_init"):
    """The first line; nothing is done before it."""

    version: int


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A picture as base64, or anything else as text."""

    filename: str = ""  # not sent to the agent
    content: str
    media_type: str


class UserMessage(msgspec.Struct, frozen=True, kw_only=True, tag="user_message"):
    text: str
    attachments: tuple[Attachment, ...] = ()


class ToolApproval(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag="tool_approval",
    rename={"updated_input": "updatedInput", "updated_permissions": "updatedPermissions"},
):
    """Decide a forwarded request: ``allow``; any other decision denies."""

    request_id: str
    decision: str
    updated_input: Raw | UnsetType = UNSET  # what the tool gets instead
    message: str = ""  # why not
    updated_permissions: tuple[Raw, ...] = ()  # suggestions that are to hold from here on


class QuestionAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="question_answer"):
    """Answers by the full text of the question; several labels as a list, or with commas."""

    request_id: str
    answers: dict[str, str | tuple[str, ...]]


class Interrupt(msgspec.Struct, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the turn; never a signal."""


class PermissionMode(msgspec.Struct, frozen=True, kw_only=True, tag="permission_mode"):
    """Acknowledged by the next ``system_metadata``."""

    mode: str


class ModelChange(msgspec.Struct, frozen=True, kw_only=True, tag="model_change"):
    model: str


class SessionCommand(msgspec.Struct, frozen=True, kw_only=True, tag="session_command"):
    """End the agent and go on: in a copy, in the same conversation, or in a new one."""

    command: SessionCommandName


class StopTask(msgspec.Struct, frozen=True, kw_only=True, tag="stop_task"):
    """Stop one sub-agent."""

    task_id: str


class ViewRequest(msgspec.Struct, frozen=True, kw_only=True, tag="view"):
    """Ask for the data of one component of a user interface."""

    name: str


Inbound: TypeAlias = (
    ProtocolInit
    | UserMessage
    | ToolApproval
    | QuestionAnswer
    | Interrupt
    | PermissionMode
    | ModelChange
    | SessionCommand
    | StopTask
    | ViewRequest
)


# ---- what a front end reads ----------------------------------------------------------------------


class _Out(msgspec.Struct, frozen=True, kw_only=True):
    ipc_version: int = IPC_VERSION


class ProtocolAck(_Out, frozen=True, kw_only=True, tag="protocol_ack"):
    version: int = PROTOCOL_VERSION
    session_id: str = PENDING


class SessionInit(_Out, frozen=True, kw_only=True, tag="session_init"):
    """Which conversation this is; again as soon as its real id is known."""

    session_id: str


class SystemMetadata(
    _Out,
    frozen=True,
    kw_only=True,
    tag="system_metadata",
    rename={"permission_mode": "permissionMode", "api_key_source": "apiKeySource"},
):
    """What the agent says of itself, at the start of every turn."""

    session_id: str = ""
    cwd: str = ""
    tools: Raw = Raw(b"[]")
    model: str = ""
    permission_mode: str = ""
    slash_commands: Raw = Raw(b"[]")
    plugins: Raw = Raw(b"[]")
    agents: Raw = Raw(b"[]")
    skills: Raw = Raw(b"[]")
    mcp_servers: Raw = Raw(b"[]")
    version: str = ""
    output_style: Raw = Raw(b'""')
    fast_mode_state: Raw = Raw(b'""')
    api_key_source: Raw = Raw(b'""')


class AssistantText(_Out, frozen=True, kw_only=True, tag="assistant_text"):
    """While it is streamed: the next piece. At the end: all of it, under the next number."""

    msg_id: str
    seq: int
    rev: int = 0  # of the pieces of one turn: 0, 1, 2 …
    text: str = ""
    is_partial: bool = False
    status: Literal["partial", "complete"] = "complete"
    source: Literal["slash_command"] | UnsetType = UNSET
    parent_tool_use_id: str | UnsetType = UNSET


class ThinkingText(_Out, frozen=True, kw_only=True, tag="thinking_text"):
    msg_id: str
    seq: int
    text: str = ""
    is_partial: bool = False
    status: Literal["partial", "complete"] = "complete"
    redacted: bool | UnsetType = UNSET  # the agent does not show it
    parent_tool_use_id: str | UnsetType = UNSET


class ToolUse(_Out, frozen=True, kw_only=True, tag="tool_use"):
    """Of the main agent twice: when it begins, with no input, and when the call is whole."""

    msg_id: str
    seq: int
    tool_name: str
    tool_use_id: str
    input: Raw = Raw(b"{}")
    parent_tool_use_id: str | UnsetType = UNSET


class ToolResult(_Out, frozen=True, kw_only=True, tag="tool_result"):
    tool_use_id: str
    output: str = ""
    is_error: bool = False
    parent_tool_use_id: str | UnsetType = UNSET


class ToolUseStructured(_Out, frozen=True, kw_only=True, tag="tool_use_structured"):
    tool_use_id: str
    tool_name: str = ""
    structured_result: Raw
    parent_tool_use_id: str | UnsetType = UNSET


class ControlRequestForward(_Out, frozen=True, kw_only=True, tag="control_request_forward"):
    """A person is to decide: a permission, or a question when ``is_question``."""

    request_id: str
    tool_name: str
    input: Raw
    decision_reason: str | UnsetType = UNSET
    permission_suggestions: tuple[Raw, ...] | UnsetType = UNSET
    blocked_path: str | UnsetType = UNSET
    tool_use_id: str | UnsetType = UNSET
    is_question: bool = False
    parent_tool_use_id: str | UnsetType = UNSET


class ControlRequestCancel(_Out, frozen=True, kw_only=True, tag="control_request_cancel"):
    """Nobody needs to decide that any more."""

    request_id: str


class CostUpdate(
    _Out, frozen=True, kw_only=True, tag="cost_update", rename={"model_usage": "modelUsage"}
):
    """The numbers of the agent's own result, with its own meaning of each."""

    total_cost_usd: Raw = Raw(b"0")
    num_turns: Raw = Raw(b"0")
    duration_ms: Raw = Raw(b"0")
    duration_api_ms: Raw = Raw(b"0")
    usage: Raw = Raw(b"{}")
    model_usage: Raw = Raw(b"{}")


class CompactBoundary(_Out, frozen=True, kw_only=True, tag="compact_boundary"):
    """The agent's memory was summed up here."""


class TurnComplete(_Out, frozen=True, kw_only=True, tag="turn_complete"):
    msg_id: str
    seq: int
    result: Literal["success", "error"]
    subtype: str | UnsetType = UNSET  # the agent's own word for how it ended
    permission_denials: Raw | UnsetType = UNSET
    merged_into: str | UnsetType = UNSET  # the msg_id of the turn that took this message too


class TurnCancelled(_Out, frozen=True, kw_only=True, tag="turn_cancelled"):
    """The agent was gone after an interrupt."""

    msg_id: str
    seq: int
    partial_result: str = "User interrupted"


class Error(_Out, frozen=True, kw_only=True, tag="error"):
    message: str
    recoverable: bool = True


class View(_Out, frozen=True, kw_only=True, tag="view"):
    name: str
    data: Raw


class ToolApprovalRequest(_Out, frozen=True, kw_only=True, tag="tool_approval_request"):
    """Of version 1; never written any more."""

    request_id: str
    tool_name: str
    input: Raw


class Question(_Out, frozen=True, kw_only=True, tag="question"):
    """Of version 1; never written any more."""

    request_id: str
    questions: Raw


Outbound: TypeAlias = (
    ProtocolAck
    | SessionInit
    | SystemMetadata
    | AssistantText
    | ThinkingText
    | ToolUse
    | ToolResult
    | ToolUseStructured
    | ControlRequestForward
    | ControlRequestCancel
    | CostUpdate
    | CompactBoundary
    | TurnComplete
    | TurnCancelled
    | Error
    | View
    | ToolApprovalRequest
    | Question
)
