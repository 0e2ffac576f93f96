"""The fold: how each event changes the state. One table, one small function per event.

Folding the log from the start gives the live state at every prefix. An event that changes
nothing here is listed in ``_NOTHING``, so that a new event cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.ids import TurnId
from flybridge.model.legacy_options import after_change, recorded, start_options
from flybridge.session import alarms
from flybridge.session.secrets import HIDDEN
from flybridge.session.state import LastAlarm, OpenInput, OpenItem, OpenPrompt, State
from flybridge.session.tool_input import meaning_of
from flybridge.session.waiting import NOT_ACCEPTING

MAX_RULES = 256
UNNAMED = "(a suggestion of the agent's)"
MAX_CONVERSATIONS = 64


def evolve(state: State, event: e.Event, seq: int, at_ms: int) -> None:
    """Fold one event into the state, in place."""
    state.seq = seq
    state.at_ms = at_ms
    if state.past and not isinstance(event, e.History):
        return  # somebody else's turns: shown, but nothing of them is open or counts here
    change = _CHANGES.get(type(event))
    if change is not None:
        change(state, event)


def _opened(state: State, event: e.SessionOpened) -> None:
    state.agent, state.cwd, state.title = event.agent, event.cwd, event.title
    state.kind, state.version = event.kind, event.version
    state.labels, state.opener = event.labels, event.opener
    state.model, state.mode, state.opened_ms = event.model, event.mode, state.at_ms
    state.start = recorded(start_options(event), event.options)
    state.continues, state.from_pr = event.continued, event.from_pr
    state.copies = event.forked
    if event.forked:
        state.forks = event.resumed
    elif event.resumed:
        state.agent_session, state.spoke = event.resumed, True


def _changed(state: State, event: e.SessionChanged) -> None:
    if event.title is not None:
        state.title = event.title
    if event.archived is not None:
        state.archived = event.archived
    state.start = after_change(state.start, event)


def _closed(state: State, event: e.SessionClosed) -> None:
    state.closed = True
    state.deleting = state.deleting or event.deleting


def _started(state: State, event: e.AgentStarted) -> None:
    state.phase, state.incarnation = "starting", event.incarnation
    state.lives += 1
    alarms.started(state)


def _connected(state: State, event: e.AgentConnected) -> None:
    state.phase, state.accepts_input = "live", event.accepts_input
    _silent_since(state, 0 if event.accepts_input else state.at_ms)


def _accepts_input(state: State, _: e.AgentAcceptsInput) -> None:
    state.accepts_input = True
    _silent_since(state, 0)


def _silent_since(state: State, at_ms: int) -> None:
    state.silent_since_ms, state.silence_noted = at_ms, False


def _notice(state: State, event: e.Notice) -> None:
    if event.text.startswith(NOT_ACCEPTING):
        state.silence_noted = True


def _ready(state: State, event: e.AgentReady) -> None:
    _converse(state, event.agent_session or state.agent_session)
    alarms.reported(state, event.mode)
    state.model = event.model or state.model
    state.mode = event.mode or state.mode
    state.version = event.version or state.version


def _converse(state: State, named: str) -> None:
    """The agent's own id of the conversation changes; the ones before are still this session's."""
    known = state.agent_session
    if known and known != named:
        earlier = [other for other in state.conversations if other not in (known, named)]
        state.conversations = [*earlier, known][-MAX_CONVERSATIONS:]
    state.agent_session = named


def _history(state: State, event: e.History) -> None:
    state.past = event.phase == "started"


def _conversation_lost(state: State, _: e.ConversationLost) -> None:
    _converse(state, "")
    state.forks, state.spoke = "", False
    state.continues, state.from_pr = False, ""


def _exited(state: State, _: e.AgentExited) -> None:
    state.phase, state.accepts_input = "none", True
    _silent_since(state, 0)
    state.rules, state.granted, state.background = [], [], 0
    _go_on(state)


def _accepted(state: State, event: e.InputAccepted) -> None:
    state.inputs[event.key] = OpenInput(
        kind=event.kind,
        by=event.by,
        fingerprint=event.fingerprint,
        mode=event.mode,
        content=event.content,
        deadline_ms=event.deadline_ms,
        attempt=event.attempt,
        choice=event.choice,
        since_ms=state.at_ms,
        target=event.turn,
    )
    alarms.accepted(state, event)
    state.confided = state.confided or event.content == (Text(HIDDEN),)


def _dispatched(state: State, event: e.InputDispatched) -> None:
    one = state.inputs[event.key]
    one.stage, one.incarnation, one.content = "dispatching", event.incarnation, ()
    one.since_ms = state.at_ms


def _written(state: State, event: e.InputWritten) -> None:
    state.inputs[event.key].stage = "written"


def _consumed(state: State, event: e.InputConsumed) -> None:
    one = state.inputs[event.key]
    one.stage, one.turn = "observed", event.turn


def _outcome(state: State, event: e.InputOutcome) -> None:
    known = state.inputs.pop(event.key, None)
    if known is not None:
        alarms.settled(state, known.kind, known.choice, event.outcome)


def _edited(state: State, event: e.QueueChanged) -> None:
    state.inputs[event.key].content = event.content


def _turn_started(state: State, event: e.TurnStarted) -> None:
    state.turn, state.turn_since_ms = event.turn, state.at_ms
    state.turns += 1
    state.ended = ""
    state.spoke = True
    alarms.turned(state)
    _go_on(state)
    for one in state.inputs.values():  # shown to have been read before the turn was
        if one.stage == "observed" and not one.turn:
            one.turn = event.turn


def _turn_ended(state: State, event: e.TurnEnded) -> None:
    for waiting in state.inputs.values():
        if waiting.target == event.turn and event.reason == "interrupted":
            waiting.stopped = True
    state.turn = TurnId("")
    state.ended = event.reason
    alarms.turned(state)
    state.cost_usd += event.cost_usd
    state.gauges = {**state.gauges, **event.gauges}
    _go_on(state)


def _item_started(state: State, event: e.ItemStarted) -> None:
    state.items[event.item] = OpenItem(
        kind=event.kind,
        turn=event.turn,
        parent=event.parent,
        name=event.name,
        since_ms=state.at_ms,
    )
    _go_on(state)


def _tool_started(state: State, event: e.ToolStarted) -> None:
    one = state.items[event.item]
    one.running, one.since_ms = True, state.at_ms
    one.tool = event.kind


def _item_done(state: State, event: e.TextDone | e.ThinkingDone | e.ToolResult) -> None:
    known = state.items.pop(event.item, None)
    if isinstance(event, e.ToolResult):
        alarms.returned(state, event, known)


def _permission(state: State, event: e.PermissionRequested) -> None:
    state.prompts[event.prompt] = OpenPrompt(
        kind="permission",
        digest=event.digest,
        meaning=meaning_of(event.input),
        tool=event.tool,
        tool_kind=event.kind,
        item=event.item,
        parent=event.parent,
        can_edit=event.can_edit,
        suggestions=len(event.suggestions),
        own_offers=event.suggestions,
        offers=event.offers,
        since_ms=state.at_ms,
        seq=state.seq,
    )


def _question(state: State, event: e.QuestionRequested) -> None:
    state.prompts[event.prompt] = OpenPrompt(
        kind="question",
        digest=event.digest,
        item=event.item,
        parent=event.parent,
        since_ms=state.at_ms,
        seq=state.seq,
    )


def _prompt_closed(state: State, event: e.PermissionClosed | e.QuestionClosed) -> None:
    prompt = state.prompts.pop(event.prompt, None)
    if prompt is not None:
        alarms.closed(state, event, prompt)
    if not isinstance(event, e.PermissionClosed) or event.how != "allowed":
        return  # a denial that is kept grants nothing
    if event.place == "session":
        if event.offers:
            kept = [offer.text or UNNAMED for offer in event.offers if not offer.durable]
            state.granted = [*state.granted, *kept][-MAX_RULES:]
        else:  # a log of 0.1.0
            state.rules = [*state.rules, *event.rules][-MAX_RULES:]


def _mode(state: State, event: e.ModeChanged) -> None:
    alarms.reported(state, event.mode)
    state.mode = event.mode


def _model(state: State, event: e.ModelChanged) -> None:
    state.model = event.model


def _compacted(state: State, event: e.ContextCompacted) -> None:
    if event.phase == "started":
        state.waiting_for = "compaction"
    else:
        _go_on(state)


def _background(state: State, event: e.BackgroundChanged) -> None:
    state.background = len(event.tasks)


def _retry(state: State, event: e.Retry) -> None:
    state.waiting_for, state.waiting_until_ms = "retry", event.at_ms


def _rate_limit(state: State, event: e.RateLimit) -> None:
    if event.status == "rejected" or any(one.status == "reached" for one in event.limits[:1]):
        state.waiting_for, state.waiting_until_ms = "rate_limit", event.resets_ms


def _error(state: State, event: e.Error) -> None:
    if event.code == "wedged":
        state.waiting_for = "wedged"


def _alarm(state: State, event: e.AlarmRaised) -> None:
    state.alarms += 1
    state.alarm = LastAlarm(state.seq, state.at_ms, event.code, event.text, event.advice)
    state.watched.pop(event.item, None)  # it was reported


def _go_on(state: State) -> None:
    """Something moved: it no longer waits for the clock."""
    state.waiting_for, state.waiting_until_ms = "", 0


_CHANGES: dict[type, Callable[[State, Any], None]] = {
    e.SessionOpened: _opened,
    e.SessionChanged: _changed,
    e.SessionClosed: _closed,
    e.AgentStarted: _started,
    e.AgentConnected: _connected,
    e.AgentAcceptsInput: _accepts_input,
    e.AgentReady: _ready,
    e.AgentExited: _exited,
    e.History: _history,
    e.ConversationLost: _conversation_lost,
    e.Notice: _notice,
    e.InputAccepted: _accepted,
    e.InputDispatched: _dispatched,
    e.InputWritten: _written,
    e.InputConsumed: _consumed,
    e.InputOutcome: _outcome,
    e.QueueChanged: _edited,
    e.TurnStarted: _turn_started,
    e.TurnEnded: _turn_ended,
    e.ItemStarted: _item_started,
    e.ToolStarted: _tool_started,
    e.TextDone: _item_done,
    e.ThinkingDone: _item_done,
    e.ToolResult: _item_done,
    e.PermissionRequested: _permission,
    e.PermissionClosed: _prompt_closed,
    e.QuestionRequested: _question,
    e.QuestionClosed: _prompt_closed,
    e.ModeChanged: _mode,
    e.ModelChanged: _model,
    e.ContextCompacted: _compacted,
    e.BackgroundChanged: _background,
    e.Retry: _retry,
    e.RateLimit: _rate_limit,
    e.Error: _error,
    e.AlarmRaised: _alarm,
}
_NOTHING: frozenset[type] = frozenset(
    {
        e.InputRefused,  # its outcome follows
        e.Diff,
        e.Plan,
        e.Tasks,
        e.PermissionAuto,
        e.Gap,
        e.Unrecognised,
    }
)
