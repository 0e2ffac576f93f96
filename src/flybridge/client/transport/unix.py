"""The gateway of a state directory: reached over its Unix socket, started where there is none."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Sequence

from flybridge.client.transport.connection import Connection
from flybridge.client.transport.framing import Lines
from flybridge.client.transport.launch import gateway_argv, refuse_inside_agent, start_and_reach
from flybridge.client.transport.link import Link
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayError, GatewayUnreachableError


class UnixAddress:
    """``start``: whether a gateway may be started, with ``argv``, when none answers."""

    def __init__(
        self, state: StateDir, *, start: bool = False, argv: Sequence[str] | None = None
    ) -> None:
        self.state = state
        self._start = start
        self._argv = argv or gateway_argv(state)

    def __str__(self) -> str:
        return str(self.state.socket)

    async def connect(self, name: str) -> Connection:
        """A greeted connection.

        Raises:
            GatewayUnreachableError: none answers and none may be started, or it did not start.
            GatewayError: the directory is not safe to use, or another user's gateway answers.
        """
        try:
            return await Connection.open(self, client=name)
        except GatewayUnreachableError:
            if not self._start:
                raise
        refuse_inside_agent()
        return await start_and_reach(
            self.state, self._argv, lambda: Connection.open(self, client=name)
        )

    async def dial(self) -> Link:
        loop = asyncio.get_running_loop()
        state = self.state
        try:
            state.check()
            with state.socket_address() as address:
                _, link = await loop.create_unix_connection(lambda: Link(Lines()), address)
        # BlockingIOError: its backlog is full, which is a moment's matter
        except (FileNotFoundError, ConnectionError, BlockingIOError) as error:
            raise GatewayUnreachableError(f"no gateway answers at {state.socket}") from error
        except OSError as error:
            raise GatewayError(f"cannot connect to {state.socket}: {error.strerror}") from error
        owner = _owner(link)
        if owner is not None and owner != os.geteuid():
            link.abort()
            raise GatewayError(f"the gateway at {state.socket} runs as user {owner}, not as you")
        return link


def _owner(link: Link) -> int | None:
    """Who listens on the other side, where the system tells."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    peer: socket.socket = link.peer("socket")
    _, uid, _ = struct.unpack("iII", peer.getsockopt(socket.SOL_SOCKET, option, 12))
    return int(uid)
