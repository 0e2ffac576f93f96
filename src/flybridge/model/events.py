"""What can happen in a session: the vocabulary of the log and of every front end.

Adding a variant, or a field with a default, is compatible. Renaming a tag never is.
An event is durable before anyone sees it. Streaming text is not an event but a preview
(model/requests.py): the event that closes an item carries the whole text.

``parent`` nests a subagent's events under the tool call that started it; ``detail`` keeps
the agent's own object, byte for byte, where a front end needs it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model.capabilities import Options, Transport
from flybridge.model.content import Content
from flybridge.model.diffs import DiffHunk
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, TurnId
from flybridge.model.kinds import InputKind, ItemKind, ItemStatus, Outcome
from flybridge.model.limits import UsageLimit
from flybridge.model.offers import Offer
from flybridge.model.options import Value
from flybridge.model.questions import PromptQuestion
from flybridge.model.tasks import AgentTask, BackgroundTask
from flybridge.model.tools import NO_SUBJECT, ToolKind, ToolSubject


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Shared settings: absent means default, so that rows stay small."""


# ---- the session -------------------------------------------------------------------------


class SessionOpened(_Event, frozen=True, kw_only=True, tag="session.opened"):
    agent: str
    cwd: str
    title: str = ""
    labels: dict[str, str] = {}
    model: str = ""
    mode: str = ""
    opener: str = ""  # the principal
    resumed: str = ""  # the agent's own id of a conversation gone on with here
    forked: bool = False  # in a copy of it
    continued: bool = False  # gone on with whatever was last talked about in cwd
    from_pr: str = ""  # gone on with the conversation of a pull request
    effort: str = ""
    budget_usd: float = 0.0  # 0: no limit
    transport: Transport = "stdio"
    agent_options: dict[str, Value] = {}  # the agent's own, by name
    options: Options = Options()  # the same as 0.1 wrote it; goes away after one release
    kind: str = ""  # of the agent; "": written before kinds were recorded
    version: str = ""  # of the agent's program, if it was known


class SessionChanged(_Event, frozen=True, kw_only=True, tag="session.changed"):
    title: str | None = None
    archived: bool | None = None
    effort: str | None = None  # this and agent_options: from the next life of the agent on
    agent_options: dict[str, Value] | None = None  # all of them
    options: Options | None = None  # the same as 0.1 wrote it; goes away after one release


class SessionClosed(_Event, frozen=True, kw_only=True, tag="session.closed"):
    by: str = ""
    deleting: bool = False  # and is to be forgotten
    reason: str = ""


# ---- the agent's process -----------------------------------------------------------------


class AgentStarted(_Event, frozen=True, kw_only=True, tag="agent.started"):
    incarnation: IncarnationId
    resumed: bool = False


class AgentConnected(_Event, frozen=True, kw_only=True, tag="agent.connected"):
    """The keeper holds the process and its channels; from here on lines can be written."""

    incarnation: IncarnationId
    adopted: bool = False  # a restarted gateway found it alive
    accepts_input: bool = True  # False: messages wait for ``agent.accepts_input``


class AgentAcceptsInput(_Event, frozen=True, kw_only=True, tag="agent.accepts_input"):
    """An agent that had to get ready after it was connected takes messages now."""

    incarnation: IncarnationId


class AgentReady(_Event, frozen=True, kw_only=True, tag="agent.ready"):
    """Describe the agent, in its own words; comes again whenever it describes itself anew.

    Whether it takes messages is said by ``agent.accepts_input``.
    """

    agent_session: str = ""
    model: str = ""
    mode: str = ""
    version: str = ""
    commands: dict[str, str] = {}  # what may follow a slash → local, prompt or ui
    detail: Raw | UnsetType = UNSET


class AgentExited(_Event, frozen=True, kw_only=True, tag="agent.exited"):
    incarnation: IncarnationId
    why: Literal["exit", "keeper_died", "socket", "reboot", "not_started"]
    status: int = 0
    stderr_tail: str = ""
    asked: bool = False  # we told it to end


class History(_Event, frozen=True, kw_only=True, tag="history"):
    """What stands between two of these was said before the session, and does not count in it."""

    phase: Literal["started", "done"]
    conversation: str = ""  # the agent's own id
    source: str = ""  # the file it was read from
    turns: int = 0  # told here
    left_out: int = 0  # older turns that are not


class ConversationLost(_Event, frozen=True, kw_only=True, tag="conversation.lost"):
    """The agent has no record of the conversation it was to resume; the next life starts anew."""

    reason: str = ""


# ---- inputs and their outcomes: one machine for messages, answers, interrupts, settings ------


class InputAccepted(_Event, frozen=True, kw_only=True, tag="input.accepted"):
    key: InputKey
    kind: InputKind
    by: str
    fingerprint: str
    content: tuple[Content, ...] = ()
    mode: str = ""
    deadline_ms: int = 0
    attempt: int = 1
    choice: str = ""  # for an answer: what was decided
    turn: TurnId = TurnId("")  # for an interrupt: the turn that it names


