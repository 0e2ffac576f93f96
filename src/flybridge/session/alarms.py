"""Alarms: what the log shows that no answer, command, rule or restart of ours explains.

Whoever can write to an agent in our place can answer its prompts and change its mode. What the
agent does then is in its output, and this module compares that with what the session decided.
It is pure: ``State`` holds all that is needed, but for the set of conversation ids that other
sessions have and the permission modes that the agent publishes, which come from outside.

What is no alarm: a tool that runs under a rule or a mode (nobody was asked), a prompt that the
agent takes back because of a rule or a mode that somebody granted meanwhile, and a mode by our
command, by an approved plan, by an accepted offer, or at the start of an agent's life.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Mode
from flybridge.model.ids import ItemId, PromptId
from flybridge.model.options import SKIP_PERMISSIONS
from flybridge.session.modes import asks_less, is_default, is_planning
from flybridge.session.old_tools import kind_of
from flybridge.session.state import OpenItem, OpenPrompt, State, Watched

ANSWERED_ELSEWHERE = "prompt_answered_elsewhere"
MODE_ELSEWHERE = "mode_changed_elsewhere"
CONVERSATION_TAKEN = "conversation_id_taken"
MAX_ALARMS = 64  # in one life of an agent: whoever makes more of them has been noticed
MAX_WATCHED = 256
MAX_MODES = 16
_NAME = 128
SETS_MODE = "mode "  # how the choice of a set_mode begins in the ledger
_ELSEWHERE = (
    "Something other than Flybridge may have answered the agent, for example a program that the "
    "agent started. Interrupt or stop the agent, and check what the tool did."
)
_LESS = (
    "The agent asks less in this mode. Set the mode back or stop the agent, and check what it did "
    "since."
)
_REFUSED = (
    "The claim was refused: messages for that conversation still reach the session it belongs to. "
    "Stop this agent unless you know why it does that."
)

Taken: TypeAlias = Callable[[str], bool]  # whether another session has or had a conversation id


def nobody_has(_: str) -> bool:
    """Return False: no conversation id belongs to another session."""
    return False


# ---- what absorb asks --------------------------------------------------------------------------


def of_prompt(state: State, fact: f.PromptWithdrawn) -> list[e.Event]:
    """Return the alarm for a prompt whose tool ran while it was open, if it is one."""
    prompt = state.prompts[fact.prompt]
    if not fact.ran or state.stopped or _explained(state, prompt):
        return []
    text = f"{_tool(prompt.tool)} ran although its prompt had no answer from here."
    return _raised(state, ANSWERED_ELSEWHERE, text, _ELSEWHERE, fact.prompt, prompt.item)


def of_result(state: State, fact: f.ToolReturned) -> list[e.Event]:
    """Return the alarm for a tool that ran after its prompt was taken back, or denied."""
    watched = state.watched.get(fact.item)
    if watched is None or fact.status != "ok":
        return []
    if watched.denied:
        text = f"{_tool(watched.tool)} ran although it was denied."
    elif state.stopped or fact.ruled:
        return []
    else:
        text = f"{_tool(watched.tool)} ran although its prompt was closed without an answer."
    return _raised(state, ANSWERED_ELSEWHERE, text, _ELSEWHERE, watched.prompt, fact.item)


def of_mode(state: State, mode: str, modes: Sequence[Mode]) -> list[e.Event]:
    """Return the alarm for a mode that the agent reports, if nobody chose it."""
    before = state.mode
    if not mode or not before or mode == before or state.start.agent_options.get(SKIP_PERMISSIONS):
        return []
    offered = state.offered_unknown or mode in state.offered
    chosen = mode in state.modes or offered or _leaves_plan(state, mode, modes)
    if chosen or not asks_less(modes, mode, before):
        return []
    text = f"The permission mode changed from {before[:_NAME]} to {mode[:_NAME]}, "
    return _raised(state, MODE_ELSEWHERE, f"{text}and nobody here asked for that.", _LESS)


def of_ready(
    state: State, event: e.AgentReady, modes: Sequence[Mode], taken: Taken
) -> list[e.Event]:
    """Return what becomes of the agent's words about itself: they count, but for a conversation
    that is another session's, and a mode that nobody chose is reported."""
    alarms: list[e.Event] = []
    named = event.agent_session
    # what was asked for is no claim: the latest conversation of a folder may be anybody's
    asked = (state.continues or bool(state.from_pr)) and not state.agent_session
    ours = not named or asked or named in (state.agent_session, *state.conversations)
    if not ours and taken(named):
        event = _without_name(event)
        text = f"The agent claims conversation {named[:_NAME]}, which belongs to another session."
        alarms += _raised(state, CONVERSATION_TAKEN, text, _REFUSED)
    if state.mode_told:  # the first one of a life is how it was started
        alarms += of_mode(state, event.mode, modes)
    return [event, *alarms]


def _without_name(event: e.AgentReady) -> e.AgentReady:
    return e.AgentReady(
        model=event.model,
        mode=event.mode,
        version=event.version,
        commands=event.commands,
        detail=event.detail,
    )


