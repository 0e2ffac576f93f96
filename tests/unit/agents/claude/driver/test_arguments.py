from __future__ import annotations

from typing import Any

import pytest

from flybridge.agents.claude.driver.arguments import ARGUMENTS, MAX_VALUE_BYTES, build_args
from flybridge.errors import AgentStartError, TransportRefusedError
from flybridge.model.capabilities import OpenSpec, Options
from flybridge.model.legacy_options import from_legacy, start_fields

ID = "0f0e0d0c-0b0a-4908-8706-050403020100"
OTHER = "1f0e0d0c-0b0a-4908-8706-050403020100"
START = {"model", "mode", "agent_session", "resume", "continue_latest", "from_pr", "fork"}


def words(version: str = "2.1.325", **given: Any) -> list[str]:
    """The arguments beyond those that are always there."""
    start = {k: v for k, v in given.items() if k in START or k == "fork_session"}
    options = Options(**{k: v for k, v in given.items() if k not in start})
    spec = OpenSpec(agent="claude", cwd="/p", **start_fields(from_legacy(options)), **start)
    found = build_args(spec, version)
    assert tuple(found[: len(ARGUMENTS)]) == ARGUMENTS
    return found[len(ARGUMENTS) :]


def test_print_mode_is_never_asked_for() -> None:
    assert not {"-p", "--print"} & set(ARGUMENTS)
    assert words() == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"agent_session": ID}, ["--session-id", ID]),
        ({"agent_session": "x", "resume": True}, ["--resume", "x"]),
        ({"continue_latest": True}, ["--continue"]),
        ({"continue_latest": True, "agent_session": ID}, ["--continue"]),
        ({"from_pr": "12"}, ["--from-pr=12"]),
        (
            {"agent_session": ID, "resume": True, "fork": True},
            ["--resume", ID, "--fork-session"],
        ),
        (
            {"agent_session": ID, "resume": True, "fork": True, "fork_session": OTHER},
            ["--resume", ID, "--fork-session", "--session-id", OTHER],
        ),
        ({"continue_latest": True, "fork": True}, ["--continue", "--fork-session"]),
        ({"model": "opus"}, ["--model", "opus"]),
        ({"mode": "plan"}, ["--permission-mode", "plan"]),
        ({"effort": "high"}, ["--effort", "high"]),
        ({"fallback_model": "haiku"}, ["--fallback-model", "haiku"]),
        ({"max_turns": 3}, ["--max-turns", "3"]),
        ({"max_budget_usd": 0.25}, ["--max-budget-usd", "0.25"]),
        ({"max_budget_usd": 1e-5}, ["--max-budget-usd", "0.00001"]),
        ({"max_thinking_tokens": 4000}, ["--max-thinking-tokens", "4000"]),
        (
            {"allowed_tools": ("Read", "Bash(git log:*)")},
            ["--allowedTools=Read", "--allowedTools=Bash(git log:*)"],
        ),
        ({"disallowed_tools": ("Bash",)}, ["--disallowedTools=Bash"]),
        ({"tools": ()}, ["--tools="]),
        ({"tools": ("Bash", "Read")}, ["--tools=Bash,Read"]),
        ({"skip_permissions": True}, ["--dangerously-skip-permissions"]),
        ({"allow_bypass": True}, ["--allow-dangerously-skip-permissions"]),
        ({"system_prompt": "You sail."}, ["--system-prompt", "You sail."]),
        ({"append_system_prompt": "Be brief."}, ["--append-system-prompt", "Be brief."]),
        ({"add_dirs": ("/a", "/b")}, ["--add-dir=/a", "--add-dir=/b"]),
        ({"mcp_config": ('{"mcpServers":{}}',)}, ['--mcp-config={"mcpServers":{}}']),
        ({"strict_mcp_config": True}, ["--strict-mcp-config"]),
        ({"plugin_dirs": ("/pl",)}, ["--plugin-dir=/pl"]),
        ({"settings": "/s.json"}, ["--settings", "/s.json"]),
        ({"setting_sources": ("user", "local")}, ["--setting-sources", "user,local"]),
        ({"agents": '{"a":{}}'}, ["--agents", '{"a":{}}']),
        ({"main_agent": "reviewer"}, ["--agent", "reviewer"]),
        ({"json_schema": '{"type":"object"}'}, ["--json-schema", '{"type":"object"}']),
        ({"betas": ("one",)}, ["--betas=one"]),
        ({"no_persistence": True}, ["--no-session-persistence"]),
        ({"disable_slash_commands": True}, ["--disable-slash-commands"]),
    ],
)
def test_each_option_is_an_argument(given: dict[str, Any], expected: list[str]) -> None:
    assert words(**given) == expected
    if "main_agent" not in given:
        assert words("2.1.38", **given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"model": "--x"}, "--model=--x"),
        ({"system_prompt": "- be brief"}, "--system-prompt=- be brief"),
        ({"agent_session": "-u", "resume": True}, "--resume=-u"),
        ({"allowed_tools": ("--x",)}, "--allowedTools=--x"),
        ({"add_dirs": ("-rf",)}, "--add-dir=-rf"),
        ({"from_pr": "--x"}, "--from-pr=--x"),
        ({"tools": ("-x",)}, "--tools=-x"),
    ],
)
def test_no_value_can_become_a_flag(given: dict[str, Any], expected: str) -> None:
    assert words(**given) == [expected]


