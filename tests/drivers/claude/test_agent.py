from __future__ import annotations

from uuid import UUID

import pytest

from flybridge.drivers.claude.agent import ClaudeAgent, new_agent_session
from flybridge.model.capabilities import OpenSpec
from flybridge.model.ids import SessionId
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


def test_a_sessions_conversation_has_always_the_same_id() -> None:
    one, again, other = (new_agent_session(SessionId(name)) for name in ("a", "a", "b"))
    assert one == again != other
    assert UUID(one).version == 5


def test_what_it_can_do_depends_on_the_version() -> None:
    old, new = (ClaudeAgent().capabilities(one) for one in (b"2.1.38", b"2.1.325"))
    assert new.commands - old.commands == {"stop_task", "set_effort"}
    assert old.commands < new.commands
    assert old.queries == {"mcp"}
    assert "context" in new.queries
    assert ("delegate" in old.modes, "delegate" in new.modes) == (True, False)
