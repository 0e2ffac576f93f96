"""The device door for real: a port, a desk, keepers and the recorder agent; and a clock to push.

Addresses of 127.0.0.0/8 but 127.0.0.1 count as another machine here: tests have only one.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from flybridge.auth.tcp_peer import TcpPeers
from flybridge.frontends.companion.devices import Devices
from flybridge.frontends.companion.listener import CompanionDoor, CompanionSpec
from flybridge.frontends.companion.methods import DeviceQuestions
from flybridge.frontends.companion.slots import SlotHost
from flybridge.model import events as e
from flybridge.model.audit import Record
from flybridge.model.deliveries import Batch
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.unit_of_work import entries_of
from flybridge.session.ports import Journal
from flybridge.store.devices import DeviceFile, SlotSpec
from flybridge.testing import recorder
from tests.harness.handheld import Handheld
from tests.harness.relay import RULES
from tests.harness.runtime_harness import EVERYTHING, House
from tests.harness.waiting import until

HERE = "127.0.0.1"
ELSEWHERE = "127.0.0.2"
ALL = ("view", "input", "interrupt", "approve", "spawn", "auto_edit")


def bash(command: str = "rm -f zz.txt", **more: Any) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command}, "ask": True, **more}


class Rig:
    """A gateway's worth of devices."""

    def __init__(self, folder: Path, journal: Journal | None = None, **more: Any) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self.house = House(folder, journal, **more)
        self.clock_ms = time.time_ns() // 1_000_000
        self.records: list[Record] = []
        self.devices = Devices(
            DeviceFile(folder / "devices"),
            now_ms=self.now_ms,
            withdraw=self.house.sessions.withdraw,
            here=lambda address: address == HERE,
        )
        asked = DeviceQuestions(
            self.devices,
            audit=self.records.append,
            agents=self.house.services.shelf.names,
            modes=self.house.services.shelf.modes,
            door=lambda: self.door,
        )
        services = self.house.services
        self.desk = Desk(
            self.house.sessions,
            services.hub,
            self.house.journal,
            services.blobs,
            asked.table(),
            self.records.append,
        )
        usual = SlotSpec(agent=more.get("agent", "recorder"), dir=str(self.project))
        self.host = SlotHost(self.desk, self.house.sessions, self.devices, usual=usual)
        self.door = CompanionDoor(
            CompanionSpec(host=HERE, port=0),
            self.desk,
            self.devices,
            self.host,
            now_ms=self.now_ms,
            peers=TcpPeers(lambda: self.keepers, RULES),
        )
        self.house.sessions.on_live = self.host.noticed
        self.keepers: list[tuple[int, str]] = []
        self._handhelds: list[Handheld] = []

    def now_ms(self) -> int:
        return self.clock_ms

    def later(self, ms: int = 1000) -> None:
        """So much time has passed, and no more however slow the machine is: what was held back is
        due, and a prompt has been there."""
        self.clock_ms += ms
        for connection in list(self.door.connections):
            connection.flush()

    async def start(self) -> None:
        self.door.bind()
        await self.door.open()

    async def stop(self) -> None:
        for one in self._handhelds:
            one.close()
        await self.door.close()

    # ---- devices ---------------------------------------------------------------------------------

    async def connect(self, source: str = ELSEWHERE, **more: Any) -> Handheld:
        held = await Handheld.connect(self.door.port, source=source, **more)
        self._handhelds.append(held)
        return held

    async def paired(
        self, *rights: str, name: str = "box", slots: tuple[int, ...] = (), source: str = HERE
    ) -> Handheld:
        """A device with these rights, or all of them, that brings a token."""
        _, token = self.devices.create_token(name, rights or ALL, slots)
        return await self.connect(source, token=token)

    async def ready(self, *rights: str, **more: Any) -> Handheld:
        """The same, and slot 0 is there and idle."""
        held = await self.paired(*rights, **more)
        await held.wait_for("idle")
        self.later()
        return held

    async def ask(self, name: str, /, **params: Any) -> Any:
        raw = msgspec.Raw(msgspec.json.encode(params))
        value = await self.desk.ask(EVERYTHING, Ask(ref="", name=name, params=raw))
        return msgspec.to_builtins(value)

    # ---- what is behind ------------------------------------------------------------------------

    def session(self, number: int = 0) -> SessionId:
        return self.host.board.slots[number].session

    def events(self, number: int = 0) -> list[e.Event]:
        batches: list[Batch] = list(self.house.journal.read(self.session(number), 0, 1 << 30))
        return [entry.event for batch in batches for entry in entries_of(batch)]

    def of(self, kind: type, number: int = 0) -> list[Any]:
        return [one for one in self.events(number) if isinstance(one, kind)]

    async def saw(self, kind: type, count: int = 1, number: int = 0) -> list[Any]:
        await until(lambda: len(self.of(kind, number)) >= count)
        return self.of(kind, number)

    def ran(self) -> list[Any]:
        return recorder.ran(self.house.record)

    def answers(self) -> list[Any]:
        return [r.data for r in recorder.read_record(self.house.record) if r.kind == "answer"]


@asynccontextmanager
async def companion(folder: Path, **more: Any) -> AsyncIterator[Rig]:
    """A door that is open, and everything behind it; all of it ends at the end."""
    rig = Rig(folder, **more)
    await rig.start()
    try:
        yield rig
    finally:
        await rig.stop()
        await rig.house.end()
