"""List the options of Claude Code, and how each is said on its command line.

``SCHEMA`` is the only list of them: Flybridge's own flags, the page's form, the keys of the
configuration and the documentation are generated from it. Like ``model/options.py`` it is read
by ``flybridge --help``, so it imports nothing slow.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from flybridge.model.options import (
    AROUND,
    FAST,
    LIMITS,
    MODEL,
    NO_PERSISTENCE,
    SKIP_PERMISSIONS,
    Option,
    OptionSchema,
)

ALLOWED, TOLD = "What it may do", "What it is told"
BYPASS = "bypassPermissions"
MAX_COUNT = 10**9

OPTIONS = (
    Option(
        name="fallback_model",
        type="text",
        label="Fallback model",
        description="When the model is overloaded.",
        group=MODEL,
        grants=False,
    ),
    Option(
        name="max_turns",
        type="number",
        integer=True,
        minimum=0,
        maximum=MAX_COUNT,
        default=0,
        label="Maximum turns",
        description="Stop after so many turns of the model.",
        group=LIMITS,
        grants=False,
    ),
    Option(
        name="max_thinking_tokens",
        type="number",
        integer=True,
        minimum=0,
        maximum=MAX_COUNT,
        default=0,
        label="Thinking tokens",
        description="How long it may think.",
        group=MODEL,
        grants=False,
    ),
    Option(
        name="append_system_prompt",
        type="text",
        long=True,
        label="Add to the system prompt",
        description="After the agent's own.",
        group=TOLD,
        grants=False,
    ),
    Option(
        name="system_prompt",
        type="text",
        long=True,
        label="Replace the system prompt",
        description="Instead of the agent's own.",
        group=TOLD,
        grants=False,
    ),
    Option(
        name="add_dirs",
        type="list",
        path="folder",
        default=(),
        label="More folders",
        description="It may work there too.",
        hint="one a line",
        group=ALLOWED,
        flag="--add-dir",
        grants=True,
    ),
    Option(
        name="allowed_tools",
        type="list",
        default=(),
        label="Allowed tools",
        description="Tools that run without asking, such as 'Bash(git log:*)'.",
        hint="one rule a line, such as Bash(git status)",
        group=ALLOWED,
        grants=True,
    ),
    Option(
        name="disallowed_tools",
        type="list",
        default=(),
        label="Disallowed tools",
        description="Tools that never run.",
        hint="one rule a line",
        group=ALLOWED,
        grants=False,
    ),
    Option(
        name="tools",
        type="list",
        commas=True,
        label="Available tools",
        description="Only these tools exist; '' for none.",
        hint="one a line",
        group=ALLOWED,
        grants=False,
    ),
    Option(
        name="mcp_config",
        type="list",
        path="file_or_json",
        default=(),
        label="MCP servers",
        description="MCP servers.",
        hint="files or JSON, one a line",
        group=AROUND,
        grants=True,
    ),
    Option(
        name="strict_mcp_config",
        type="flag",
        label="Only these MCP servers",
        description="Use only the MCP servers given for this session.",
        group=AROUND,
        grants=False,
    ),
    Option(
        name="plugin_dirs",
        type="list",
        path="folder",
        default=(),
        label="Plugin folders",
        description="A folder with plugins.",
        hint="one a line",
        group=AROUND,
        flag="--plugin-dir",
        grants=True,
    ),
    Option(
        name="settings",
        type="path",
        path="file_or_json",
        label="Settings",
        description="More settings.",
        hint="a file or JSON",
        group=AROUND,
        grants=True,
    ),
    Option(
        name="setting_sources",
        type="list",
        commas=True,
        default=(),
        label="Setting sources",
        description="Which settings count: user, project, local.",
        group=AROUND,
        grants=True,
    ),
    Option(
        name="agents",
        type="json",
        label="Sub-agents",
        description="Subagents of its own.",
        hint="a JSON object",
        group=TOLD,
        grants=True,
    ),
    Option(
        name="main_agent",
        type="text",
        label="Main agent",
        description="Which of its agents speaks.",
        group=TOLD,
        grants=False,
    ),
    Option(
        name="json_schema",
        type="json",
        label="JSON schema of the answer",
        description="The form of its answer.",
        group=TOLD,
        grants=False,
    ),
    Option(
        name="betas",
        type="list",
        default=(),
        label="Beta features",
        description="A beta feature of the API.",
        group=MODEL,
        grants=False,
    ),
    Option(
        name=FAST,
        type="flag",
        label="Fast mode",
        description="Quicker answers for more money.",
        group=MODEL,
        grants=False,
    ),
    Option(
        name=NO_PERSISTENCE,
        type="flag",
        label="Do not save the conversation",
        description="It keeps no record: nothing to resume after it ended.",
        group=AROUND,
        grants=False,
    ),
    Option(
        name="disable_slash_commands",
        type="flag",
        label="Disable slash commands",
        description="None of the agent's own.",
        group=AROUND,
        grants=False,
    ),
    Option(
        name="allow_bypass",
        type="flag",
        label="Allow the mode bypassPermissions",
        description="Permission prompts can be switched off during the session.",
        group=ALLOWED,
        modes=(BYPASS,),
        grants=True,
    ),
    Option(
        name=SKIP_PERMISSIONS,
        type="flag",
        label="Skip all permission prompts",
        description="Dangerous: run every tool without asking for permission.",
        group=ALLOWED,
        grants=True,
    ),
)
SCHEMA = OptionSchema(OPTIONS, common=frozenset({"effort", "budget_usd"}))

# How a value becomes words: a bare flag; the flag and one word; one --flag=value for each item;
# one word with commas; that even when the list is empty.
Form: TypeAlias = Literal["switch", "value", "each", "joined", "joined_or_empty"]


class Argument(NamedTuple):
    """Say how one option stands on Claude Code's command line."""

    option: str
    flag: str
    form: Form


