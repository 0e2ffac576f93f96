"""Which rules *always* may keep when it is pressed on a device.

A device shows the tool and its input, but not the rule that would be kept. So a rule must follow
from what the screen shows: it never covers everything that a tool could run or write.
"""

from __future__ import annotations

from typing import Any

READS = frozenset(  # tools that neither run programs nor change anything
    {"Glob", "Grep", "LS", "NotebookRead", "Read", "WebFetch", "WebSearch"}
)
RUNS_OR_WRITES = frozenset(
    {
        "Agent",
        "Bash",
        "Edit",
        "ExitPlanMode",
        "KillShell",
        "Monitor",
        "MultiEdit",
        "NotebookEdit",
        "PowerShell",
        "REPL",
        "Skill",
        "SlashCommand",
        "Task",
        "Write",
        "apply_patch",
        "shell",
    }
)
_ANYTHING = " \t\n*:/.~"  # rule contents of these characters alone match whatever there is


def covers_tool(tool: str) -> bool:
    """Return whether a rule for the whole tool may be kept although the agent suggested none.

    Only tools that are known to read qualify: what an unknown tool can do is unknown, too.
    """
    return tool in READS


def is_usable(suggestion: dict[str, Any], tool: str) -> bool:
    """Return whether a device may accept a suggestion of a prompt for ``tool``.

    It must only add rules that allow, and each rule must be about this tool or about reading. A
    rule for everything that a tool does must be about this very tool, and not about one that is
    known to run or write. Modes and folders are never accepted.
    """
    if suggestion.get("type") != "addRules" or suggestion.get("behavior") != "allow":
        return False
    rules = suggestion.get("rules")
    return isinstance(rules, list) and bool(rules) and all(_fits(rule, tool) for rule in rules)


def _fits(rule: object, tool: str) -> bool:
    if not isinstance(rule, dict):
        return False
    name, content = rule.get("toolName"), rule.get("ruleContent")
    if isinstance(content, str) and content.strip(_ANYTHING):
        return name == tool or name in READS
    return name == tool and name not in RUNS_OR_WRITES
