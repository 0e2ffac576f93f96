"""The receiver of control messages: one message, one acknowledgement, whatever happens.

The order is the same for all of them: version, sender, team and rules, session; then a message
that was claimed before gets its recorded outcome, however old it is. Only a new one is looked
into (age, agent, thread, content) and goes to the desk, where one insert into the session's
ledger claims it. There is no other ledger.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.errors import (
    BusyError,
    FlybridgeError,
    InvalidRequestError,
    NotLiveError,
    SessionNotFoundError,
    StaleTurnError,
)
from flybridge.frontends.control import checks, translate
from flybridge.frontends.control.audit import bad_note, note_of
from flybridge.frontends.control.files import read_ref
from flybridge.frontends.control.outcome import choice_of, is_claimed_with, verdict_of
from flybridge.frontends.control.progress import Reporter, follow, reporter_of
from flybridge.frontends.control.refusals import ControlRefused, not_found, refused_by, rejected
from flybridge.frontends.control.signed import is_remote, opened
from flybridge.frontends.control.teams import TEAM, Policy
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.audit import Record
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.ids import InputKey, SessionId
from flybridge.model.requests import Submit
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.sessions import Sessions
from flybridge.runtime.submit_policy import Terms
from flybridge.session.authorisation import Caller, Scope, knows
from flybridge.session.decide import Context
from flybridge.session.effects import Decision
from flybridge.session.state import State
from flybridge.session.steering import steer, steer_now
from flybridge.store.teams import Member
from flybridge.wire import strict_json
from flybridge.wire.control import messages as wire
from flybridge.wire.control.signed import is_signed

_log = logging.getLogger(__name__)
_NOTHING = c.Archive()  # stands for a command whose outcome is known: it is never decided
# what a member of a team may do in the one session that the rules let them steer
_LENT: frozenset[Scope] = frozenset({"view", "input", "interrupt"})


class ControlSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set about it."""

    base: Path  # where files that messages refer to must be
    team: str = "default"  # of sessions that say nothing about it
    limits: wire.Limits = wire.Limits(
        soft_bytes=64 << 10,
        hard_bytes=1 << 20,
        ref_bytes=wire.MAX_REF_BYTES,
        max_age_s=300,
        skew_s=60,
    )
    ack_s: float = 1.5  # so that it is there before a sender's two seconds are over
    progress_bytes: int = 1 << 20  # how far it is is told of content that is longer
    log_text: bool = False


class Submitting(Protocol):
    def __call__(self, caller: Caller, request: Submit, terms: Terms) -> Awaitable[Reply]: ...


