from __future__ import annotations

import asyncio
import urllib.request

import pytest

from flybridge.auth.authority import Authority
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.gateway.front import Front
from flybridge.listeners.tcp import TcpSpec
from flybridge.store.credentials import CredentialFile
from flybridge.wire.native.messages import PROTO, Welcome
from tests.harness.runtime_harness import House


def front(house: House, spec: TcpSpec, authority: Authority | None = None) -> Front:
    file = CredentialFile(house.folder / "tokens")
    authority = authority or Authority(file, owner="me", now_ms=lambda: 1)
    return Front(
        spec,
        house.desk,
        authority,
        blobs=house.services.blobs,
        welcome=lambda caller: Welcome(
            proto=PROTO, version="1", generation=1, principal=caller.principal
        ),
        peers=TcpPeers(house.sessions.keepers),
        now_ms=lambda: 1,
        audit=lambda record: None,
        audit_log=house.folder / "audit.log",
        histories={},
        version="1",
        changed=lambda: None,
    )


async def test_each_port_has_a_cookie_of_its_own(house: House) -> None:
    """A login outlives a restart on the same port, also when the port was free to choose."""
    file = CredentialFile(house.folder / "tokens")
    authority = Authority(file, owner="me", now_ms=lambda: 1)
    one = front(house, TcpSpec(port=0), authority)
    port = one.address.rsplit(":", 1)[1]
    assert authority.cookie == f"flybridge-{port}"
    await one.close("gateway_stopped")


def status(address: str) -> int:
    with urllib.request.urlopen(f"{address}/api/v1/health", timeout=10) as answer:
        return int(answer.status)


@pytest.mark.parametrize("base", ["", "/fly"])
async def test_it_is_where_it_says(house: House, base: str) -> None:
    one = front(house, TcpSpec(port=0, base_path=base))
    assert one.address.endswith(base)
    await one.open()
    assert await asyncio.to_thread(status, one.address) == 200
    assert one.clients == 0
    await one.close("gateway_stopped")
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(status, one.address)


async def test_a_name_of_its_own_is_its_address(house: House) -> None:
    named = front(house, TcpSpec(port=0, names=("fly.example:443",)))
    assert named.address == "http://fly.example:443"
    await named.close()
