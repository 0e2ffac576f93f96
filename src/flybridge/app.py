"""The composition root: the only place that knows every part."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import logging
import os
import secrets
import signal
import socket
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import flybridge
from flybridge.client.state_dir import StateDir
from flybridge.config import Config, agent_environment
from flybridge.drivers.claude.agent import ClaudeAgent
from flybridge.errors import GatewayRunningError
from flybridge.runtime.caller import Caller, Scope
from flybridge.runtime.desk import Desk
from flybridge.runtime.hub import Hub
from flybridge.runtime.process import boot_id
from flybridge.runtime.services import Limits, Services, Timing
from flybridge.runtime.sessions import Sessions
from flybridge.runtime.shelf import AgentShelf
from flybridge.server.unix import Door
from flybridge.session.ports import Agent
from flybridge.store.blobs import FileBlobs
from flybridge.store.sqlite import SqliteJournal
from flybridge.wire.native.messages import PROTO, Welcome

BACKLOG = 128
DAY_MS = 24 * 3600 * 1000
_log = logging.getLogger(__name__)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class StateLock:
    """One gateway per state directory. The kernel holds the lock, so it dies with us."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise GatewayRunningError(
                f"another gateway holds {path.parent}; `flybridge gateway status` shows it"
            ) from error

    def release(self) -> None:
        os.close(self._fd)


class Gateway:
    """Everything that runs between a state directory and its clients."""

    def __init__(self, state: StateDir, config: Config, environ: Mapping[str, str]) -> None:
        self._state = state
        self._config = config
        self._environ = environ
        self._stop = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._started_ms = now_ms()
        self._auto = False
        self._farewell = ""

    async def run(self, *, auto: bool = False) -> None:
        """Serve until told to stop; ``auto``: or until nobody has needed it for a while.

        Raises:
            GatewayRunningError: another one holds the state directory.
            StorageError: the journal cannot be used.
        """
        self._auto = auto
        self._state.prepare()
        lock = StateLock(self._state.lock)
        try:
            await self._run()
        finally:
            lock.release()

    async def _run(self) -> None:
        self._catch_signals()  # before anybody can be let in: a stop is always a clean one
        journal = SqliteJournal.open(str(self._state.journal), boot=boot_id())
        services = self._services(journal)
        self.sessions = Sessions(services)
        adopted = await self.sessions.recover()
        self._prune(journal)
        desk = Desk(self.sessions, services.hub, journal, services.blobs, self._questions())
        self.door = Door(
            desk,
            welcome=lambda caller: self._welcome(caller, journal.generation),
            keepers=self.sessions.keepers,
            now_ms=now_ms,
            changed=self._watch_idle,
        )
        server = await self._listen()
        gc.collect()
        gc.freeze()
        _log.info("ready: generation %d, %d agents adopted", journal.generation, adopted)
        self._watch_idle()
        try:
            await self._stop.wait()
        finally:
            server.close()
            self.door.close(self._farewell)
            self._state.socket.unlink(missing_ok=True)
            await self.sessions.close()
            journal.close()
            _log.info("stopped")

    def _services(self, journal: SqliteJournal) -> Services:
        self._state.keepers.mkdir(mode=0o700, exist_ok=True)
        keeper, limits = self._config.keeper, self._config.limits
        return Services(
            journal=journal,
            blobs=FileBlobs(str(self._state.blobs)),
            hub=Hub(journal),
            shelf=AgentShelf(self._agents(), strangers=ClaudeAgent()),
            keepers=self._state.keepers,
            boot=boot_id(),
            now_ms=now_ms,
            new_id=lambda prefix: f"{prefix}_{uuid.uuid4().hex[:20]}",
            new_secret=lambda: secrets.token_hex(32),
            timing=Timing(hello_s=keeper.hello_s, orphan_s=keeper.orphan_s),
            limits=Limits(
                line_bytes=limits.line_bytes,
                held_inputs=limits.held_inputs,
                agents=limits.sessions,
            ),
        )

    def _agents(self) -> dict[str, tuple[Agent, dict[str, str]]]:
        return {
            name: (
                ClaudeAgent(name=name, program=one.program),
                agent_environment(self._environ, one.env),
            )
            for name, one in self._config.agents.items()
        }

    async def _listen(self) -> asyncio.Server:
        """Open the door for this user alone; a socket file without an owner is swept away."""
        self._state.socket.unlink(missing_ok=True)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old = os.umask(0o177)
        try:
            with self._state.socket_address() as address:
                sock.bind(address)
        finally:
            os.umask(old)
        loop = asyncio.get_running_loop()
        return await loop.create_unix_server(self.door.make, sock=sock, backlog=BACKLOG)

    def _welcome(self, caller: Caller, generation: int) -> Welcome:
        return Welcome(
            proto=PROTO,
            version=flybridge.__version__,
            generation=generation,
            principal=caller.principal,
            scopes=tuple(sorted(caller.scopes)),
        )

    def _prune(self, journal: SqliteJournal) -> None:
        days = self._config.retention.days
        if days:
            gone = journal.prune(now_ms() - days * DAY_MS)
            _log.info("retention: %d sessions removed", len(gone))

    # ---- the gateway's own questions ---------------------------------------------------------

    def _questions(self) -> dict[str, tuple[Scope, Callable[[], Awaitable[object]]]]:
        return {"status": ("view", self._status), "stop": ("spawn", self._stop_soon)}

    async def _status(self) -> object:
        return {
            "pid": os.getpid(),
            "version": flybridge.__version__,
            "python": sys.version.split()[0],
            "state": str(self._state.path),
            "started_ms": self._started_ms,
            "clients": len(self.door.clients),
            "agents": self.sessions.agents(),
            "sessions": len(self.sessions.rows()),
        }

    async def _stop_soon(self) -> object:
        # Somebody wants it gone: clients that come back by themselves would start it again.
        # After a signal they should, it may be an upgrade.
        self._farewell = "gateway_stopped"
        asyncio.get_running_loop().call_later(0.05, self._stop.set)
        return {"agents": self.sessions.agents()}

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, self._stop.set)

    def _watch_idle(self) -> None:
        """An auto-started gateway ends when it has had no client and no agent for a while."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._auto and not self.door.clients:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._config.idle_exit_s, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self.sessions.agents():
            self._watch_idle()
        else:
            self._stop.set()
