from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import msgspec
import pytest

from flybridge.errors import AgentStartError, KeeperError
from flybridge.runtime.keeper.client import (
    Welcome,
)
from flybridge.runtime.keeper.process import alive, boot_id, start_time
from flybridge.runtime.keeper.start import StartedKeeper, start_keeper
from tests.harness.keeper_bench import sh
from tests.harness.keepers import Keepers


async def test_a_started_keeper_is_known_by_pid_and_start(keepers: Keepers) -> None:
    spec = await keepers.start(["/bin/cat"])
    (started,) = keepers.started
    assert alive(started.pid, started.start)
    link, _ = await keepers.link(spec)
    assert link.welcome == Welcome(
        proto=1,
        incarnation=spec.incarnation,
        took=0,
        wrote=0,
        out_from=0,
        out_to=0,
        agent_pid=started.agent_pid,
        agent_start=start_time(started.agent_pid) or "",
        boot=boot_id(),
        exit=None,
        kept="",
        agent_io="sockets",
    )


async def test_an_agent_that_cannot_start_says_why(keepers: Keepers) -> None:
    with pytest.raises(AgentStartError, match="No such file") as caught:
        await keepers.start(["/no/such/agent"])
    assert caught.value.agent == "agent"
    assert list(keepers.folder.iterdir()) == []


async def test_a_keeper_that_cannot_start_is_no_agents_fault(keepers: Keepers) -> None:
    for python, reason in (("/no/such/python", "No such file"), ("/bin/echo", "did not start")):
        with pytest.raises(KeeperError, match=reason):
            await start_keeper(keepers.spec(["/bin/cat"]), python=python)


async def test_a_keeper_that_does_not_answer_is_given_up(keepers: Keepers) -> None:
    silent = keepers.folder / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 1000\n")
    silent.chmod(0o700)
    with pytest.raises(KeeperError, match="not ready"):
        await start_keeper(keepers.spec(["/bin/cat"]), python=str(silent), timeout_s=0.1)


async def test_an_environment_may_be_large_and_need_not_be_text(keepers: Keepers) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "LONG": "x" * 100_000,
        "RAW": "caf\udce9",
        "TWO": "y" * 99_999,
    }
    spec = await keepers.start(sh('printf %s "$RAW${#LONG}${#TWO}"'), env=env)
    _, heard = await keepers.link(spec)
    await heard.until(lambda: heard.exit)
    assert heard.output == b"caf\xe910000099999"


async def test_a_keeper_outlives_the_gateway_that_started_it(keepers: Keepers) -> None:
    spec = keepers.spec(["/bin/cat"])
    gateway = (
        "import asyncio, os, sys, msgspec\n"
        "from flybridge.runtime.keeper.start import KeeperSpec, start_keeper\n"
        "spec = msgspec.json.decode(sys.stdin.buffer.read(), type=KeeperSpec)\n"
        "started = asyncio.run(start_keeper(spec))\n"
        "os.write(1, msgspec.json.encode(started))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", gateway],
        input=msgspec.json.encode(spec),
        stdout=subprocess.PIPE,
        check=False,
    )
    started = msgspec.json.decode(done.stdout, type=StartedKeeper)
    assert done.returncode == -9
    keepers.started.append(started)
    link, heard = await keepers.link(spec, generation=2)
    link.send_input(1, b"still there\n")
    await heard.until(lambda: heard.output == b"still there\n")
    link.end()
    await link.wait_closed()


# ---- links --------------------------------------------------------------------------------------
