"""What a chat needs of a session besides its log: how it is, and whether we still hear of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from flybridge.client import Client
from flybridge.client.connection import Connection


class ToolState(msgspec.Struct):
    name: str = ""


class SessionState(msgspec.Struct):
    """What the gateway says about the session as a whole."""

    status: str = ""
    why: str = "nothing"
    since_ms: int = 0
    turn: str = ""
    prompts: list[msgspec.Raw] = []
    tools: list[ToolState] = []


class Reconnecting:
    """Gives connections, and says when one had to be made anew."""

    def __init__(self, client: Client, lost: Callable[[bool], None]) -> None:
        self._client = client
        self._lost = lost
        self._last: Connection | None = None

    async def connection(self) -> Connection:
        again = self._last is not None and self._last.closed
        if again:
            self._lost(True)
        self._last = await self._client.connection()
        if again:
            self._lost(False)
        return self._last


def state_of(state: bytes) -> SessionState:
    """Read a view; one that makes no sense says nothing."""
    try:
        return msgspec.json.decode(state, type=SessionState)
    except (msgspec.MsgspecError, ValueError):
        return SessionState()