class InputDispatched(_Event, frozen=True, kw_only=True, tag="input.dispatched"):
    """Committed before the first byte leaves: from here on the agent may have it."""

    key: InputKey
    incarnation: IncarnationId


class InputWritten(_Event, frozen=True, kw_only=True, tag="input.written"):
    """The kernel took every byte."""

    key: InputKey


class InputConsumed(_Event, frozen=True, kw_only=True, tag="input.consumed"):
    """The agent showed that it has it."""

    key: InputKey
    turn: TurnId = TurnId("")


class InputOutcome(_Event, frozen=True, kw_only=True, tag="input.outcome"):
    key: InputKey
    outcome: Outcome
    reason: str = ""


class InputRefused(_Event, frozen=True, kw_only=True, tag="input.refused"):
    """The agent, not the gateway, refused it."""

    key: InputKey
    reason: str = ""


class QueueChanged(_Event, frozen=True, kw_only=True, tag="queue.changed"):
    """A held input was edited."""

    key: InputKey
    content: tuple[Content, ...]


# ---- turns and items -----------------------------------------------------------------------


class TurnStarted(_Event, frozen=True, kw_only=True, tag="turn.started"):
    turn: TurnId


class TurnEnded(_Event, frozen=True, kw_only=True, tag="turn.ended"):
    turn: TurnId
    reason: Literal["done", "interrupted", "error", "limit", "agent_exited"] = "done"
    message: str = ""
    cost_usd: float = 0.0  # of this turn
    usage: Raw | UnsetType = UNSET
    gauges: dict[str, Raw] = {}  # the last value of each
    detail: Raw | UnsetType = UNSET


class ItemStarted(_Event, frozen=True, kw_only=True, tag="item.started"):
    item: ItemId
    kind: ItemKind
    turn: TurnId = TurnId("")
    parent: ItemId = ItemId("")
    name: str = ""  # of a tool; of a text: "command" if a slash command printed it


class TextDone(_Event, frozen=True, kw_only=True, tag="text.done"):
    item: ItemId
    text: str = ""
    status: ItemStatus = "complete"
    parent: ItemId = ItemId("")
    blob: str = ""  # the whole text, when it is too long for a row


class ThinkingDone(_Event, frozen=True, kw_only=True, tag="thinking.done"):
    item: ItemId
    text: str = ""
    status: ItemStatus = "complete"
    parent: ItemId = ItemId("")
    redacted: bool = False
    blob: str = ""


class ToolStarted(_Event, frozen=True, kw_only=True, tag="tool.started"):
    """The call is complete and may run; its item id is the agent's tool-use id."""

    item: ItemId
    name: str
    input: Raw | UnsetType = UNSET
    parent: ItemId = ItemId("")
    blob: str = ""  # the whole input, when it is too long for a row
    kind: ToolKind | Literal[""] = ""  # "": written before calls had a kind (session/old_tools.py)
    subject: ToolSubject = NO_SUBJECT


class ToolResult(_Event, frozen=True, kw_only=True, tag="tool.result"):
    item: ItemId
    status: Literal["ok", "error", "denied", "partial", "discarded"] = "ok"
    text: str = ""
    parent: ItemId = ItemId("")
    detail: Raw | UnsetType = UNSET
    blob: str = ""


class Diff(_Event, frozen=True, kw_only=True, tag="diff"):
    item: ItemId
    path: str
    patch: Raw  # the agent's own form; to be read from ``hunks``, where they are
    blob: str = ""  # all of the patch, when it is too long for a row
    hunks: tuple[DiffHunk, ...] = ()


class Plan(_Event, frozen=True, kw_only=True, tag="plan"):
    text: str
    parent: ItemId = ItemId("")
    blob: str = ""  # the whole plan, when it is too long for a row


class Tasks(_Event, frozen=True, kw_only=True, tag="tasks"):
    tasks: Raw  # the agent's own list; to be read from ``items``, where they are
    items: tuple[AgentTask, ...] = ()


# ---- people are asked ------------------------------------------------------------------------


class PermissionRequested(_Event, frozen=True, kw_only=True, tag="permission.requested"):
    prompt: PromptId
    tool: str
    input: Raw
    digest: str  # sha256 of the whole input: what an answer is bound to
    item: ItemId = ItemId("")
    parent: ItemId = ItemId("")
    reason: str = ""
    suggestions: tuple[Raw, ...] = ()  # deprecated: the agent's own form of ``offers``, by index
    offers: tuple[Offer, ...] = ()  # what can be accepted along with it, by index
    can_edit: bool = True
    agent: str = ""  # the kind of sub-agent that asks; "": the main agent
    detail: Raw | UnsetType = UNSET
    kind: ToolKind | Literal[""] = ""  # of the call, as in tool.started
    subject: ToolSubject = NO_SUBJECT


