"""All a Claude driver must remember: small, bounded, and enough to go on after a restart.

Never the text of open items: the runtime keeps that. The one thing that can be big is the
input of an open prompt, because an answer has to repeat it byte for byte.
"""

from __future__ import annotations

import zlib
from typing import Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType, field

from flybridge.errors import StorageCorruptError
from flybridge.model.ids import InputKey, ItemId, PromptId

MAX_ECHOES = 256
MAX_REQUESTS = 64
MAX_PROMPTS = 64
MAX_TOOLS = 512
MAX_STREAMS = 16
MAX_BLOCKS = 256
MAX_SEEN = 128
MAX_TASKS = 100
MAX_AGENTS = 64
MAX_PRINTED = 64

V = TypeVar("V")
BlockKind: TypeAlias = Literal["text", "thinking", "redacted", "tool", "other"]
RequestKind: TypeAlias = Literal[
    "initialize", "rejoin", "interrupt", "model", "mode", "setting", "fast", "login", "cancel"
]


class OpenBlock(msgspec.Struct, omit_defaults=True):
    """A block that is being streamed. ``count`` deltas of it were shown."""

    kind: BlockKind
    item: ItemId = ItemId("")
    tool: str = ""  # the agent's id of the call, for a tool
    count: int = 0
    stopped: bool = False  # streamed to its end; its complete form has not come yet


class Stream(msgspec.Struct, omit_defaults=True):
    """One answer that is being streamed: the main one, or a sub-agent's."""

    message: str = ""
    blocks: dict[int, OpenBlock] = {}


class OpenTool(msgspec.Struct, omit_defaults=True):
    item: ItemId
    parent: ItemId = ItemId("")
    denied: bool = False
    name: str = ""
    given: Raw | UnsetType = UNSET  # the input, where the result has to be read with it


class Task(msgspec.Struct, omit_defaults=True):
    """One line of the agent's list of what there is to do, as every front end gets it."""

    id: str = ""
    content: str = ""
    status: str = ""
    active: str = field(name="activeForm", default="")
    owner: str = ""
    blocks: list[str] = []  # the ids of tasks that wait for this one
    blocked_by: list[str] = field(name="blockedBy", default_factory=list)


class OpenPrompt(msgspec.Struct, omit_defaults=True):
    request: str
    tool: str  # the agent's id of the call
    input: Raw
    suggestions: list[Raw] = []
    question: bool = False


class Asked(msgspec.Struct, omit_defaults=True):
    """A control_request of ours that has no answer yet."""

    kind: RequestKind
    key: InputKey = InputKey("")
    value: str = ""
    subtype: str = ""
    late: bool = False  # given up: what it says now is heard, but nobody waits for it


class Given(msgspec.Struct, omit_defaults=True):
    """An answer of ours the agent has not shown to have read."""

    key: InputKey
    tool: str = ""


class Memo(msgspec.Struct, omit_defaults=True):
    requests: int = 0
    items: int = 0
    prompts_made: int = 0
    turn: bool = False
    spoke: bool = False  # the running turn has said something
    asked_model: bool = False  # the running turn has asked the model; a local command does not
    names_inputs: bool = False  # the agent announces inputs by their uuid (command_lifecycle)
    stopping: bool = False  # we asked for the end of the running turn
    halted: bool = False  # and an agent that marks nothing as cut has confirmed it
    last: str = ""  # the id of the last message, where it can be lost
    torn: bool = False  # the connection was lost while the running turn ran
    asker: str = ""  # the input that may have begun the running turn: the oldest without an echo
    cost_usd: float | None = None  # the total last heard of; None: nothing yet
    model: str = ""
    mode: str = ""
    ready: str = ""  # digest of what the agent last said of itself
    fallback: str = ""  # another model took over in this turn, and no notice says so yet
    fallback_told: bool = False  # the CLI said so itself
    terminal: list[str] = []  # slash commands that work in the agent's own terminal only
    context: int | None = 0  # tokens the model was last given; None: not known any more
    window: int = 0
    counted: dict[str, int] = {}  # the usage last shown
    printed: list[int] = []  # checksums of the ids of messages that slash commands printed
    said: int = 0  # checksum of the last text, as long as nothing came after it
    said_in: str = ""  # the message it stood in
    plan: int = 0  # checksum of the plan last shown
    tasks: list[Task] = []
    background: list[Raw] = []  # what runs beside the conversation
    lists_background: bool = False  # the CLI tells all of it, each time that it changes
    denials: list[int] = []  # checksums of calls whose denial was told in the running turn
    streams: dict[str, Stream] = {}
    tools: dict[str, OpenTool] = {}
    agents: dict[str, str] = {}  # call that started a sub-agent → its kind; it may outlive the call
    calls: dict[str, str] = {}  # id of a sub-agent → the call that started it
    prompts: dict[PromptId, OpenPrompt] = {}
    echoes: dict[str, InputKey] = {}  # uuid → input the agent has not echoed
    asked: dict[str, Asked] = {}  # request id →
    unsupported: list[str] = []  # subtypes of requests that the CLI says it does not know
    given: dict[str, Given] = {}  # request id →
    seen: list[int] = []  # checksums of ids that are used up

    def use_up(self, name: str) -> None:
        """Remember that this id of the agent's had its end."""
        self.seen.append(zlib.crc32(name.encode()))
        del self.seen[:-MAX_SEEN]

    def note_printed(self, name: str) -> bool:
        """Note the id of a message that a slash command printed; False if it was noted before."""
        checksum = zlib.crc32(name.encode("utf-8", "replace"))
        if checksum in self.printed:
            return False
        self.printed.append(checksum)
        del self.printed[:-MAX_PRINTED]
        return True

    def tell_denial(self, tool: str) -> bool:
        """Whether the denial of this call has to be told still; from now on it has not."""
        checksum = zlib.crc32(tool.encode())
        if checksum in self.denials:
            return False
        self.denials.append(checksum)
        del self.denials[:-MAX_SEEN]
        return True

    def is_used_up(self, name: str) -> bool:
        return zlib.crc32(name.encode()) in self.seen


_memo = msgspec.json.Decoder(Memo)


def restored(data: bytes) -> Memo:
    """The memo as it was taken; b"" is a new life.

    Raises:
        StorageCorruptError: this is no memo of this driver.
    """
    if not data:
        return Memo()
    try:
        return _memo.decode(data)
    except msgspec.DecodeError as error:
        raise StorageCorruptError(f"memo of the claude driver: {error}") from error


def bound(table: dict[str, V], limit: int) -> None:
    """Make room for one more by forgetting the oldest."""
    while len(table) >= limit:
        del table[next(iter(table))]
