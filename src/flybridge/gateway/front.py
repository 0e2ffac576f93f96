"""The front of the house: one port, HTTP and WebSocket behind one gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from flybridge.agents.history import KindHistory
from flybridge.auth.authority import Authority
from flybridge.auth.cookies import cookie_name
from flybridge.auth.gate import gate_for
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.frontends.control.adapter import speak_control
from flybridge.frontends.control.websocket import ControlSocketDoor
from flybridge.frontends.http.web_page import BUILT
from flybridge.frontends.native.adapter import speak_native
from flybridge.gateway.routes import ROUTES
from flybridge.listeners.http.app import make_app
from flybridge.listeners.http.web_files import WebFiles
from flybridge.listeners.tcp import TcpDoor, TcpSpec
from flybridge.listeners.websocket import WebSocketDoor
from flybridge.model.audit import Record
from flybridge.runtime.dispatcher import Desk
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Blobs
from flybridge.wire.native.messages import Welcome


class Front:
    """Opens the TCP door of a gateway, and closes it."""

    def __init__(
        self,
        spec: TcpSpec,
        desk: Desk,
        authority: Authority,
        *,
        blobs: Blobs,
        welcome: Callable[[Caller], Welcome],
        peers: TcpPeers,
        now_ms: Callable[[], int],
        audit: Callable[[Record], None],
        audit_log: Path,
        histories: Mapping[str, KindHistory],
        version: str,
        changed: Callable[[], None],
    ) -> None:
        self._spec = spec
        self._door = TcpDoor(spec)
        self._door.bind()
        # browsers do not tell ports of one host apart: each gateway has a cookie of its own
        authority.cookie = cookie_name(self._door.port, secure=spec.secure and not spec.base_path)
        gate = gate_for(
            self._door.port, names=spec.names, secure=spec.secure, base_path=spec.base_path
        )
        self._clients, self._senders = (
            door(
                desk,
                gate=gate,
                authority=authority,
                speak=speak,
                now_ms=now_ms,
                changed=changed,
                audit=audit,
                peers=peers,
            )
            for door, speak in (
                (WebSocketDoor, speak_native(welcome)),
                (ControlSocketDoor, speak_control),
            )
        )
        self._app = make_app(
            desk,
            authority,
            gate,
            blobs=blobs,
            version=version,
            now_ms=now_ms,
            audit=audit,
            audit_log=audit_log,
            histories=histories,
            peers=peers,
            secure=spec.secure,
            client_header=spec.client_header,
            routes=ROUTES,
            web=WebFiles(BUILT),
        )

    @property
    def address(self) -> str:
        """Where a browser on this machine finds us, or wherever we go by a name."""
        scheme = "https" if self._spec.secure else "http"
        name = self._spec.names[0] if self._spec.names else "127.0.0.1"
        where = name if ":" in name else f"{name}:{self._door.port}"
        return f"{scheme}://{where}{self._spec.base_path.rstrip('/')}"

    @property
    def clients(self) -> int:
        return len(self._clients.clients) + len(self._senders.clients)

    async def open(self) -> None:
        """Let clients in.

        Raises:
            GatewayError: the certificate cannot be used.
        """
        senders = {self._senders.path: self._senders.protocol_class()}
        await self._door.open(self._app, self._clients.protocol_class(), senders)

    async def close(self, code: str = "") -> None:
        """Hang up on everyone; with a ``code``, tell them first that they need not come back."""
        self._clients.close(code)
        self._senders.close(code)
        self._app.close()
        await self._door.close()
