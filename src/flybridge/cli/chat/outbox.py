"""What a person typed on its way to the gateway: each once, in the order it was typed."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

from flybridge.client import Client
from flybridge.errors import FlybridgeError
from flybridge.model.commands import Command
from flybridge.model.deliveries import Stage

MAX_UNSENT = 100
PATIENCE_S = 3600.0  # a chat waits for its gateway; a person can always leave


class Outbox:
    """:meth:`put` what is to be sent; :meth:`run` sends it for as long as the chat lasts."""

    def __init__(
        self, client: Client, session: str, complain: Callable[[FlybridgeError], None]
    ) -> None:
        self.unsent: dict[str, str] = {}  # request id → text that the gateway has not taken
        self.returned = ""  # a text that could not be sent, to be typed again
        self._client = client
        self._session = session
        self._complain = complain
        self._queue: asyncio.Queue[tuple[str, Command]] = asyncio.Queue(MAX_UNSENT)

    def put(self, command: Command, text: str = "") -> str:
        """Send it as soon as what is before it was sent; its request id, or nothing: full."""
        request = str(uuid.uuid4())
        try:
            self._queue.put_nowait((request, command))
        except asyncio.QueueFull:
            self.returned = text
            return ""
        if text:
            self.unsent[request] = text
        return request

    def taken(self, key: str) -> None:
        """The gateway has recorded an input."""
        self.unsent.pop(key.rpartition(":")[2], None)

    async def run(self) -> None:
        while True:
            request, command = await self._queue.get()
            try:
                await self.submit(command, request)
            except FlybridgeError as error:
                self.returned = self.unsent.pop(request, "")
                self._complain(error)

    async def submit(self, command: Command, request: str | None = None) -> None:
        """Hand a command over at once."""
        await self._client.submit_reliably(
            self._session,
            command,
            request=request,
            until=Stage.ACCEPTED,
            wait_ms=10_000,
            patience_s=PATIENCE_S,
        )
