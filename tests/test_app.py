from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.gateway.app import StateLock
from flybridge.client.gateway import Client, connect
from flybridge.client.items import Detached
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayRunningError
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.runtime.keeper.keeper_program import processes, read_file

CONFIG = """\
default_agent: demo
idle_exit_s: {idle}
agents:
  demo:
    kind: demo
    program: [{python}, -P, -m, flybridge.demo, --speed, "0"]
"""


class Gateways:
    """Starts gateways in one state directory, and sees that they end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = StateDir(folder / "state")
        self.config(60)
        self.running: list[subprocess.Popen[bytes]] = []

    def config(self, idle: float) -> None:
        path = self.folder / "config" / "flybridge" / "config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONFIG.format(idle=idle, python=sys.executable))

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "flybridge", "gateway", "run"]
        one = subprocess.Popen(
            [*argv, "--state", str(self.state.path), *more],
            env={**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config")},
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.running.append(one)
        return one

    async def client(self) -> Client:
        deadline = time.monotonic() + 20
        while True:
            try:
                return await connect(self.state, start=False)
            except Exception:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)

    def end(self) -> None:
        for one in self.running:
            if one.poll() is None:
                one.terminate()
            one.communicate(timeout=20)


@pytest.fixture
def gateways(short_tmp: Path) -> Iterator[Gateways]:
    gateways = Gateways(short_tmp)
    yield gateways
    gateways.end()


async def run_a_turn(client: Client, cwd: Path) -> str:
    session = await client.open(agent="demo", cwd=str(cwd))
    reply = await client.submit(
        session, SendInput(content=(Text("hello"),)), until=Stage.DONE, wait_ms=20_000
    )
    assert reply.stage is Stage.DONE
    return session


async def end_agents(client: Client) -> None:
    for one in await client.list():
        await client.ask("stop_agent", {"session": _id(one)})


def _id(one: object) -> str:
    return str(one["session"] if isinstance(one, dict) else one.session)  # type: ignore[attr-defined]


async def test_a_gateway_serves_stops_and_leaves_nothing_but_its_state(gateways: Gateways) -> None:
    gateway = gateways.start()
    async with await gateways.client() as client:
        await run_a_turn(client, gateways.folder)
        await end_agents(client)
        await client.stop_gateway()
    assert gateway.wait(20) == 0
    left = {one.name for one in gateways.state.path.iterdir()}
    assert "gateway.sock" not in left
    assert list(gateways.state.keepers.iterdir()) == []
    assert stat.S_IMODE(gateways.state.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(gateways.state.journal.stat().st_mode) == 0o600


async def test_who_watches_is_told_that_the_gateway_was_stopped(gateways: Gateways) -> None:
    gateways.start()
    async with await gateways.client() as client:
        session = await run_a_turn(client, gateways.folder)
        await end_agents(client)
        watch = client.watch(session)
        await anext(watch)
        await client.stop_gateway()
        items = [item async for item in watch]
        assert isinstance(items[-1], Detached)
        assert items[-1].code == "gateway_stopped"
        await watch.close()


async def test_the_door_is_for_one_user(gateways: Gateways) -> None:
    gateways.start()
    async with await gateways.client():
        assert stat.S_IMODE(gateways.state.socket.stat().st_mode) == 0o600


async def test_the_second_gateway_of_a_directory_leaves(gateways: Gateways) -> None:
    gateways.start()
    async with await gateways.client():
        second = gateways.start()
        _, said = second.communicate(timeout=20)
    assert second.returncode == 1
    assert b"gateway_running" in said
    assert b"Traceback" not in said


def test_the_lock_is_the_kernels(tmp_path: Path) -> None:
    lock = StateLock(tmp_path / "lock")
    with pytest.raises(GatewayRunningError):
        StateLock(tmp_path / "lock")
    lock.release()
    StateLock(tmp_path / "lock").release()


async def test_an_agent_survives_its_gateway_and_is_adopted(gateways: Gateways) -> None:
    first = gateways.start()
    async with await gateways.client() as client:
        session = await run_a_turn(client, gateways.folder)
        before = await client.status()
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=20)
    gateways.start()
    async with await gateways.client() as client:
        after = await client.status()
        assert (before["agents"], after["agents"]) == (1, 1)
        reply = await client.submit(
            session, SendInput(content=(Text("again"),)), until=Stage.DONE, wait_ms=20_000
        )
        assert reply.stage is Stage.DONE
        await end_agents(client)


async def test_a_stale_socket_is_no_obstacle(gateways: Gateways) -> None:
    gateways.state.prepare()
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(gateways.state.socket))
    gateways.start()
    async with await gateways.client() as client:
        assert (await client.status())["clients"] == 1


async def test_a_gateway_that_was_started_for_somebody_ends_when_nobody_is_left(
    gateways: Gateways,
) -> None:
    gateways.config(0.2)
    gateway = gateways.start("--auto")
    async with await gateways.client() as client:
        await client.status()
    assert gateway.wait(20) == 0


async def test_a_gateway_with_a_living_agent_stays(gateways: Gateways) -> None:
    gateways.config(0.1)
    gateway = gateways.start("--auto")
    async with await gateways.client() as client:
        await run_a_turn(client, gateways.folder)
    with pytest.raises(subprocess.TimeoutExpired):
        gateway.wait(0.6)
    async with await gateways.client() as client:
        await end_agents(client)
    assert gateway.wait(20) == 0


def test_a_bad_configuration_is_said_in_one_line(gateways: Gateways) -> None:
    path = gateways.folder / "config" / "flybridge" / "config.yaml"
    path.write_text("defualt_agent: demo\n")
    _, said = gateways.start().communicate(timeout=20)
    assert b"default_agent" in said
    assert b"Traceback" not in said


def test_a_state_directory_others_can_read_is_refused(gateways: Gateways) -> None:
    gateways.state.path.mkdir(mode=0o755)
    gateways.state.path.chmod(0o755)
    _, said = gateways.start().communicate(timeout=20)
    assert b"chmod 700" in said


async def test_an_agent_has_a_temporary_folder_of_its_own(gateways: Gateways) -> None:
    gateways.start()
    async with await gateways.client() as client:
        session = await run_a_turn(client, gateways.folder)
        mark = f"FLYBRIDGE_SESSION={session}".encode()
        environs = [
            read_file(f"/proc/{one.pid}/environ", 1 << 16).split(b"\0") for one in processes()
        ]
        (agent,) = [one for one in environs if mark in one]
        assert f"CLAUDE_CODE_TMPDIR={gateways.state.scratch}".encode() in agent
        assert stat.S_IMODE(gateways.state.scratch.stat().st_mode) == 0o700
        await client.ask("stop_agent", {"session": session})
