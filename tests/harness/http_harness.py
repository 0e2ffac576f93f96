"""The HTTP door for real: a TCP door on a free port, a desk, keepers and the recorder agent.

Requests are made by the standard library's client, in a thread; the server runs in the loop.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from flybridge.agents.claude.history import ClaudeHistory
from flybridge.agents.claude.records import ClaudeRecords
from flybridge.agents.history import KindHistory
from flybridge.auth.authority import ALL_SCOPES, Authority
from flybridge.auth.cookies import cookie_name
from flybridge.auth.gate import gate_for
from flybridge.auth.login import Login
from flybridge.auth.methods import Keys
from flybridge.auth.refusals import RefusalLog
from flybridge.auth.socket_holder import Holders, find_holders
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.frontends.companion.devices import Devices
from flybridge.frontends.companion.methods import DeviceQuestions
from flybridge.frontends.http.web_page import BUILT
from flybridge.frontends.native.adapter import speak_native
from flybridge.gateway.routes import ROUTES
from flybridge.listeners.http.app import make_app
from flybridge.listeners.http.route import API, Route
from flybridge.listeners.http.web_files import WebFiles
from flybridge.listeners.tcp import TcpDoor, TcpSpec
from flybridge.listeners.websocket import WebSocketDoor
from flybridge.model.audit import Record
from flybridge.model.ids import SessionId
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.overview import Overview
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.session.authorisation import Caller, Scope
from flybridge.store.audit import AuditLog
from flybridge.store.credentials import CredentialFile
from flybridge.store.devices import DeviceFile
from flybridge.wire.native.messages import Welcome
from tests.harness.login import headers_for
from tests.harness.relay import RULES
from tests.harness.runtime_harness import House
from tests.harness.waiting import WAIT_S

OWNER = f"uid:{os.geteuid()}"
JSON = "application/json"


def _welcome(caller: Caller) -> Welcome:
    return Welcome(proto=1, version="0", generation=1, principal=caller.principal)


class Got:
    """A response that has been read to its end."""

    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        if self.headers.get_content_type() != "application/problem+json":
            return ""
        return str(self.json["code"])

    def __repr__(self) -> str:
        return f"Got({self.status}, {self.body[:300]!r})"


class Web:
    """One gateway's HTTP door, and somebody who knocks at it."""

    def __init__(
        self,
        house: House,
        *,
        base_path: str = "",
        keep_alive_s: float = 15.0,
        routes: Sequence[Route] = (),
        extra: Mapping[str, Question] | None = None,
    ) -> None:
        self.house = house
        folder = house.folder
        self.records: list[Record] = []
        self.log = AuditLog(folder / "audit.log", house.services.now_ms)
        self.audit = RefusalLog(self._record).write
        self.door = TcpDoor(TcpSpec(host="127.0.0.1", port=0, base_path=base_path))
        self.door.bind()
        self.port = self.door.port
        self.now_ms = house.services.now_ms
        self.authority = Authority(
            CredentialFile(folder / "tokens"),
            owner=OWNER,
            cookie=cookie_name(self.port, secure=False),
            now_ms=lambda: self.now_ms(),
            audit=self.audit,
        )
        keys = Keys(self.authority, self.audit, lambda: f"http://127.0.0.1:{self.port}")
        self.devices = Devices(DeviceFile(folder / "devices"), now_ms=lambda: self.now_ms())
        asked = DeviceQuestions(
            self.devices,
            audit=self.audit,
            agents=house.services.shelf.names,
            modes=house.services.shelf.modes,
            door=lambda: None,
        )
        questions = {
            **asked.table(),
            "status": Question("view", NoParams, self._status),
            **Overview(house.services, house.sessions).table(),
            **keys.table(),
            **(extra or {}),
        }
        services = house.services
        self.desk = Desk(
            house.sessions, services.hub, house.journal, services.blobs, questions, self.audit
        )
        self.gate = gate_for(self.port, base_path=base_path)
        self.claude = folder / "claude"
        records = ClaudeRecords(ClaudeHistory(self.claude))
        self.histories = {"claude": KindHistory(history=records, agent="claude")}
        self.keepers: list[tuple[int, str]] | None = None  # None: as they are
        self.searched: list[frozenset[int]] = []  # sockets whose holders were looked for
        self.app = make_app(
            self.desk,
            self.authority,
            self.gate,
            blobs=services.blobs,
            version="1.2.3",
            now_ms=services.now_ms,
            audit=self.audit,
            audit_log=folder / "audit.log",
            histories=self.histories,
            peers=TcpPeers(self._keepers, RULES, search=self._find_holders),
            keep_alive_s=keep_alive_s,
            routes=(*ROUTES, *routes),
            web=WebFiles(BUILT),
        )
        self.sockets = WebSocketDoor(
            self.desk,
            gate=self.gate,
            authority=self.authority,
            speak=speak_native(_welcome),
            now_ms=services.now_ms,
            audit=self.audit,
        )
        self.base = base_path
        self.cookie: Login | str = ""
        # their own threads: the server's must not wait behind clients that wait for it
        self._callers = ThreadPoolExecutor(max_workers=100)

    def _record(self, record: Record) -> None:
        self.records.append(record)
        self.log.write(record)

    def _find_holders(
        self, inodes: Collection[int], keepers: set[tuple[int, str]]
    ) -> dict[int, Holders | None]:
        self.searched.append(frozenset(inodes))
        return find_holders(inodes, keepers)

    def _keepers(self) -> list[tuple[int, str]]:
        return self.house.sessions.keepers() if self.keepers is None else self.keepers

    async def _status(self, _: Caller, __: NoParams) -> object:
        return {"pid": os.getpid()}

    async def start(self) -> None:
        await self.door.open(self.app, self.sockets.protocol_class())
        self.cookie = self.authority.login(self.authority.ticket(), door="http", source="test")

    async def stop(self) -> None:
        self._callers.shutdown(wait=False)
        self.app.close()
        self.sockets.close()
        await self.door.close()
        self.log.close()

    # ---- who knocks --------------------------------------------------------------------------

    def token(self, *scopes: Scope, sessions: tuple[str, ...] = ()) -> str:
        name = f"t{len(self.authority.tokens())}"
        return self.authority.create_token(name, frozenset(scopes), sessions=sessions)

    def login(self, *scopes: Scope) -> Login:
        """The login of somebody who may do that."""
        ticket = self.authority.ticket(frozenset(scopes) or ALL_SCOPES, name="guest")
        return self.authority.login(ticket, door="http", source="test")

    def headers(
        self, *, token: str = "", cookie: Login | str | None = None, key: str = ""
    ) -> dict[str, str]:
        cookie = self.cookie if cookie is None and not token else cookie
        found = {"authorization": f"Bearer {token}"} if token else {}
        if cookie:
            found |= headers_for(self.authority.cookie, cookie)
        return found | ({"idempotency-key": key} if key else {})

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        **who: Any,
    ) -> Got:
        """Ask for something below the interface's path; as the owner unless told otherwise."""
        data = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        given = self.headers(**who)
        if data is not None or method in ("POST", "PATCH"):
            given["content-type"] = JSON
        target = f"{self.base}{path if path.startswith('//') else API + path}".replace("//", "/")
        return await self.raw(method, target, data, {**given, **(headers or {})})

    async def raw(
        self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]
    ) -> Got:
        """A request as it is."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._callers, self._raw, method, target, data, headers)

    def _raw(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> Got:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, body=data, headers=dict(headers))
            found = connection.getresponse()
            return Got(found.status, found.headers, found.read())
        finally:
            connection.close()

    async def bytes(self, data: bytes) -> bytes:
        """What the server says to these very bytes, until it hangs up."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        try:
            async with asyncio.timeout(WAIT_S):
                return await reader.read(1 << 20)
        finally:
            writer.close()

    # ---- what is going on behind it ----------------------------------------------------------

    async def open(self, request: str = "open", **more: Any) -> LiveSession:
        body = {"agent": "recorder", "cwd": str(self.house.folder), "request": request, **more}
        got = await self.call("POST", "/sessions", body)
        assert got.status == 201, got
        live = self.house.sessions.get(SessionId(got.json["session"]))
        await self.house.attach(live.session)
        return live

    async def say(
        self, live: LiveSession, text: str, key: str, until: str = "done", **more: Any
    ) -> Got:
        content = [{"type": "text", "text": text}]
        body = {
            "command": {"type": "send_input", "content": content},
            "until": until,
            "wait_ms": 20_000,
        }
        return await self.call("POST", f"/sessions/{live.session}/commands", body, key=key, **more)


@asynccontextmanager
async def serving(folder: Path, **more: Any) -> AsyncIterator[Web]:
    """A door that is open, and everything behind it; all of it ends at the end."""
    house_more = {key: more.pop(key) for key in ("limits", "flags", "grace_s") if key in more}
    house = House(folder, **house_more)
    web = Web(house, **more)
    await web.start()
    try:
        yield web
    finally:
        await web.stop()
        await house.end()
