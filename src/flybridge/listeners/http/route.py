"""What a route is, and what its handler is given.

A route cannot be written without saying what it needs, and needing nothing has to be said too.
Whatever a handler does for a caller goes through the desk, or through something that checks as
the desk does.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw

from flybridge.agents.history import KindHistory
from flybridge.auth.authority import Authority
from flybridge.auth.gate import Head
from flybridge.errors import InvalidRequestError
from flybridge.listeners.http.metrics import Metrics
from flybridge.listeners.http.sse import Receive, Send, Streams
from flybridge.listeners.http.web_files import WebFiles
from flybridge.model.audit import Record
from flybridge.model.requests import Ask
from flybridge.runtime.dispatcher import Desk
from flybridge.session.authorisation import Caller, Scope, Verdict
from flybridge.session.ports import Blobs

API: Final = "/api/v1"
PUBLIC: Final = "public"
MAX_BODY = 1 << 20
MAX_UPLOAD = 16 << 20
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
Need: TypeAlias = Scope | Literal["public"]
Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]
Name = Annotated[str, Meta(min_length=1, max_length=256)]


class Params(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the path and the query say. A parameter nobody knows is refused: it may be a
    secret that somebody believes to be taken."""


class Body(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a request says. A field nobody knows is refused, and so is every claim to be
    somebody or to hold a scope."""


class Done(msgspec.Struct):
    """It was done, and there is nothing to say about it."""


class Answered(msgspec.Struct, kw_only=True):
    """An answer that is not plain JSON, or has headers of its own."""

    status: int = 200
    headers: dict[str, str] = {}
    body: bytes = b""
    stream: Callable[[Send, Receive], Awaitable[None]] | None = None
    dropped: Callable[[], None] | None = None  # called when only the head is wanted


class Api(msgspec.Struct, kw_only=True):
    """Everything handlers work with."""

    desk: Desk
    authority: Authority
    blobs: Blobs
    streams: Streams
    metrics: Metrics
    version: str
    now_ms: Callable[[], int]
    audit: Callable[[Record], None]
    web: WebFiles  # the built page
    audit_log: Path | None = None
    histories: Mapping[str, KindHistory] = {}  # kind of agent → its conversations
    secure: bool = False
    base_path: str = ""
    client_header: bytes = b""  # in which a proxy names its client, in lower case
    document: bytes = b""  # OpenAPI, encoded once
    uploads: dict[str, tuple[int, int]] = {}  # who → since when, how many bytes
    searching: asyncio.Semaphore = msgspec.field(default_factory=lambda: asyncio.Semaphore(1))


class Call:
    """One request, as its handler sees it."""

    def __init__(
        self,
        api: Api,
        head: Head,
        *,
        caller: Caller | None,
        source: str,
        judge: Callable[..., Awaitable[Verdict]],
        address: str = "",
    ) -> None:
        self.api = api
        self.head = head
        self.source = source
        self.address = address  # of our end of the connection
        self.judge = judge  # who holds the other end of the connection; takes a while
        self.params: Any = None
        self.body: Any = None
        self._caller = caller

    @property
    def caller(self) -> Caller:
        assert self._caller is not None, "a public route has no caller"
        return self._caller

    async def ask(self, name: str, /, **params: object) -> Any:
        """Ask the desk, as the caller.

        Raises:
            FlybridgeError: it was not answered.
        """
        raw = Raw(msgspec.json.encode(params))
        return await self.api.desk.ask(self.caller, Ask(ref="", name=name, params=raw))

    def request_id(self, given: str = "", *, otherwise: str = "") -> str:
        """The client's own name for what it wants: in the header ``Idempotency-Key``, or in
        the body; ``otherwise`` where it may be left out.

        Raises:
            InvalidRequestError: there is none, it is no name, or there are two.
        """
        header = self.head.one(b"idempotency-key").decode("ascii", "replace").strip()
        if len(header) > 1 and header[0] == header[-1] == '"':
            header = header[1:-1]
        if header and given and header != given:
            raise InvalidRequestError("Idempotency-Key and request name it differently")
        key = header or given or otherwise
        if not _KEY.fullmatch(key):
            raise InvalidRequestError(
                "name the request: 1 to 200 visible ASCII characters in Idempotency-Key or request"
            )
        return key

    def note(self, event: str, *, target: str = "", detail: str = "") -> None:
        """Tell the audit log what was done."""
        caller = self.caller
        self.api.audit(
            Record(
                event=event,
                outcome="done",
                principal=caller.principal,
                credential=caller.credential,
                door=caller.door,
                source=caller.source,
                target=target,
                detail=detail,
            )
        )


Handler: TypeAlias = Callable[[Call], Awaitable[object]]


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be asked for."""

    method: Method
    path: str  # below the base path; {name} is a parameter
    scope: Need
    handler: Handler
    summary: str
    params: type[Params] = Params
    body: type | None = None  # bytes: as they come
    result: Any = Done
    status: int = 200
    or_status: tuple[int, ...] = ()  # others that are no failure, with the same content
    max_body: int = MAX_BODY
    media_type: str = "application/json"  # of the answer

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every scope it takes. Whoever steers by control messages need not see anything."""
        return (self.scope,) if self.scope == "control" else ("view", self.scope)
