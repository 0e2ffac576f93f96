from __future__ import annotations

import os
from pathlib import Path

from flybridge.cli.doctor.agents import check_agents
from flybridge.cli.doctor.text import Check
from flybridge.config import AgentConfig, Config


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
