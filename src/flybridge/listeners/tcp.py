"""The TCP door: where HTTP and WebSocket come in, bounded from the first byte.

uvicorn's HTTP protocol serves each connection; its server object, which would take our signals
and wake up ten times a second, is not used. What it leaves open is closed here: a connection
that never says what it wants, and connections without number.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
import ssl
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import Any

import h11
import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from flybridge.errors import GatewayError
from flybridge.listeners.connection_counts import ConnectionCounts
from flybridge.listeners.strict_http import HEAD_BYTES, StrictHttp
from flybridge.model.loopback import is_loopback

KEEP_ALIVE_S = 30
BACKLOG = 1024
CLOSE_S = 2.0
FILES_BESIDE = 1024  # that a gateway needs beside its connections
COMPLAIN_S = 60.0
LOOPBACK = ("127.0.0.1", "::1")
_log = logging.getLogger(__name__)


class TcpSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Where to listen, and under which names."""

    host: str = ""  # empty: loopback, both kinds
    port: int = 8420
    names: tuple[str, ...] = ()
    tls_cert: str = ""
    tls_key: str = ""
    base_path: str = ""
    client_header: str = ""  # in which a proxy on this machine names its client

    @property
    def secure(self) -> bool:
        return bool(self.tls_cert)


class TcpLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one connection may take, and how many there may be. Tests shrink them."""

    head_s: float = 10.0
    body_s: float = 60.0
    connections: int = 5000
    of_one_source: int = 2000


USUAL = TcpLimits()


def check_bind(spec: TcpSpec) -> None:
    """Make sure that nobody on the network can read what passes by.

    Raises:
        GatewayError: the address is open to others, and there is no TLS.
    """
    if bool(spec.tls_cert) != bool(spec.tls_key):
        raise GatewayError("TLS needs both a certificate and its key")
    if spec.base_path and not (spec.base_path.startswith("/") and spec.base_path.isprintable()):
        raise GatewayError("the base path begins with a slash")
    if spec.host and not is_loopback(spec.host) and not spec.secure:
        raise GatewayError(
            f"{spec.host} can be reached by others: say --tls-cert and --tls-key, or listen on "
            "127.0.0.1 behind a proxy that has them"
        )


class TcpDoor:
    """Listens for HTTP, and for what HTTP is upgraded to."""

    def __init__(self, spec: TcpSpec, limits: TcpLimits = USUAL) -> None:
        self._spec = spec
        self._limits = limits
        self._state = ServerState()
        self._counts = ConnectionCounts(
            of_one_source=limits.of_one_source, in_all=limits.connections
        )
        self._sockets: list[socket.socket] = []
        self._servers: list[asyncio.Server] = []
        self._config: Config
        self.port = spec.port

    @property
    def connections(self) -> int:
        return len(self._state.connections)

    def bind(self) -> None:
        """Take the address, so that its port is known; nobody is let in yet.

        Raises:
            GatewayError: the address is taken, not ours to use, or open to others without TLS.
        """
        check_bind(self._spec)
        for host in (self._spec.host,) if self._spec.host else LOOPBACK:
            try:
                self._bind(host)
            except OSError as error:
                if host == "::1" and self._sockets and error.errno != errno.EADDRINUSE:
                    continue  # a machine without IPv6
                self._close_sockets()
                raise GatewayError(
                    f"cannot listen on {host}, port {self._spec.port}: {error.strerror or error}"
                ) from error

    def _bind(self, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # With its protocol named: else asyncio lets the kernel hold small writes back for 40 ms.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((host, self.port))
            sock.listen(BACKLOG)  # only now does the kernel say whether somebody else has it
        except BaseException:
            sock.close()
            raise
        self._sockets.append(sock)
        self.port = sock.getsockname()[1]  # the second one takes the port of the first

    def _close_sockets(self) -> None:
        for sock in self._sockets:
            sock.close()
        self._sockets.clear()

    async def open(
        self,
        app: Any,
        websocket: Callable[..., asyncio.Protocol],
        elsewhere: Mapping[str, Callable[..., asyncio.Protocol]] | None = None,
    ) -> None:
        """Let clients in: HTTP to ``app``, upgrades to ``websocket``, or to whoever has that
        path ``elsewhere``.

        Raises:
            GatewayError: the certificate cannot be used.
        """
        try:
            context = self._tls()
        except GatewayError:
            self._close_sockets()
            raise
        self._config = Config(
            app,
            http="h11",
            ws=websocket,  # type: ignore[arg-type]
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # nobody's word for where they come from is taken
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        self._config.load()
        self._elsewhere = dict(elsewhere or {})
        raise_file_limit(self._limits.connections + FILES_BESIDE)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(Complaints())
        for sock in self._sockets:
            server = await loop.create_server(
                self._connection,
                sock=sock,
                ssl=context,
                ssl_handshake_timeout=self._limits.head_s if context else None,
                backlog=BACKLOG,
            )
            self._servers.append(server)
        self._sockets.clear()  # the servers have them

    def _tls(self) -> ssl.SSLContext | None:
        if not self._spec.secure:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self._spec.tls_cert, self._spec.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise GatewayError(f"the certificate cannot be used: {error}") from error
        return context

    def _connection(self) -> asyncio.Protocol:
        one = Connection(self._config, self._state, self._counts, self._limits)
        one.elsewhere = self._elsewhere
        return one

    async def close(self) -> None:
        """Take nobody in any more, let answers that are on their way out, then hang up."""
        self._close_sockets()
        for server in self._servers:
            server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        deadline = asyncio.get_running_loop().time() + CLOSE_S
        while self._state.connections and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.02)
        for task in list(self._state.tasks):
            task.cancel()
        for connection in list(self._state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()
        self._servers.clear()


def raise_file_limit(wanted: int) -> None:
    """Take as many files as our connections may need, where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Complaints:
    """Says it once a minute when no more connections can be taken. asyncio says so for each
    that waits, a thousand times a second, and the log would fill the disk."""

    def __init__(self) -> None:
        self._next_s = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not (isinstance(error, OSError) and "accept()" in context.get("message", "")):
            loop.default_exception_handler(context)
        elif loop.time() >= self._next_s:
            self._next_s = loop.time() + COMPLAIN_S
            _log.warning("no more connections can be taken: %s", error.strerror)


