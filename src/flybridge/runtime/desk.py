"""The desk: every request gets exactly one reply, whatever happens.

The order is the same for all: known key, authority, decision, commit; then the reply waits
for the stage the client asked for, or for its time to run out.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal, Protocol, TypeVar, assert_never

import msgspec
from msgspec import UNSET, Raw

from flybridge.errors import (
    BusyError,
    FlybridgeError,
    InvalidRequestError,
    NotAllowedError,
    StorageError,
)
from flybridge.model.capabilities import OpenSpec
from flybridge.model.deliveries import Reply
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Detach, Request, Submit
from flybridge.runtime.caller import OPENER, Caller, Scope, authorise, scope_of
from flybridge.runtime.hub import Hub, Sink, Subscription
from flybridge.runtime.live import LiveSession, Submitted
from flybridge.runtime.sessions import Sessions, session_id
from flybridge.runtime.unrecorded import pass_on
from flybridge.runtime.waiters import is_reached
from flybridge.session.ledger import error_of, grants_nothing, stage_of
from flybridge.session.ports import Blobs, Journal, SessionRow

MAX_WAIT_MS = 600_000
MAX_PAGE_BYTES = 1 << 20
MAX_REQUEST_ID = 200
MAX_LABELS = 32
_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_CONVERSATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")  # Claude's is a UUID


class Client(Sink, Protocol):
    """A connected client, as the desk sees it."""

    caller: Caller
    subscriptions: dict[SessionId, Subscription]

    def reply(self, reply: Reply) -> None: ...


class OpenParams(msgspec.Struct, kw_only=True):
    agent: str
    cwd: str
    request: str
    title: str = ""
    model: str = ""
    mode: str = ""
    labels: dict[str, str] = {}
    resume: str = ""  # the agent's own id of a conversation to go on with
    fork: bool = False  # in a copy of it


class SessionParams(msgspec.Struct, kw_only=True):
    session: SessionId


class PageParams(msgspec.Struct, kw_only=True):
    session: SessionId
    after: int = 0
    max_bytes: int = 256 * 1024


class BlobParams(msgspec.Struct, kw_only=True):
    digest: str
    start: int = 0
    size: int = MAX_PAGE_BYTES


class Listed(msgspec.Struct, kw_only=True):
    """A session as a list shows it."""

    session: SessionId
    agent: str
    cwd: str
    title: str
    created_ms: int
    changed_ms: int
    archived: bool
    labels: dict[str, str]
    last_seq: int
    status: Literal["closed", "off", "starting", "idle", "running"]
    why: str
    prompts: int


class Desk:
    """Takes requests of authenticated clients. ``extra`` adds the gateway's own questions."""

    def __init__(
        self,
        sessions: Sessions,
        hub: Hub,
        journal: Journal,
        blobs: Blobs,
        extra: Mapping[str, tuple[Scope, Callable[[], Awaitable[object]]]],
    ) -> None:
        self._sessions = sessions
        self._hub = hub
        self._journal = journal
        self._blobs = blobs
        self._extra = extra

    async def handle(self, client: Client, request: Request) -> None:
        """Carry out one request and reply to it once. Never raises."""
        if isinstance(request, Detach):
            self.detach(client, request.session)
            return
        try:
            match request:
                case Submit():
                    reply = await self._submit(client.caller, request)
                case Attach():
                    self._attach(client, request)
                    return
                case Ask():
                    value = await self._ask(client.caller, request)
                    reply = Reply(ref=request.ref, value=Raw(msgspec.json.encode(value)))
                case _:
                    assert_never(request)
        except FlybridgeError as error:
            reply = Reply(
                ref=request.ref, error=error.code, message=str(error), value=_details(error)
            )
        except Exception:
            _log.exception("request failed")
            reply = Reply(ref=request.ref, error="internal", message="see the gateway's log")
        client.reply(reply)

    # ---- submit ------------------------------------------------------------------------------

    async def _submit(self, caller: Caller, request: Submit) -> Reply:
        if not 0 < len(request.request) <= MAX_REQUEST_ID:
            raise InvalidRequestError(f"a request id has 1 to {MAX_REQUEST_ID} characters")
        authorise(caller, "view", {})
        live = self._sessions.get(request.session)
        await live.settled()
        authorise(caller, scope_of(request.command), live.memory.state.labels)
        try:
            done = live.submit(request.command, principal=caller.principal, request=request.request)
        except StorageError as error:
            raise self._unrecorded(live, caller, request, error) from error
        return await self._reply(live, request, done)

    @staticmethod
    def _unrecorded(
        live: LiveSession, caller: Caller, request: Submit, error: StorageError
    ) -> FlybridgeError:
        """Stop what must be stoppable even with a full disk, and say that it is not recorded."""
        if not grants_nothing(request.command):
            return error
        try:
            pass_on(live, request.command, principal=caller.principal, request=request.request)
        except FlybridgeError as refused:
            return refused
        return type(error)(f"passed on to the agent, but not recorded: {error}")

    async def _reply(self, live: LiveSession, request: Submit, done: Submitted) -> Reply:
        stage = done.stage
        if not is_reached(stage, request.until):
            waiting = live.waiters.wait(done.key, request.until)
            wait_s = min(max(request.wait_ms, 0), MAX_WAIT_MS) / 1000
            await asyncio.wait({waiting}, timeout=wait_s)
            if waiting.done():
                stage = waiting.result()
            else:
                waiting.cancel()
                return self._answer(request, live.stage(done.key), done, "in_progress")
        return self._answer(request, stage, done, error_of(stage))

    @staticmethod
    def _answer(request: Submit, stage: str, done: Submitted, error: str) -> Reply:
        value = Raw(msgspec.json.encode({"key": done.key, "outcome": stage}))
        return Reply(
            ref=request.ref,
            stage=stage_of(stage),
            value=value,
            error=error,
            duplicate=done.duplicate,
        )

    # ---- attach ------------------------------------------------------------------------------

    def _attach(self, client: Client, request: Attach) -> None:
        authorise(client.caller, "view", {})
        live = self._sessions.get(request.session)
        head, epoch = live.memory.state.seq, live.memory.epoch
        if live.down is not None:
            head = live.showing.seq
        stale = request.epoch not in (0, epoch) or request.after > head
        after = 0 if stale else max(request.after, 0)
        if request.last > 0:
            after = max(after, head - request.last)
        self.detach(client, request.session)
        value = {"epoch": epoch, "head": head, "reset": stale}
        client.reply(Reply(ref=request.ref, value=Raw(msgspec.json.encode(value))))
        client.subscriptions[request.session] = self._hub.attach(
            client, request.session, after=after, previews=request.previews
        )

    def detach(self, client: Client, session: SessionId) -> None:
        known = client.subscriptions.pop(session, None)
        if known is not None:
            self._hub.detach(known)

    def gone(self, client: Client) -> None:
        """The client hung up."""
        for session in list(client.subscriptions):
            self.detach(client, session)

    def drained(self, client: Client) -> None:
        """The client reads again."""
        self._hub.resume(list(client.subscriptions.values()))

    # ---- ask ---------------------------------------------------------------------------------

    async def _ask(self, caller: Caller, request: Ask) -> object:
        match request.name:
            case "open":
                return await self._open(caller, _params(request, OpenParams))
            case "list":
                authorise(caller, "view", {})
                return {"sessions": [self._listed(row) for row in self._sessions.rows()]}
            case "view":
                authorise(caller, "view", {})
                return self._view(_params(request, SessionParams).session)
            case "page":
                authorise(caller, "view", {})
                return self._page(_params(request, PageParams))
            case "blob":
                authorise(caller, "view", {})
                return self._blob(_params(request, BlobParams))
            case "stop_agent":
                params = _params(request, SessionParams)
                authorise(
                    caller, "interrupt", self._sessions.get(params.session).memory.state.labels
                )
                await self._sessions.stop_agent(params.session)
                return {}
            case name if name in self._extra:
                scope, answer = self._extra[name]
                authorise(caller, scope, {})
                return await answer()
            case name:
                raise InvalidRequestError(f"nothing is called {name!r}")

    async def _open(self, caller: Caller, params: OpenParams) -> object:
        authorise(caller, "spawn", {})
        if params.mode and "admin" not in caller.scopes:
            raise NotAllowedError("admin", why="a mode can switch permissions off")
        cwd = Path(params.cwd)
        if not (cwd.is_absolute() and await asyncio.to_thread(cwd.is_dir)):
            raise InvalidRequestError(f"no such directory: {params.cwd}")
        if not 0 < len(params.request) <= MAX_REQUEST_ID:
            raise InvalidRequestError(f"a request id has 1 to {MAX_REQUEST_ID} characters")
        if len(params.labels) > MAX_LABELS or OPENER in params.labels:
            raise InvalidRequestError("too many labels, or one that is ours")
        self._check_resumed(caller, params)
        spec = OpenSpec(
            agent=params.agent,
            cwd=params.cwd,
            title=params.title,
            model=params.model,
            mode=params.mode,
            labels={**params.labels, OPENER: caller.process},
            agent_session=params.resume,
            resume=bool(params.resume),
            fork=params.fork,
        )
        session = await self._sessions.open(
            spec, principal=caller.principal, request=params.request
        )
        return {"session": session, **({"resumed": params.resume} if params.resume else {})}

    def _check_resumed(self, caller: Caller, params: OpenParams) -> None:
        """One writer for each conversation of an agent's: it keeps no lock itself."""
        if not params.resume:
            if params.fork:
                raise InvalidRequestError("fork what? resume names the conversation")
            return
        if not _CONVERSATION.fullmatch(params.resume):
            raise InvalidRequestError(f"not the id of a conversation: {params.resume[:50]!r}")
        holder = self._sessions.holder_of(params.resume)
        again = session_id(caller.principal, params.request)
        if not params.fork and holder not in (None, again):
            raise BusyError(f"session {holder} has this conversation open; fork it")

    def _listed(self, row: SessionRow) -> Listed:
        """A line of the list; a session that is not loaded has no agent and waits for nothing."""
        live = self._sessions.loaded(row.session)
        shown = live.showing.summary(live.services.now_ms()) if live is not None else None
        return Listed(
            session=row.session,
            agent=row.agent,
            cwd=row.cwd,
            title=row.title,
            created_ms=row.created_ms,
            changed_ms=row.changed_ms,
            archived=row.archived,
            labels={key: value for key, value in row.labels.items() if key != OPENER},
            last_seq=row.last_seq,
            status=shown.status if shown else ("closed" if row.closed else "off"),
            why=shown.why if shown else "nothing",
            prompts=len(shown.prompts) if shown else 0,
        )

    def _view(self, session: SessionId) -> object:
        live = self._sessions.get(session)
        return live.showing.summary(live.services.now_ms())

    def _blob(self, params: BlobParams) -> object:
        size = self._blobs.size(params.digest)
        if size is None:
            raise InvalidRequestError("no such blob")
        wanted = min(max(params.size, 0), MAX_PAGE_BYTES)
        data = self._blobs.get(params.digest, max(params.start, 0), wanted)
        return {"size": size, "data": data}  # bytes travel as base64

    def _page(self, params: PageParams) -> object:
        size = min(max(params.max_bytes, 1), MAX_PAGE_BYTES)
        live = self._sessions.get(params.session)
        batches = self._journal.read(params.session, max(params.after, 0), size)
        lines = [Raw(line) for batch in batches for line in batch.wire.split(b"\n")]
        return {"events": lines, "head": live.memory.state.seq, "epoch": live.memory.epoch}


def _details(error: FlybridgeError) -> Raw:
    """The data an error carries, for clients that would rather not read its text."""
    plain = {key: one for key, one in vars(error).items() if isinstance(one, str | int)}
    return Raw(msgspec.json.encode(plain))


def _params(request: Ask, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(
            b"{}" if request.params is UNSET else bytes(request.params), type=kind
        )
    except msgspec.DecodeError as error:
        raise InvalidRequestError(f"{request.name}: {error}") from error