ARGUMENTS = (  # in the order of the command line; fast mode is asked for once the agent runs
    Argument(SKIP_PERMISSIONS, "--dangerously-skip-permissions", "switch"),
    Argument("allow_bypass", "--allow-dangerously-skip-permissions", "switch"),
    Argument("strict_mcp_config", "--strict-mcp-config", "switch"),
    Argument(NO_PERSISTENCE, "--no-session-persistence", "switch"),
    Argument("disable_slash_commands", "--disable-slash-commands", "switch"),
    Argument("effort", "--effort", "value"),
    Argument("fallback_model", "--fallback-model", "value"),
    Argument("max_turns", "--max-turns", "value"),
    Argument("budget_usd", "--max-budget-usd", "value"),
    Argument("max_thinking_tokens", "--max-thinking-tokens", "value"),
    Argument("system_prompt", "--system-prompt", "value"),
    Argument("append_system_prompt", "--append-system-prompt", "value"),
    Argument("settings", "--settings", "value"),
    Argument("setting_sources", "--setting-sources", "joined"),
    Argument("agents", "--agents", "value"),
    Argument("main_agent", "--agent", "value"),
    Argument("json_schema", "--json-schema", "value"),
    Argument("allowed_tools", "--allowedTools", "each"),
    Argument("disallowed_tools", "--disallowedTools", "each"),
    Argument("add_dirs", "--add-dir", "each"),
    Argument("mcp_config", "--mcp-config", "each"),
    Argument("plugin_dirs", "--plugin-dir", "each"),
    Argument("betas", "--betas", "each"),
    Argument("tools", "--tools", "joined_or_empty"),
)


class Values:
    """Read the options of a session by name, each as the type that the schema gives it."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def is_given(self, name: str) -> bool:
        """Return whether the option has a value, be it an empty one."""
        return self._values.get(name) is not None

    def flag(self, name: str) -> bool:
        """Return whether a flag is set."""
        return self._values.get(name) is True

    def text(self, name: str) -> str:
        """Return a text, or ""."""
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> float:
        """Return a number, or 0."""
        value = self._values.get(name)
        return value if isinstance(value, int | float) else 0

    def items(self, name: str) -> tuple[str, ...]:
        """Return the items of a list."""
        value = self._values.get(name)
        return tuple(value) if isinstance(value, list | tuple) else ()
