"""What every driver must do, as tests to inherit.

    class TestMine(DriverContract):
        def driver(self) -> Driver:
            return MyAgent().driver(capabilities)

        def conversations(self) -> Sequence[Conversation]:
            return [Conversation("greeting", (Connected(), Heard(b"..."), Told(...)))]

A conversation is what an agent said and what was asked of it, in order; recordings of real
runs make the best ones. :class:`DriverKit` plays one, for tests of your own. The kit needs
no test framework beyond one that runs ``test_`` methods; its randomness is seeded.

The promises: how reads were split changes nothing but the size of previews; a driver
restored from its memo goes on as if nothing had happened; any bytes give facts and never an
exception; every item that was opened is closed once; nothing refers to what nobody opened;
every line written is one compact JSON object; a driver says when its agent takes input.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Container, Iterable, Sequence
from typing import TypeAlias

import msgspec

from flybridge.model.capabilities import LinkEnd, OpenSpec
from flybridge.model.commands import Command
from flybridge.model.deliveries import Answer, Gauge, Preview
from flybridge.model.facts import (
    AcceptsInput,
    Fact,
    InputEchoed,
    ItemClosed,
    ItemOpened,
    PermissionAsked,
    PromptWithdrawn,
    QuestionAsked,
    ToolCalled,
    ToolReturned,
    TurnBegan,
)
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId
from flybridge.session.ports import BLOB_BYTES, Driver, Line, Out, Output

SESSION = SessionId("ses_kit")
INCARNATION = IncarnationId("inc_kit")
NOW_MS = 1_700_000_000_000
MAX_MEMO_BYTES = 256 * 1024


class Connected(msgspec.Struct, frozen=True):
    """The process takes input for the first time."""


class Heard(msgspec.Struct, frozen=True):
    """One line of the agent's, without its newline."""

    line: bytes


class Told(msgspec.Struct, frozen=True):
    command: Command
    key: InputKey


Step: TypeAlias = Connected | Heard | Told


class Conversation(msgspec.Struct, frozen=True):
    name: str
    steps: tuple[Step, ...]

    @property
    def lines(self) -> list[bytes]:
        return [step.line for step in self.steps if isinstance(step, Heard)]


class Played(msgspec.Struct):
    """What came of a conversation: previews as the text they add up to, the rest in order."""

    facts: list[Fact | Gauge | Answer] = []
    shown: dict[ItemId, str] = {}
    lines: list[Line] = []
    blobs: dict[str, bytes] = {}

    def same_as(self, other: Played) -> bool:
        return (
            _plain(self.facts) == _plain(other.facts)
            and self.shown == other.shown
            and self.lines == other.lines
            and self.blobs == other.blobs
        )


