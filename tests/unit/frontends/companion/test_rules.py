"""Which rules a device may keep."""

from __future__ import annotations

from typing import Any

import pytest

from flybridge.frontends.companion.rules import READS, RUNS_OR_WRITES, covers_tool, is_usable


def adds(*rules: object, **more: Any) -> dict[str, Any]:
    return {"type": "addRules", "rules": list(rules), "behavior": "allow", **more}


def rule(tool: str, content: object = None) -> dict[str, Any]:
    return {"toolName": tool} | ({} if content is None else {"ruleContent": content})


@pytest.mark.parametrize(
    ("suggestion", "tool"),
    [
        (adds(rule("Bash", "touch:*")), "Bash"),
        (adds(rule("Bash", "touch zz1")), "Bash"),
        (adds(rule("Read", "//etc/**")), "Bash"),
        (adds(rule("WebFetch", "domain:example.org")), "WebFetch"),
        (adds(rule("WebFetch")), "WebFetch"),
        (adds(rule("mcp__weather__today")), "mcp__weather__today"),
        (adds(rule("Bash", "cd:*"), rule("Bash", "npm test:*")), "Bash"),
    ],
)
def test_a_rule_about_what_is_shown_is_usable(suggestion: dict[str, Any], tool: str) -> None:
    assert is_usable(suggestion, tool)


@pytest.mark.parametrize(
    ("suggestion", "tool"),
    [
        (adds(rule("Bash")), "Bash"),
        (adds(rule("Bash", "")), "Bash"),
        (adds(rule("Bash", "*")), "Bash"),
        (adds(rule("Bash", ":*")), "Bash"),
        (adds(rule("Bash", 7)), "Bash"),
        (adds(rule("Write")), "Write"),
        (adds(rule("Edit", "//**")), "Edit"),
        (adds(rule("Edit", "~/**")), "Edit"),
        (adds(rule("Bash")), "WebFetch"),
        (adds(rule("Bash", "curl:*")), "WebFetch"),
        (adds(rule("Edit", "/src/**")), "Bash"),
        (adds(rule("mcp__files__write")), "mcp__files__read"),
        (adds(rule("Bash", "touch:*"), rule("Bash")), "Bash"),
        (adds(rule("Bash", "touch:*"), behavior="deny"), "Bash"),
        (adds(), "Bash"),
        (adds("Bash"), "Bash"),
        ({"type": "addRules", "behavior": "allow", "rules": {"toolName": "WebFetch"}}, "WebFetch"),
        ({"type": "setMode", "mode": "acceptEdits"}, "Edit"),
        ({"type": "addDirectories", "directories": ["/"]}, "Bash"),
        ({"type": "replaceRules", "behavior": "allow", "rules": [rule("WebFetch")]}, "WebFetch"),
        ({}, "Bash"),
    ],
)
def test_c01_whatever_is_wider_is_not(suggestion: dict[str, Any], tool: str) -> None:
    assert not is_usable(suggestion, tool)


def test_only_tools_that_are_known_to_read_are_allowed_as_a_whole() -> None:
    assert not READS & RUNS_OR_WRITES
    assert covers_tool("WebFetch")
    for tool in ("Bash", "Write", "Edit", "mcp__x__y", "read", ""):
        assert not covers_tool(tool)
