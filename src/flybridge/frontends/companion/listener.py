"""The device door: a listener of its own for small devices, and nothing else.

The handheld has no TLS, no headers of ours and no way to be told what went wrong: refused with an
HTTP status it crashes, and only the end of TCP tells it that nobody is there. So whoever comes is
let in, and shown one thing: that somebody has to pair it. It never answers a ping, hence none is
sent; whether the other machine is there is the kernel's business. A browser is no device: it
always says an Origin, and a page must not act in the name of the machine that it is shown on.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Callable

import msgspec

from flybridge.auth.tcp_peer import TcpPeers
from flybridge.errors import GatewayError
from flybridge.frontends.companion.connection import Connection
from flybridge.frontends.companion.devices import Devices
from flybridge.frontends.companion.slots import SlotHost
from flybridge.listeners import frames
from flybridge.model.agent_kinds import DEFAULT_KIND
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.sessions import Sessions
from flybridge.store.devices import SlotSpec

BACKLOG = 32
_log = logging.getLogger(__name__)


class CompanionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Where devices come in, and what a slot holds that nobody has said anything about."""

    host: str
    port: int = 3333
    agent: str = DEFAULT_KIND
    dir: str = "/"


class CompanionDoor:
    """Listens for devices, and shows each of them what it may see."""

    def __init__(
        self,
        spec: CompanionSpec,
        desk: Desk,
        devices: Devices,
        host: SlotHost,
        *,
        now_ms: Callable[[], int],
        peers: TcpPeers | None = None,
    ) -> None:
        self._spec = spec
        self.desk = desk
        self.devices = devices
        self.host = host
        self.now_ms = now_ms
        self.peers = peers or TcpPeers(tuple)
        self.connections: dict[Connection, None] = {}  # the oldest first
        self.sources: Counter[str] = Counter()
        self.port = spec.port
        self._sock: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._soon = False
        host.changed = self._changed
        host.spawned = self._spawned
        devices.paired = self._paired
        devices.gone = self._gone

    @property
    def address(self) -> str:
        where = f"[{self._spec.host}]" if ":" in self._spec.host else self._spec.host
        return f"{where}:{self.port}"

    def bind(self) -> None:
        """Take the address; nobody is let in yet.

        Raises:
            GatewayError: it is taken, or not ours.
        """
        family = socket.AF_INET6 if ":" in self._spec.host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((self._spec.host, self._spec.port))
            sock.listen(BACKLOG)
        except (OSError, UnicodeError) as error:
            sock.close()
            raise GatewayError(f"no device can reach {self.address}: {error}") from error
        self._sock = sock
        self.port = sock.getsockname()[1]

    async def open(self) -> None:
        """Let devices in, and bring the slots up, however long that takes."""
        assert self._sock is not None
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self), sock=self._sock, backlog=BACKLOG
        )
        _log.warning(
            "devices may come in at %s, without TLS and from any address; they see and do "
            "nothing before `flybridge devices pair`",
            self.address,
        )
        self.host.begin()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        elif self._sock is not None:
            self._sock.close()
        for connection in list(self.connections):
            connection.end(frames.RESTART)
        await self.host.close()

    # ---- what devices are told -----------------------------------------------------------------

    def _changed(self, number: int) -> None:
        for connection in self.connections:
            if connection.adapter is not None:
                connection.adapter.changed(number)
        if not self._soon:
            self._soon = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._soon = False
        for connection in list(self.connections):
            connection.flush()

    def _spawned(self, number: int) -> None:
        for connection in self.connections:
            adapter = connection.adapter
            if adapter is not None and adapter.may_see(number):
                adapter.spawned(number)
                connection.flush()

    def _paired(self, address: str) -> None:
        for connection in list(self.connections):
            if connection.source == address:
                connection.recognise()

    def _gone(self, device: str) -> None:
        self.host.forget(device)
        for connection in list(self.connections):
            if connection.device is not None and connection.device.id == device:
                connection.end(frames.NOT_AUTHENTICATED)


def make_door(
    spec: CompanionSpec,
    desk: Desk,
    sessions: Sessions,
    devices: Devices,
    *,
    now_ms: Callable[[], int],
    peers: TcpPeers,
) -> CompanionDoor:
    """A door, and the slots behind it."""
    usual = SlotSpec(agent=spec.agent, dir=spec.dir)
    host = SlotHost(desk, sessions, devices, usual=usual)
    return CompanionDoor(spec, desk, devices, host, now_ms=now_ms, peers=peers)
