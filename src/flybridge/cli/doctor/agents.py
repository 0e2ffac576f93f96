"""Each configured agent: where its program is, which version, what that version can do."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

from flybridge.agents.kinds import AgentSettings
from flybridge.agents.registry import REGISTRY, Registry
from flybridge.cli.doctor.text import Check
from flybridge.config import AgentConfig, Config, agent_environment
from flybridge.errors import AgentError, AgentKindError
from flybridge.model.capabilities import Capabilities
from flybridge.runtime.lifecycle.agents import AgentShelf

HEAD_BYTES = 256


async def check_agents(config: Config, environ: Mapping[str, str]) -> list[Check]:
    """Ask them all for their versions, side by side."""
    work = [
        _checked(name, one, environ, is_default=name == config.default_agent)
        for name, one in config.agents.items()
    ]
    return [*await asyncio.gather(*work), *check_kinds(REGISTRY)]


def check_kinds(registry: Registry) -> list[Check]:
    """Return a problem for each kind that a package publishes and that cannot be used."""
    return [
        Check(area=f"agent kind {problem.kind}", status="problem", text=problem.text)
        for problem in registry.problems()
    ]


async def _checked(
    name: str, config: AgentConfig, environ: Mapping[str, str], *, is_default: bool
) -> Check:
    """Check one agent; a failure of its package is the result, and not the end of doctor."""
    try:
        return await _check(name, config, environ, is_default=is_default)
    except (Exception, SystemExit) as error:  # may be somebody else's code
        text = f"its package fails: {type(error).__name__}: {error}"
        return Check(area=f"agent {name}", status="problem", text=text)


async def _check(
    name: str, config: AgentConfig, environ: Mapping[str, str], *, is_default: bool
) -> Check:
    environment = agent_environment(environ, config.env)
    area = f"agent {name}"
    try:
        kind = REGISTRY.get(config.kind)
        agent = REGISTRY.build(config.kind, AgentSettings(name=name, program=config.program))
    except AgentKindError as error:
        fix = f"install the package that provides it, or change agents.{name} in the configuration"
        return Check(area=area, status="problem", text=str(error), fix=fix)
    program = shutil.which(config.program[0], path=environment.get("PATH"))
    if program is None:
        return _missing(area, name, config, is_default=is_default)
    try:
        shelf = AgentShelf({name: (agent, environment)})
        capabilities = (await shelf.get(name)).capabilities
    except AgentError as error:
        return _silent(area, program, str(error), environment)
    data = _data(capabilities, program)
    where = " ".join((program, *config.program[1:]))
    about = kind.about(capabilities) if kind.about is not None else None
    if about is None:
        version = capabilities.version or "of an unknown version"
        return Check(area=area, text=f"{version}, kind {kind.name}, {where}", data=data)
    if kind.bundled:
        return Check(area=area, text=about.text, data=data)
    if not capabilities.version:
        return _silent(area, program, "does not say its version", environment)
    text = f"{about.text}, {where}"
    if about.measured:
        return Check(area=area, text=text, detail=about.lacks, data=data)
    fix = f"to see what is different: flybridge doctor --probe {name}" if kind.probe else ""
    return Check(area=area, status="note", text=text, detail=about.lacks, fix=fix, data=data)


def _data(capabilities: Capabilities, program: str) -> dict[str, object]:
    return {
        "program": program,
        "version": capabilities.version,
        "commands": sorted(capabilities.commands),
        "queries": sorted(capabilities.queries),
        "modes": sorted(capabilities.modes),
        "efforts": sorted(capabilities.efforts),
    }


def _missing(area: str, name: str, config: AgentConfig, *, is_default: bool) -> Check:
    wanted = config.program[0]
    text = f"{wanted} is not there" if "/" in wanted else f"{wanted} is not on PATH"
    fix = f"install it, or set agents.{name}.program in the configuration"
    if is_default:
        return Check(area=area, status="problem", text=f"{text}, and it is the default", fix=fix)
    return Check(area=area, status="note", text=text, fix=fix)


def _silent(area: str, program: str, why: str, environment: Mapping[str, str]) -> Check:
    fix = f"see what it says: {program} --version"
    if _wants_node(program) and not shutil.which("node", path=environment.get("PATH")):
        fix = "it is a script for Node.js, and node is not on PATH: install it"
    return Check(
        area=area,
        status="problem",
        text=f"{program}: {why}",
        fix=fix,
        data={"program": program},
    )


def _wants_node(program: str) -> bool:
    try:
        with Path(program).open("rb") as file:
            head = file.read(HEAD_BYTES).partition(b"\n")[0]
    except OSError:
        return False
    return head.startswith(b"#!") and b"node" in head
