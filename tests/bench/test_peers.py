from __future__ import annotations

import asyncio

import pytest

from bench.peers import crowd, measure
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.runtime.keeper.process import start_time

pytestmark = pytest.mark.needs("linux")


def test_a05_a_browsers_next_connection_costs_little_however_many_stand_beside_it() -> None:
    """In time of a processor, which a loaded machine does not change much: beside many processes
    it costs a small part of what a search through all of them does."""
    with crowd(60, 5, 100) as pid:
        for keepers in ((), ((pid, start_time(pid) or ""),)):
            found = asyncio.run(measure(TcpPeers(keepers.__iter__), 20))
            again, fresh = (sorted(took.cpu_ms for took in times) for times in found.values())
            if keepers:  # all of the crowd's files are looked at
                assert again[10] * 3 < fresh[len(fresh) // 2]
            assert again[10] < 20
