"""The Unix socket for control messages: one JSON a line, for programs on this machine.

Who comes in is who the kernel says; what they may do is the teams' business, and nothing that
they could do by the native protocol is theirs here.
"""

from __future__ import annotations

import asyncio

import msgspec

from flybridge.frontends.control.progress import ReportingClient
from flybridge.listeners.unix import Door, UnixClient
from flybridge.session.authorisation import Caller
from flybridge.wire.control.messages import MAX_MESSAGE_BYTES


class ControlDoor(Door):
    """Senders on this machine."""

    def make(self) -> UnixClient:
        return ControlUnixClient(self)


class ControlUnixClient(ReportingClient, UnixClient):
    """One of them."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._deadline is not None:  # there is no hello to wait for
            self._deadline.cancel()

    def admit(self, caller: Caller, *, max_line: int = MAX_MESSAGE_BYTES) -> None:
        may = msgspec.structs.replace(caller, scopes=frozenset({"control"}))
        super().admit(may, max_line=MAX_MESSAGE_BYTES)
