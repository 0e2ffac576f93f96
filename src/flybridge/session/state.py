"""What is open in a session, and its totals. Never history: that is the log's business.

``State`` is the fold of the log and nothing else. Two rules: only ``evolve`` (evolve.py)
changes it, and it must survive a round trip through its own encoding, because snapshots
are taken of it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw

from flybridge.model.capabilities import Options, StartOptions
from flybridge.model.content import Content
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId, TurnId
from flybridge.model.kinds import InputKind, ItemKind
from flybridge.model.legacy_options import recorded, to_legacy
from flybridge.model.offers import UNKNOWN, Offer
from flybridge.model.tools import ToolKind

Phase: TypeAlias = Literal["none", "starting", "live"]
OpenStage: TypeAlias = Literal["accepted", "dispatching", "written", "observed"]


class OpenItem(msgspec.Struct):
    kind: ItemKind
    turn: TurnId = TurnId("")
    parent: ItemId = ItemId("")
    name: str = ""
    running: bool = False  # a tool whose call is complete
    tool: ToolKind | Literal[""] = ""  # the kind of that call; "": see session/old_tools.py
    since_ms: int = 0


class OpenPrompt(msgspec.Struct):
    kind: Literal["permission", "question"]
    digest: str
    meaning: str = ""  # of the input that is asked about; "": nobody knows
    tool: str = ""
    tool_kind: ToolKind | Literal[""] = ""
    item: ItemId = ItemId("")
    parent: ItemId = ItemId("")
    can_edit: bool = False
    suggestions: int = 0
    # "offers" in snapshots of 0.1.0 is the agent's own form; what it means was not recorded
    own_offers: tuple[Raw, ...] = msgspec.field(name="offers", default=())
    offers: tuple[Offer, ...] = msgspec.field(name="typed_offers", default=())
    since_ms: int = 0
    seq: int = 0  # of the event that asked

    @property
    def known_offers(self) -> tuple[Offer, ...]:
        """Return an offer for each that can be accepted; one that is not described is unknown."""
        missing = len(self.own_offers) - len(self.offers)
        return (*self.offers, *(UNKNOWN for _ in range(missing)))


class Watched(msgspec.Struct):
    """A call that may not run: its prompt was denied, or closed without an answer of ours."""

    prompt: PromptId
    tool: str = ""
    denied: bool = False


class LastAlarm(msgspec.Struct, frozen=True):
    """The latest alarm of a session, for lists: people see it wherever they are."""

    seq: int
    at_ms: int
    code: str
    text: str
    advice: str = ""


class OpenInput(msgspec.Struct):
    """An input whose outcome is not known yet."""

    kind: InputKind
    by: str
    fingerprint: str
    stage: OpenStage = "accepted"
    mode: str = ""
    content: tuple[Content, ...] = ()  # only while it is held
    deadline_ms: int = 0
    attempt: int = 1
    incarnation: IncarnationId = IncarnationId("")
    turn: TurnId = TurnId("")
    choice: str = ""
    since_ms: int = 0
    target: TurnId = TurnId("")  # of an interrupt: the turn that it names
    stopped: bool = False  # of an interrupt: that turn was interrupted before it was written


class State(msgspec.Struct):
    """One session as it is now."""

    session: SessionId
    seq: int = 0
    at_ms: int = 0  # of the last event
    agent: str = ""
    kind: str = ""  # of the agent; "": opened before kinds were recorded
    cwd: str = ""
    title: str = ""
    labels: dict[str, str] = {}
    opener: str = ""
    opened_ms: int = 0
    archived: bool = False
    closed: bool = False
    deleting: bool = False  # for good, as soon as its agent is gone
    phase: Phase = "none"
    incarnation: IncarnationId = IncarnationId("")
    accepts_input: bool = True  # False: it is connected and has yet to say that it is ready
    silent_since_ms: int = 0  # when it was connected without saying so; 0: it has, or not recorded
    silence_noted: bool = False  # a notice told people about that
    lives: int = 0  # how many incarnations there have been
    spoke: bool = False  # the agent took part in a turn: its own record of it can be resumed
    agent_session: str = ""
    forks: str = ""  # the conversation that the first turn goes on with in a copy
    continues: bool = False  # the first turn goes on with the latest conversation in cwd
    from_pr: str = ""
    copies: bool = False  # what continues, continues in a copy
    past: bool = False  # what is being told happened before this session
    start: StartOptions = StartOptions()
    # In snapshots, as 0.1 wrote and reads it; nothing else uses it.
    legacy: Options | None = msgspec.field(default=None, name="options")
    version: str = ""
    model: str = ""
    mode: str = ""
    turn: TurnId = TurnId("")
    turns: int = 0
    turn_since_ms: int = 0
    ended: str = ""  # how the last turn did; "" while one runs, and before the first
    cost_usd: float = 0.0
    items: dict[ItemId, OpenItem] = {}
    prompts: dict[PromptId, OpenPrompt] = {}
    inputs: dict[InputKey, OpenInput] = {}
    gauges: dict[str, Raw] = {}
    background: int = 0  # how many things run beside the conversation
    confided: bool = False  # something was said that is kept nowhere, and hidden while it is known
    rules: list[Raw] = []  # granted to this process, in the agent's own form (no offers recorded)
    granted: list[str] = []  # granted to this process, in words
    conversations: list[str] = []  # the agent's own ids of those before this one
    watched: dict[ItemId, Watched] = {}
    stopped: bool = False  # somebody interrupted the running turn
    mode_told: bool = False  # this life of the agent has said which mode it is in
    modes: list[str] = []  # chosen by command, and not reported yet
    offered: list[str] = []  # modes of accepted offers, until the next report
    offered_unknown: bool = False  # an offer was accepted that may set any mode; as long as that
    plan_ended: bool = False  # a plan was approved, until the next report
    before_mode: str = msgspec.field(name="before_plan", default="")  # held before this one
    granted_seq: int = 0  # when a rule or a mode was last granted
    alarms: int = 0  # raised in this life of the agent
    alarm: LastAlarm | None = None
    waiting_for: Literal["", "rate_limit", "retry", "compaction", "wedged"] = ""
    waiting_until_ms: int = 0

    def held(self) -> list[InputKey]:
        """Messages that have not left yet, in the order they came."""
        return [key for key, one in self.inputs.items() if one.stage == "accepted"]

    def on_the_way(self) -> bool:
        """Whether a message has left that no turn has taken yet."""
        return any(
            one.kind == "message" and one.stage in ("dispatching", "written")
            for one in self.inputs.values()
        )


_encoder = msgspec.json.Encoder()  # JSON: gauges hold the agent's own JSON as it came
_decoder = msgspec.json.Decoder(State)


def encode_state(state: State) -> bytes:
    """A snapshot of the fold, for a quicker start than folding the whole log."""
    state.legacy = to_legacy(state.start)
    data = _encoder.encode(state)
    state.legacy = None
    return data


def decode_state(data: bytes) -> State:
    state = _decoder.decode(data)
    state.start, state.legacy = recorded(state.start, state.legacy), None
    return state
