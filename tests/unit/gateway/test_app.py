from __future__ import annotations

import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from flybridge.agents.claude.history import ClaudeHistory
from flybridge.agents.claude.kinds import DEMO
from flybridge.agents.claude.records import ClaudeRecords
from flybridge.agents.registry import BUILT_IN, Registry
from flybridge.client.gateway import Client
from flybridge.client.items import Detached
from flybridge.config import AgentConfig, Config
from flybridge.config.state_dir import StateDir
from flybridge.errors import FlybridgeError, GatewayRunningError
from flybridge.gateway.app import Gateway, StateLock
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.runtime.keeper.keeper_program import processes, read_file
from tests.harness.agent_programs import DEMO as DEMO_PROGRAM
from tests.harness.agent_programs import agent
from tests.harness.gateway_process import GatewayProcess


@pytest.fixture
def gateway(short_tmp: Path) -> Iterator[GatewayProcess]:
    """A gateway that has not been started; nothing of it is left afterwards."""
    gateway = GatewayProcess(short_tmp)
    configure(gateway, idle_s=60)
    yield gateway
    gateway.kill_all()


def configure(gateway: GatewayProcess, *, idle_s: float) -> None:
    demo = agent("demo", [*DEMO_PROGRAM, "--speed", "0"], kind="demo")
    gateway.configure(f"default_agent: demo\nidle_exit_s: {idle_s}\nagents:\n{demo}")


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


async def test_a_gateway_serves_stops_and_leaves_nothing_but_its_state(
    gateway: GatewayProcess,
) -> None:
    gateway.start()
    async with await gateway.client() as client:
        await run_a_turn(client, gateway.base)
        await end_agents(client)
        await client.stop_gateway()
    assert gateway.wait() == 0
    left = {one.name for one in gateway.state.iterdir()}
    assert "gateway.sock" not in left
    assert list(gateway.state_dir.keepers.iterdir()) == []
    assert stat.S_IMODE(gateway.state.stat().st_mode) == 0o700
    assert stat.S_IMODE(gateway.state_dir.journal.stat().st_mode) == 0o600


async def test_who_watches_is_told_that_the_gateway_was_stopped(gateway: GatewayProcess) -> None:
    gateway.start()
    async with await gateway.client() as client:
        session = await run_a_turn(client, gateway.base)
        await end_agents(client)
        watch = client.watch(session)
        await anext(watch)
        await client.stop_gateway()
        items = [item async for item in watch]
        assert isinstance(items[-1], Detached)
        assert items[-1].code == "gateway_stopped"
        await watch.close()


async def test_the_door_is_for_one_user(gateway: GatewayProcess) -> None:
    gateway.start()
    async with await gateway.client():
        assert stat.S_IMODE(gateway.state_dir.socket.stat().st_mode) == 0o600


async def test_the_second_gateway_of_a_directory_leaves(gateway: GatewayProcess) -> None:
    gateway.start()
    async with await gateway.client():
        second = GatewayProcess(gateway.base)
        second.start()
        assert second.wait() == 1
    said = gateway.log.read_text()
    assert "gateway_running" in said
    assert "Traceback" not in said


def test_the_lock_is_the_kernels(tmp_path: Path) -> None:
    lock = StateLock(tmp_path / "lock")
    with pytest.raises(GatewayRunningError):
        StateLock(tmp_path / "lock")
    lock.release()
    StateLock(tmp_path / "lock").release()


async def test_an_agent_survives_its_gateway_and_is_adopted(gateway: GatewayProcess) -> None:
    gateway.start()
    async with await gateway.client() as client:
        session = await run_a_turn(client, gateway.base)
        before = await client.status()
    gateway.kill()
    gateway.start()
    async with await gateway.client() as client:
        after = await client.status()
        assert (before["agents"], after["agents"]) == (1, 1)
        reply = await client.submit(
            session, SendInput(content=(Text("again"),)), until=Stage.DONE, wait_ms=20_000
        )
        assert reply.stage is Stage.DONE
        await end_agents(client)


async def test_a_stale_socket_is_no_obstacle(gateway: GatewayProcess) -> None:
    gateway.state_dir.prepare()
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(gateway.state_dir.socket))
    gateway.start()
    async with await gateway.client() as client:
        assert (await client.status())["clients"] == 1


async def test_a_gateway_that_was_started_for_somebody_ends_when_nobody_is_left(
    gateway: GatewayProcess,
) -> None:
    configure(gateway, idle_s=0.2)
    gateway.launch("gateway", "run", "--auto")
    async with await gateway.client() as client:
        await client.status()
    assert gateway.wait() == 0


async def test_a_gateway_with_a_living_agent_stays(gateway: GatewayProcess) -> None:
    configure(gateway, idle_s=0.1)
    gateway.launch("gateway", "run", "--auto")
    async with await gateway.client() as client:
        await run_a_turn(client, gateway.base)
    with pytest.raises(subprocess.TimeoutExpired):
        gateway.wait(0.6)
    async with await gateway.client() as client:
        await end_agents(client)
    assert gateway.wait() == 0


