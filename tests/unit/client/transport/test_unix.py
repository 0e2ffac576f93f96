"""Reaching the gateway of a state directory. How one is started is tested with the launch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.client.transport.unix import UnixAddress
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayError, GatewayUnreachableError
from tests.harness.scripted_gateway import serving


async def test_a_gateway_is_reached_by_its_directory(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    address = UnixAddress(state)
    assert str(address) == str(state.socket)
    with pytest.raises(GatewayUnreachableError):
        await address.connect("test")
    async with serving(state) as gateway:
        connection = await address.connect("test")
        assert gateway.peers[0].adapter.client == "test"
        await connection.close()


async def test_a_path_too_long_for_a_socket_is_reached_all_the_same(tmp_path: Path) -> None:
    state = StateDir(tmp_path / ("long" * 30))
    async with serving(state):
        connection = await UnixAddress(state).connect("test")
        await connection.close()


async def test_something_else_of_that_name_is_no_gateway(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    state.prepare()
    state.socket.write_text("hello")
    with pytest.raises(GatewayUnreachableError):
        await UnixAddress(state).connect("test")
    state.path.chmod(0o755)
    with pytest.raises(GatewayError, match="chmod 700"):
        await UnixAddress(state).connect("test")


async def test_one_that_may_be_started_and_does_not_start_is_unreachable(short_tmp: Path) -> None:
    argv = [sys.executable, "-c", "print('no such thing')"]
    address = UnixAddress(StateDir(short_tmp / "s"), start=True, argv=argv)
    with pytest.raises(GatewayUnreachableError, match="no such thing"):
        await address.connect("test")
