"""What the rooms ask of each other. Nothing here waits, except for the journal's barrier.

After any call on a driver, ``take`` hands over what it produced; after any call on an
adapter, ``take`` hands over the bytes to write. The runtime commits first, then sends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import Raw

from flybridge.model.capabilities import Capabilities, Launch, LinkEnd, OpenSpec, Transport
from flybridge.model.commands import Command
from flybridge.model.deliveries import Answer, Batch, Delivery, Gauge, Preview
from flybridge.model.events import Event
from flybridge.model.facts import Fact
from flybridge.model.ids import IncarnationId, InputKey, ItemId, SessionId
from flybridge.model.options import AgentOptions, OptionSchema
from flybridge.model.queries import Models
from flybridge.model.requests import Request
from flybridge.model.trust import TrustFiles
from flybridge.session.state import LastAlarm

# ---- drivers: one object per link, pure; what must survive is in the memo --------------------


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One whole message to the agent, without its newline.

    ``on_restart``: a restarted gateway sends decided answers and the driver's own lines
    again if the keeper never got them; user input and interrupts it drops.
    """

    data: bytes
    key: InputKey | None = None  # which input it carries; None: the driver's own
    on_restart: Literal["send", "drop"] = "send"
    secret: bool = False  # never put into the outbox


Out: TypeAlias = Fact | Preview | Gauge | Answer


class Output(msgspec.Struct):
    """What a driver produced since the last ``take``, in the order it was decoded."""

    out: list[tuple[SessionId, Out]]
    lines: list[Line]
    blobs: dict[str, bytes]  # sha256 in hex → bytes over BLOB_BYTES


BLOB_BYTES = 64 * 1024


class Driver(Protocol):
    """One agent's language. Never raises on anything the agent says."""

    deadline_ms: int | None  # the runtime calls tick() then: the only notion of a timer

    def attach(
        self, session: SessionId, incarnation: IncarnationId, spec: OpenSpec, memo: bytes
    ) -> None:
        """Serve this session. ``memo`` b"": a new life; else go on where it was taken."""

    def connected(self, now_ms: int) -> None:
        """The process is there: say hello. Not called on adoption.

        Put the fact ``AcceptsInput`` here, or later once the agent takes messages: none is sent
        before it. After an adoption the session knows whether it was said.
        """

    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        """Take whole lines, all of one read, without their newlines."""

    def send(self, session: SessionId, command: Command, key: InputKey, now_ms: int) -> None:
        """Put a command into the agent's language."""

    def query(self, session: SessionId, ref: str, name: str, params: Raw, now_ms: int) -> None:
        """Ask the agent something beside the conversation; an ``Answer`` with ``ref`` follows.

        A name of ``model.queries.RESULTS`` is answered with that struct as JSON; a name behind
        ``model.queries.RAW`` is the agent's own, and so is the object it is answered with.
        """

    def tick(self, now_ms: int) -> None: ...

    def lost(self, end: LinkEnd, now_ms: int) -> None:
        """The process is gone: close what is open (items, tools, prompts)."""

    def take(self) -> Output: ...

    def memo(self, session: SessionId) -> bytes:
        """All that must survive a restart. Small: texts of open items are kept elsewhere."""


@runtime_checkable
class Rejoins(Protocol):
    """What a driver also has whose agent connects to us, and may lose the connection."""

    def rejoined(self, last: str, now_ms: int) -> bool:
        """The same process is there again. ``last`` names the last it said, to whomever;
        returns whether anything of that was lost."""


class Agent(Protocol):
    """What is known of an agent before there is a link.

    ``options``: all that can be set for this agent beside the options common to all agents.
    """

    name: str
    kind: str  # which driver speaks to it; sessions record it, and trust in a folder is per kind
    trust_files: TrustFiles  # of a project, that any version of it obeys
    options: OptionSchema

    def version_argv(self) -> Sequence[str]: ...
    def capabilities(self, version_output: bytes) -> Capabilities: ...
    def launch(self, spec: OpenSpec, capabilities: Capabilities) -> Launch: ...
    def driver(self, capabilities: Capabilities) -> Driver: ...

    def restricted(self, agent_options: AgentOptions) -> AgentOptions | None:
        """Return the options with which it starts without the settings of its folder.

        Options that leave them out already are returned as they are. None: it cannot leave them
        out.
        """


@runtime_checkable
class DescribesModels(Protocol):
    """An agent that describes its models when it starts, in the detail of ``agent.ready``."""

    def models(self, detail: Raw) -> Models:
        """Return the models that a detail describes, whichever version of the agent wrote it."""


# ---- adapters: one object per client, many sessions; requests in, deliveries out -------------


class Adapter(Protocol):
    """One connected front end. Bad input becomes an error in ``take``, never a raise."""

    shared_wire: bool  # True (native): the hub writes Batch.wire itself and skips deliver()
    deadline_ms: int | None

    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]: ...
    def deliver(self, what: Delivery, now_ms: int) -> None: ...
    def tick(self, now_ms: int) -> None: ...
    def take(self) -> list[bytes]: ...


# ---- the journal: one transaction per step ---------------------------------------------------


class InputRow(msgspec.Struct, kw_only=True):
    """One input's line in the ledger; (session, key) is unique and claimed by INSERT."""

    session: SessionId
    key: InputKey
    kind: str
    by: str
    fingerprint: str
    stage: str
    attempt: int = 1
    incarnation: str = ""
    number: int = 0  # the keeper's number of the line that carries it
    choice: str = ""
    seq: int = 0  # of the event that last changed it


