from __future__ import annotations

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model.capabilities import OpenSpec
from flybridge.session.ports import Agent, Driver


def test_it_is_an_agent_with_a_driver() -> None:
    agent: Agent = ClaudeAgent()
    driver: Driver = agent.driver(agent.capabilities(b""))
    assert driver.deadline_ms is None
    assert agent.name == "claude"


def test_it_prints_no_pages_and_runs_where_it_is_told() -> None:
    agent = ClaudeAgent(name="mine", program=("/opt/claude", "x"), env={"A": "b"})
    launch = agent.launch(OpenSpec(agent="mine", cwd="/project"), agent.capabilities(b""))
    assert launch.argv[:2] == ("/opt/claude", "x")
    assert "-p" not in launch.argv
    assert launch.cwd == "/project"
    assert launch.env == {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1", "A": "b"}
    assert agent.version_argv() == ("/opt/claude", "x", "--version")


@pytest.mark.parametrize(
    ("output", "version"),
    [
        (b"2.1.325 (Claude Code)\n", "2.1.325"),
        (b"warning: old node\n2.1.38 (Claude Code)", "2.1.38"),
        (b"npm warn deprecated inflight@1.0.6\n2.1.325 (Claude Code)", "2.1.325"),
        (b"claude 3.0", "3.0"),
        (b"\xff\xfe", ""),
        (b"", ""),
    ],
)
def test_any_version_is_tolerated(output: bytes, version: str) -> None:
    capabilities = ClaudeAgent().capabilities(output)
    assert capabilities.version == version
    assert capabilities.echoes_input
    assert capabilities.resumes
    assert "interrupt" in capabilities.commands


def test_an_old_version_is_started_with_the_tools_that_a_new_one_has() -> None:
    agent = ClaudeAgent()
    spec = OpenSpec(agent="claude", cwd="/project")
    old, new = (agent.launch(spec, agent.capabilities(one)) for one in (b"2.1.38", b"2.1.325"))
    assert old.env == {"CLAUDE_CODE_ENABLE_TASKS": "1"}
    assert new.env == {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
    chosen = ClaudeAgent(env={"CLAUDE_CODE_ENABLE_TASKS": "0"})
    assert chosen.launch(spec, agent.capabilities(b"2.1.38")).env["CLAUDE_CODE_ENABLE_TASKS"] == "0"


def test_what_it_can_do_depends_on_the_version() -> None:
    old, new = (ClaudeAgent().capabilities(one) for one in (b"2.1.38", b"2.1.325"))
    assert new.commands - old.commands == {"stop_task", "set_fast", "cancel_queued"}
    assert old.commands < new.commands
    assert (sorted(old.at_start), sorted(new.at_start)) == (["set_effort"], [])
    assert old.queries == {"mcp", "rewind"}
    assert old.queries < new.queries
    assert ("delegate" in old.modes, "delegate" in new.modes) == (True, False)
