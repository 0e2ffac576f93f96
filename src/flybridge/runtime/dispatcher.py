"""The desk: every request gets exactly one reply, whatever happens.

The order is the same for all: authorisation, known key, decision, commit; then the reply waits
for the stage the client asked for, or for its time to run out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Protocol, assert_never

import msgspec
from msgspec import Raw

from flybridge.errors import (
    FlybridgeError,
    InvalidRequestError,
    NotAllowedError,
    SessionNotFoundError,
    StorageError,
)
from flybridge.model import commands as c
from flybridge.model.audit import Record
from flybridge.model.deliveries import Reply
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Detach, Request, Submit
from flybridge.runtime.access.alarms import Alarms
from flybridge.runtime.broadcaster import Hub, Sink, Subscription
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.ci_keys import CiKeyQuestions
from flybridge.runtime.methods.listing import SessionList
from flybridge.runtime.methods.sessions import MAX_REQUEST_ID, Question, SessionQuestions, answer
from flybridge.runtime.methods.uploads import with_uploads
from flybridge.runtime.sessions import Sessions
from flybridge.runtime.submit_policy import USUAL, Terms
from flybridge.runtime.unrecorded import pass_on
from flybridge.runtime.waiters import Submitted, is_reached
from flybridge.session.authorisation import (
    Caller,
    authorise,
    knows,
    outlives_the_prompt,
    scope_of,
    stops_the_turn,
    who,
)
from flybridge.session.ledger import choice_of, error_of, grants_nothing, stage_of
from flybridge.session.ports import Blobs, Journal

MAX_WAIT_MS = 600_000
_AUDITED = (  # who said what is in the session's log; this is about rights
    c.AnswerPermission | c.AnswerQuestion | c.SetMode | c.Mcp | c.Close | c.Delete | c.Interrupt
)
_log = logging.getLogger(__name__)


class Client(Sink, Protocol):
    """A connected client, as the desk sees it."""

    caller: Caller
    subscriptions: dict[SessionId, Subscription]

    def reply(self, reply: Reply) -> None: ...


class Desk:
    """Takes requests of authenticated clients. ``extra`` adds the gateway's own questions."""

    def __init__(
        self,
        sessions: Sessions,
        hub: Hub,
        journal: Journal,
        blobs: Blobs,
        extra: Mapping[str, Question],
        audit: Callable[[Record], None] = lambda record: None,
    ) -> None:
        self._sessions = sessions
        self._hub = hub
        self._blobs = blobs
        known = SessionQuestions(sessions, journal, blobs, audit)
        self.blob_access = known.blob_access
        listed = SessionList(sessions, hub.changes)
        self._questions = {**known.table(), **listed.table(), **extra}
        services = sessions.services
        if services.ci_keys is not None:
            keys = CiKeyQuestions(
                services.ci_keys,
                audit,
                services.now_ms,
                services.shelf,
                services.default_agent,
            )
            self._questions |= keys.table()
        self._audit = audit
        self._alarms = Alarms()

    async def handle(self, client: Client, request: Request) -> None:
        """Carry out one request and reply to it once. Never raises."""
        if isinstance(request, Detach):
            self.detach(client, request.session)
            return
        try:
            match request:
                case Submit():
                    reply = await self.submit(client.caller, request)
                case Attach():
                    self._attach(client, request)
                    return
                case Ask():
                    value = await self.ask(client.caller, request)
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

    async def submit(self, caller: Caller, request: Submit, terms: Terms = USUAL) -> Reply:
        """Carry out a command of an authenticated caller.

        Raises:
            FlybridgeError: it was not carried out.
        """
        event = str(request.command.__struct_config__.tag)
        try:
            reply = await self._submit(caller, request, terms)
        except FlybridgeError as error:
            self._refused(caller, event, request.session, request.request, error)
            if isinstance(error, NotAllowedError) and knows(caller, request.session):
                live = self._sessions.loaded(request.session)
                if live is not None:
                    self._alarms.refused(live, caller, request.command)
            raise
        if isinstance(request.command, _AUDITED) and not reply.duplicate:
            self._audit(
                Record(
                    event=event,
                    outcome="done",
                    code=reply.error,
                    session=request.session,
                    request=request.request,
                    target=getattr(request.command, "prompt", ""),
                    detail=choice_of(request.command),
                    **who(caller),
                )
            )
        return reply

    async def _submit(self, caller: Caller, request: Submit, terms: Terms) -> Reply:
        if not 0 < len(request.request) <= MAX_REQUEST_ID:
            raise InvalidRequestError(f"a request id has 1 to {MAX_REQUEST_ID} characters")
        authorise(caller, "view", {})
        live = self._get(caller, request.session)
        await live.settled(request.command)
        state = live.memory.state
        claimed = self._sessions.openers.holds(request.session, caller.process)
        authorise(caller, scope_of(request.command), state.labels, claimed=claimed)
        if stops_the_turn(request.command):
            authorise(caller, "interrupt", state.labels, claimed=claimed)
        if outlives_the_prompt(request.command, state):
            authorise(caller, "admin", state.labels, claimed=claimed)
        if isinstance(request.command, c.SendInput) and state.phase == "none" and terms.starts:
            await self._sessions.make_room()
        await self.blob_access.check_content(caller, request.command)
        command = await with_uploads(request.command, self._blobs)
        try:
            done = live.submit(
                command, principal=caller.principal, request=request.request, terms=terms
            )
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
        live = self._get(client.caller, request.session)
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

    async def ask(self, caller: Caller, request: Ask) -> object:
        """Answer a question of an authenticated caller.

        Raises:
            FlybridgeError: it was not answered.
        """
        try:
            value = await answer(self._questions, self._sessions, caller, request)
        except FlybridgeError as error:
            self._refused(caller, request.name, "", "", error)
            raise
        if self._questions[request.name].audited:
            self._audit(Record(event=request.name, outcome="done", **who(caller)))
        return value

    # ---- who may, and who did ----------------------------------------------------------------

    def _get(self, caller: Caller, session: SessionId) -> LiveSession:
        """A session, if there is one as far as this caller is concerned."""
        if not knows(caller, session):
            raise SessionNotFoundError(session)
        return self._sessions.get(session)

    def _refused(
        self, caller: Caller, event: str, session: str, request: str, error: FlybridgeError
    ) -> None:
        if isinstance(error, NotAllowedError):
            self._audit(
                Record(
                    event=event,
                    outcome="refused",
                    code=error.code,
                    session=session,
                    request=request,
                    detail=error.scope,
                    **who(caller),
                )
            )


def _details(error: FlybridgeError) -> Raw:
    """The data an error carries, for clients that would rather not read its text."""
    plain = {key: one for key, one in vars(error).items() if isinstance(one, str | int)}
    return Raw(msgspec.json.encode(plain))
