"""What a command makes happen, decided from the state alone.

A refusal is a raised ``RefusedError`` and leaves no trace. Otherwise the decision holds the
events to commit and the effects to carry out after the commit, in that order.
"""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec import UNSET

from flybridge.errors import (
    BusyError,
    InvalidRequestError,
    NotSupportedError,
    PromptClosedError,
    SessionClosedError,
    StalePromptError,
    StaleTurnError,
)
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import Capabilities, OpenSpec
from flybridge.model.content import Text
from flybridge.model.ids import IncarnationId, InputKey, PromptId
from flybridge.model.legacy_options import legacy_fields, start_fields, start_options
from flybridge.model.options import Value
from flybridge.session import incarnations as lives
from flybridge.session import ledger
from flybridge.session.attachments import check_content
from flybridge.session.effects import Decision, Effect, Forget, Kill, Start, Stop
from flybridge.session.secrets import HIDDEN
from flybridge.session.state import OpenPrompt, State
from flybridge.session.tool_input import Kept, is_object, kept, meaning_of
from flybridge.session.waiting import dispatch

MAX_HELD = 32
MAX_TITLE = 200


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision may know besides the state. Fresh ids come from outside."""

    now_ms: int
    principal: str = ""
    request: str = ""
    fingerprint: str = ""  # of the request, where it is more than its command
    attempt: int = 1
    incarnation: IncarnationId = IncarnationId("")  # to use should an agent be started
    capabilities: Capabilities | None = None  # of the agent; None: not known yet
    max_held: int = MAX_HELD
    kept: dict[str, Value] = {}  # agent options of a new session for its later lives
    may_start: bool = True  # False: as many agents live as may
    kind: str = ""  # of the agent that a session is opened with
    version: str = ""  # of its program


def open_session(spec: OpenSpec, context: Context) -> Decision:
    """A new session begins with its agent being started."""
    started = e.AgentStarted(incarnation=context.incarnation, resumed=spec.resume)
    return Decision([_opened(spec, context), started], [Start(context.incarnation, spec)])


def import_session(spec: OpenSpec, context: Context, *, archived: bool) -> Decision:
    """A conversation from before becomes a session; its first input starts an agent."""
    put_away = [e.SessionChanged(archived=True)] if archived else []
    return Decision([_opened(spec, context), *put_away])


def _opened(spec: OpenSpec, context: Context) -> e.SessionOpened:
    kept = {**spec.agent_options, **context.kept}
    start = msgspec.structs.replace(start_options(spec), agent_options=kept)
    return e.SessionOpened(
        agent=spec.agent,
        cwd=spec.cwd,
        title=spec.title,
        labels=spec.labels,
        model=spec.model,
        mode=spec.mode,
        opener=context.principal,
        resumed=spec.agent_session if spec.resume else "",
        forked=spec.fork,
        continued=spec.continue_latest,
        from_pr=spec.from_pr,
        **start_fields(start),
        **legacy_fields(start),
        kind=context.kind,
        version=context.version,
    )


def decide(state: State, command: c.Command, context: Context) -> Decision:
    """Decide one command of an authorised caller under a key that is free to use.

    Raises:
        RefusedError: it cannot be done in this state; nothing happened.
    """
    if state.closed and not isinstance(command, c.Delete | c.Archive | c.Rename):
        raise SessionClosedError(state.session)
    match command:
        case c.SendInput():
            return _send_input(state, command, context)
        case c.AnswerPermission():
            return _answer_permission(state, command, context)
        case c.AnswerQuestion():
            return _answer_question(state, command, context)
        case c.Interrupt():
            return _interrupt(state, command, context)
        case c.EditQueued():
            return _edit_queued(state, command, context)
        case c.CancelQueued():
            return _cancel_queued(state, command, context)
        case c.Rename(title=title):
            if len(title) > MAX_TITLE:
                raise InvalidRequestError(f"a title has at most {MAX_TITLE} characters")
            return _of_session(state, command, context, [e.SessionChanged(title=title)], [])
        case c.Archive(archived=archived):
            return _of_session(state, command, context, [e.SessionChanged(archived=archived)], [])
        case c.Close():
            return _close(state, command, context)
        case c.Delete():
            return _close(state, command, context, deleting=True)
        case (
            c.SetModel()
            | c.SetMode()
            | c.SetEffort()
            | c.SetFast()
            | c.SetThinking()
            | c.StopTask()
            | c.Mcp()
        ):
            return _setting(state, command, context)
        case _:
            assert_never(command)


def nothing_to_do(state: State, command: c.Command, context: Context) -> Decision:
    """Claim the key of a command that has nothing left to do: a repeat has to hear the same."""
    return _of_session(state, command, context, [], [])


def _accepted(
    state: State, command: c.Command, context: Context, **more: object
) -> e.InputAccepted:
    return e.InputAccepted(
        key=ledger.key_of(command, context.principal, context.request),
        kind=ledger.kind_of(command),
        by=context.principal,
        fingerprint=context.fingerprint
        or ledger.fingerprint(command, context.principal, context.request),
        attempt=context.attempt,
        choice=ledger.choice_of(command),
        **more,  # type: ignore[arg-type]
    )


def _send_input(state: State, command: c.SendInput, context: Context) -> Decision:
    check_content(command.content)
    if len(state.held()) >= context.max_held:
        raise BusyError(f"{context.max_held} inputs are waiting already")
    if state.phase == "none" and not context.may_start:
        raise BusyError("as many agents are running as may; end one first")
    if command.secret and (state.phase != "live" or _must_wait(state, command)):
        raise BusyError("a secret cannot be kept until the agent takes it")
    if command.mode == "steer" and not state.turn:
        raise StaleTurnError("")
    if command.deadline_ms and command.deadline_ms <= context.now_ms:
        raise InvalidRequestError("the deadline is over")
    accepted = _accepted(
        state,
        command,
        context,
        content=(Text(HIDDEN),) if command.secret else command.content,
        mode=command.mode,
        deadline_ms=command.deadline_ms,
    )
    out = Decision([accepted], [])
    if state.phase == "none":
        out.events.append(e.AgentStarted(incarnation=context.incarnation, resumed=state.spoke))
        out.effects.append(Start(context.incarnation, lives.start_spec(state)))
    elif state.phase == "live" and not _must_wait(state, command):
        sent = dispatch(state, command, accepted.key)
        out.events += sent.events
        out.effects += sent.effects
    return out


def _must_wait(state: State, command: c.SendInput) -> bool:
    if not state.accepts_input:
        return True
    if command.mode != "queue":
        return False
    return bool(state.turn) or state.on_the_way() or bool(state.held())


def _open_prompt(state: State, prompt: PromptId, kind: str, digest: str) -> OpenPrompt:
    found = state.prompts.get(prompt)
    if found is None or found.kind != kind:
        raise PromptClosedError(prompt)
    if found.digest != digest:
        raise StalePromptError(prompt)
    return found


def _answer_permission(state: State, command: c.AnswerPermission, context: Context) -> Decision:
    prompt = _open_prompt(state, command.prompt, "permission", command.digest)
    given = command.updated_input
    if given is not UNSET and not is_object(given):
        raise InvalidRequestError("the input of a tool is an object")
    if given is not UNSET and not (prompt.can_edit and command.decision == "allow"):
        raise InvalidRequestError("this prompt's input cannot be changed")
    own, offers, known = prompt.own_offers, prompt.offers, prompt.known_offers
    if any(not 0 <= index < len(known) for index in command.remember):
        raise InvalidRequestError("no such suggestion")
    if any(known[index].decision != command.decision for index in command.remember):
        other = "allow" if command.decision == "deny" else "deny"
        raise InvalidRequestError(f"this suggestion can be accepted only with: {other}")
    edited = given is not UNSET and meaning_of(given) != prompt.meaning
    allowed = kept(given) if given is not UNSET and edited else Kept()
    closed = e.PermissionClosed(
        prompt=command.prompt,
        how="allowed" if command.decision == "allow" else "denied",
        by=context.principal,
        message=command.message,
        edited=edited,
        rules=tuple(own[index] for index in command.remember if index < len(own)),
        offers=tuple(offers[index] for index in command.remember if index < len(offers)),
        place=command.place if command.remember else "",
        input=allowed.input,
        blob=allowed.blob,
    )
    # handed back unchanged, the agent gets its own input, byte for byte
    sent = command if edited else msgspec.structs.replace(command, updated_input=UNSET)
    decision = _answer(state, command, context, closed, sent)
    return msgspec.structs.replace(decision, blobs=allowed.blobs)


def _answer_question(state: State, command: c.AnswerQuestion, context: Context) -> Decision:
    _open_prompt(state, command.prompt, "question", command.digest)
    closed = e.QuestionClosed(
        prompt=command.prompt,
        how="declined" if command.declined else "answered",
        by=context.principal,
        answers=command.answers,
    )
    return _answer(state, command, context, closed, command)


def _answer(
    state: State,
    command: c.AnswerPermission | c.AnswerQuestion,
    context: Context,
    closed: e.PermissionClosed | e.QuestionClosed,
    sent: c.Command,
) -> Decision:
    accepted = _accepted(state, command, context)
    leaving = dispatch(state, sent, accepted.key)
    return Decision([accepted, closed, *leaving.events], leaving.effects)


def _interrupt(state: State, command: c.Interrupt, context: Context) -> Decision:
    if command.turn and command.turn != state.turn:
        raise StaleTurnError(command.turn)
    if command.hard and state.phase != "none":
        return _of_session(state, command, context, [], [Kill()])
    if state.phase != "live" or not (state.turn or state.on_the_way()):
        raise StaleTurnError("")
    accepted = _accepted(state, command, context, turn=command.turn)
    sent = dispatch(state, command, accepted.key)
    return Decision([accepted, *sent.events], sent.effects)


def _setting(state: State, command: c.Command, context: Context) -> Decision:
    tag = str(command.__struct_config__.tag)
    agent = context.capabilities
    if agent is not None and tag not in agent.commands:
        raise NotSupportedError(f"{state.agent} does not take {tag}")
    if agent is not None and tag in agent.at_start:
        return _for_next_life(state, command, context, agent.efforts)
    if state.phase != "live":
        raise BusyError("the agent is not running")
    return _sent(state, command, context)


def _sent(state: State, command: c.Command, context: Context) -> Decision:
    """A command that leaves for the agent at once."""
    accepted = _accepted(state, command, context)
    sent = dispatch(state, command, accepted.key)
    return Decision([accepted, *sent.events], sent.effects)


def _for_next_life(
    state: State, command: c.Command, context: Context, efforts: frozenset[str]
) -> Decision:
    """The agent takes it only when it starts: it ends now, and the next input starts it anew
    in the same conversation."""
    if state.turn or state.prompts or state.inputs or state.phase == "starting":
        raise BusyError("the agent takes that only when it starts: wait for the end of the turn")
    after = lives.options_after(state.start, command, efforts)
    stop: list[Effect] = [] if state.phase == "none" else [Stop()]
    return _of_session(state, command, context, [lives.change_event(state.start, after)], stop)


def _held(state: State, key: str) -> InputKey:
    if InputKey(key) not in state.held():
        raise InvalidRequestError("that input is not waiting any more")
    return InputKey(key)


def _edit_queued(state: State, command: c.EditQueued, context: Context) -> Decision:
    check_content(command.content)
    changed = e.QueueChanged(key=_held(state, command.key), content=command.content)
    return _of_session(state, command, context, [changed], [])


def _cancel_queued(state: State, command: c.CancelQueued, context: Context) -> Decision:
    one = state.inputs.get(InputKey(command.key))
    agent = context.capabilities
    if one is not None and one.kind == "message" and one.stage in ("dispatching", "written"):
        if agent is None or "cancel_queued" not in agent.commands:
            raise NotSupportedError("it has left already, and the agent gives nothing back")
        return _sent(state, command, context)
    gone = e.InputOutcome(key=_held(state, command.key), outcome="cancelled")
    return _of_session(state, command, context, [gone], [])


def _close(
    state: State, command: c.Close | c.Delete, context: Context, *, deleting: bool = False
) -> Decision:
    gone: list[e.Event] = [
        e.InputOutcome(key=key, outcome="cancelled", reason="the session was closed")
        for key in state.held()
    ]
    stop: list[Effect] = [] if state.phase == "none" else [Stop()]
    if deleting:
        stop.append(Forget())
    reason = command.reason if isinstance(command, c.Close) else ""
    closed = e.SessionClosed(by=context.principal, deleting=deleting, reason=reason)
    return _of_session(state, command, context, [*gone, closed], stop)


def _of_session(
    state: State,
    command: c.Command,
    context: Context,
    events: list[e.Event],
    effects: list[Effect],
) -> Decision:
    """A command the gateway carries out itself: done as soon as it is committed."""
    accepted = _accepted(state, command, context)
    done = e.InputOutcome(key=accepted.key, outcome="done")
    return Decision([accepted, *events, done], effects)
