"""The IPC examples in three languages say the same, against a real gateway and the demo agent."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.agents.rig import node
from tests.harness.gateway_process import RealGateway

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = "I thought about it: **two helms, one rudder.**\n"


async def run(gateway: RealGateway, *argv: str) -> tuple[int | None, str, str]:
    program = gateway.base / "flybridge"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m flybridge "$@"\n')
    program.chmod(0o700)
    process = await asyncio.create_subprocess_exec(
        *argv,
        env={
            **gateway.env,
            "FLYBRIDGE_STATE": str(gateway.state),
            "FLYBRIDGE": str(program),
        },
        cwd=gateway.work,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(40):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_python_gets_an_answer(gateway: RealGateway) -> None:
    example = str(EXAMPLES / "ipc_python.py")
    assert await run(gateway, sys.executable, example, "think boats") == (0, SAID, "")
    status, out, _ = await run(gateway, sys.executable, example, "run ls")
    assert (status, "nobody is here" in out) == (0, True)


async def test_node_gets_an_answer(gateway: RealGateway) -> None:
    example = str(EXAMPLES / "ipc_node.mjs")
    program = node()
    assert program is not None, "the Node that comes with the tools is not there"
    assert await run(gateway, str(program), example, "think boats") == (0, SAID, "")


@pytest.mark.needs("jq")
async def test_the_shell_gets_an_answer(gateway: RealGateway) -> None:
    example = str(EXAMPLES / "ipc_shell.sh")
    assert await run(gateway, "sh", example, "think boats") == (0, SAID, "")
