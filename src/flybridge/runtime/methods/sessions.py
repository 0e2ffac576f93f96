"""What can be asked of the gateway, and of its sessions: a table of questions.

A question says which scope it needs before anything else is looked at; one that names a session
is answered only to those who may know of that session.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw

from flybridge.errors import (
    BusyError,
    InvalidRequestError,
    NotAllowedError,
    RequestReusedError,
    SessionNotFoundError,
)
from flybridge.model.audit import Record
from flybridge.model.capabilities import OpenSpec, Options
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask
from flybridge.runtime.access.blobs import BlobAccess
from flybridge.session.authorisation import (
    KEY,
    OPENER,
    OURS,
    Caller,
    Scope,
    authorise,
    grants,
    knows,
    who,
)
from flybridge.runtime.access.ci_keys import check_key
from flybridge.runtime.access.folders import (
    check_folder,
    is_restricted,
    obeyed_in,
    resolve_folder,
    restricted,
)
from flybridge.runtime.methods.imports import ImportParams, Imports
from flybridge.runtime.sessions import Sessions, session_id
from flybridge.session.ports import Blobs, Journal

MAX_PAGE_BYTES = 1 << 20
MAX_REQUEST_ID = 200
MAX_LABELS = 32
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CONVERSATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")  # Claude's is a UUID
Answering: TypeAlias = Callable[[Caller, Any], Awaitable[object]]


class Question(msgspec.Struct, frozen=True):
    """What it needs, what it takes, and who answers it."""

    scope: Scope
    params: type
    answer: Answering
    audited: bool = False  # it changes something: the audit log hears of it


class NoParams(msgspec.Struct, kw_only=True):
    """Nothing needs to be said."""


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
    continue_latest: bool = False  # go on with what was last talked about in cwd
    from_pr: str = ""  # go on with the conversation of a pull request
    options: Options = Options()
    folder: Literal["ask", "trust", "restrict"] = "ask"  # what to do with settings it brings
    key_digest: str = ""  # SHA-256, in hex, of a key: who has that is taken for its opener
    ci_key: str = ""  # of a program without a terminal, for a mode that asks less


class FolderParams(msgspec.Struct, kw_only=True):
    folder: str


class QueryParams(msgspec.Struct, kw_only=True):
    session: SessionId
    name: str
    params: Raw = Raw(b"{}")


class SessionParams(msgspec.Struct, kw_only=True):
    session: SessionId


class StopParams(msgspec.Struct, kw_only=True):
    session: SessionId
    unless_followed: bool = False  # somebody is attached to it: then the agent goes on


class PageParams(msgspec.Struct, kw_only=True):
    session: SessionId
    after: int = 0
    max_bytes: int = 256 * 1024


class BlobParams(msgspec.Struct, kw_only=True):
    digest: str
    start: int = 0
    size: int = MAX_PAGE_BYTES


class SessionQuestions:
    """The questions about sessions."""

    def __init__(
        self,
        sessions: Sessions,
        journal: Journal,
        blobs: Blobs,
        audit: Callable[[Record], None] = lambda record: None,
    ) -> None:
        self._audit = audit
        self._sessions = sessions
        self._imports = Imports(sessions)
        self._journal = journal
        self._blobs = blobs
        self.blob_access = BlobAccess(sessions, journal)

    def table(self) -> dict[str, Question]:
        return {
            "open": Question("spawn", OpenParams, self.open, audited=True),
            "import": Question("spawn", ImportParams, self._imports.answer, audited=True),
            "view": Question("view", SessionParams, self.view),
            "page": Question("view", PageParams, self.page),
            "blob": Question("view", BlobParams, self.blob),
            "query": Question("view", QueryParams, self.query),
            "stop_agent": Question("interrupt", StopParams, self.stop_agent, audited=True),
            "trust.list": Question("view", NoParams, self.trust_list),
            "trust.add": Question("admin", FolderParams, self.trust_add, audited=True),
            "trust.remove": Question("admin", FolderParams, self.trust_remove, audited=True),
        }

    async def query(self, _: Caller, params: QueryParams) -> object:
        return await self._sessions.get(params.session).queries.ask(params.name, params.params)

    async def stop_agent(self, _: Caller, params: StopParams) -> object:
        live = self._sessions.get(params.session)
        if params.unless_followed and live.services.hub.followers(params.session):
            return {"stopped": False}
        await self._sessions.stop_agent(params.session)
        return {"stopped": True}

    async def open(self, caller: Caller, params: OpenParams) -> object:
        self._check_grants(caller, params)
        cwd = await asyncio.to_thread(resolve_folder, params.cwd)
        if not 0 < len(params.request) <= MAX_REQUEST_ID:
            raise InvalidRequestError(f"a request id has 1 to {MAX_REQUEST_ID} characters")
        if len(params.labels) > MAX_LABELS or OURS & params.labels.keys():
            raise InvalidRequestError("too many labels, or one that is ours")
        if params.key_digest and not _DIGEST.fullmatch(params.key_digest):
            raise InvalidRequestError("the digest of a key has 64 hex digits")
        key = {KEY: params.key_digest} if params.key_digest else {}
        self._check_reused(caller, params, str(cwd))
        self._check_resumed(caller, params)
        options = await self._options_in(cwd, caller, params)
        spec = OpenSpec(
            agent=params.agent,
            cwd=str(cwd),
            title=params.title,
            model=params.model,
            mode=params.mode,
            labels={**params.labels, OPENER: caller.process, **key},
            agent_session=params.resume,
            resume=bool(params.resume),
            fork=params.fork,
            continue_latest=params.continue_latest,
            from_pr=params.from_pr,
            options=options,
        )
        session = await self._sessions.open(
            spec, principal=caller.principal, request=params.request
        )
        return {"session": session, **({"resumed": params.resume} if params.resume else {})}

    def _check_grants(self, caller: Caller, params: OpenParams) -> None:
        """Refuse what only a person may grant, unless a CI key allows the permission mode.

        Raises:
            NotAllowedError: the caller is no person, and no key allows it.
        """
        if "admin" in caller.scopes or not grants(params.mode, params.options):
            return
        if option := grants("", params.options):
            text = f"The option {option} needs an interactive terminal."
            raise NotAllowedError("admin", message=text)
        services = self._sessions.services
        key = check_key(services.ci_keys, caller, params.ci_key, params.mode, services.now_ms())
        if key is None:
            text = f"--permission-mode {params.mode[:40]} needs an interactive terminal or a CI key"
            raise NotAllowedError("admin", message=f'{text} (see "Run in CI").')
        self._audit(
            Record(
                event="ci_key.use",
                outcome="done",
                target=key.id,
                detail=params.mode,
                request=params.request[:MAX_REQUEST_ID],
                **who(caller),
            )
        )

    async def trust_list(self, _: Caller, __: NoParams) -> object:
        trusted = self._sessions.trusted
        return {"folders": trusted.all() if trusted is not None else []}

    async def trust_add(self, _: Caller, params: FolderParams) -> object:
        folder = await asyncio.to_thread(resolve_folder, params.folder)
        if self._sessions.trusted is not None:
            self._sessions.trusted.add(folder)
        return {}

    async def trust_remove(self, _: Caller, params: FolderParams) -> object:
        trusted = self._sessions.trusted
        if trusted is None:
            return {"removed": False}
        return {"removed": await asyncio.to_thread(trusted.remove, Path(params.folder))}

    async def _options_in(self, cwd: Path, caller: Caller, params: OpenParams) -> Options:
        """The options, once somebody answered for what the folder brings along."""
        trusted = self._sessions.trusted
        asked = trusted is not None or params.folder == "restrict"
        if not asked or is_restricted(params.options):  # as the session this one goes on from
            return params.options
        found = await asyncio.to_thread(obeyed_in, cwd)
        if params.folder == "restrict" and found:
            return restricted(params.options)
        if trusted is None or not found or await asyncio.to_thread(trusted.holds, cwd):
            return params.options
        configured = self._sessions.services.folder_settings
        if params.folder == "ask" and configured != "ask":  # the owner's file answers for them
            return params.options if configured == "trust" else restricted(params.options)
        if params.folder == "trust":
            authorise(caller, "admin", {})
            trusted.add(cwd)
            self._audit(
                Record(
                    event="folder.trust",
                    outcome="done",
                    target=str(cwd),
                    **who(caller),
                )
            )
        await asyncio.to_thread(check_folder, trusted, cwd, found)
        return params.options

    def _check_reused(self, caller: Caller, params: OpenParams, cwd: str) -> None:
        """The same request again is the same session; elsewhere it would be another request."""
        try:
            known = self._sessions.get(session_id(caller.principal, params.request))
        except SessionNotFoundError:
            return
        state = known.memory.state
        # older versions recorded the path as it was given
        if state.agent != params.agent or state.cwd not in (cwd, params.cwd):
            raise RequestReusedError(params.request)

    def _check_resumed(self, caller: Caller, params: OpenParams) -> None:
        """One writer for each conversation of an agent's: it keeps no lock itself."""
        if not params.resume:
            if params.fork and not (params.continue_latest or params.from_pr):
                raise InvalidRequestError("fork what? resume names the conversation")
            return
        if not _CONVERSATION.fullmatch(params.resume):
            raise InvalidRequestError(f"not the id of a conversation: {params.resume[:50]!r}")
        holder = self._sessions.holder_of(params.resume)
        again = session_id(caller.principal, params.request)
        if not params.fork and holder not in (None, again):
            raise BusyError(f"session {holder} has this conversation open; fork it")

    async def view(self, _: Caller, params: SessionParams) -> object:
        live = self._sessions.get(params.session)
        return live.showing.summary(live.services.now_ms())

    async def blob(self, caller: Caller, params: BlobParams) -> object:
        size = self._blobs.size(params.digest)
        if size is None or not await self.blob_access.may_read(caller, params.digest):
            raise InvalidRequestError("no such blob")
        wanted = min(max(params.size, 0), MAX_PAGE_BYTES)
        data = self._blobs.get(params.digest, max(params.start, 0), wanted)
        return {"size": size, "data": data}  # bytes travel as base64

    async def page(self, _: Caller, params: PageParams) -> object:
        size = min(max(params.max_bytes, 1), MAX_PAGE_BYTES)
        live = self._sessions.get(params.session)
        batches = self._journal.read(params.session, max(params.after, 0), size)
        lines = [Raw(line) for batch in batches for line in batch.wire.split(b"\n")]
        return {"events": lines, "head": live.memory.state.seq, "epoch": live.memory.epoch}


async def answer(
    questions: Mapping[str, Question], sessions: Sessions, caller: Caller, request: Ask
) -> object:
    """Answer one question of an authenticated caller.

    Raises:
        FlybridgeError: there is no such question, it is not for them, or it has no answer.
    """
    question = questions.get(request.name)
    if question is None:
        raise InvalidRequestError(f"nothing is called {request.name[:100]!r}")
    params = _params(request, question.params)
    session = getattr(params, "session", None)
    if session is None:
        authorise(caller, question.scope, {})
    else:
        authorise(caller, "view", {})
        if not knows(caller, session):
            raise SessionNotFoundError(session)
        labels = sessions.get(session).memory.state.labels
        claimed = sessions.openers.holds(session, caller.process)
        authorise(caller, question.scope, labels, claimed=claimed)
    return await question.answer(caller, params)


def _params(request: Ask, kind: type) -> Any:
    try:
        return msgspec.json.decode(
            b"{}" if request.params is UNSET else bytes(request.params), type=kind
        )
    except msgspec.DecodeError as error:
        raise InvalidRequestError(f"{request.name}: {error}") from error
