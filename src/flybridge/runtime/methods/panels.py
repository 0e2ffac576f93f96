"""What a front end shows around a transcript, each part by its name.

Half of it is in the state of a session. The rest (what the agent said of itself, its list of
tasks, the whole of an open prompt) stands in the log and is gathered from there: once, and then
only what has come since. What was gathered can be thrown away at any time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Literal, TypeAlias, assert_never

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model import events as e
from flybridge.model.capabilities import Capabilities
from flybridge.model.deliveries import Entry
from flybridge.model.ids import PromptId, SessionId
from flybridge.model.offers import Offer
from flybridge.model.options import FAST
from flybridge.model.queries import ModelInfo
from flybridge.model.questions import PromptQuestion
from flybridge.model.tasks import AgentTask
from flybridge.model.tools import NO_SUBJECT, ToolKind, ToolSubject
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.log_scan import Wanted, slices
from flybridge.runtime.methods.checkout import checkout_of
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.services import Installed
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller
from flybridge.session.modes import in_order
from flybridge.session.old_tools import kind_of
from flybridge.session.ports import DescribesModels, Journal
from flybridge.session.views import SessionView

MAX_GATHERED = 64
PanelName: TypeAlias = Literal[
    "summary",
    "prompts",
    "queue",
    "tasks",
    "context",
    "cost",
    "settings",
    "help",
    "commands",
    "mcp",
    "checkout",
]
PromptEvent: TypeAlias = e.PermissionRequested | e.QuestionRequested
_WANTED = Wanted(
    e.AgentReady,
    e.AgentExited,
    e.Tasks,
    e.TurnEnded,
    e.PermissionRequested,
    e.PermissionClosed,
    e.QuestionRequested,
    e.QuestionClosed,
)


class PanelParams(msgspec.Struct, kw_only=True):
    session: SessionId
    name: PanelName


class Gathered(msgspec.Struct):
    """What the log says and the state does not keep."""

    after: int = 0
    ready: e.AgentReady | None = None
    models: Raw = Raw(b"{}")  # the newest detail in which the agent described its models
    tasks: Raw = Raw(b"[]")
    items: tuple[AgentTask, ...] = ()  # the tasks, typed
    turn: e.TurnEnded | None = None  # the last that ended
    prompts: dict[PromptId, PromptEvent] = {}

    def take(self, entry: Entry) -> None:
        match entry.event:
            case e.AgentReady() as ready:
                if ready.detail is not UNSET and "models" in _fields(ready.detail):
                    self.models = ready.detail
                before = self.ready if _is_part(ready) else None
                self.ready = ready if before is None else _joined(before, ready)
            case e.Tasks(tasks=tasks, items=items):
                self.tasks, self.items = tasks, items
            case e.TurnEnded() as turn:
                self.turn = turn
            case e.PermissionRequested() | e.QuestionRequested() as asked:
                self.prompts[asked.prompt] = asked
            case e.PermissionClosed(prompt=prompt) | e.QuestionClosed(prompt=prompt):
                self.prompts.pop(prompt, None)
            case e.AgentExited():
                self.prompts.clear()
            case _:
                pass


class Panels:
    """Answers for the parts of one session that are shown beside its transcript."""

    def __init__(self, sessions: Sessions, journal: Journal) -> None:
        self._sessions = sessions
        self._journal = journal
        self._gathered: OrderedDict[SessionId, tuple[Gathered, asyncio.Lock]] = OrderedDict()

    def table(self) -> dict[str, Question]:
        return {"panel": Question("view", PanelParams, self.panel)}

    async def gathered(self, live: LiveSession) -> Gathered:
        """What the log of a session says up to now.

        Raises:
            StorageError: the disk refused.
        """
        known = self._gathered.setdefault(live.session, (Gathered(), asyncio.Lock()))
        self._gathered.move_to_end(live.session)
        if len(self._gathered) > MAX_GATHERED:
            self._gathered.popitem(last=False)
        found, lock = known
        async with lock:
            async for one in slices(self._journal, live.session, found.after, _WANTED):
                for entry in one.entries:
                    found.take(entry)
                found.after = one.last_seq
        return found

    async def panel(self, _: Caller, params: PanelParams) -> object:
        live = self._sessions.get(params.session)
        view = live.showing.summary(live.services.now_ms())
        match params.name:
            case "summary":
                return view
            case "queue":
                return {"queue": view.queue}
            case "context":
                return _context(view)
            case "settings":
                return _settings(live, view, await self.gathered(live))
            case "prompts":
                return {"prompts": open_prompts(live, await self.gathered(live))}
            case "tasks":
                found = await self.gathered(live)
                return {"tasks": found.tasks, "items": found.items}
            case "cost":
                return _cost(view, (await self.gathered(live)).turn)
            case "help":
                return _help(view, (await self.gathered(live)).ready)
            case "commands":
                return {"commands": _commands((await self.gathered(live)).ready)}
            case "checkout":
                return await asyncio.to_thread(checkout_of, view.cwd)
            case "mcp":
                return {"servers": _told((await self.gathered(live)).ready, "mcp_servers")}
            case _:
                assert_never(params.name)


class Prompt(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An open prompt with all that a person has to see before an answer."""

    session: SessionId
    title: str
    agent: str
    cwd: str
    prompt: PromptId
    kind: Literal["permission", "question"]
    digest: str
    since_ms: int
    tool: str = ""
    input: Raw | UnsetType = UNSET
    questions: Raw | UnsetType = UNSET
    asked: tuple[PromptQuestion, ...] = ()  # the questions, typed
    reason: str = ""
    suggestions: tuple[Raw, ...] = ()  # deprecated: the agent's own form of ``offers``, by index
    offers: tuple[Offer, ...] = ()
    can_edit: bool = False
    item: str = ""
    parent: str = ""
    by_agent: str = ""  # the kind of sub-agent that asks
    detail: Raw | UnsetType = UNSET
    tool_kind: ToolKind | Literal[""] = ""
    subject: ToolSubject = NO_SUBJECT


