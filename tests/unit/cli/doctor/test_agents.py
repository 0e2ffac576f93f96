from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.agents.claude.kinds import DEMO
from flybridge.agents.kinds import About, AgentKind
from flybridge.agents.registry import BUILT_IN, Registry
from flybridge.cli.doctor.agents import check_agents
from flybridge.cli.doctor.text import Check
from flybridge.config import AgentConfig, Config
from flybridge.model.capabilities import Capabilities
from tests.harness.other_agent import PROGRAM, CourierAgent


def program(folder: Path, text: str) -> tuple[str, ...]:
    file = folder / "claude"
    file.write_text(text)
    file.chmod(0o700)
    return (str(file),)


async def look(words: tuple[str, ...], *, default: bool = True, path: str = "") -> Check:
    agents = {"claude": AgentConfig(kind="claude", program=words)}
    config = Config(agents=agents, default_agent="claude" if default else "demo")
    (check,) = await check_agents(config, {"PATH": path or os.environ["PATH"]})
    return check


def says(version: str) -> str:
    return f"#!/bin/sh\necho '{version} (Claude Code)'\n"


async def test_a_measured_version_is_well(tmp_path: Path) -> None:
    check = await look(program(tmp_path, says("2.1.325")))
    assert (check.status, check.detail, check.fix) == ("ok", "", "")
    assert check.text == f"2.1.325, measured, {tmp_path}/claude"


async def test_what_an_old_version_cannot_do_is_said(tmp_path: Path) -> None:
    check = await look(program(tmp_path, says("2.1.38")))
    assert check.status == "ok"
    assert "stop task" in check.detail
    assert "does not tell context" in check.detail
    assert "stop_task" not in str(check.data["commands"])


async def test_a_version_nobody_measured_is_noted_and_can_be_probed(tmp_path: Path) -> None:
    check = await look(program(tmp_path, says("2.9.1")))
    assert check.status == "note"
    assert "newer than any measured, taken for 2.1.325" in check.text
    assert check.fix.endswith("flybridge doctor --probe claude")


async def test_a_missing_program_is_a_problem_only_for_the_default() -> None:
    assert (await look(("nowhere-claude",))).status == "problem"
    other = await look(("nowhere-claude",), default=False)
    assert (other.status, other.text) == ("note", "nowhere-claude is not on PATH")


async def test_a_program_that_does_not_say_its_version_is_a_problem(tmp_path: Path) -> None:
    check = await look(program(tmp_path, "#!/bin/sh\nexit 3\n"))
    assert check.status == "problem"
    assert check.fix == f"see what it says: {tmp_path}/claude --version"


async def test_a_program_that_cannot_be_run_is_a_problem(tmp_path: Path) -> None:
    check = await look(program(tmp_path, "#!/nowhere/interpreter\n"))
    assert check.status == "problem"
    assert check.text.startswith(f"{tmp_path}/claude: ")


async def test_a_script_for_node_without_node_says_what_is_missing(tmp_path: Path) -> None:
    words = program(tmp_path, "#!/usr/bin/env node\n")
    check = await look(words, path=str(tmp_path))
    assert check.status == "problem"
    assert "node is not on PATH" in check.fix


async def test_an_agent_whose_kind_nothing_provides_is_a_problem() -> None:
    config = Config(agents={"a": AgentConfig(kind="removed", program=("removed",))})
    (check,) = await check_agents(config, {"PATH": os.environ["PATH"]})
    assert (check.area, check.status) == ("agent a", "problem")
    assert "agents of the kind 'removed' cannot be used: there is none" in check.text
    assert "install the package that provides it" in check.fix


class Unversioned(CourierAgent):
    def capabilities(self, version_output: bytes) -> Capabilities:
        return msgspec.structs.replace(super().capabilities(version_output), version="")


@pytest.mark.parametrize("bundled", [True, False])
async def test_a_program_that_comes_with_its_package_needs_no_version(
    monkeypatch: pytest.MonkeyPatch, bundled: bool
) -> None:
    kind = AgentKind(
        name="courier",
        build=lambda settings: Unversioned(),
        about=lambda capabilities: About(text="a part of the package"),
        bundled=bundled,
    )
    kinds = Registry(built_in=[*BUILT_IN, kind], find=lambda: [])
    monkeypatch.setattr("flybridge.cli.doctor.agents.REGISTRY", kinds)
    config = Config(agents={"courier": AgentConfig(kind="courier", program=PROGRAM)})
    (check,) = await check_agents(config, {"PATH": os.environ["PATH"]})
    if bundled:
        assert (check.status, check.text) == ("ok", "a part of the package")
    else:
        assert check.status == "problem"
        assert "does not say its version" in check.text


async def test_the_demo_comes_with_flybridge() -> None:
    agents = {"show": AgentConfig(kind="demo", program=DEMO.program)}
    (check,) = await check_agents(Config(agents=agents), {"PATH": os.environ["PATH"]})
    assert (check.status, check.text) == ("ok", "comes with Flybridge, needs no key")


@pytest.mark.parametrize("part", ["build", "about", "capabilities"])
async def test_a_package_that_fails_is_a_problem_of_its_agent_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    class Broken(CourierAgent):
        def capabilities(self, version_output: bytes) -> Capabilities:
            return fail() if part == "capabilities" else super().capabilities(version_output)

    def fail(*_: object) -> Any:
        raise ZeroDivisionError("broken")

    kind = AgentKind(
        name="courier", build=fail if part == "build" else lambda settings: Broken(), about=fail
    )
    kinds = Registry(built_in=[*BUILT_IN, kind], find=lambda: [])
    monkeypatch.setattr("flybridge.cli.doctor.agents.REGISTRY", kinds)
    good = AgentConfig(kind="claude", program=program(tmp_path, says("2.1.325")))
    agents = {"claude": good, "courier": AgentConfig(kind="courier", program=PROGRAM)}
    checks = await check_agents(Config(agents=agents), {"PATH": os.environ["PATH"]})
    assert [(check.area, check.status) for check in checks] == [
        ("agent claude", "ok"),
        ("agent courier", "problem"),
    ]
    assert "ZeroDivisionError: broken" in checks[1].text