class DriverKit:
    """Plays conversations to drivers that ``make`` makes, and checks what they promise."""

    def __init__(self, make: Callable[[], Driver], spec: OpenSpec | None = None) -> None:
        self._make = make
        self._spec = spec or OpenSpec(agent="agent", cwd="/project")

    def check_split(self, conversation: Conversation, cuts: Container[int]) -> None:
        """However the reads were split, the same facts, lines and texts come out."""
        assert self.play(conversation).same_as(self.play(conversation, cuts=cuts))

    def check_memo(self, conversation: Conversation) -> None:
        """At every line, a driver restored from the memo does what the first one does.

        Both take one step and must agree in what they say and in what they remember; then
        the restored one goes on. So one pass stands for a restart at any place.
        """
        first, restored = self._attached(b""), self._attached(b"")
        for step in conversation.steps:
            _take_step(first, [step])
            _take_step(restored, [step])
            _assert_same_output(first.take(), restored.take())
            memo = first.memo(SESSION)
            assert memo == restored.memo(SESSION), "the memo depends on more than the memo"
            restored = self._attached(memo)
            assert restored.memo(SESSION) == memo, "the memo does not survive a round trip"

    def check_end(self, conversation: Conversation) -> None:
        """Wherever the agent dies, all that is open is closed, once."""
        for length in range(len(conversation.steps) + 1):
            part = Conversation(conversation.name, conversation.steps[:length])
            self.play(part, end=True)

    def check_ready(self, conversation: Conversation) -> None:
        """Check that ``AcceptsInput`` comes before the agent has read a message, and by the end.

        The runtime sends no message before it: a driver that never says it would never be sent
        anything.
        """
        facts = self.play(conversation).facts
        kinds = [type(fact) for fact in facts]
        assert AcceptsInput in kinds, f"{conversation.name}: the driver never said that it is ready"
        taken = [at for at, kind in enumerate(kinds) if kind in (InputEchoed, TurnBegan)]
        assert not taken or kinds.index(AcceptsInput) < taken[0], "input before ``AcceptsInput``"

    def check_noise(self, lines: Sequence[bytes]) -> None:
        """Any bytes give facts, never an exception, and leave nothing open."""
        conversation = Conversation("noise", tuple(Heard(line) for line in lines))
        played = self.play(conversation, end=True)
        assert played.same_as(self.play(conversation, cuts=range(len(lines)), end=True))
        self.check_memo(conversation)

    def play(
        self, conversation: Conversation, *, cuts: Container[int] = (), end: bool = False
    ) -> Played:
        """Play it; ``cuts`` are the steps after which a read ends, ``end`` kills the agent.

        Whatever is played, the order of what comes out is checked.
        """
        driver = self._attached(b"")
        order = _Order()
        read: list[Step] = []
        for at, step in enumerate(conversation.steps):
            read.append(step)
            following = conversation.steps[at + 1 : at + 2]
            alone = not isinstance(step, Heard) or not isinstance((*following, None)[0], Heard)
            if alone or at in cuts:
                _take_step(driver, read)
                order.take(driver.take())
                read = []
        assert len(driver.memo(SESSION)) <= MAX_MEMO_BYTES, "the memo is not small"
        if end:
            driver.lost(LinkEnd(why="exit"), NOW_MS)
            order.take(driver.take())
            order.assert_all_closed()
        return order.played

    def _attached(self, memo: bytes) -> Driver:
        driver = self._make()
        driver.attach(SESSION, INCARNATION, self._spec, memo)
        return driver