def _raised(
    state: State,
    code: str,
    text: str,
    advice: str,
    prompt: str = "",
    item: str = "",
) -> list[e.Event]:
    if state.alarms >= MAX_ALARMS:
        return []
    return [
        e.AlarmRaised(
            code=code,
            text=text,
            advice=advice,
            prompt=PromptId(prompt),
            item=ItemId(item),
            turn=state.turn,
        )
    ]


def _tool(name: str) -> str:
    return f"The tool {name[:_NAME]}" if name else "A tool"


def _explained(state: State, prompt: OpenPrompt) -> bool:
    """Return whether a rule or a mode was granted since the agent asked."""
    return state.granted_seq > prompt.seq


def _leaves_plan(state: State, mode: str, modes: Sequence[Mode]) -> bool:
    """Return whether the agent carries out a plan that was approved, or that needed no approval.

    It may then ask as it does by default, or go back to the mode that held before the planning.
    A plan needed no approval if its call runs, and the agent did not ask about it.
    """
    back = is_default(modes, mode) or mode == state.before_mode
    if not is_planning(modes, state.mode) or not back:
        return False
    asked = {prompt.item for prompt in state.prompts.values()} | state.watched.keys()
    return state.plan_ended or any(
        _is_plan(item) and item.running and name not in asked for name, item in state.items.items()
    )


# ---- what evolve keeps -------------------------------------------------------------------------


def started(state: State) -> None:
    """A new life: what was chosen before holds, and what the agent says first is how it starts."""
    state.mode_told, state.modes, state.offered, state.plan_ended = False, [], [], False
    state.offered_unknown = False
    state.watched, state.alarms, state.stopped = {}, 0, False


def accepted(state: State, event: e.InputAccepted) -> None:
    """A person interrupts, or chooses a mode."""
    if event.kind == "interrupt":
        state.stopped = True
    elif event.kind == "setting" and event.choice.startswith(SETS_MODE):
        state.modes = [*state.modes, event.choice.removeprefix(SETS_MODE)][-MAX_MODES:]
        state.granted_seq = state.seq


def turned(state: State) -> None:
    """A turn begins or ends: an interrupt of the one before explains nothing any more."""
    if state.stopped:
        state.stopped, state.watched = False, {}


def settled(state: State, kind: str, choice: str, outcome: str) -> None:
    """A chosen mode holds now, or was refused: either way nobody waits for it any more."""
    mode = choice.removeprefix(SETS_MODE)
    if kind != "setting" or mode == choice or mode not in state.modes:
        return
    if outcome not in ("unknown", "observed"):  # then it may take effect still
        at = state.modes.index(mode)
        state.modes = state.modes[:at] + state.modes[at + 1 :]


def reported(state: State, mode: str) -> None:
    """The agent says which mode it is in, before the state takes it over."""
    if not mode:
        return
    if mode in state.modes:  # it was chosen; so was what was chosen before it, and is over
        state.modes = state.modes[state.modes.index(mode) + 1 :]
    if mode != state.mode:
        state.before_mode = state.mode
    state.mode_told, state.offered, state.plan_ended = True, [], False
    state.offered_unknown = False


def closed(state: State, event: e.PermissionClosed | e.QuestionClosed, prompt: OpenPrompt) -> None:
    """A prompt was closed; what it grants is remembered, and a call that may not run is watched."""
    if isinstance(event, e.PermissionClosed):
        modes = [offer.mode for offer in event.offers if offer.mode]
        if modes:
            state.offered = [*state.offered, *modes][-MAX_MODES:]
    if event.how == "allowed" and isinstance(event, e.PermissionClosed):
        approved = kind_of(prompt.tool_kind, prompt.tool) == "plan"
        state.offered_unknown = state.offered_unknown or _may_set_any_mode(event)
        state.plan_ended = state.plan_ended or approved
        if approved or event.offers or event.rules:
            state.granted_seq = state.seq
        return
    denied = event.how in ("denied", "declined")
    if not prompt.item or not (
        denied or (event.how == "cancelled" and not _explained(state, prompt))
    ):
        return
    while len(state.watched) >= MAX_WATCHED:
        del state.watched[next(iter(state.watched))]
    state.watched[prompt.item] = Watched(prompt=event.prompt, tool=prompt.tool, denied=denied)


def _may_set_any_mode(event: e.PermissionClosed) -> bool:
    """Return whether something was accepted whose effect is not described.

    A prompt of 0.1 has suggestions and no offers, and of too many suggestions the last ones have
    none. Accepting them needs the right to administer.
    """
    undescribed = any(offer.widens and not (offer.label or offer.mode) for offer in event.offers)
    return undescribed or len(event.rules) > len(event.offers)


def returned(state: State, event: e.ToolResult, call: OpenItem | None) -> None:
    """Note the end of a call; one that ended a plan without a prompt has a rule behind it."""
    watched = state.watched.pop(event.item, None)
    if event.status == "ok" and watched is None and call is not None and _is_plan(call):
        state.plan_ended = True


def _is_plan(call: OpenItem) -> bool:
    return kind_of(call.tool, call.name) == "plan"
