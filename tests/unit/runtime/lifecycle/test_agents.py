from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.errors import AgentNotFoundError, AgentStartError
from flybridge.runtime.lifecycle import agents as shelf_module
from flybridge.runtime.lifecycle.agents import AgentShelf, _output_of
from tests.harness.other_agent import CourierAgent

PATH = {"PATH": "/usr/bin:/bin"}


def agent(*program: str) -> tuple[ClaudeAgent, dict[str, str]]:
    return ClaudeAgent(name="x", program=program), PATH


async def test_an_agent_is_asked_for_its_version_once(tmp_path: Path) -> None:
    log = tmp_path / "asked"
    script = f"open({str(log)!r}, 'a').write('x'); print('2.1.325 (Claude Code)')"
    shelf = AgentShelf({"x": agent(sys.executable, "-c", script)})
    first, second = await shelf.get("x"), await shelf.get("x")
    assert first is second
    assert first.capabilities.version == "2.1.325"
    assert log.read_text() == "x"


async def test_an_agent_that_is_not_there_has_a_name() -> None:
    shelf = AgentShelf({"x": agent("no-such-program-anywhere")})
    with pytest.raises(AgentNotFoundError, match="no-such-program-anywhere"):
        await shelf.get("x")
    with pytest.raises(AgentNotFoundError, match="nobody"):
        await shelf.get("nobody")
    with pytest.raises(AgentNotFoundError, match="nobody"):
        shelf.agent("nobody")
    assert shelf.agent("x").kind == "claude"  # configured, and not installed


async def test_a_program_that_cannot_be_run_is_an_error_with_a_name(tmp_path: Path) -> None:
    half = tmp_path / "half"
    half.write_bytes(b"\x7fELF")
    half.chmod(0o755)
    with pytest.raises(AgentStartError):
        await AgentShelf({"x": agent(str(half))}).get("x")


async def test_an_agent_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shelf_module, "VERSION_S", 0.1)
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert await _output_of(sleeper, PATH) == b""


async def test_an_agent_that_is_not_installed_can_do_what_its_newest_version_can() -> None:
    shelf = AgentShelf({"x": agent("no-such-program-anywhere")})
    assert await shelf.capabilities("x") == shelf.newest("x")
    assert "acceptEdits" in await shelf.modes("x")
    assert {mode.id for mode in shelf.newest("x").known_modes} >= await shelf.modes("x")


async def test_an_agent_that_is_not_configured_publishes_no_modes() -> None:
    shelf = AgentShelf({})
    assert (await shelf.capabilities("nobody")).known_modes == ()
    assert await shelf.modes("nobody") == frozenset()


def make(name: str, kind: str) -> ClaudeAgent | None:
    return ClaudeAgent(name=name, kind=kind) if kind in ("claude", "demo") else None


def test_an_agent_that_runs_needs_neither_its_program_nor_its_configuration() -> None:
    shelf = AgentShelf({"x": agent("no-such-program-anywhere")}, make=make)
    configured = shelf.running("x", "claude", "2.1.38")
    assert configured is not None
    assert (configured.capabilities.version, configured.environment) == ("2.1.38", PATH)
    gone = shelf.running("nobody", "demo", "2.1.38")
    assert gone is not None
    assert (gone.agent.name, gone.agent.kind, gone.environment) == ("nobody", "demo", {})


def test_an_agent_is_never_spoken_to_by_the_driver_of_another_kind() -> None:
    shelf = AgentShelf({"x": agent("p"), "courier": (CourierAgent(), PATH)}, make=make)
    assert shelf.running("x", "courier", "") is None  # the name has another kind now
    assert shelf.running("nobody", "courier", "") is None
    changed = shelf.running("courier", "claude", "")
    assert changed is not None
    assert isinstance(changed.agent, ClaudeAgent)


def test_a_session_without_a_recorded_kind_is_of_a_kind_that_version_0_1_had() -> None:
    demo = ClaudeAgent(name="mine", kind="demo")
    shelf = AgentShelf(
        {"mine": (demo, PATH), "x": agent("p"), "courier": (CourierAgent(), PATH)}, make=make
    )
    kinds = {"mine": "demo", "x": "claude", "nobody": "claude", "courier": "claude"}
    for name, kind in kinds.items():
        running = shelf.running(name, "", "")
        assert running is not None
        assert (running.agent.kind, running.agent.name) == (kind, name)
        assert isinstance(running.agent, ClaudeAgent)
        assert shelf.refusal(name, "", runs=True) is None
    assert shelf.refusal("mine", "", runs=False) is None
    refusal = shelf.refusal("courier", "", runs=False)
    assert refusal is not None
    assert "was of the kind 'claude' and is now of the kind 'courier'" in str(refusal)


@pytest.mark.parametrize(
    ("name", "kind", "runs", "reason"),
    [
        ("x", "claude", False, ""),
        ("gone", "claude", True, ""),
        ("gone", "claude", False, "no agent 'gone' is configured. Add an agent of that name"),
        ("x", "demo", False, "was of the kind 'demo' and is now of the kind 'claude'"),
        ("x", "kayak", True, "Install the package that provides 'kayak'"),
        ("gone", "kayak", False, "is of the kind 'kayak', which this gateway does not know"),
    ],
)
def test_a_session_takes_input_only_through_the_driver_of_its_kind(
    name: str, kind: str, runs: bool, reason: str
) -> None:
    refusal = AgentShelf({"x": agent("p")}, make=make).refusal(name, kind, runs=runs)
    if not reason:
        assert refusal is None
        return
    assert refusal is not None
    assert (refusal.code, refusal.agent, refusal.kind) == ("agent_unavailable", name, kind)
    assert reason in str(refusal)
