from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest

from flybridge.gateway.keeper_alarms import KeeperAlarms
from flybridge.model.audit import Record
from flybridge.runtime.keeper.process import alive, start_time
from flybridge.runtime.keeper.starter import KeeperStarter
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


async def test_a06_a_killed_keeper_and_a_killed_starter_are_audited(
    short_tmp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    house = House(short_tmp)
    house.services.starter = KeeperStarter(short_tmp)
    records: list[Record] = []
    alarms = await KeeperAlarms.open(house.services, house.sessions, records.append)
    session = (await house.open()).session
    await until(house.sessions.keepers)
    ((keeper, _),) = house.sessions.keepers()
    starter = house.services.starter.pid
    start = start_time(starter) or ""
    with caplog.at_level(logging.WARNING):
        os.kill(keeper, signal.SIGKILL)
        await until(lambda: len(records) == 1)
        os.kill(starter, signal.SIGKILL)
        await until(lambda: len(records) == 2)
    assert [(one.event, one.outcome, one.code) for one in records] == [
        ("alarm", "detected", "keeper_killed"),
        ("alarm", "detected", "starter_killed"),
    ]
    assert (records[0].session, records[0].detail) == (session, "signal 9")
    assert (records[1].session, records[1].target) == ("", f"process {starter}")
    assert f"alarm keeper_killed: process {keeper}, signal 9 {session}" in caplog.text
    await alarms.close()
    assert not alive(starter, start)
    await house.end()


async def test_without_a_starter_there_is_nothing_to_watch(short_tmp: Path) -> None:
    house = House(short_tmp)
    alarms = await KeeperAlarms.open(house.services, house.sessions, lambda _: None)
    await alarms.close()
    await house.end()
