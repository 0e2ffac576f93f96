"""Which rules a device may keep."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.convert.offers import offers_of
from flybridge.frontends.companion.rules import covers_tool, is_usable
from flybridge.model.offers import Offer, OfferRule
from flybridge.model.tools import ToolKind

RUNS_OR_WRITES = (
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
)
READS = ("Glob", "Grep", "LS", "NotebookRead", "Read", "WebFetch", "WebSearch")


def offer_of(suggestion: object) -> Offer:
    (offer,) = offers_of([Raw(msgspec.json.encode(suggestion))])
    return offer


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
    assert is_usable(offer_of(suggestion), tool)


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
    assert not is_usable(offer_of(suggestion), tool)


def test_only_tools_that_are_known_to_read_are_allowed_as_a_whole() -> None:
    allowed = [kind for kind in get_args(ToolKind) if covers_tool(kind)]
    assert allowed == ["read", "search", "fetch"]


@pytest.mark.parametrize("tool", RUNS_OR_WRITES)
def test_c01_no_tool_of_claude_that_runs_or_writes_is_allowed_as_a_whole(tool: str) -> None:
    assert not is_usable(offer_of(adds(rule(tool))), tool)


@pytest.mark.parametrize("tool", READS)
def test_every_tool_of_claude_that_reads_is_allowed_as_a_whole(tool: str) -> None:
    assert is_usable(offer_of(adds(rule(tool))), tool)


def other(**more: Any) -> Offer:
    """Return an offer of an agent that is not Claude."""
    usual = {"label": "Always allow", "scope": "session", "durable": False, "widens": False}
    return msgspec.convert({**usual, "allows": True, **more}, Offer)


@pytest.mark.parametrize(
    ("offer", "usable"),
    [
        (other(rules=[OfferRule("sh", "ls *")]), True),
        (other(rules=[OfferRule("peek", kind="read")]), False),  # another tool
        (other(rules=[OfferRule("peek", "a*", "read")]), True),
        (other(rules=[OfferRule("sh")]), False),
        (other(rules=[OfferRule("sh", kind="execute")]), False),
        (other(rules=[OfferRule("sh", kind="other")]), False),
        (other(rules=[OfferRule("sh", kind="search")]), True),
        (other(), False),  # whatever it keeps, the screen does not show it
        (other(rules=[OfferRule("sh", "ls *")], folders=["/"]), False),
        (other(rules=[OfferRule("sh", "ls *")], durable=True), False),
        (other(rules=[OfferRule("sh", "ls *")], widens=True), False),
        (other(rules=[OfferRule("sh", "ls *")], mode="free"), False),
        (other(rules=[OfferRule("sh", "ls *")], allows=False), False),
        (other(rules=[OfferRule("sh", "ls *")], label=""), False),
        (Offer(), False),
    ],
)
def test_offers_of_another_agent_are_judged_by_what_it_publishes(
    offer: Offer, usable: bool
) -> None:
    assert is_usable(offer, "sh") is usable


def test_a_denial_that_is_kept_is_not_what_always_means() -> None:
    rules = (OfferRule("Read", "a.txt", "read"),)
    always = Offer(
        label="x", scope="session", durable=False, widens=False, allows=True, rules=rules
    )
    assert is_usable(always, "Read")
    assert not is_usable(msgspec.structs.replace(always, decision="deny"), "Read")
