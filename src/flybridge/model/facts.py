"""What the agent, its keeper or the link reported. ``session.absorb`` makes events of facts.

A driver names items and prompts; turns, digests and outcomes are the core's business.
Where an event says exactly what was reported, the event itself is the fact.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model.events import (
    AgentReady,
    BackgroundChanged,
    ContextCompacted,
    ConversationLost,
    Diff,
    Error,
    Gap,
    ModeChanged,
    ModelChanged,
    Notice,
    PermissionAuto,
    Plan,
    RateLimit,
    Retry,
    Tasks,
    Unrecognised,
)
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId
from flybridge.model.kinds import ItemKind, ItemStatus
from flybridge.model.offers import Offer
from flybridge.model.questions import PromptQuestion
from flybridge.model.tools import NO_SUBJECT, ToolKind, ToolSubject

Fate: TypeAlias = Literal["not_taken", "unread", "read", "unknown"]


class _Fact(msgspec.Struct, frozen=True, kw_only=True):
    pass


# ---- from the keeper and the link ---------------------------------------------------------


class LinkUp(_Fact, frozen=True, kw_only=True):
    incarnation: IncarnationId
    adopted: bool = False
    ready: bool = True  # the driver has said ``AcceptsInput`` already


class Wrote(_Fact, frozen=True, kw_only=True):
    """The kernel took every byte of the line that carries this input."""

    key: InputKey


class LinkEnded(_Fact, frozen=True, kw_only=True):
    """The agent is gone. ``fates`` says of each unfinished input what the evidence shows."""

    incarnation: IncarnationId
    why: Literal["exit", "keeper_died", "socket", "reboot", "not_started"]
    status: int = 0
    stderr_tail: str = ""
    asked: bool = False
    fates: dict[InputKey, Fate] = {}


class NotSent(_Fact, frozen=True, kw_only=True):
    """A restarted gateway knows that these never left: outcome not_delivered."""

    keys: tuple[InputKey, ...]


# ---- from a driver ---------------------------------------------------------------------------


class AcceptsInput(_Fact, frozen=True, kw_only=True):
    """The agent takes input now: messages that wait for it may leave.

    A driver says it once in each life of its agent, in ``connected`` where no handshake is needed;
    again does no harm. Answers, interrupts and settings do not wait for it. The event
    ``agent.accepts_input`` records it; ``agent.ready`` is another event: it describes the agent.
    """


Ready = AcceptsInput  # its former name, for drivers of other packages; kept for one release


class TurnBegan(_Fact, frozen=True, kw_only=True):
    pass


class TurnOver(_Fact, frozen=True, kw_only=True):
    reason: Literal["done", "interrupted", "error", "limit"] = "done"
    message: str = ""
    cost_usd: float = 0.0  # of this turn alone
    usage: Raw | UnsetType = UNSET
    gauges: dict[str, Raw] = {}
    detail: Raw | UnsetType = UNSET


class ItemOpened(_Fact, frozen=True, kw_only=True):
    item: ItemId
    kind: ItemKind
    name: str = ""
    parent: ItemId = ItemId("")


class ItemClosed(_Fact, frozen=True, kw_only=True):
    """A text or a thought is over. ``text`` None: what was streamed is all there is."""

    item: ItemId
    status: ItemStatus = "complete"
    text: str | None = None
    redacted: bool = False
    blob: str = ""


class ToolCalled(_Fact, frozen=True, kw_only=True):
    item: ItemId
    name: str
    input: Raw | UnsetType = UNSET
    parent: ItemId = ItemId("")
    blob: str = ""
    kind: ToolKind = "other"
    subject: ToolSubject = NO_SUBJECT


class ToolReturned(_Fact, frozen=True, kw_only=True):
    item: ItemId
    status: Literal["ok", "error", "denied", "partial", "discarded"] = "ok"
    text: str = ""
    parent: ItemId = ItemId("")
    detail: Raw | UnsetType = UNSET
    blob: str = ""
    ruled: bool = False  # the agent says that a rule, a mode or a hook of its own allowed it


class PermissionAsked(_Fact, frozen=True, kw_only=True):
    prompt: PromptId
    tool: str
    input: Raw
    item: ItemId = ItemId("")
    parent: ItemId = ItemId("")
    reason: str = ""
    suggestions: tuple[Raw, ...] = ()  # the agent's own form of ``offers``, by index
    offers: tuple[Offer, ...] = ()
    can_edit: bool = True
    agent: str = ""
    detail: Raw | UnsetType = UNSET
    kind: ToolKind = "other"
    subject: ToolSubject = NO_SUBJECT


class QuestionAsked(_Fact, frozen=True, kw_only=True):
    prompt: PromptId
    questions: Raw
    item: ItemId = ItemId("")
    parent: ItemId = ItemId("")
    agent: str = ""
    asked: tuple[PromptQuestion, ...] = ()


class PromptWithdrawn(_Fact, frozen=True, kw_only=True):
    """The agent no longer waits for this answer (cancelled, or went on without it)."""

    prompt: PromptId
    ran: bool = False  # its call came back as one that ran, while the prompt was open


class InputEchoed(_Fact, frozen=True, kw_only=True):
    """The agent repeated our own id for this input, or acknowledged it: it has it."""

    key: InputKey


class InputConfirmed(_Fact, frozen=True, kw_only=True):
    """A setting took effect, an interrupt was obeyed: nothing more will come of it."""

    key: InputKey


class InputRejected(_Fact, frozen=True, kw_only=True):
    key: InputKey
    reason: str = ""


class InputUnanswered(_Fact, frozen=True, kw_only=True):
    """The agent was asked, and never said whether it did it."""

    key: InputKey
    reason: str = ""


Fact: TypeAlias = (
    LinkUp
    | Wrote
    | LinkEnded
    | NotSent
    | AcceptsInput
    | TurnBegan
    | TurnOver
    | ItemOpened
    | ItemClosed
    | ToolCalled
    | ToolReturned
    | PermissionAsked
    | QuestionAsked
    | PromptWithdrawn
    | InputEchoed
    | InputConfirmed
    | InputRejected
    | InputUnanswered
    | AgentReady
    | ConversationLost
    | PermissionAuto
    | BackgroundChanged
    | ContextCompacted
    | Diff
    | Plan
    | Tasks
    | ModeChanged
    | ModelChanged
    | Retry
    | RateLimit
    | Notice
    | Error
    | Gap
    | Unrecognised
)
