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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import flybridge
from flybridge.agents.conversations import AgentConversations
from flybridge.agents.history import KindHistory
from flybridge.agents.kinds import AgentSettings, Records
from flybridge.agents.registry import REGISTRY
from flybridge.auth.authority import Authority
from flybridge.auth.methods import Keys
from flybridge.auth.refusals import RefusalLog
from flybridge.auth.tcp_peer import TcpPeers, peer_rules
from flybridge.config import Config, agent_environment
from flybridge.config.state_dir import StateDir
from flybridge.errors import AgentKindError, GatewayRunningError, StorageError
from flybridge.frontends.companion.service import Companions
from flybridge.frontends.control.adapter import speak_control
from flybridge.frontends.control.settings import make_control
from flybridge.frontends.control.unix import ControlDoor
from flybridge.frontends.native.adapter import speak_native, welcome_to
from flybridge.frontends.runs.clock import RunClock
from flybridge.gateway.agent_door import AgentDoor
from flybridge.gateway.keeper_alarms import KeeperAlarms
from flybridge.listeners.unix import Door
from flybridge.model.audit import Record
from flybridge.runtime.broadcaster import Hub
from flybridge.runtime.changes import Changes
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.keeper.process import boot_id
from flybridge.runtime.keeper.starter import KeeperStarter
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.methods.overview import Overview
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.runtime.services import Limits, Services, Timing
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Agent, Conversations
from flybridge.store.audit import AuditLog
from flybridge.store.blobs import FileBlobs
from flybridge.store.ci_keys import CiKeyFile
from flybridge.store.credentials import CredentialFile
from flybridge.store.sqlite import SqliteJournal
from flybridge.store.start_lock import lock_folder
from flybridge.store.trusted import TrustedFolders
from flybridge.wire.native.messages import Welcome

if TYPE_CHECKING:
    from flybridge.frontends.companion.listener import CompanionSpec
    from flybridge.gateway.front import Front
    from flybridge.listeners.tcp import TcpSpec

BACKLOG = 128
SWEEP_S = 30.0
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