class Connection(H11Protocol):
    """One connection that has to say what it wants, and to say it in time."""

    elsewhere: Mapping[str, Any] = {}  # path → what takes upgrades there

    def __init__(
        self, config: Config, state: ServerState, counts: ConnectionCounts, limits: TcpLimits
    ) -> None:
        super().__init__(config, state, {}, asyncio.get_running_loop())
        self.conn = StrictHttp()
        self._limits = limits
        self._counts = counts
        self._source = ""
        self._counted = False
        self._late: asyncio.TimerHandle | None = None
        self._waits_for: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._source = self._counts.source_of(self.client, self.server)  # type: ignore[arg-type]
        others = len(self.connections) - 1 - len(self._counts)  # upgraded, or not gone yet
        if not self._counts.add(self._source, self, others=max(0, others)):
            transport.abort()
            return
        self._counted = True
        self._watch()

    def evict(self) -> None:
        """Close this connection in favour of another one; it is not counted any more."""
        self._counted = False
        self._hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def _leave(self) -> None:
        self._stop_watching()
        if self._counted:
            self._counted = False
            self._counts.remove(self._source, self)

    def handle_events(self) -> None:
        self.server_state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
        super().handle_events()
        if self._counted:  # not ours any more once it is a WebSocket
            if self.conn.their_state is not h11.IDLE:
                self._counts.busy(self._source, self)
            self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._leave()  # from here on it is the WebSocket class that counts
        target = event.target.decode("ascii", "replace")
        self.ws_protocol_class = self.elsewhere.get(target, self.ws_protocol_class)
        super().handle_websocket_upgrade(event)

    def _watch(self) -> None:
        """A head has to be whole in time, and so has a body; more bytes buy no more time."""
        state = self.conn.their_state
        if state is self._waits_for:
            return
        self._stop_watching()
        self._waits_for = state
        if state is h11.IDLE:
            self._late = self.loop.call_later(self._limits.head_s, self._hang_up)
        elif state is h11.SEND_BODY:
            self._late = self.loop.call_later(self._limits.body_s, self._hang_up)

    def _stop_watching(self) -> None:
        self._waits_for = None
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop_watching()  # until the next request begins, keep-alive has its own time
        if self._counted and self.conn.their_state is h11.IDLE:
            self._counts.idle(self._source, self)

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