class Control:
    """Answers the one question that every door asks for its senders. ``submit`` is the desk's."""

    submit: Submitting

    def __init__(
        self,
        sessions: Sessions,
        policy: Policy,
        spec: ControlSpec,
        *,
        now_ms: Callable[[], int],
        audit: Callable[[Record], None] = lambda record: None,
    ) -> None:
        self._sessions = sessions
        self._policy = policy
        self._spec = spec
        self._now_ms = now_ms
        self._audit = audit
        policy.changed = self.withdraw

    def table(self) -> dict[str, Question]:
        return {"control": Question("control", Raw, self.answer), **self._policy.table()}

    async def answer(self, caller: Caller, raw: Raw) -> wire.Ack:
        """Take one message.

        Raises:
            InvalidRequestError: it is none, and nothing in it says whose it would be.
        """
        data = bytes(raw)
        asked: wire.Request | wire.Head
        capabilities: wire.Capabilities | UnsetType = UNSET
        try:
            strict_json.check(data)
            if is_signed(data):
                caller, data = opened(self._policy.teams, caller, data, self._now_ms())
            asked = wire.decode_request(data)
        except InvalidRequestError as error:
            head = wire.read_head(data)
            if head is None:
                self._audit(bad_note(caller, error))
                raise
            asked, verdict = head, translate.refusal(refused_by(error))
        else:
            self._audit(note_of(caller, asked, text=self._spec.log_text))
            if isinstance(asked, wire.CapabilitiesRequest):
                verdict, capabilities = await self._judged(self._look(caller, asked))
            else:
                verdict, _ = await self._judged(self._take(caller, asked))
        self._audit(note_of(caller, asked, verdict))
        return translate.to_ack(asked, verdict, self._now_ms(), capabilities)

    async def _judged(
        self, work: Awaitable[tuple[translate.Verdict, wire.Capabilities | UnsetType]]
    ) -> tuple[translate.Verdict, wire.Capabilities | UnsetType]:
        try:
            return await work
        except ControlRefused as refused:
            return translate.refusal(refused), UNSET
        except FlybridgeError as error:
            if (found := refused_by(error)).result == "internal_error":
                _log.error("a control message was not carried out: %s", error)
            return translate.refusal(found), UNSET
        except Exception:
            _log.exception("a control message failed")
            ours = ControlRefused("internal_error", "internal", "see the gateway's log")
            return translate.refusal(ours), UNSET

    # ---- whose session -----------------------------------------------------------------------

    def _admit(self, caller: Caller, request: wire.Request) -> tuple[Member, LiveSession]:
        """Who sends, and to whom: as far as they may know of each other."""
        checks.check_version(request)
        if is_remote(caller):
            raise rejected("unsigned", "what comes from another machine has to be signed")
        rights = rights_for(request)
        admit = partial(self._policy.admit, caller, request.team, request.sender)
        member, *_ = [admit(right) for right in rights]
        live = self._find(caller, request)
        names = frozenset({live.session, live.memory.state.agent_session})
        for right in rights:
            self._policy.check(member, right, names)
        return member, live

    def _find(self, caller: Caller, request: wire.Request) -> LiveSession:
        """Return the one session that is meant: by our id of it, or by its agent's own.

        A closed session takes nothing, so its conversation may go on in another one. Of two that
        are open, nobody can tell which one a conversation's id means: neither is found.
        """
        wanted = request.session_id
        rows = self._sessions.rows()
        named = [row.session for row in rows if row.session == wanted]
        if not named:
            known = [row for row in rows if row.conversation == wanted]
            named = [row.session for row in known if not row.closed] or [
                row.session for row in known
            ]
        found = [live for session in named if (live := self._met(caller, request, session))]
        if len(found) != 1:
            raise not_found()
        return found[0]

    def _met(self, caller: Caller, request: wire.Request, session: SessionId) -> LiveSession | None:
        """Return a session, if there is one as far as this sender is concerned."""
        live = self._get(session)
        if live is None or not knows(caller, session) or self.team_of(live) != request.team:
            return None
        return live

    def _get(self, session: SessionId) -> LiveSession | None:
        try:
            return self._sessions.get(session)
        except SessionNotFoundError:
            return None

    def team_of(self, live: LiveSession) -> str:
        return live.memory.state.labels.get(TEAM, self._spec.team)

    def _check_names(self, live: LiveSession, request: wire.Request) -> None:
        """The session is there; is it this agent in it, and this conversation?"""
        if request.agent_id not in names_of(live.memory.state):
            raise not_found()
        thread = request.thread_id
        if thread is not UNSET and thread != live.memory.state.agent_session:
            raise not_found()

    def _local(self, caller: Caller) -> bool:
        return caller.door == "unix"

    # ---- what it can take --------------------------------------------------------------------

    async def _look(
        self, caller: Caller, request: wire.CapabilitiesRequest
    ) -> tuple[translate.Verdict, wire.Capabilities | UnsetType]:
        _, live = self._admit(caller, request)
        self._check_names(live, request)
        checks.check_age(request, self._spec.limits, self._now_ms())
        state, agent = live.memory.state, live.installed
        alive = state.phase != "none" and not state.closed
        steers = agent is None or agent.capabilities.steers
        limits = self._spec.limits
        if not self._local(caller):
            limits = msgspec.structs.replace(limits, ref_bytes=0)
        return translate.Verdict(result="ok"), wire.Capabilities(
            live=alive,
            busy=_runs(live),
            turn_id=state.turn,
            stdin=alive,
            stdin_while_busy="now" if steers else "queue",
            steer=steers,
            interrupt=alive,
            queue=alive,
            queued=len(state.held()),
            echo=agent is not None and agent.capabilities.echoes_input,
            limits=limits,
        )

    # ---- carrying out ------------------------------------------------------------------------

    async def _take(
        self, caller: Caller, request: wire.StdinRequest | wire.InterruptRequest
    ) -> tuple[translate.Verdict, UnsetType]:
        _, live = self._admit(caller, request)
        name, print_ = checks.ledger_name(request), checks.fingerprint(request)
        key = InputKey(f"{caller.principal}:{name}")
        known = live.stage(key) not in ("", "not_delivered")
        before = checks.fingerprint_before(request)
        if is_claimed_with(live, key, before):
            print_ = before
        report: Reporter | None = None
        if known:
            terms = Terms(fingerprint=print_, decide=_not_again, starts=False)
            command: c.Command = _NOTHING
        else:
            self._check_names(live, request)
            checks.check_age(request, self._spec.limits, self._now_ms())
            report = reporter_of(request, self._spec.progress_bytes, self._now_ms)
            command, decide = await self._prepare(caller, live, request, report)
            terms = Terms(fingerprint=print_, decide=decide, starts=False)
            if isinstance(request, wire.StdinRequest) and request.interrupt is True:
                await self._stop_first(caller, live, name, print_)
        until = self._until(live, command)
        wait = partial(self._submit, caller, live, command, name, terms)
        reply = await (wait(until) if report is None else follow(report, wait, until))
        # a message that did not have to wait is waited for until it is written
        if until is Stage.ACCEPTED and choice_of(live, key) != translate.QUEUED:
            await wait(Stage.WRITTEN)
        return verdict_of(live, key, duplicate=reply.duplicate), UNSET

    async def _prepare(
        self,
        caller: Caller,
        live: LiveSession,
        request: wire.StdinRequest | wire.InterruptRequest,
        report: Reporter | None = None,
    ) -> tuple[c.Command, Callable[[State, c.Command, Context], Decision]]:
        """The command that a new message stands for."""
        row = live.memory.incarnation
        if row is not None and row.asked_to_end and row.state != "ended":
            raise NotLiveError("the agent is ending")
        if isinstance(request, wire.InterruptRequest):
            command = translate.to_interrupt(request)
            # from here on it means this turn, whatever happens on the way to it
            return c.Interrupt(turn=command.turn or live.memory.state.turn), steer
        limits, local = self._spec.limits, self._local(caller)
        checks.check_content(request, limits, local=local, now_ms=self._now_ms())
        if isinstance(request.content_ref, wire.ContentRef):
            tell = (lambda done: None) if report is None else report.read
            text = await asyncio.to_thread(read_ref, self._spec.base, request.content_ref, tell)
            checks.check_text(text)
            if report is not None:
                report.reached("verified")
        else:
            text = wire.given(request.content, "")
        mode = "queue" if request.interrupt is True and _runs(live) else request.mode
        return translate.to_input(text, mode), steer_now if mode == "now" else steer

    async def _stop_first(self, caller: Caller, live: LiveSession, name: str, print_: str) -> None:
        """The first of two steps, under a key of its own: a retry does not stop another turn.
        What is said then waits for the end of this one."""
        if not _runs(live):
            return
        stop = c.Interrupt(turn=live.memory.state.turn)
        terms = Terms(fingerprint=f"{print_}/interrupt", decide=steer, starts=False)
        try:
            await self._submit(caller, live, stop, f"{name}/interrupt", terms, Stage.ACCEPTED)
        except StaleTurnError:
            pass  # it has ended by itself

    async def _submit(
        self,
        caller: Caller,
        live: LiveSession,
        command: c.Command,
        name: str,
        terms: Terms,
        until: Stage,
    ) -> Reply:
        """Hand it to the desk, with the rights that the team's rules lend for this session."""
        lent = msgspec.structs.replace(
            caller, scopes=_LENT, sessions=frozenset({live.session}), process=""
        )
        wanted = Submit(
            ref="",
            session=live.session,
            command=command,
            request=name,
            until=until,
            wait_ms=int(self._spec.ack_s * 1000),
        )
        return await self.submit(lent, wanted, terms)

    def _until(self, live: LiveSession, command: c.Command) -> Stage:
        """How far it should have come: an agent in the middle of a turn may take its time."""
        if not isinstance(command, c.SendInput):
            return Stage.OBSERVED
        if not _runs(live):
            agent = live.installed
            echoes = agent is not None and agent.capabilities.echoes_input
            return Stage.OBSERVED if echoes else Stage.WRITTEN
        stopping = any(one.kind == "interrupt" for one in live.memory.state.inputs.values())
        return Stage.WRITTEN if stopping or command.mode != "queue" else Stage.ACCEPTED

    # ---- rights that are over ----------------------------------------------------------------

    def withdraw(self) -> None:
        """What somebody sent who may not any more, and what has not left yet, stays here."""
        for row in self._sessions.rows():
            live = self._sessions.loaded(row.session)
            if live is None or live.down is not None:
                continue
            inputs = live.memory.state.inputs
            gone = [
                e.InputOutcome(key=key, outcome="cancelled", reason="not allowed any more")
                for key in live.memory.state.held()
                if key.startswith(f"{inputs[key].by}:{checks.PREFIX}")
                and not self._may_still(live, inputs[key].by)
            ]
            step = live.step()
            step.decided(Decision(list(gone), []))
            live.save_if_durable(step)

    def _may_still(self, live: LiveSession, principal: str) -> bool:
        names = frozenset({live.session, live.memory.state.agent_session})
        for member in self._policy.teams.members:
            if member.team == self.team_of(live) and member.principal == principal:
                try:
                    self._policy.check(member, "stdin", names)
                except ControlRefused:
                    continue
                return True
        return False


def names_of(state: State) -> tuple[str, ...]:
    """What the agent in a session goes by: its own id, and ours where it has none yet."""
    return f"{state.agent}:{state.agent_session}", f"{state.agent}:{state.session}"


def rights_for(request: wire.Request) -> tuple[str, ...]:
    """Return every right that a request needs: a message that stops the turn first needs two."""
    right = wire.type_of(request).split(".")[1]
    if isinstance(request, wire.StdinRequest) and request.interrupt is True:
        return right, "interrupt"
    return (right,)


def _runs(live: LiveSession) -> bool:
    return bool(live.memory.state.turn) or live.memory.state.on_the_way()


def _not_again(state: State, command: c.Command, context: Context) -> Decision:
    """It was claimed, and is free again since a moment ago: it provably never happened."""
    raise BusyError("it never reached the agent; send the same request again")
