from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.errors import AgentNotFoundError, AgentStartError
from flybridge.runtime.lifecycle import agents as shelf_module
from flybridge.runtime.lifecycle.agents import AgentShelf, _output_of

PATH = {"PATH": "/usr/bin:/bin"}


def agent(*program: str) -> tuple[ClaudeAgent, dict[str, str]]:
    return ClaudeAgent(name="x", program=program), PATH


async def test_an_agent_is_asked_for_its_version_once(tmp_path: Path) -> None:
    log = tmp_path / "asked"
    script = f"open({str(log)!r}, 'a').write('x'); print('2.1.325 (Claude Code)')"
    shelf = AgentShelf({"x": agent(sys.executable, "-c", script)}, strangers=ClaudeAgent())
    first, second = await shelf.get("x"), await shelf.get("x")
    assert first is second
    assert first.capabilities.version == "2.1.325"
    assert log.read_text() == "x"


async def test_an_agent_that_is_not_there_has_a_name() -> None:
    shelf = AgentShelf({"x": agent("no-such-program-anywhere")}, strangers=ClaudeAgent())
    with pytest.raises(AgentNotFoundError, match="no-such-program-anywhere"):
        await shelf.get("x")
    with pytest.raises(AgentNotFoundError, match="nobody"):
        await shelf.get("nobody")


async def test_a_program_that_cannot_be_run_is_an_error_with_a_name(tmp_path: Path) -> None:
    half = tmp_path / "half"
    half.write_bytes(b"\x7fELF")
    half.chmod(0o755)
    with pytest.raises(AgentStartError):
        await AgentShelf({"x": agent(str(half))}, strangers=ClaudeAgent()).get("x")


async def test_an_agent_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shelf_module, "VERSION_S", 0.1)
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert await _output_of(sleeper, PATH) == b""


def test_an_agent_that_runs_needs_neither_its_program_nor_its_configuration() -> None:
    shelf = AgentShelf({"x": agent("no-such-program-anywhere")}, strangers=ClaudeAgent())
    assert shelf.running("x", "2.1.38").capabilities.version == "2.1.38"
    assert shelf.running("nobody", "2.1.38").environment == {}