def test_a_bad_configuration_is_said_in_one_line(gateway: GatewayProcess) -> None:
    gateway.configure("defualt_agent: demo\n")
    gateway.start()
    gateway.wait()
    said = gateway.log.read_text()
    assert "default_agent" in said
    assert "Traceback" not in said


PACKAGE = """
from flybridge.agents.kinds import AgentKind
from flybridge.agents.claude.agent import ClaudeAgent

def fail(*_):
    raise SystemExit(3)

DISGUISED = AgentKind(
    name="disguised", program=("true",), build=lambda settings: ClaudeAgent(name=settings.name),
    conversations=fail, history=fail,
)
BROKEN = AgentKind(name="broken", program=("true",), build=fail, conversations=fail, history=fail)
"""


async def test_packages_that_are_gone_or_fail_cost_their_own_agents_only(
    gateway: GatewayProcess,
) -> None:
    folder = gateway.base / "site"
    info = folder / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "acme.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "disguised = acme:DISGUISED\nbroken = acme:BROKEN\n"
    (info / "entry_points.txt").write_text(f"[flybridge.agents]\n{points}")
    gateway.env["PYTHONPATH"] = str(folder)
    with gateway.config.open("a") as file:
        for kind in ("removed", "disguised", "broken"):
            file.write(f"  {kind}: {{kind: {kind}, options: {{speed: 3}}}}\n")
    gateway.start()
    async with await gateway.client() as client:
        await run_a_turn(client, gateway.base)
        for kind in ("removed", "disguised", "broken"):
            with pytest.raises(FlybridgeError, match=f"Unknown agent '{kind}'"):
                await client.open(agent=kind, cwd=str(gateway.base))
        await end_agents(client)
        await client.stop_gateway()
    gateway.wait()
    errors = gateway.log.read_text()
    assert "agent removed is left out" in errors
    assert "agent disguised is left out" in errors
    assert "built as one of the kind 'claude'" in errors
    assert "agent broken is left out" in errors


async def test_the_records_of_one_kind_hide_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = ClaudeRecords(ClaudeHistory(tmp_path))
    acme = msgspec.structs.replace(DEMO, name="acme", history=lambda environ: records)
    kinds = Registry(built_in=[*BUILT_IN, acme], find=lambda: [])
    monkeypatch.setattr("flybridge.gateway.app.REGISTRY", kinds)
    agents = {**Config().agents, "acme": AgentConfig(kind="acme", program=("acme",))}
    gateway = Gateway(StateDir(tmp_path / "state"), Config(agents=agents), {"HOME": str(tmp_path)})
    histories = gateway._histories()
    assert histories.keys() == {"claude", "acme"}  # the demo keeps none
    assert histories["acme"].history is records


@pytest.mark.parametrize(
    ("names", "default", "agent"),
    [
        (("work", "acme"), "work", "acme"),  # named like its kind
        (("work", "home"), "home", "home"),
        (("work", "home"), "claude", "work"),
    ],
)
async def test_an_agent_of_the_kind_goes_on_with_its_conversations(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    default: str,
    agent: str,
) -> None:
    records = ClaudeRecords(ClaudeHistory(tmp_path))
    acme = msgspec.structs.replace(DEMO, name="acme", history=lambda environ: records)
    kinds = Registry(built_in=[*BUILT_IN, acme], find=lambda: [])
    monkeypatch.setattr("flybridge.gateway.app.REGISTRY", kinds)
    ours = {name: AgentConfig(kind="acme", program=("acme",)) for name in names}
    config = Config(agents={**Config().agents, **ours}, default_agent=default)
    gateway = Gateway(StateDir(tmp_path / "state"), config, {"HOME": str(tmp_path)})
    found = {kind: kept.agent for kind, kept in gateway._histories().items()}
    assert found == {"claude": "claude", "acme": agent}


def test_a_state_directory_others_can_read_is_refused(gateway: GatewayProcess) -> None:
    gateway.state.mkdir(mode=0o755)
    gateway.state.chmod(0o755)
    gateway.start()
    gateway.wait()
    assert "chmod 700" in gateway.log.read_text()


async def test_an_agent_has_a_temporary_folder_of_its_own(gateway: GatewayProcess) -> None:
    gateway.start()
    async with await gateway.client() as client:
        session = await run_a_turn(client, gateway.base)
        mark = f"FLYBRIDGE_SESSION={session}".encode()
        environs = [
            read_file(f"/proc/{one.pid}/environ", 1 << 16).split(b"\0") for one in processes()
        ]
        (agent,) = [one for one in environs if mark in one]
        assert f"CLAUDE_CODE_TMPDIR={gateway.state_dir.scratch}".encode() in agent
        assert stat.S_IMODE(gateway.state_dir.scratch.stat().st_mode) == 0o700
        await client.ask("stop_agent", {"session": session})