class OutLine(msgspec.Struct, frozen=True):
    """A numbered line the keeper has not reported written."""

    number: int
    line: Line


class Place(msgspec.Struct, frozen=True):
    """How far the agent's output has been turned into events."""

    incarnation: IncarnationId
    out_offset: int
    memo: bytes


class Draft(msgspec.Struct, frozen=True):
    """The text so far of an open item: ``count`` deltas of it."""

    count: int
    text: str


class IncarnationRow(msgspec.Struct, kw_only=True):
    """One life of one agent process, and how to find its keeper again."""

    incarnation: IncarnationId
    session: SessionId
    state: Literal["starting", "live", "ended"]
    socket: str
    secret: str
    boot: str = ""
    keeper_pid: int = 0
    keeper_start: str = ""
    agent_pid: int = 0
    agent_start: str = ""
    asked_to_end: bool = False
    transport: Transport = "stdio"


class SessionRow(msgspec.Struct, kw_only=True):
    """What a list of sessions shows without folding any log."""

    session: SessionId
    agent: str
    kind: str = ""  # of the agent; "": opened before kinds were recorded
    cwd: str
    title: str = ""
    created_ms: int = 0
    changed_ms: int = 0
    archived: bool = False
    closed: bool = False
    epoch: int = 1
    last_seq: int = 0
    labels: dict[str, str] = {}
    conversation: str = ""  # the agent's own id of it
    conversations: tuple[str, ...] = ()  # and of those before it
    alarm: LastAlarm | None = None


class Write(msgspec.Struct, kw_only=True):
    """One step of one session: all of it is durable, or none of it happened."""

    session: SessionId
    batches: list[Batch] = []
    claims: list[InputRow] = []  # new keys: INSERT, a taken key fails the whole write
    inputs: list[InputRow] = []  # known keys: UPDATE
    outbox: list[OutLine] = []  # added
    outbox_done: tuple[int, ...] = ()  # numbers the keeper reported written, or dropped
    place: Place | None = None
    drafts: dict[ItemId, Draft] = {}  # changed
    drafts_gone: tuple[ItemId, ...] = ()
    incarnation: IncarnationRow | None = None
    row: SessionRow | None = None
    snapshot: tuple[int, bytes] | None = None  # (seq, encoded state)


class Loaded(msgspec.Struct, kw_only=True):
    """Everything a session needs to go on."""

    row: SessionRow
    snapshot: tuple[int, bytes] | None
    place: Place | None
    outbox: list[OutLine]
    drafts: dict[ItemId, Draft]
    incarnation: IncarnationRow | None  # the latest, whatever its state


class Journal(Protocol):
    """The durable log. ``commit`` survives kill -9, ``barrier`` survives power loss.

    Every method raises ``StorageError`` when the disk refuses; nothing of a failed commit
    is there afterwards, and ``recover`` makes the journal usable again once the disk is.
    An ``urgent`` write (an interrupt, a denial) may use space kept back for it.
    """

    generation: int  # rises by one at each opening

    def find(self, session: SessionId, key: InputKey) -> InputRow | None: ...
    def commit(self, write: Write, *, urgent: bool = False) -> None: ...
    def barrier(self) -> Awaitable[None]: ...
    def read(self, session: SessionId, after: int, max_bytes: int) -> Sequence[Batch]: ...
    def load(self, session: SessionId) -> Loaded | None: ...
    def sessions(self) -> Sequence[SessionRow]: ...
    def live(self) -> Sequence[IncarnationRow]: ...  # every incarnation not ended
    def delete(self, session: SessionId) -> None: ...
    def recover(self) -> None: ...
    def close(self) -> None: ...


class Blobs(Protocol):
    """Content-addressed bytes: what is too big for a row."""

    def put(self, digest: str, data: bytes) -> None: ...
    def get(self, digest: str, start: int = 0, size: int = -1) -> bytes: ...
    def size(self, digest: str) -> int | None: ...


# ---- what an agent keeps by itself: conversations it had before, with us or without ------------


SESSION_ENV = "FLYBRIDGE_SESSION"
INCARNATION_ENV = "FLYBRIDGE_INCARNATION"
KEEPERS_ENV = "FLYBRIDGE_KEEPERS"  # tells the agents of two gateways apart
CONVERSATION_ENV = "FLYBRIDGE_CONVERSATION"  # every agent we start has it: what it writes to


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in our words: ``events``, each with the time it happened, in ms.

    They begin and end with a ``history`` event and leave nothing open between the two.
    """

    conversation: str
    cwd: str = ""
    title: str = ""
    events: tuple[tuple[int, Event], ...] = ()
    blobs: dict[str, bytes] = {}


class Conversations(Protocol):
    """An agent's own records on disk. Everything blocks: it belongs into a thread."""

    def past(self, agent: str, conversation: str, cwd: str = "") -> Past | None:
        """What was said so far, bounded. None: this agent keeps no records that we can read.

        Raises:
            RefusedError: it is not there, or more than can be read.
            StorageError: the disk refused.
        """

    def other_writer(
        self, agent: str, conversation: str, but: SessionId, *, guess: bool = True
    ) -> str:
        """Which program goes on with it, other than the agents of one session: a sentence.

        ``guess``: or seems to. Where one of ours wrote to it last, that would prove nothing.
        """

    def claim(
        self, agent: str, conversation: str, session: SessionId, *, guess: bool = True
    ) -> Callable[[], None]:
        """Keep every other gateway of this user from starting an agent on it.

        What comes back gives it free again, once the agent that was started shows by itself.

        Raises:
            BusyError: another program has it open, or is about to.
        """
