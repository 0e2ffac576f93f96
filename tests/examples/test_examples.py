"""Every example runs, against a real gateway and the demo agent, and stays short."""

from __future__ import annotations

import ast
import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.harness.agent_programs import steps
from tests.harness.gateway_process import RealGateway

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.py"))


async def start(
    gateway: RealGateway, name: str, *words: str, **env: str
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / name),
        *words,
        env={**gateway.env, "FLYBRIDGE_STATE": str(gateway.state), **env},
        cwd=gateway.work,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run(gateway: RealGateway, name: str, *words: str, **env: str) -> tuple[int, str, str]:
    process = await start(gateway, name, *words, **env)
    async with asyncio.timeout(40):
        out, err = await process.communicate()
    assert process.returncode is not None
    assert b"Traceback" not in err, err.decode()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_typed_and_says_what_it_does(name: str) -> None:
    source = (EXAMPLES / name).read_text()
    assert source.count("\n") < 60
    tree = ast.parse(source)
    said = ast.get_docstring(tree) or ""
    assert f"python examples/{name}" in said
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert functions
    assert [f.name for f in functions if f.returns is None] == []


def test_every_example_is_run_here() -> None:
    here = "".join(one.read_text() for one in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in NAMES if here.count(f'"{name}"') == 0] == []


async def test_one_question_has_one_answer(gateway: RealGateway) -> None:
    status, out, _ = await run(gateway, "ask_once.py", "think boats")
    assert (status, out) == (0, "I thought about it: **two helms, one rudder.**\n")
    status, _, _ = await run(gateway, "ask_once.py", "crash")
    assert status == 1


async def test_a_policy_allows_denies_and_leaves_to_people(gateway: RealGateway) -> None:
    process = await start(
        gateway, "approve_from_script.py", "run ls", "run touch mine", "run ls;id", "write a.txt"
    )
    assert process.stdout is not None
    async with asyncio.timeout(40):
        while (line := (await process.stdout.readline()).decode()) and "for a person" not in line:
            assert "allowed" not in line or line == "allowed: ls\n"
        assert "Write" in line
        process.terminate()
        _, err = await process.communicate()
    assert err == b""
    assert not (gateway.work / "mine").exists()
    async with await gateway.client() as client:
        [row] = await client.sessions()
        assert (row.why, row.prompts) == ("permission", 1), "it still waits for a person"


async def test_every_session_says_what_it_waits_for(gateway: RealGateway) -> None:
    process = await start(gateway, "follow_all.py")
    assert process.stdout is not None
    async with await gateway.client() as client, asyncio.timeout(40):
        async with client.start(agent="demo", cwd=gateway.work, title="a boat") as session:
            asking = asyncio.create_task(session.ask("run ls"))
            while b"a boat: running, permission" not in await process.stdout.readline():
                pass
            await session.interrupt()
            await asking
            while b"nothing" not in await process.stdout.readline():
                pass
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")


async def test_the_exit_status_says_how_it_went(gateway: RealGateway) -> None:
    assert (await run(gateway, "run_in_ci.py", "think boats"))[0] == 0
    status, out, _ = await run(gateway, "run_in_ci.py", "run ls")
    assert (status, "nobody is here" in out) == (0, True), "the agent was told"
    assert (await run(gateway, "run_in_ci.py", "question"))[0] == 0
    assert (await run(gateway, "run_in_ci.py", "error", "401"))[0] == 1
    assert (await run(gateway, "run_in_ci.py", "price", TASK_USD="0.0001"))[0] == 2
    slow = {"FLYBRIDGE_AGENT": "recorder", "TASK_SECONDS": "0.5"}
    assert (await run(gateway, "run_in_ci.py", steps({"stall": 30}), **slow))[0] == 3


async def test_a_task_of_one_name_is_run_once(gateway: RealGateway) -> None:
    first = await run(gateway, "run_in_ci.py", "think boats", TASK_ID="build-42")
    assert await run(gateway, "run_in_ci.py", "think boats", TASK_ID="build-42") == first
    async with await gateway.client() as client:
        [row] = await client.sessions()
        async with client.session(row.session) as session:
            texts = [one for one in session.transcript.blocks.values() if one.kind == "text"]
    assert len(texts) == 1


async def test_two_programs_see_the_same(gateway: RealGateway) -> None:
    status, out, _ = await run(gateway, "two_clients.py")
    assert status == 0
    assert "the second helm allows Bash" in out
    assert "both saw the same: True" in out