class PermissionClosed(_Event, frozen=True, kw_only=True, tag="permission.closed"):
    prompt: PromptId
    how: Literal["allowed", "denied", "cancelled", "orphaned", "expired"]
    by: str = ""
    message: str = ""
    edited: bool = False
    rules: tuple[Raw, ...] = ()  # deprecated: the agent's own form of ``offers``
    offers: tuple[Offer, ...] = ()  # accepted: they hold from here on
    place: str = ""  # and where
    input: Raw | UnsetType = UNSET  # what was allowed instead of what was asked, if it was edited
    blob: str = ""  # all of that, when it is too long for a row


class PermissionAuto(_Event, frozen=True, kw_only=True, tag="permission.auto"):
    """A stored rule or the agent itself decided without a person."""

    tool: str
    decision: Literal["allow", "deny"]
    rule: str = ""
    item: ItemId = ItemId("")


class QuestionRequested(_Event, frozen=True, kw_only=True, tag="question.requested"):
    prompt: PromptId
    questions: Raw
    digest: str  # sha256 of the whole questions: what an answer is bound to
    item: ItemId = ItemId("")
    parent: ItemId = ItemId("")
    agent: str = ""  # the kind of sub-agent that asks; "": the main agent
    asked: tuple[PromptQuestion, ...] = ()  # the same, typed; nothing: only ``questions`` has them


class QuestionClosed(_Event, frozen=True, kw_only=True, tag="question.closed"):
    prompt: PromptId
    how: Literal["answered", "declined", "cancelled", "orphaned", "expired"]
    by: str = ""
    answers: dict[str, tuple[str, ...]] = {}


# ---- everything else ----------------------------------------------------------------------------


class ContextCompacted(_Event, frozen=True, kw_only=True, tag="context.compacted"):
    phase: Literal["started", "done", "failed"] = "done"
    detail: Raw | UnsetType = UNSET


class BackgroundChanged(_Event, frozen=True, kw_only=True, tag="background.changed"):
    """What runs beside the conversation, and would end with the agent: all of it, each time."""

    tasks: tuple[Raw, ...] = ()
    running: tuple[BackgroundTask, ...] = ()  # the same, typed


class ModeChanged(_Event, frozen=True, kw_only=True, tag="mode.changed"):
    mode: str


class ModelChanged(_Event, frozen=True, kw_only=True, tag="model.changed"):
    model: str


class Retry(_Event, frozen=True, kw_only=True, tag="retry"):
    attempt: int
    at_ms: int = 0
    reason: str = ""


class RateLimit(_Event, frozen=True, kw_only=True, tag="rate_limit"):
    status: str
    resets_ms: int = 0
    detail: Raw | UnsetType = UNSET
    limits: tuple[UsageLimit, ...] = ()  # the one it is about first


class Notice(_Event, frozen=True, kw_only=True, tag="notice"):
    text: str
    level: Literal["info", "warning"] = "info"
    command: bool = False  # what a slash command printed


class Error(_Event, frozen=True, kw_only=True, tag="error"):
    code: str
    text: str


class Gap(_Event, frozen=True, kw_only=True, tag="gap"):
    """Output of the agent was lost here: the process that held it died too, or, for
    ``socket``, it was said while nobody was connected."""

    reason: str


class Unrecognised(_Event, frozen=True, kw_only=True, tag="unrecognised"):
    """A message this version does not know. Kept and shown, never dropped."""

    source: str
    text: str
    parent: ItemId = ItemId("")
    blob: str = ""


class AlarmRaised(_Event, frozen=True, kw_only=True, tag="alarm.raised"):
    """Something happened that no answer, command or rule of ours explains (session/alarms.py)."""

    code: str  # stable, for programs
    text: str  # what happened
    advice: str = ""  # why it matters, and what to do
    prompt: PromptId = PromptId("")  # what it belongs to, as far as that is known
    item: ItemId = ItemId("")
    turn: TurnId = TurnId("")


Event: TypeAlias = (
    SessionOpened
    | SessionChanged
    | SessionClosed
    | AgentStarted
    | AgentConnected
    | AgentAcceptsInput
    | AgentReady
    | AgentExited
    | History
    | ConversationLost
    | InputAccepted
    | InputDispatched
    | InputWritten
    | InputConsumed
    | InputOutcome
    | InputRefused
    | QueueChanged
    | TurnStarted
    | TurnEnded
    | ItemStarted
    | TextDone
    | ThinkingDone
    | ToolStarted
    | ToolResult
    | Diff
    | Plan
    | Tasks
    | PermissionRequested
    | PermissionClosed
    | PermissionAuto
    | QuestionRequested
    | QuestionClosed
    | ContextCompacted
    | BackgroundChanged
    | ModeChanged
    | ModelChanged
    | Retry
    | RateLimit
    | Notice
    | Error
    | Gap
    | Unrecognised
    | AlarmRaised
)
