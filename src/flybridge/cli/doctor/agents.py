"""Each configured agent: where its program is, which version, what that version can do."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

from flybridge.cli.doctor.text import Check
from flybridge.config import AgentConfig, Config, agent_environment
from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.versions import NEW, OLD
from flybridge.errors import AgentError
from flybridge.model.capabilities import Capabilities
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.agents.claude.measured import MEASURED, standing

HEAD_BYTES = 256


async def check_agents(config: Config, environ: Mapping[str, str]) -> list[Check]:
    """Ask them all for their versions, side by side."""
    work = [
        _check(name, one, environ, is_default=name == config.default_agent)
        for name, one in config.agents.items()
    ]
    return list(await asyncio.gather(*work))


async def _check(
    name: str, config: AgentConfig, environ: Mapping[str, str], *, is_default: bool
) -> Check:
    agent = ClaudeAgent(name=name, program=config.program)
    environment = agent_environment(environ, config.env)
    area = f"agent {name}"
    program = shutil.which(config.program[0], path=environment.get("PATH"))
    if program is None:
        return _missing(area, name, config, is_default=is_default)
    try:
        shelf = AgentShelf({name: (agent, environment)}, strangers=agent)
        capabilities = (await shelf.get(name)).capabilities
    except AgentError as error:
        return _silent(area, program, str(error), environment)
    data = _data(capabilities, program)
    where = " ".join((program, *config.program[1:]))
    if config.kind == "demo":
        return Check(area=area, text="comes with Flybridge, needs no key", data=data)
    if not capabilities.version:
        return _silent(area, program, "does not say its version", environment)
    text = f"{capabilities.version}, {standing(capabilities.version)}, {where}"
    lacks = _lacks(capabilities)
    if capabilities.version in MEASURED:
        return Check(area=area, text=text, detail=lacks, data=data)
    fix = f"to see what is different: flybridge doctor --probe {name}"
    return Check(area=area, status="note", text=text, detail=lacks, fix=fix, data=data)


def _data(capabilities: Capabilities, program: str) -> dict[str, object]:
    return {
        "program": program,
        "version": capabilities.version,
        "commands": sorted(capabilities.commands),
        "queries": sorted(capabilities.queries),
        "modes": sorted(capabilities.modes),
        "efforts": sorted(capabilities.efforts),
    }


def _lacks(capabilities: Capabilities) -> str:
    """What other versions can do and this one cannot."""
    commands = (OLD.commands | NEW.commands) - capabilities.commands
    queries = {*OLD.queries, *NEW.queries} - capabilities.queries
    told = [f"cannot {', '.join(sorted(commands))}"] if commands else []
    told += [f"does not tell {', '.join(sorted(queries))}"] if queries else []
    return "; ".join(told).replace("_", " ")


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
