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
from flybridge.model.capabilities import OpenSpec, Options, StartOptions, Transport
from flybridge.model.ids import SessionId
from flybridge.model.legacy_options import joined, start_fields
from flybridge.model.options import AgentOptions, Value
from flybridge.model.requests import Ask
from flybridge.runtime.access.blobs import BlobAccess
from flybridge.runtime.access.ci_keys import check_key
from flybridge.runtime.access.folders import (
    check_folder,
    is_restricted,
    resolve_folder,
    restricted,
    settings_in,
)
from flybridge.runtime.methods.imports import ImportParams, Imports
from flybridge.runtime.sessions import Sessions, session_id
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
from flybridge.session.ports import Blobs, Journal

MAX_PAGE_BYTES = 1 << 20
MAX_REQUEST_ID = 200
MAX_LABELS = 32
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CONVERSATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
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
    effort: str = ""
    budget_usd: float = 0.0  # 0: no limit
    transport: Transport = "stdio"
    agent_options: dict[str, Any] = {}  # by name; the agent's schema says which there are
    configured: bool = True  # False: without what the configuration sets for the agent
    options: Options = Options()  # as 0.1 took them; accepted for one release
    folder: Literal["ask", "trust", "restrict"] = "ask"  # what to do with settings it brings
    key_digest: str = ""  # SHA-256, in hex, of a key: who has that is taken for its opener
    ci_key: str = ""  # of a program without a terminal, for a mode that asks less


class FolderParams(msgspec.Struct, kw_only=True):
    folder: str
    agent: str = ""  # for agents of its kind; "": the default kind, or to remove: every kind


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
        start = self._start_options(params)
        await self._check_grants(caller, params, start)
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
        options = await self._options_in(cwd, caller, params, start.agent_options)
        start = msgspec.structs.replace(start, agent_options=options)
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
            **start_fields(start),
        )
        session = await self._sessions.open(
            spec, principal=caller.principal, request=params.request
        )
        return {"session": session, **({"resumed": params.resume} if params.resume else {})}

    def _start_options(self, params: OpenParams) -> StartOptions:
        """Return what the session is opened with: what was asked for over what is configured.

        Raises:
            AgentNotFoundError: no such agent is configured.
            InvalidOptionError: the agent has no such option, or not with that value.
        """
        schema = self._sessions.services.shelf.agent(params.agent).options
        asked = StartOptions(
            effort=params.effort,
            budget_usd=params.budget_usd,
            transport=params.transport,
            agent_options=params.agent_options,
        )
        start = joined(asked, params.options)
        values = {**self._configured(params), **start.agent_options}
        schema.check_common(params.agent, effort=start.effort, budget_usd=start.budget_usd)
        typed = schema.validate(values, params.agent)
        return msgspec.structs.replace(start, agent_options=typed)

    def _configured(self, params: OpenParams) -> Mapping[str, Value]:
        if not params.configured:
            return {}
        return self._sessions.services.agent_defaults.get(params.agent, {})

    async def _check_grants(self, caller: Caller, params: OpenParams, start: StartOptions) -> None:
        """Refuse what only a person may grant, unless a CI key allows the permission mode.

        Raises:
            NotAllowedError: the caller is no person, and no key allows it.
        """
        if "admin" in caller.scopes:
            return
        services, owners = self._sessions.services, self._configured(params)
        schema = services.shelf.agent(params.agent).options
        asked = {
            name: value for name, value in start.agent_options.items() if owners.get(name) != value
        }
        if option := grants("", (), schema, asked):
            text = f"The option {option} needs an interactive terminal."
            raise NotAllowedError("admin", message=text)
        known = (await services.shelf.capabilities(params.agent)).known_modes if params.mode else ()
        if not grants(params.mode, known, schema, asked):
            return
        key = check_key(
            services.ci_keys,
            caller,
            params.ci_key,
            kind=services.shelf.agent(params.agent).kind,
            mode=params.mode,
            now_ms=services.now_ms(),
        )
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
        """``folders`` are those of the first kind of agent, as clients of older versions know."""
        trusted = self._sessions.trusted
        if trusted is None:
            return {"folders": [], "kinds": {}}
        return {"folders": trusted.all(), "kinds": trusted.by_kind()}

    async def trust_add(self, _: Caller, params: FolderParams) -> object:
        kind = self._kind_of(params.agent)
        folder = await asyncio.to_thread(resolve_folder, params.folder)
        if self._sessions.trusted is not None:
            self._sessions.trusted.add(folder, *kind)
        return {}

    async def trust_remove(self, _: Caller, params: FolderParams) -> object:
        trusted = self._sessions.trusted
        if trusted is None:
            return {"removed": False}
        kind = self._kind_of(params.agent)
        return {"removed": await asyncio.to_thread(trusted.remove, Path(params.folder), *kind)}

    def _kind_of(self, agent: str) -> tuple[str, ...]:
        """Return the kind of a configured agent, or nothing where no agent is named.

        Raises:
            AgentNotFoundError: no such agent is configured.
        """
        return (self._sessions.services.shelf.agent(agent).kind,) if agent else ()

    async def _options_in(
        self, cwd: Path, caller: Caller, params: OpenParams, options: AgentOptions
    ) -> AgentOptions:
        """Return the options, once somebody answered for the settings that the folder brings.

        Raises:
            AgentNotFoundError: no such agent is configured.
            FolderNotTrustedError: nobody answered.
            NotSupportedError: the agent cannot be started without the settings of its folder.
        """
        trusted = self._sessions.trusted
        if trusted is None and params.folder != "restrict":
            return options
        agent = self._sessions.services.shelf.agent(params.agent)
        if is_restricted(agent, options):  # as the session this one goes on from
            return options
        settings = await asyncio.to_thread(settings_in, cwd, agent.trust_files)
        if params.folder == "restrict" and settings:
            return restricted(agent, options)
        if trusted is None or not settings:
            return options
        if await asyncio.to_thread(trusted.holds, cwd, agent.kind):
            return options
        configured = self._sessions.services.folder_settings
        if params.folder == "ask" and configured != "ask":  # the owner's file answers for them
            return options if configured == "trust" else restricted(agent, options)
        if params.folder == "trust":
            authorise(caller, "admin", {})
            trusted.add(cwd, agent.kind)
            self._audit(
                Record(
                    event="folder.trust",
                    outcome="done",
                    target=str(cwd),
                    detail=agent.kind,
                    **who(caller),
                )
            )
        await asyncio.to_thread(check_folder, trusted, agent, cwd, settings)
        return options

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
        self._check_kind(params)
        holder = self._sessions.holder_of(params.resume)
        again = session_id(caller.principal, params.request)
        if not params.fork and holder not in (None, again):
            raise BusyError(f"session {holder} has this conversation open; fork it")

    def _check_kind(self, params: OpenParams) -> None:
        """Refuse to resume what an agent of the same name and another kind has said.

        Raises:
            AgentUnavailableError: the name had another kind then.
        """
        shelf = self._sessions.services.shelf
        refusals = [
            shelf.refusal(row.agent, row.kind, runs=False)
            for row in self._sessions.rows()
            if row.agent == params.agent and params.resume in (row.conversation, *row.conversations)
        ]
        if refusals and refusals[0] is not None and all(refusals):
            raise refusals[0]

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
