"""Every argument we can write, given to the real programs: what they refuse, we refuse first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.agents.claude.driver.arguments import build_args
from flybridge.model.capabilities import OpenSpec, Options
from flybridge.model.legacy_options import from_legacy, start_fields
from flybridge.probes.messages_api import MessagesApi
from tests.agents.rig import VERSIONS, RealClaude
from tests.harness.line_process import LineProcess

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

ID = "0f0e0d0c-0b0a-4908-8706-050403020100"
SCHEMA = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}'
SERVER = {"command": "false", "args": ["-x"]}


@pytest.fixture(params=VERSIONS)
def claude(request: pytest.FixtureRequest, short_tmp: Path) -> Iterator[RealClaude]:
    socket = short_tmp / "api.sock"
    api = MessagesApi(unix=str(socket)).start()
    yield RealClaude(request.param, short_tmp, api, socket)
    api.close()


def told(claude: RealClaude, spec: OpenSpec, *said: str) -> list[dict[str, Any]]:
    """All that a CLI started like this answers to initialize, and to these prompts."""
    asked = {"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}}
    prompts = [
        {"type": "user", "message": {"role": "user", "content": one}, "uuid": ID} for one in said
    ]
    argv = [*claude.argv, *build_args(spec, claude.version)]
    with LineProcess(argv, cwd=claude.cwd, env=claude.env) as cli:
        cli.send(asked, *prompts)
        kinds: list[str] = []
        while "control_response" not in kinds or kinds.count("result") != len(prompts):
            kinds.append(cli.next()["type"])
        cli.close_input()
        assert cli.exit_code() == 0
    assert cli.errors() == b""
    return cli.messages


@pytest.mark.conforms("stream-json §1")
def test_a_cli_takes_every_option_at_once(claude: RealClaude, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("{}")
    options = Options(
        effort="high",
        fallback_model="haiku",
        max_turns=7,
        max_budget_usd=1.5,
        max_thinking_tokens=2000,
        allowed_tools=("Read", "Bash(git log:*)"),
        disallowed_tools=("WebSearch", "Bash(rm:*)"),
        tools=("Bash", "Read", "Edit"),
        allow_bypass=True,
        system_prompt="-- You sail.",
        append_system_prompt="- Be brief.",
        add_dirs=(str(tmp_path),),
        mcp_config=(json.dumps({"mcpServers": {"none": SERVER}}),),
        strict_mcp_config=True,
        plugin_dirs=(str(tmp_path),),
        settings=str(settings),
        setting_sources=("user", "local"),
        agents='{"deckhand":{"description":"helps","prompt":"You help."}}',
        main_agent="" if claude.version == "2.1.38" else "deckhand",
        json_schema=SCHEMA,
        betas=("context-1m-2025-08-07",),
        no_persistence=True,
        disable_slash_commands=True,
    )
    spec = OpenSpec(
        agent="claude",
        cwd=str(claude.cwd),
        model="claude-sonnet-4-5-20250929",
        mode="acceptEdits",
        agent_session=ID,
        **start_fields(from_legacy(options)),
    )
    answer = told(claude, spec)[0]
    assert answer["response"]["subtype"] == "success"


@pytest.mark.conforms("stream-json §1")
def test_no_tools_is_not_all_tools(claude: RealClaude) -> None:
    spec = OpenSpec(
        agent="claude", cwd=str(claude.cwd), **start_fields(from_legacy(Options(tools=())))
    )
    init = next(one for one in told(claude, spec, "hi") if one.get("subtype") == "init")
    assert [one for one in init["tools"] if one in ("Bash", "Read", "Edit")] == []


@pytest.mark.conforms("stream-json §1")
def test_rules_tools_and_the_prompt_mean_what_they_say(claude: RealClaude) -> None:
    options = Options(tools=("Bash", "Read"), system_prompt="- You sail.")
    spec = OpenSpec(
        agent="claude",
        cwd=str(claude.cwd),
        agent_session=ID,
        mode="plan",
        **start_fields(from_legacy(options)),
    )
    said = told(claude, spec, "hi")
    init = next(one for one in said if one.get("subtype") == "init")
    assert init["session_id"] == ID
    assert init["permissionMode"] == "plan"
    assert {"Bash", "Read"} <= set(init["tools"])
    assert not {"Edit", "Write"} & set(init["tools"])


@pytest.mark.conforms("stream-json §7d")
def test_a_fork_is_another_conversation(claude: RealClaude) -> None:
    start = OpenSpec(agent="claude", cwd=str(claude.cwd), agent_session=ID)
    told(claude, start, "hi")
    other = ID.replace("0f", "1f", 1)
    fork = OpenSpec(
        agent="claude",
        cwd=str(claude.cwd),
        agent_session=ID,
        resume=True,
        fork=True,
        fork_session=other,
    )
    init = next(one for one in told(claude, fork, "and on") if one.get("subtype") == "init")
    assert init["session_id"] == other