class StopParams(msgspec.Struct, kw_only=True):
    for_another: bool = False  # a gateway that waits to take over


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
        self.front: Front | None = None

    async def run(
        self,
        *,
        auto: bool = False,
        tcp: TcpSpec | None = None,
        companion: CompanionSpec | None = None,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        """Serve until told to stop; ``auto``: or until nobody has needed it for a while.
        ``tcp``: let browsers and other programs in as well, ``companion``: and small devices;
        ``ready``: said once they can come.

        Raises:
            GatewayError: nobody can listen there.
            GatewayRunningError: another one holds the state directory.
            StorageError: the journal cannot be used.
        """
        self._auto = auto
        self._state.prepare()
        lock = StateLock(self._state.lock)
        try:
            await self._run(tcp, companion, ready)
        finally:
            lock.release()

    async def _run(
        self, tcp: TcpSpec | None, companion: CompanionSpec | None, ready: Callable[[], None]
    ) -> None:
        self._catch_signals()  # before anybody can be let in: a stop is always a clean one
        self._audit = AuditLog(self._state.audit, now_ms, known=self._state.journal.exists())
        try:
            journal = SqliteJournal.open(str(self._state.journal), boot=boot_id())
        except StorageError:
            self._audit.close()
            raise
        services = self._services(journal)
        self.sessions = Sessions(services)
        self._records = RefusalLog(self._audit.write)
        authority = self._authority()
        self._tickets = authority
        keys = Keys(authority, self._note, lambda: self.address, self.sessions.withdraw)
        histories = self._histories()
        overview = Overview(
            services,
            self.sessions,
            default_agent=self._config.default_agent,
            histories=histories,
        )
        control = make_control(self.sessions, self._state, self._config, now_ms, self._note)
        self.companions = Companions(
            self._state.devices, self.sessions, now_ms=now_ms, audit=self._note
        )
        extra = {**self._questions(), **keys.table(), **overview.table(), **control.table()}
        extra |= self.companions.table()
        desk = Desk(self.sessions, services.hub, journal, services.blobs, extra, audit=self._note)
        control.submit = desk.submit
        if tcp is not None or companion is not None:
            serve = self._config.serve
            peers = TcpPeers(self.sessions.keepers, peer_rules(serve.forwarders, serve.users))
            self.front = self._make_front(
                tcp, desk, authority, services, histories, journal.generation, peers
            )
            self.companions.bind(companion, desk, peers)
        clock = RunClock(desk, services.hub, services.blobs, now_ms)
        self.sessions.on_live = clock.begin
        alarms = await KeeperAlarms.open(services, self.sessions, self._note)
        adopted = await self.sessions.recover()
        self._prune(journal)
        native = speak_native(lambda caller: self._welcome(caller, journal.generation))
        self.door, self.senders = (
            kind(
                desk,
                speak=speak,
                keepers=self.sessions.keepers,
                now_ms=now_ms,
                changed=self._watch_idle,
            )
            for kind, speak in ((Door, native), (ControlDoor, speak_control))
        )
        servers = [
            await self._listen(self.door, self._state.socket),
            await self._listen(self.senders, self._state.control),
        ]
        if self.front is not None:
            await self.front.open()
        await self.companions.open()
        sweeping = asyncio.create_task(self._sweep())
        gc.collect()
        gc.freeze()
        _log.info("ready: generation %d, %d agents adopted", journal.generation, adopted)
        self._watch_idle()
        self._note(Record(event="gateway", outcome="started", target=self.address))
        ready()
        try:
            await self._stop.wait()
        finally:
            sweeping.cancel()
            for server in servers:
                server.close()
            self.door.close(self._farewell)
            self.senders.close()
            if self.front is not None:
                await self.front.close(self._farewell)
            await self.companions.close()
            self._state.socket.unlink(missing_ok=True)
            self._state.control.unlink(missing_ok=True)
            await clock.close()
            await self.sessions.close()
            await alarms.close()
            journal.close()
            self._records.flush(closing=True)
            self._note(Record(event="gateway", outcome="stopped"))
            self._audit.close()
            _log.info("stopped")

    def _services(self, journal: SqliteJournal) -> Services:
        self._state.keepers.mkdir(mode=0o700, exist_ok=True)
        self._state.scratch.mkdir(mode=0o700, exist_ok=True)
        keeper, limits = self._config.keeper, self._config.limits
        return Services(
            journal=journal,
            blobs=FileBlobs(str(self._state.blobs)),
            hub=Hub(journal, Changes(now_ms() << 10)),
            shelf=AgentShelf(self._agents(), make=self._make_agent),
            keepers=self._state.keepers,
            boot=boot_id(),
            now_ms=now_ms,
            new_id=lambda prefix: f"{prefix}_{uuid.uuid4().hex[:20]}",
            new_secret=lambda: secrets.token_hex(32),
            timing=Timing(hello_s=keeper.hello_s, orphan_s=keeper.orphan_s, idle_s=limits.idle_s),
            limits=Limits(
                line_bytes=limits.line_bytes,
                held_inputs=limits.held_inputs,
                agents=limits.sessions,
            ),
            conversations=self._conversations(),
            trusted=TrustedFolders(self._state.trusted),
            folder_settings=self._config.folder_settings,
            agent_defaults={
                name: agent.options for name, agent in self._config.agents.items() if agent.options
            },
            default_agent=self._config.default_agent,
            ci_keys=CiKeyFile(self._state.ci_keys),
            audit=self._note,
            dial_ins=AgentDoor(
                self._state.path / "agent-port", now_ms, self._note, limits.line_bytes
            ).dial_ins,
            starter=KeeperStarter(self._state.path),
        )

    def _conversations(self) -> AgentConversations:
        """Return what the agents themselves keep of their conversations, kind by kind."""
        locks = lock_folder(self._environ)
        providers: dict[str, Conversations] = {}
        for kind in {agent.kind for agent in self._config.agents.values()}:
            agents = {
                name: agent_environment(self._environ, agent.env)
                for name, agent in self._config.agents.items()
                if agent.kind == kind
            }
            records = Records(agents=agents, keepers=self._state.keepers, locks=locks)
            provider = REGISTRY.conversations(kind, records)
            if provider is not None:
                providers |= dict.fromkeys(agents, provider)
        return AgentConversations(providers)

    def _histories(self) -> dict[str, KindHistory]:
        """Return the records of every configured kind that keeps any.

        The agent for them is the one that is named like its kind, else the default agent if it is
        of that kind, else the first.
        """
        config, found = self._config, dict[str, KindHistory]()
        for kind in sorted({agent.kind for agent in config.agents.values()}):
            history = REGISTRY.history(kind, self._environ)
            if history is not None:
                names = [name for name, agent in config.agents.items() if agent.kind == kind]
                usual = [name for name in (kind, config.default_agent) if name in names]
                found[kind] = KindHistory(history=history, agent=(usual or names)[0])
        return found

    def _agents(self) -> dict[str, tuple[Agent, dict[str, str]]]:
        """Build every configured agent; one whose kind cannot be used is left out, and logged."""
        agents: dict[str, tuple[Agent, dict[str, str]]] = {}
        for name, agent in self._config.agents.items():
            try:
                built = self._build(name, agent.kind, agent.program)
            except AgentKindError as error:
                _log.warning("agent %s is left out: %s", name, error)
                continue
            agents[name] = built, agent_environment(self._environ, agent.env)
        return agents

    def _make_agent(self, name: str, kind: str) -> Agent | None:
        """Build an agent that may run already and is not configured as that kind."""
        known = REGISTRY.find(kind)
        if known is None:
            return None
        try:
            return self._build(name, kind, known.program or (kind,))
        except AgentKindError:
            return None

    def _build(self, name: str, kind: str, program: tuple[str, ...]) -> Agent:
        settings = AgentSettings(name=name, program=program, scratch=str(self._state.scratch))
        return REGISTRY.build(kind, settings)

    # ---- the TCP door ------------------------------------------------------------------------

    def _authority(self) -> Authority:
        """Tokens and logins; who serves names the cookie."""
        return Authority(
            CredentialFile(self._state.tokens),
            owner=f"uid:{os.geteuid()}",
            now_ms=now_ms,
            audit=self._note,
        )

    def _make_front(
        self,
        tcp: TcpSpec | None,
        desk: Desk,
        authority: Authority,
        services: Services,
        histories: Mapping[str, KindHistory],
        generation: int,
        peers: TcpPeers,
    ) -> Front | None:
        """Take the port before anything is started: somebody else may have it."""
        if tcp is None:
            return None
        from flybridge.gateway.front import Front  # only who serves pays for the web's libraries

        return Front(
            tcp,
            desk,
            authority,
            blobs=services.blobs,
            welcome=lambda caller: self._welcome(caller, generation),
            peers=peers,
            now_ms=now_ms,
            audit=self._note,
            audit_log=self._state.audit,
            histories=histories,
            version=flybridge.__version__,
            changed=self._watch_idle,
        )

    @property
    def address(self) -> str:
        """Where a browser finds us; empty where none can."""
        return self.front.address if self.front is not None else ""

    def login_link(self, *, person_only: bool = False) -> str:
        """Return a link for whoever sits at our own terminal, or for a browser started there."""
        return f"{self.address}/login#{self._tickets.ticket(person_only=person_only)}"

    def _note(self, record: Record) -> None:
        self._records.write(record)

    async def _sweep(self) -> None:
        """Now and then: put idle agents away, and note where the audit log ends."""
        while True:
            await asyncio.sleep(SWEEP_S)
            self.sessions.sweep()
            self._records.flush()
            try:
                await asyncio.to_thread(self._audit.save_head())
            except StorageError:
                _log.exception("the audit log cannot be written")

    async def _listen(self, door: Door, path: Path) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        return await loop.create_unix_server(door.make, sock=self._bind(path), backlog=BACKLOG)

    def _bind(self, path: Path) -> socket.socket:
        """A place for this user alone; a socket file without an owner is swept away."""
        path.unlink(missing_ok=True)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old = os.umask(0o177)
        try:
            with self._state.socket_address(path) as address:
                sock.bind(address)
        finally:
            os.umask(old)
        return sock

    def _welcome(self, caller: Caller, generation: int) -> Welcome:
        return welcome_to(caller, version=flybridge.__version__, generation=generation)

    def _prune(self, journal: SqliteJournal) -> None:
        days = self._config.retention.days
        if days:
            gone = journal.prune(now_ms() - days * DAY_MS)
            _log.info("retention: %d sessions removed", len(gone))

    # ---- the gateway's own questions ---------------------------------------------------------

    def _questions(self) -> dict[str, Question]:
        return {
            "status": Question("view", NoParams, self._status),
            "stop": Question("spawn", StopParams, self._stop_soon, audited=True),
        }

    async def _status(self, _: Caller, __: NoParams) -> object:
        return {
            "pid": os.getpid(),
            "version": flybridge.__version__,
            "python": sys.version.split()[0],
            "state": str(self._state.path),
            "started_ms": self._started_ms,
            "clients": len(self.door.clients) + (self.front.clients if self.front else 0),
            "address": self.address,
            "agents": self.sessions.agents(),
            "sessions": len(self.sessions.rows()),
        }

    async def _stop_soon(self, _: Caller, params: StopParams) -> object:
        # Somebody wants it gone: clients that come back by themselves would start it again.
        # After a signal they should, it may be an upgrade; and when another takes over.
        self._farewell = "" if params.for_another else "gateway_stopped"
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
        clients = self.door.clients or self.senders.clients
        if self._auto and not clients and self.front is None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._config.idle_exit_s, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self.sessions.agents():
            self._watch_idle()
        else:
            self._stop.set()
