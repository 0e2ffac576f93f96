"""What a chat needs of a session besides its log: how it is, and whether we still hear of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from flybridge.client import Client
from flybridge.client.transport.connection import Connection

OLD_AGENT = (
    "this session's agent was started by an older version: restart this session's agent to "
    "protect its prompts from other programs of the same user (flybridge sessions kill, then "
    "send a message)"
)


class ToolState(msgspec.Struct):
    name: str = ""


class QueuedState(msgspec.Struct):
    key: str
    by: str = ""
    head: str = ""


class ContextState(msgspec.Struct):
    tokens: int = 0
    window: int = 0

    @property
    def text(self) -> str:
        """How full it is; nothing while nobody knows."""
        known = self.window > 0 and self.tokens > 0
        return f"context {self.tokens / self.window:.0%}" if known else ""


class SessionState(msgspec.Struct):
    """What the gateway says about the session as a whole."""

    status: str = ""
    why: str = "nothing"
    since_ms: int = 0
    turn: str = ""
    agent: str = ""
    model: str = ""
    mode: str = ""
    cost_usd: float = 0.0
    prompts: list[msgspec.Raw] = []
    queue: list[QueuedState] = []
    tools: list[ToolState] = []
    gauges: dict[str, msgspec.Raw] = {}
    agent_io: str = ""


def old_agent(state: SessionState) -> str:
    """Return the advice to restart an agent that still talks over pipes, or ""."""
    return OLD_AGENT if state.agent_io == "pipes" else ""


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


def context_of(value: bytes) -> ContextState:
    """Read a gauge; one that makes no sense says nothing."""
    try:
        return msgspec.json.decode(value, type=ContextState)
    except (msgspec.MsgspecError, ValueError):
        return ContextState()


def state_of(state: bytes) -> SessionState:
    """Read a view; one that makes no sense says nothing."""
    try:
        return msgspec.json.decode(state, type=SessionState)
    except (msgspec.MsgspecError, ValueError):
        return SessionState()
