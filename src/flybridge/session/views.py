"""State derived for people, computed once and in one place: what a list, a title bar or a
status line shows. ``why`` is the one answer to "what is it waiting for?"."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.model.capabilities import Options, Transport
from flybridge.model.content import Content, Text
from flybridge.model.legacy_options import start_fields, to_legacy
from flybridge.model.options import Value
from flybridge.model.tools import ToolKind
from flybridge.session.old_tools import kind_of
from flybridge.session.state import State

Why: TypeAlias = Literal[
    "permission",  # a person must allow or deny
    "question",  # a person must answer
    "rate_limit",
    "retry",
    "compaction",
    "tool",
    "wedged",  # silent for longer than anything should be
    "model",
    "queue",  # input is on its way, or waits for the agent to start
    "nothing",
]
WEDGED_MS = 10 * 60 * 1000
STUCK_INPUT_MS = 60 * 1000
HEAD = 200


class PromptView(msgspec.Struct):
    prompt: str
    kind: str
    tool: str
    digest: str
    since_ms: int
    tool_kind: ToolKind | Literal[""] = ""  # "": it is a question


class QueuedView(msgspec.Struct):
    key: str
    by: str
    head: str


class ToolView(msgspec.Struct):
    item: str
    name: str
    since_ms: int


class SessionView(msgspec.Struct):
    """The state of one session, for every front end."""

    session: str
    agent: str
    cwd: str
    title: str
    status: Literal["closed", "off", "starting", "idle", "running"]
    why: Why
    since_ms: int  # when it began to wait for that
    turn: str
    turns: int
    ended: str  # how the last turn did; "" while one runs, and before the first
    model: str
    mode: str
    cost_usd: float
    archived: bool
    prompts: list[PromptView]
    queue: list[QueuedView]
    tools: list[ToolView]
    labels: dict[str, str]
    options: Options  # goes away after one release: see effort, budget_usd and agent_options
    agent_session: str  # the agent's own id of the conversation
    background: int  # how many things run beside the conversation
    gauges: dict[str, msgspec.Raw]
    effort: str = ""
    budget_usd: float = 0.0
    transport: Transport = "stdio"
    agent_options: dict[str, Value] = {}
    agent_io: str = ""  # the agent talks over "sockets" or "pipes"; "": neither, or no agent
    kind: str = ""  # of the agent; "": opened before kinds were recorded


def why(state: State, now_ms: int, heard_ms: int = 0) -> tuple[Why, int]:
    """What the session waits for, and since when. ``heard_ms``: the agent's last sign of life."""
    if state.prompts:
        first = next(iter(state.prompts.values()))
        return first.kind, first.since_ms
    if state.waiting_for:
        overdue = now_ms - max(heard_ms, state.at_ms, state.waiting_until_ms) > WEDGED_MS
        return "wedged" if overdue else state.waiting_for, state.at_ms
    running = [one.since_ms for one in state.items.values() if one.running]
    if running:
        return "tool", min(running)
    if state.turn:
        heard = max(heard_ms, state.at_ms)
        quiet = now_ms - heard > WEDGED_MS
        return ("wedged", heard) if quiet else ("model", state.turn_since_ms)
    return _why_inputs(state, now_ms)


def _why_inputs(state: State, now_ms: int) -> tuple[Why, int]:
    if not state.inputs:
        return "nothing", state.at_ms
    oldest = min(state.inputs.values(), key=lambda one: one.since_ms)
    stuck = oldest.stage == "dispatching" and now_ms - oldest.since_ms > STUCK_INPUT_MS
    return ("wedged" if stuck else "queue"), oldest.since_ms


def view(state: State, now_ms: int, heard_ms: int = 0) -> SessionView:
    """Everything a front end shows about a session besides its transcript."""
    reason, since_ms = why(state, now_ms, heard_ms)
    return SessionView(
        session=state.session,
        agent=state.agent,
        kind=state.kind,
        cwd=state.cwd,
        title=state.title,
        status=_status(state),
        why=reason,
        since_ms=since_ms,
        turn=state.turn,
        turns=state.turns,
        ended=state.ended,
        model=state.model,
        mode=state.mode,
        cost_usd=state.cost_usd,
        archived=state.archived,
        prompts=[
            PromptView(
                prompt=key,
                kind=p.kind,
                tool=p.tool,
                digest=p.digest,
                since_ms=p.since_ms,
                tool_kind=kind_of(p.tool_kind, p.tool) if p.kind == "permission" else "",
            )
            for key, p in state.prompts.items()
        ],
        queue=[
            QueuedView(key=key, by=state.inputs[key].by, head=head_of(state.inputs[key].content))
            for key in state.held()
        ],
        tools=[
            ToolView(item=key, name=one.name, since_ms=one.since_ms)
            for key, one in state.items.items()
            if one.running
        ],
        labels=state.labels,
        options=to_legacy(state.start),
        **start_fields(state.start),
        agent_session=state.agent_session,
        background=state.background,
        gauges=state.gauges,
    )


def _status(state: State) -> Literal["closed", "off", "starting", "idle", "running"]:
    if state.closed:
        return "closed"
    if state.phase == "none":
        return "off"
    if state.phase == "starting" or not state.accepts_input:
        return "starting"
    return "running" if state.turn or state.on_the_way() else "idle"


def head_of(content: tuple[Content, ...]) -> str:
    """The first words of an input."""
    for one in content:
        if isinstance(one, Text):
            return one.text[:HEAD]
    return f"({len(content)} attachments)" if content else ""
