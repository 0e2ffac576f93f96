"""The toy agent is installed as a package and driven with no change in the product."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from flybridge.client.gateway import Client
from flybridge.client.prompts import Allow, Deny, PermissionPrompt
from flybridge.errors import FolderNotTrustedError, NotSupportedError
from flybridge.session.ports import Driver
from flybridge.testing.drivers import Connected, Conversation, DriverContract, Heard
from tests.harness.gateway_process import RealGateway, real_gateway

TOY = Path(__file__).parents[2] / "examples" / "toy_agent"
CONFIG = """\
default_agent: toy
agents:
  toy: {kind: toy}
  broken: {kind: broken}
"""


def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("toy", TOY / "flybridge_toy" / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    toy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    return toy


class TestToyDriver(DriverContract):
    def driver(self) -> Driver:
        driver: Driver = module().ToyDriver()
        return driver

    def conversations(self) -> Sequence[Conversation]:
        lines = (
            {"hello": "c1"},
            {"got": "k1"},
            {"turn": "begin"},
            {"id": "t", "text": "hello"},
            {"call": "x", "command": "ls"},
            {"ask": "x-ask", "command": "ls"},
            {"result": "denied", "text": "not allowed"},
            {"turn": "done"},
        )
        steps = (Heard(json.dumps(line).encode()) for line in lines)
        return [Conversation("all", (Connected(), *steps))]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the toy is installed, and a package whose kind cannot be imported."""
    folder = tmp_path_factory.mktemp("packages")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*pip, "--target", str(folder), str(TOY)], check=True, timeout=120)
    info = folder / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[flybridge.agents]\nbroken = no_such_module:KIND\n")
    return folder


@pytest.fixture
async def gateway(short_tmp: Path, packages: Path) -> AsyncIterator[RealGateway]:
    async with real_gateway(short_tmp) as gateway:
        gateway.configure(CONFIG)
        gateway.env["PYTHONPATH"] = str(packages)
        gateway.start()
        yield gateway


@pytest.fixture
async def client(gateway: RealGateway) -> AsyncIterator[Client]:
    async with await gateway.client() as client:
        yield client


async def test_the_toy_talks_asks_remembers_and_is_resumed(
    gateway: RealGateway, client: Client
) -> None:
    asked: list[PermissionPrompt] = []

    async def decide(prompt: PermissionPrompt) -> Allow | Deny:
        asked.append(prompt)
        return Deny("no") if len(asked) == 1 else Allow(remember=(0,))

    async with client.start(agent="toy", cwd=gateway.work, on_permission=decide) as session:
        assert (await session.ask("ahoy")).text == "You said: ahoy"
        results = [(await session.ask(f"run {word}")).calls[0].output for word in "abc"]
        assert results == ["not allowed", "pretended to run b", "pretended to run c"]
        assert len(asked) == 2
    (row,) = await client.list()
    assert (row["kind"], row["mode"]) == ("toy", "ask")
    await client.ask("stop_agent", {"session": session.id})
    async with client.session(session.id) as again:
        assert (await again.ask("back")).ok
    assert (await client.list())[0]["conversation"] == row["conversation"]
    events = (await client.page(session.id, limit=1000)).events
    started = [item.event for item in events if type(item.event).__name__ == "ToolStarted"]
    assert {(event.kind, event.subject.command) for event in started} == {  # type: ignore[union-attr]
        ("execute", word) for word in "abc"
    }


async def test_a_folder_with_the_toys_settings_is_asked_about(
    gateway: RealGateway, client: Client
) -> None:
    (gateway.work / "toy.json").write_text('{"greeting": "Arr, "}')
    with pytest.raises(FolderNotTrustedError, match=r"toy\.json"):
        await client.open(agent="toy", cwd=gateway.work)
    with pytest.raises(NotSupportedError):
        await client.open(agent="toy", cwd=gateway.work, folder="restrict")


async def test_an_option_of_the_toy_reaches_it(gateway: RealGateway, client: Client) -> None:
    start = client.start(agent="toy", cwd=gateway.work, agent_options={"shout": True})
    async with start as session:
        assert (await session.ask("ahoy")).text == "You said: AHOY"


async def test_a_broken_kind_stops_nothing_and_is_reported(
    gateway: RealGateway, client: Client
) -> None:
    known = {agent["name"]: agent for agent in (await client.ask("agents"))["agents"]}
    assert known["toy"]["installed"]
    assert "broken" not in known or not known["broken"]["installed"]
    assert "agent kind broken: broken cannot be imported" in gateway.log.read_text()
    done = await asyncio.to_thread(
        subprocess.run,
        gateway.argv("doctor"),
        env=gateway.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "cannot be imported: ModuleNotFoundError" in done.stdout
