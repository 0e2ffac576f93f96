"""The door for agents that connect to us, made when the first of them is wanted.

Most gateways never see one: they do without what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from flybridge.model.audit import Record
from flybridge.runtime.links.dial_in import DialIns

if TYPE_CHECKING:
    from flybridge.gateway.agent_socket import AgentSocketDoor


class AgentDoor:
    """Opens the agent socket at the first wish, on the port it had before."""

    def __init__(
        self,
        port_file: Path,
        now_ms: Callable[[], int],
        audit: Callable[[Record], None],
        line_bytes: int,
    ) -> None:
        self.dial_ins = DialIns(self._listen, self._shut)
        self._port_file = port_file
        self._now_ms = now_ms
        self._audit = audit
        self._line_bytes = line_bytes
        self._door: AgentSocketDoor | None = None

    async def _listen(self) -> int:
        from flybridge.gateway.agent_socket import AgentSocketDoor  # it needs the web's libraries

        self._door = AgentSocketDoor(
            self.dial_ins,
            port_file=self._port_file,
            now_ms=self._now_ms,
            audit=self._audit,
            max_frame=self._line_bytes,
        )
        return await self._door.listen()

    async def _shut(self) -> None:
        if self._door is not None:
            await self._door.close()
