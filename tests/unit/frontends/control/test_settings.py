"""The front end as configured, and where it is served."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from flybridge.config import Config
from flybridge.config.schema import ControlConfig
from flybridge.config.state_dir import StateDir
from flybridge.errors import StorageError
from flybridge.frontends.control.settings import make_control
from tests.harness.gateway_process import real_gateway
from tests.harness.runtime_harness import House


def config(**more: object) -> Config:
    return Config(control=msgspec.convert(more, ControlConfig))


async def test_what_is_configured_counts(short_tmp: Path) -> None:
    house = House(short_tmp)
    state = StateDir(short_tmp / "s")
    state.prepare()
    wanted = config(team="red", folder="/somewhere", max_age_s=7, hard_bytes=9, log_text=True)
    made = make_control(house.sessions, state, wanted, lambda: 0, lambda record: None)
    spec = made._spec
    assert (spec.team, spec.base, spec.log_text) == ("red", Path("/somewhere"), True)
    assert (spec.limits.max_age_s, spec.limits.hard_bytes) == (7, 9)
    usual = make_control(house.sessions, state, Config(), lambda: 0, lambda record: None)._spec
    assert usual.base == state.inbox
    assert stat.S_IMODE(state.inbox.stat().st_mode) == 0o700
    assert (usual.limits.max_age_s, usual.limits.skew_s) == (300, 60)
    assert {"control", "team.list", "team.add", "team.rule", "team.pin"} <= set(made.table())


async def test_teams_that_others_could_change_stop_the_gateway(short_tmp: Path) -> None:
    house = House(short_tmp)
    state = StateDir(short_tmp / "s")
    state.prepare()
    state.teams.write_bytes(b"{}")
    state.teams.chmod(0o666)
    with pytest.raises(StorageError):
        make_control(house.sessions, state, Config(), lambda: 0, lambda record: None)


async def test_the_socket_is_there_for_this_user_alone_and_gone_afterwards(
    short_tmp: Path,
) -> None:
    async with real_gateway(short_tmp) as gateway:
        gateway.start()
        async with await gateway.client():
            found = gateway.state_dir.control.stat()
            assert stat.S_ISSOCK(found.st_mode)
            assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o600, os.geteuid())
    assert not gateway.state_dir.control.exists()
