"""Small devices of one gateway: questions about them are always answered, their door is opened
where somebody asked for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from flybridge.frontends.companion.devices import Devices
from flybridge.frontends.companion.methods import DeviceQuestions
from flybridge.model.audit import Record
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.sessions import Sessions
from flybridge.store.devices import DeviceFile

if TYPE_CHECKING:
    from flybridge.auth.tcp_peer import TcpPeers
    from flybridge.frontends.companion.listener import CompanionDoor, CompanionSpec


class Companions:
    """Puts together whatever devices need."""

    def __init__(
        self,
        file: Path,
        sessions: Sessions,
        *,
        now_ms: Callable[[], int],
        audit: Callable[[Record], None],
    ) -> None:
        self._sessions = sessions
        self._now_ms = now_ms
        self._door: CompanionDoor | None = None
        self._devices = Devices(DeviceFile(file), now_ms=now_ms, withdraw=sessions.withdraw)
        self._questions = DeviceQuestions(
            self._devices,
            audit=audit,
            agents=sessions.services.shelf.names,
            modes=sessions.services.shelf.modes,
            door=lambda: self._door,
        )

    def table(self) -> dict[str, Question]:
        return self._questions.table()

    @property
    def address(self) -> str:
        """Where devices come in; empty where they do not."""
        return self._door.address if self._door is not None else ""

    def bind(self, spec: CompanionSpec | None, desk: Desk, peers: TcpPeers) -> None:
        """Take the port before anything is started: somebody else may have it.

        Raises:
            GatewayError: it is taken, or not ours.
        """
        if spec is None:
            return
        from flybridge.frontends.companion.listener import make_door  # only who serves pays for it

        door = make_door(
            spec, desk, self._sessions, self._devices, now_ms=self._now_ms, peers=peers
        )
        door.bind()
        self._door = door

    async def open(self) -> None:
        if self._door is None:
            return
        before, host = self._sessions.on_live, self._door.host

        def on_live(live: LiveSession) -> None:
            before(live)
            host.noticed(live)

        self._sessions.on_live = on_live
        await self._door.open()

    async def close(self) -> None:
        if self._door is not None:
            await self._door.close()