def open_prompts(live: LiveSession, found: Gathered) -> list[Prompt]:
    """The prompts that are open now, in the order they came."""
    state = live.memory.state
    return [
        _prompt(live, found.prompts[key], one.since_ms)
        for key, one in state.prompts.items()
        if key in found.prompts
    ]


def _prompt(live: LiveSession, asked: PromptEvent, since_ms: int) -> Prompt:
    state = live.memory.state
    one = Prompt(
        session=live.session,
        title=state.title,
        agent=state.agent,
        cwd=state.cwd,
        prompt=asked.prompt,
        kind="question",
        digest=asked.digest,
        since_ms=since_ms,
        item=asked.item,
        parent=asked.parent,
        by_agent=asked.agent,
    )
    if isinstance(asked, e.QuestionRequested):
        one.questions, one.asked = asked.questions, asked.asked
        return one
    one.kind = "permission"
    one.tool, one.input, one.reason = asked.tool, asked.input, asked.reason
    one.suggestions, one.can_edit, one.detail = asked.suggestions, asked.can_edit, asked.detail
    one.offers = asked.offers
    one.tool_kind, one.subject = kind_of(asked.kind, asked.tool), asked.subject
    return one


def _context(view: SessionView) -> dict[str, object]:
    gauges = view.gauges
    return {
        "model": view.model,
        "context": gauges.get("context", Raw(b"null")),
        "usage": gauges.get("usage", Raw(b"null")),
    }


def _cost(view: SessionView, turn: e.TurnEnded | None) -> dict[str, object]:
    detail = _fields(turn.detail if turn else UNSET)
    return {
        "total_cost_usd": view.cost_usd,
        "turns": view.turns,
        "turn_cost_usd": turn.cost_usd if turn else 0.0,
        "usage": turn.usage if turn and turn.usage is not UNSET else Raw(b"null"),
        "model_usage": detail.get("modelUsage", Raw(b"null")),
        "duration_ms": detail.get("duration_ms", Raw(b"null")),
        "duration_api_ms": detail.get("duration_api_ms", Raw(b"null")),
    }


def _settings(live: LiveSession, view: SessionView, found: Gathered) -> dict[str, object]:
    state = live.memory.state
    installed = live.installed or live.services.shelf.running(
        state.agent, state.kind, state.version
    )
    can = installed.capabilities if installed else Capabilities(agent=state.agent, steers=False)
    return {
        "model": view.model,
        "mode": view.mode,
        "modes": in_order(can.known_modes, can.modes),
        "known_modes": can.known_modes,
        "efforts": sorted(can.efforts),
        "models": _models(installed, found),
        "effort": live.memory.state.start.effort,
        "fast": bool(live.memory.state.start.agent_options.get(FAST)),
        "commands": sorted(can.commands),
        "steers": can.steers,
        "at_start": sorted(can.at_start),
        "output_style": _fields(found.ready.detail if found.ready else UNSET).get(
            "output_style", Raw(b"null")
        ),
    }


def _models(installed: Installed | None, found: Gathered) -> tuple[ModelInfo, ...]:
    """Return the models that the agent described itself; an agent may have to be asked instead."""
    agent: object = installed.agent if installed is not None else None
    return agent.models(found.models).models if isinstance(agent, DescribesModels) else ()


def _is_part(ready: e.AgentReady) -> bool:
    """Return whether this replaces only a part of what the agent said of itself."""
    told = _fields(ready.detail).keys()
    return "commands" in told and not {"tools", "models"} & told


def _joined(before: e.AgentReady, now: e.AgentReady) -> e.AgentReady:
    """Return the newest of everything the agent said of itself."""
    told = _fields(before.detail) | _fields(now.detail)
    return msgspec.structs.replace(
        now,
        model=now.model or before.model,
        mode=now.mode or before.mode,
        version=now.version or before.version,
        commands=now.commands or before.commands,
        detail=Raw(msgspec.json.encode(told)) if told else UNSET,
    )


def _help(view: SessionView, ready: e.AgentReady | None) -> dict[str, object]:
    names = ("tools", "skills", "agents", "plugins")
    return {
        "agent": view.agent,
        "version": ready.version if ready else "",
        "commands": _commands(ready),
        **{name: _told(ready, name) for name in names},
    }


def _commands(ready: e.AgentReady | None) -> list[dict[str, str]]:
    known = ready.commands if ready else {}
    return [{"name": name, "category": kind} for name, kind in sorted(known.items())]


def _told(ready: e.AgentReady | None, name: str) -> Raw:
    """A part of what the agent said of itself; an empty list where it said nothing."""
    return _fields(ready.detail if ready else UNSET).get(name, Raw(b"[]"))


def _fields(detail: Raw | UnsetType) -> dict[str, Raw]:
    if detail is UNSET:
        return {}
    try:
        found: Any = msgspec.json.decode(detail, type=dict[str, Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return dict(found)
