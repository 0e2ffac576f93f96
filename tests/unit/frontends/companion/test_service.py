"""What devices need, put together: with a door, and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.auth.tcp_peer import TcpPeers
from flybridge.errors import GatewayError
from flybridge.frontends.companion.listener import CompanionSpec
from flybridge.frontends.companion.service import Companions
from tests.harness.handheld import Handheld
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


def made(house: House) -> Companions:
    return Companions(
        house.folder / "devices",
        house.sessions,
        now_ms=house.services.now_ms,
        audit=lambda record: None,
    )


async def test_without_a_door_questions_are_answered_all_the_same(short_tmp: Path) -> None:
    companions = made(House(short_tmp))
    companions.bind(None, House(short_tmp).desk, TcpPeers(tuple))
    await companions.open()
    assert companions.address == ""
    assert "devices.list" in companions.table()
    await companions.close()


async def test_with_a_door_devices_come_in(short_tmp: Path) -> None:
    house = House(short_tmp, grace_s=0.5)
    companions = made(house)
    spec = CompanionSpec(host="127.0.0.1", port=0, agent="recorder", dir=str(short_tmp))
    companions.bind(spec, house.desk, TcpPeers(tuple))
    await companions.open()
    try:
        await until(lambda: house.services.agents == 1)
        held = await Handheld.connect(int(companions.address.rpartition(":")[2]))
        assert (await held.hear())["promptToolType"] == "Pairing"
        with pytest.raises(GatewayError):
            made(house).bind(
                CompanionSpec(host="127.0.0.1", port=int(companions.address.rpartition(":")[2])),
                house.desk,
                TcpPeers(tuple),
            )
        held.close()
    finally:
        await companions.close()
        await house.end()