class DriverContract:
    """Inherit, and say what to test with."""

    damaged = 20  # how many damaged forms of each conversation are tried

    def driver(self) -> Driver:
        raise NotImplementedError

    def conversations(self) -> Sequence[Conversation]:
        raise NotImplementedError

    def test_how_reads_were_split_does_not_matter(self) -> None:
        kit = DriverKit(self.driver)
        for conversation in self.conversations():
            length = len(conversation.steps)
            kit.check_split(conversation, range(length))
            for seed in range(5):
                cuts = random.Random(seed).sample(range(length), length // 3)
                kit.check_split(conversation, set(cuts))

    def test_a_driver_restored_at_any_line_goes_on_as_the_first_one(self) -> None:
        kit = DriverKit(self.driver)
        for conversation in self.conversations():
            kit.check_memo(conversation)

    def test_wherever_the_agent_dies_all_that_is_open_is_closed_once(self) -> None:
        kit = DriverKit(self.driver)
        for conversation in self.conversations():
            kit.check_end(conversation)

    def test_a_driver_says_when_its_agent_takes_input(self) -> None:
        kit = DriverKit(self.driver)
        for conversation in self.conversations():
            if any(isinstance(step, Connected) for step in conversation.steps):
                kit.check_ready(conversation)

    def test_damaged_lines_give_facts_and_no_exception(self) -> None:
        kit = DriverKit(self.driver)
        for conversation in self.conversations():
            for seed in range(self.damaged):
                kit.check_noise(mutated(conversation, seed))


class _Order:
    """Follows what a driver says and objects at once when it makes no sense."""

    def __init__(self) -> None:
        self.played = Played()
        self._open: dict[ItemId, int] = {}  # → deltas shown
        self._opened: set[ItemId] = set()
        self._prompts: set[PromptId] = set()
        self._asked: set[PromptId] = set()

    def take(self, output: Output) -> None:
        for session, what in output.out:
            assert session == SESSION
            self._follow(what)
        for line in output.lines:
            assert_one_line(line.data)
        for digest, body in output.blobs.items():
            assert len(body) > BLOB_BYTES, f"blob {digest} would fit into a row"
        self.played.lines += output.lines
        self.played.blobs |= output.blobs

    def _follow(self, what: Out) -> None:
        match what:
            case Preview():
                self._preview(what)
                return
            case ItemOpened(item=item):
                assert item, "an item has a name"
                assert item not in self._opened, f"{item} opened twice"
                self._opened.add(item)
                self._open[item] = 0
            case ToolCalled(item=item):
                assert item in self._open, f"{item} called, but not open"
            case ItemClosed(item=item) | ToolReturned(item=item):
                assert item in self._open, f"{item} closed, but not open"
                del self._open[item]
            case PermissionAsked(prompt=prompt) | QuestionAsked(prompt=prompt):
                assert prompt not in self._asked, f"{prompt} asked twice"
                self._asked.add(prompt)
                self._prompts.add(prompt)
            case PromptWithdrawn(prompt=prompt):
                assert prompt in self._prompts, f"{prompt} withdrawn, but not open"
                self._prompts.remove(prompt)
            case _:
                pass
        msgspec.json.encode(what)  # whatever it is, it can be written down
        self.played.facts.append(what)

    def _preview(self, what: Preview) -> None:
        assert what.item in self._open, f"preview of {what.item}, which is not open"
        assert what.since == self._open[what.item], f"{what.item}: previews are not contiguous"
        assert what.upto > what.since, f"{what.item}: a preview of nothing"
        self._open[what.item] = what.upto
        self.played.shown[what.item] = self.played.shown.get(what.item, "") + what.text

    def assert_all_closed(self) -> None:
        assert not self._open, f"never closed: {sorted(self._open)}"


def assert_one_line(data: bytes) -> None:
    """One JSON object, compact, without a newline: all a line-based peer can take."""
    assert b"\n" not in data
    assert b"\r" not in data
    value = json.loads(data)
    assert isinstance(value, dict), "a line is an object"
    assert data == msgspec.json.format(data, indent=-1), "a line is compact"


def mutated(conversation: Conversation, seed: int) -> list[bytes]:
    """The agent's lines with damage: lost, doubled, swapped, cut, overwritten, foreign."""
    chance = random.Random(seed)
    lines = list(conversation.lines)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(lines)) if lines else 0
        lines[at : at + 1] = _damaged(chance, lines, at)
    return lines


def _damaged(chance: random.Random, lines: Sequence[bytes], at: int) -> list[bytes]:
    line = lines[at] if lines else b"{}"
    where = chance.randrange(len(line) + 1)
    choices: list[list[bytes]] = [
        [],
        [line, line],
        [chance.choice(lines) if lines else b"", line],
        [line[:where]],
        [line[:where] + bytes([chance.randrange(256)]) + line[where + 1 :]],
        [line[:where] + line[chance.randrange(len(line) + 1) :]],
        [line, b"noise on stdout", b"[1,2]", b"null", b'"text"', b"{}", b'{"type":7}'],
        [_other_value(chance, line)],
    ]
    return chance.choice(choices)


def _other_value(chance: random.Random, line: bytes) -> bytes:
    """The same message with one field, somewhere, of another kind."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    place = value
    while isinstance(place, dict) and place:
        name = chance.choice(list(place))
        if not isinstance(place[name], dict) or chance.random() < 0.3:
            place[name] = chance.choice([None, 1, -1.5e300, 10**30, "x", [], {}, True, [None]])
            break
        place = place[name]
    return json.dumps(value).encode()


def _take_step(driver: Driver, steps: Sequence[Step]) -> None:
    lines = [step.line for step in steps if isinstance(step, Heard)]
    if lines:
        driver.receive(lines, NOW_MS)
    for step in steps:
        if isinstance(step, Connected):
            driver.connected(NOW_MS)
        elif isinstance(step, Told):
            driver.send(SESSION, step.command, step.key, NOW_MS)


def _assert_same_output(one: Output, other: Output) -> None:
    assert _plain(what for _, what in one.out) == _plain(what for _, what in other.out)
    assert one.lines == other.lines
    assert one.blobs == other.blobs


def _plain(what: Iterable[Out]) -> list[tuple[str, bytes]]:
    """Comparable: Raw compares by identity, its bytes do not."""
    return [(type(one).__name__, msgspec.json.encode(one)) for one in what]
