"""The data of a user interface's components, as ``view`` gives it on request."""

from __future__ import annotations

import msgspec
from msgspec import Raw

EMPTY_LIST = Raw(b"[]")
EMPTY = Raw(b"{}")


class _Data(msgspec.Struct, kw_only=True, rename="camel"):
    """Names as a web page has them."""


class SettingsPanel(_Data, kw_only=True, rename="camel"):
    model: str = ""
    available_models: Raw = EMPTY_LIST
    permission_mode: str = ""
    available_modes: tuple[str, ...] = ()
    fast_mode_state: Raw = Raw(b'""')
    output_style: Raw = Raw(b'""')


class HelpPanel(_Data, kw_only=True, rename="camel"):
    tools: Raw = EMPTY_LIST
    slash_commands: Raw = EMPTY_LIST
    skills: Raw = EMPTY_LIST
    agents: Raw = EMPTY_LIST
    plugins: Raw = EMPTY_LIST
    version: str = ""


class Keybinding(_Data, kw_only=True, rename="camel"):
    key: str
    action: str
    context: str = "global"


class Keybindings(_Data, kw_only=True, rename="camel"):
    bindings: tuple[Keybinding, ...] = ()


class ContextCategory(_Data, kw_only=True, rename="camel"):
    """A part of the context: used, deferred (loaded when it is needed), buffer or free."""

    name: str
    tokens: int
    kind: str = "used"
    percentage: float | None = None  # of the whole window


class ContextGauge(_Data, kw_only=True, rename="camel"):
    model: str = ""
    used_tokens: int | None = None  # not known until the next answer
    total_tokens: int = 0
    percentage: float | None = None
    categories: tuple[ContextCategory, ...] = ()


class CostDisplay(_Data, kw_only=True, rename="camel"):
    total_cost_usd: float = 0.0
    per_turn_delta: float = 0.0
    duration_ms: int = 0
    model_usage: Raw = EMPTY


class DiffViewer(_Data, kw_only=True, rename="camel"):
    """The newest change of a file; ``edits`` are all of this process, oldest first."""

    file_path: str = ""
    structured_patch: Raw = EMPTY_LIST
    original_file: Raw = Raw(b"null")
    new_file: Raw = Raw(b"null")
    edit_type: str = ""
    edits: tuple[str, ...] = ()


class TaskList(_Data, kw_only=True, rename="camel"):
    tasks: Raw = EMPTY_LIST
    active_task_id: str = ""


class McpStatus(_Data, kw_only=True, rename="camel"):
    servers: Raw = EMPTY_LIST


class PermissionDialog(_Data, kw_only=True, rename="camel"):
    request_id: str
    tool_name: str
    input: Raw
    decision_reason: str = ""
    blocked_path: str = ""
    permission_suggestions: tuple[Raw, ...] = ()


class PermissionDialogs(_Data, kw_only=True, rename="camel"):
    pending: tuple[PermissionDialog, ...] = ()


class QuestionForm(_Data, kw_only=True, rename="camel"):
    request_id: str
    questions: Raw


class QuestionForms(_Data, kw_only=True, rename="camel"):
    pending: tuple[QuestionForm, ...] = ()


class SlashCommand(_Data, kw_only=True, rename="camel"):
    name: str
    category: str  # local, agent or skill
    description: str = ""


class SlashCommands(_Data, kw_only=True, rename="camel"):
    commands: tuple[SlashCommand, ...] = ()


class KnownSession(_Data, kw_only=True, rename="camel"):
    session_id: str  # the agent's own name for the conversation
    title: str = ""
    changed_ms: int = 0
    status: str = ""


class SessionManagement(_Data, kw_only=True, rename="camel"):
    sessions: tuple[KnownSession, ...] = ()
    current_session_id: str = ""
    supports_fork: bool = True
    supports_continue: bool = True


class SessionState(_Data, kw_only=True, rename="camel"):
    session_id: str = ""
    cumulative_cost: float = 0.0
    pending_control_requests: tuple[str, ...] = ()
    active_content_blocks: tuple[str, ...] = ()
    tool_use_map: dict[str, str] = {}  # id → name, of the calls that run
    task_list: Raw = EMPTY_LIST
    mcp_servers: Raw = EMPTY_LIST
    current_model: str = ""
    permission_mode: str = ""
