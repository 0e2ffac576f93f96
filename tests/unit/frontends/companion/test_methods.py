from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.errors import InvalidRequestError, NotAllowedError
from flybridge.frontends.companion.devices import Devices
from flybridge.model.requests import Ask
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.store.devices import DeviceFile
from tests.harness.companion_harness import ELSEWHERE, Rig
from tests.harness.runtime_harness import EVERYTHING
from tests.harness.waiting import until


async def test_the_list_shows_devices_who_waits_and_what_is_in_the_slots(rig: Rig) -> None:
    held = await rig.ready("view", "approve", slots=(0, 1))
    await rig.connect(ELSEWHERE)
    await until(rig.devices.waiting)
    found: dict[str, Any] = await rig.ask("devices.list")
    assert found["listening"] == rig.door.address
    [device] = found["devices"]
    assert (device["name"], device["connected"], device["slots"]) == ("box", 1, (0, 1))
    assert "digest" not in device
    assert [one["address"] for one in found["waiting"]] == [ELSEWHERE]
    assert [one["slot"] for one in found["slots"]] == [0, 1, 2, 3]
    first, second = found["slots"][:2]
    assert (first["session"], first["state"], first["name"]) == (rig.session(), "idle", "recorder")
    assert (second["session"], second["agent"]) == ("", "recorder")
    held.close()


async def test_whoever_may_not_administer_hears_nothing(rig: Rig) -> None:
    weak = msgspec.structs.replace(EVERYTHING, scopes=EVERYTHING.scopes - {"admin"}, process="")
    for name, params in (
        ("devices.list", {}),
        ("devices.pair", {"code": "x", "name": "y"}),
        ("devices.token", {"name": "y"}),
        ("devices.revoke", {"name": "y"}),
        ("slots.set", {"slots": [{}]}),
    ):
        raw = msgspec.Raw(msgspec.json.encode(params))
        with pytest.raises(NotAllowedError):
            await rig.desk.ask(weak, Ask(ref="", name=name, params=raw))
    assert rig.devices.all() == ()


async def test_who_was_let_in_and_by_whom_is_written_down(rig: Rig) -> None:
    made = await rig.ask("devices.token", name="box", rights=["approve"])
    await rig.ask("devices.revoke", name=made["id"])
    await rig.ask("slots.set", slots=[{"dir": "/tmp"}, {}, {}])
    noted = [(one.event, one.target, one.detail) for one in rig.records if "." in one.event]
    assert noted == [
        ("devices.token", "box", "token view,approve"),
        ("devices.revoke", "box", "token view,approve"),
        ("slots.set", "", "3 slots"),
    ]
    assert made["token"] not in str(rig.records)


async def test_slots_hold_agents_that_there_are_and_folders_by_their_whole_path(rig: Rig) -> None:
    for bad in ({"agent": "nobody"}, {"dir": "here"}):
        with pytest.raises(InvalidRequestError):
            await rig.ask("slots.set", slots=[bad])
    shown = await rig.ask("slots.set", slots=[{}, {"agent": "missing"}])
    assert [one["agent"] for one in shown["slots"]] == ["recorder", "missing"]


@pytest.mark.parametrize("agent", ["", "recorder", "missing"])
async def test_c10_a_slot_has_a_mode_that_its_agent_has(rig: Rig, agent: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"Unknown permission mode 'silly'\. Available: "):
        await rig.ask("slots.set", slots=[{"agent": agent, "mode": "silly"}])
    shown = await rig.ask("slots.set", slots=[{"agent": agent, "mode": "plan"}])
    assert shown["slots"][0]["mode"] == "plan"


async def test_a_right_that_nobody_has_is_refused(rig: Rig) -> None:
    with pytest.raises(InvalidRequestError):
        await rig.ask("devices.token", name="box", rights=["admin"])


async def test_without_a_door_there_are_devices_and_slots_all_the_same(tmp_path: Path) -> None:
    from flybridge.frontends.companion.methods import DeviceQuestions
    from flybridge.runtime.methods.sessions import NoParams

    devices = Devices(DeviceFile(tmp_path / "devices"), now_ms=lambda: 0)
    shelf = AgentShelf({})
    asked = DeviceQuestions(
        devices,
        audit=lambda record: None,
        agents=shelf.names,
        modes=shelf.modes,
        door=lambda: None,
    )
    found = await asked.listed(EVERYTHING, NoParams())
    assert (found.listening, len(found.slots)) == ("", 4)
