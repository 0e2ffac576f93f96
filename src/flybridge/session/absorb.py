"""What a report of the agent, its keeper or the link makes happen.

Never refuses and never raises: an agent may say anything. What contradicts the state is
ignored where it is a repeat, and shown as a notice where it is a violation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, assert_never

from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Mode
from flybridge.model.ids import ItemId, PromptId, TurnId
from flybridge.session import alarms, inputs
from flybridge.session.effects import Decision
from flybridge.session.ledger import outcome_after_death
from flybridge.session.state import State
from flybridge.session.waiting import release

Streamed: TypeAlias = Callable[[ItemId], str]  # the text so far of an open item


def digest_of(tool: str, body: bytes) -> str:
    """What an answer to a prompt is bound to: the tool and its whole input."""
    return hashlib.sha256(tool.encode() + b"\0" + body).hexdigest()


def absorb(
    state: State,
    fact: f.Fact,
    streamed: Streamed,
    modes: Sequence[Mode],
    taken: alarms.Taken = alarms.nobody_has,
) -> Decision:
    """Turn one fact into events and effects. ``state`` is not changed here.

    ``modes`` are the permission modes that the agent publishes. ``taken`` tells which
    conversation ids other sessions have or had.
    """
    frequent = _FREQUENT.get(type(fact))
    if frequent is not None:
        return Decision(frequent(state, fact), [])
    match fact:
        case f.LinkUp():
            return _link_up(state, fact)
        case f.AcceptsInput():
            return _ready(state)
        case f.LinkEnded():
            return _link_ended(state, fact, streamed)
        case f.TurnOver():
            return _turn_over(state, fact)
        case f.InputRejected():
            return inputs.rejected(state, fact)
        case e.AgentReady():
            return Decision(alarms.of_ready(state, fact, modes, taken), [])
        case e.ModeChanged(mode=mode):
            return Decision([fact, *alarms.of_mode(state, mode, modes)], [])
        case _:
            return Decision(_events(state, fact, streamed), [])


def _events(  # noqa: C901 (one line per kind of fact)
    state: State,
    fact: (
        f.Wrote
        | f.NotSent
        | f.TurnBegan
        | f.ItemOpened
        | f.ItemClosed
        | f.ToolCalled
        | f.ToolReturned
        | f.PermissionAsked
        | f.QuestionAsked
        | f.PromptWithdrawn
        | f.InputEchoed
        | f.InputConfirmed
        | f.InputUnanswered
        | e.ConversationLost
        | e.PermissionAuto
        | e.BackgroundChanged
        | e.ContextCompacted
        | e.Diff
        | e.Plan
        | e.Tasks
        | e.ModelChanged
        | e.Retry
        | e.RateLimit
        | e.Notice
        | e.Error
        | e.Gap
        | e.Unrecognised
    ),
    streamed: Streamed,
) -> list[e.Event]:
    match fact:
        case f.Wrote(key=key):
            return inputs.wrote(state, key)
        case f.NotSent(keys=keys):
            return [
                e.InputOutcome(key=key, outcome="not_delivered")
                for key in keys
                if key in state.inputs
            ]
        case f.TurnBegan():
            return [] if state.turn else [e.TurnStarted(turn=TurnId(f"trn_{state.turns + 1}"))]
        case f.ItemOpened():
            return _item_opened(state, fact)
        case f.ItemClosed():
            return _item_closed(state, fact, streamed)
        case f.ToolCalled():
            return _tool_called(state, fact)
        case f.ToolReturned():
            return _tool_returned(state, fact)
        case f.PermissionAsked():
            return _permission_asked(state, fact)
        case f.QuestionAsked():
            return _question_asked(state, fact)
        case f.PromptWithdrawn():
            return _prompt_gone(state, fact)
        case f.InputEchoed(key=key):
            return inputs.echoed(state, key)
        case f.InputConfirmed(key=key):
            return inputs.confirmed(state, key)
        case f.InputUnanswered():
            return inputs.unanswered(state, fact)
        case (
            e.ConversationLost()
            | e.PermissionAuto()
            | e.BackgroundChanged()
            | e.ContextCompacted()
            | e.Diff()
            | e.Plan()
            | e.Tasks()
            | e.ModelChanged()
            | e.Retry()
            | e.RateLimit()
            | e.Notice()
            | e.Error()
            | e.Gap()
            | e.Unrecognised()
        ):
            return [fact]
        case _:
            assert_never(fact)


# ---- the link --------------------------------------------------------------------------------


def _link_up(state: State, fact: f.LinkUp) -> Decision:
    up = e.AgentConnected(
        incarnation=fact.incarnation, adopted=fact.adopted, accepts_input=fact.ready
    )
    released = release(state) if fact.ready else Decision([], [])
    return Decision([up, *released.events], released.effects)


def _ready(state: State) -> Decision:
    """Release what waits. A repeat changes nothing, and what a driver says while it connects is
    part of ``LinkUp``."""
    if state.phase != "live" or state.accepts_input:
        return Decision([], [])
    released = release(state)
    ready = e.AgentAcceptsInput(incarnation=state.incarnation)
    return Decision([ready, *released.events], released.effects)


def _link_ended(state: State, fact: f.LinkEnded, streamed: Streamed) -> Decision:
    """Everything that was open is closed, whatever the driver manages to say."""
    events: list[e.Event] = []
    if fact.why in ("keeper_died", "reboot"):
        events.append(e.Gap(reason=fact.why))
    for item in state.items:
        events += _cut_item(state, item, streamed)
    events += [_orphaned(state, prompt) for prompt in state.prompts]
    if state.turn:
        events.append(e.TurnEnded(turn=state.turn, reason="agent_exited"))
    for key, one in state.inputs.items():
        outcome = outcome_after_death(one.stage, fact.fates.get(key, "unknown"))
        events.append(e.InputOutcome(key=key, outcome=outcome, reason=fact.why))
    events.append(
        e.AgentExited(
            incarnation=fact.incarnation,
            why=fact.why,
            status=fact.status,
            stderr_tail=fact.stderr_tail,
            asked=fact.asked,
        )
    )
    return Decision(events, [])


def _cut_item(state: State, item: ItemId, streamed: Streamed) -> list[e.Event]:
    one = state.items[item]
    if one.kind == "tool":
        return [e.ToolResult(item=item, status="partial", parent=one.parent)]
    return [_done(state, f.ItemClosed(item=item, status="partial"), streamed)]


def _orphaned(state: State, prompt: PromptId) -> e.Event:
    if state.prompts[prompt].kind == "question":
        return e.QuestionClosed(prompt=prompt, how="orphaned")
    return e.PermissionClosed(prompt=prompt, how="orphaned")


# ---- turns and items -------------------------------------------------------------------------


def _turn_over(state: State, fact: f.TurnOver) -> Decision:
    if not state.turn:  # a second terminal message for one turn: the first one counts
        return Decision([e.Notice(text="the agent ended a turn twice", level="warning")], [])
    events: list[e.Event] = [
        e.TurnEnded(
            turn=state.turn,
            reason=fact.reason,
            message=fact.message,
            cost_usd=fact.cost_usd,
            usage=fact.usage,
            gauges=fact.gauges,
            detail=fact.detail,
        )
    ]
    events += inputs.late_with(state, fact)
    done = [
        key
        for key, one in state.inputs.items()
        if inputs.over_with(state, one.kind, key, fact.reason)
    ]
    events += [e.InputOutcome(key=key, outcome="done") for key in done]
    idle = inputs.without(state, done)
    released = release(idle) if state.accepts_input else Decision([], [])
    return Decision([*events, *released.events], released.effects)


def _item_opened(state: State, fact: f.ItemOpened) -> list[e.Event]:
    if fact.item in state.items:
        return []
    return [
        e.ItemStarted(
            item=fact.item, kind=fact.kind, turn=state.turn, parent=fact.parent, name=fact.name
        )
    ]


def _item_closed(state: State, fact: f.ItemClosed, streamed: Streamed) -> list[e.Event]:
    if fact.item not in state.items:
        return []
    return [_done(state, fact, streamed)]


def _done(state: State, fact: f.ItemClosed, streamed: Streamed) -> e.TextDone | e.ThinkingDone:
    one = state.items[fact.item]
    text = streamed(fact.item) if fact.text is None else fact.text
    if one.kind == "thinking":
        return e.ThinkingDone(
            item=fact.item,
            text=text,
            status=fact.status,
            parent=one.parent,
            redacted=fact.redacted,
            blob=fact.blob,
        )
    return e.TextDone(
        item=fact.item, text=text, status=fact.status, parent=one.parent, blob=fact.blob
    )


def _tool_called(state: State, fact: f.ToolCalled) -> list[e.Event]:
    opened = _item_opened(
        state, f.ItemOpened(item=fact.item, kind="tool", name=fact.name, parent=fact.parent)
    )
    if not opened and state.items[fact.item].running:
        return []
    return [
        *opened,
        e.ToolStarted(
            item=fact.item,
            name=fact.name,
            input=fact.input,
            parent=fact.parent,
            blob=fact.blob,
            kind=fact.kind,
            subject=fact.subject,
        ),
    ]


def _tool_returned(state: State, fact: f.ToolReturned) -> list[e.Event]:
    known = fact.item in state.items
    if not known and fact.status in ("partial", "discarded"):
        return []
    opened: list[e.Event] = []
    if not known:  # a result for a call nobody saw: keep it, with an item to hang it on
        opened = _item_opened(state, f.ItemOpened(item=fact.item, kind="tool", parent=fact.parent))
    return [
        *opened,
        e.ToolResult(
            item=fact.item,
            status=fact.status,
            text=fact.text,
            parent=fact.parent,
            detail=fact.detail,
            blob=fact.blob,
        ),
        *alarms.of_result(state, fact),
    ]


# ---- prompts ---------------------------------------------------------------------------------


def _permission_asked(state: State, fact: f.PermissionAsked) -> list[e.Event]:
    if fact.prompt in state.prompts:
        return [_asked_twice(fact.prompt)]
    return [
        e.PermissionRequested(
            prompt=fact.prompt,
            tool=fact.tool,
            input=fact.input,
            digest=digest_of(fact.tool, bytes(fact.input)),
            item=fact.item,
            parent=fact.parent,
            reason=fact.reason,
            suggestions=fact.suggestions,
            offers=fact.offers,
            can_edit=fact.can_edit,
            agent=fact.agent,
            detail=fact.detail,
            kind=fact.kind,
            subject=fact.subject,
        )
    ]


def _question_asked(state: State, fact: f.QuestionAsked) -> list[e.Event]:
    if fact.prompt in state.prompts:
        return [_asked_twice(fact.prompt)]
    return [
        e.QuestionRequested(
            prompt=fact.prompt,
            questions=fact.questions,
            digest=digest_of("", bytes(fact.questions)),
            item=fact.item,
            parent=fact.parent,
            agent=fact.agent,
            asked=fact.asked,
        )
    ]


def _asked_twice(prompt: str) -> e.Notice:
    return e.Notice(text=f"the agent used prompt {prompt} twice", level="warning")


def _prompt_gone(state: State, fact: f.PromptWithdrawn) -> list[e.Event]:
    open_prompt = state.prompts.get(fact.prompt)
    if open_prompt is None:
        return []
    raised = alarms.of_prompt(state, fact)
    if open_prompt.kind == "question":
        return [e.QuestionClosed(prompt=fact.prompt, how="cancelled"), *raised]
    return [e.PermissionClosed(prompt=fact.prompt, how="cancelled"), *raised]


# A burst is made of these: they need not be looked for among all the others.
_FREQUENT: dict[type, Callable[[State, Any], list[e.Event]]] = {
    f.ItemOpened: _item_opened,
    f.ToolCalled: _tool_called,
    f.ToolReturned: _tool_returned,
}