@pytest.mark.parametrize(
    "given",
    [
        {"resume": True},
        {"resume": True, "agent_session": ID, "continue_latest": True},
        {"from_pr": "1", "continue_latest": True},
        {"fork": True},
        {"fork_session": OTHER},
        {"agent_session": "no uuid"},
        {"agent_session": ID, "resume": True, "fork": True, "fork_session": "no uuid"},
        {"mode": "bogus"},
        {"mode": "-x"},
        {"mode": "plan", "skip_permissions": True},
        {"effort": "enormous"},
        {"model": "opus", "fallback_model": "opus"},
        {"max_turns": -1},
        {"max_thinking_tokens": -1},
        {"max_budget_usd": -1.0},
        {"max_budget_usd": float("nan")},
        {"max_budget_usd": float("inf")},
        {"allowed_tools": ("",)},
        {"allowed_tools": ("Read,Bash",)},
        {"allowed_tools": ("Bash(rm",)},
        {"disallowed_tools": ("Bash)",)},
        {"tools": ("a,b",)},
        {"add_dirs": tuple("/x" for _ in range(300))},
        {"agents": "[]"},
        {"agents": "\ud83d"},
        {"json_schema": "{"},
        {"settings": "{not json"},
        {"mcp_config": ("{",)},
        {"model": "a\0b"},
        {"system_prompt": "x" * (MAX_VALUE_BYTES + 1)},
    ],
)
def test_what_makes_no_sense_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(AgentStartError) as refused:
        words(**given)
    assert refused.value.reason
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("version", "given"),
    [
        ("2.1.325", {"mode": "delegate"}),
        ("2.1.38", {"mode": "auto"}),
        ("2.1.38", {"mode": "manual"}),
        ("2.1.38", {"effort": "xhigh"}),
        ("2.1.38", {"main_agent": "reviewer"}),
    ],
)
def test_what_one_version_takes_another_refuses(version: str, given: dict[str, Any]) -> None:
    other = "2.1.38" if version == "2.1.325" else "2.1.325"
    assert words(other, **given)
    with pytest.raises(AgentStartError):
        words(version, **given)


def test_a_fast_mode_is_no_word_but_is_refused_where_there_is_none() -> None:
    """It is asked for once the CLI runs: a file of settings could not hold it, too."""
    assert words("2.1.325", fast=True, settings="/a/file.json") == ["--settings", "/a/file.json"]
    with pytest.raises(AgentStartError, match="only in its own terminal"):
        words("2.1.38", fast=True)


def test_every_flag_of_the_command_line_can_be_asked_for() -> None:
    options = Options(
        effort="high",
        fallback_model="haiku",
        max_turns=1,
        max_budget_usd=1.0,
        max_thinking_tokens=1,
        allowed_tools=("a",),
        disallowed_tools=("b",),
        tools=("c",),
        skip_permissions=True,
        allow_bypass=True,
        system_prompt="d",
        append_system_prompt="e",
        add_dirs=("f",),
        mcp_config=("g",),
        strict_mcp_config=True,
        plugin_dirs=("h",),
        settings="i",
        setting_sources=("user",),
        agents="{}",
        main_agent="j",
        json_schema="{}",
        betas=("k",),
        no_persistence=True,
        disable_slash_commands=True,
    )
    usual: dict[str, Any] = {"agent": "claude", "cwd": "/p", "model": "opus"}
    usual |= start_fields(from_legacy(options))
    starts: list[dict[str, Any]] = [
        {"agent_session": ID, "resume": True, "fork": True, "fork_session": OTHER},
        {"continue_latest": True, "mode": "bypassPermissions"},
        {"from_pr": "1"},
    ]
    found = [one for start in starts for one in build_args(OpenSpec(**usual, **start), "2.1.325")]
    flags = {one.partition("=")[0] for one in found if one.startswith("--")}
    assert flags == {
        "--output-format",
        "--input-format",
        "--verbose",
        "--model",
        "--resume",
        "--continue",
        "--fork-session",
        "--from-pr",
        "--session-id",
        "--permission-mode",
        "--permission-prompt-tool",
        "--include-partial-messages",
        "--replay-user-messages",
        "--plugin-dir",
        "--max-turns",
        "--max-budget-usd",
        "--max-thinking-tokens",
        "--effort",
        "--fallback-model",
        "--allowedTools",
        "--disallowedTools",
        "--tools",
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--system-prompt",
        "--append-system-prompt",
        "--add-dir",
        "--mcp-config",
        "--strict-mcp-config",
        "--settings",
        "--setting-sources",
        "--agents",
        "--agent",
        "--json-schema",
        "--betas",
        "--no-session-persistence",
        "--disable-slash-commands",
    }


def test_an_agent_that_connects_to_us_is_told_where() -> None:
    spec = OpenSpec(
        agent="claude",
        cwd="/",
        dial_in="ws://x/y",
        transport="socket",
    )
    words = build_args(spec, "2.1.38")
    assert words[:2] == ["--sdk-url", "ws://x/y"]
    assert words[2:] == build_args(OpenSpec(agent="claude", cwd="/"), "2.1.38")


@pytest.mark.parametrize("version", ["2.1.121", "2.1.325", ""])
def test_a_version_that_connects_only_to_its_maker_is_refused_plainly(version: str) -> None:
    spec = OpenSpec(agent="claude", cwd="/", transport="socket")
    with pytest.raises(TransportRefusedError, match="does not connect to us") as caught:
        build_args(spec, version)
    assert (caught.value.version, caught.value.last) == (version, "2.1.120")
