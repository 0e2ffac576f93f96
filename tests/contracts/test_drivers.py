from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.model.capabilities import LinkEnd, OpenSpec
from flybridge.model.commands import Command
from flybridge.model.deliveries import Preview
from flybridge.model.facts import AcceptsInput, ItemClosed, ItemOpened, TurnBegan
from flybridge.model.ids import IncarnationId, InputKey, ItemId, SessionId
from flybridge.session.ports import Driver, Line, Output
from flybridge.testing.drivers import (
    Connected,
    Conversation,
    DriverContract,
    DriverKit,
    Heard,
    assert_one_line,
    mutated,
)
from tests.harness.claude_recordings import NAMES, driver_of, replayed

REPLAYED = {name: replayed(name)[0] for name in NAMES}
ITEM = ItemId("itm_1")


@pytest.mark.timeout(300)  # ten seconds of pure computing, on a quiet machine
class _Claude(DriverContract):
    version = ""

    def driver(self) -> Driver:
        return driver_of(self.version)

    def conversations(self) -> Sequence[Conversation]:
        return [one for name, one in REPLAYED.items() if name.startswith(f"{self.version}/")]


class TestOldClaude(_Claude):
    version = "2.1.38"


class TestMiddleClaude(_Claude):
    version = "2.1.200"


class TestNewClaude(_Claude):
    version = "2.1.325"


def test_every_golden_file_is_played() -> None:
    played = [
        one.name
        for contract in (TestOldClaude(), TestMiddleClaude(), TestNewClaude())
        for one in contract.conversations()
    ]
    assert sorted(played) == NAMES
    assert len(NAMES) >= 20


REAL = [line for conversation in REPLAYED.values() for line in conversation.lines]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.sampled_from(REAL), st.binary(max_size=40)), max_size=30))
def test_any_mixture_of_real_lines_and_junk_gives_facts(lines: list[bytes]) -> None:
    DriverKit(lambda: driver_of("2.1.325")).check_noise(lines)


# ---- the kit finds what it should ----------------------------------------------------------------


class Honest:
    """A driver of one-letter lines: o opens, c closes, anything else is text."""

    deadline_ms: int | None = None

    def __init__(self) -> None:
        self.output = Output(out=[], lines=[], blobs={})
        self.session = SessionId("")
        self.count = -1
        self.text = ""

    def attach(
        self, session: SessionId, incarnation: IncarnationId, spec: OpenSpec, memo: bytes
    ) -> None:
        self.session = session
        self.count = msgspec.json.decode(memo or b"-1", type=int)

    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        for line in messages:
            self.hear(line)
        self.flush()

    def hear(self, line: bytes) -> None:
        if line == b"o" and self.count < 0:
            self.put(ItemOpened(item=ITEM, kind="text"))
            self.count = 0
        elif line == b"c" and self.count >= 0:
            self.flush()
            self.put(ItemClosed(item=ITEM))
            self.count = -2
        elif self.count >= 0:
            self.text += line.decode("latin-1")

    def flush(self) -> None:
        if self.text:
            self.put(Preview(ITEM, self.count, self.count + len(self.text), self.text))
            self.count += len(self.text)
            self.text = ""

    def put(self, what: ItemOpened | ItemClosed | Preview | AcceptsInput | TurnBegan) -> None:
        self.output.out.append((self.session, what))

    def lost(self, end: LinkEnd, now_ms: int) -> None:
        if self.count >= 0:
            self.put(ItemClosed(item=ITEM, status="partial"))

    def memo(self, session: SessionId) -> bytes:
        return msgspec.json.encode(self.count)

    def take(self) -> Output:
        output, self.output = self.output, Output(out=[], lines=[], blobs={})
        return output

    def connected(self, now_ms: int) -> None:
        self.put(AcceptsInput())

    def send(self, session: SessionId, command: Command, key: InputKey, now_ms: int) -> None: ...
    def query(self, session: SessionId, ref: str, name: str, params: Raw, now_ms: int) -> None: ...
    def tick(self, now_ms: int) -> None: ...


class Forgetful(Honest):
    def memo(self, session: SessionId) -> bytes:
        return b"-1"


class Careless(Honest):
    def lost(self, end: LinkEnd, now_ms: int) -> None: ...


class Miscounting(Honest):
    def flush(self) -> None:
        self.count = 0 if self.text else self.count
        super().flush()


class Twice(Honest):
    def lost(self, end: LinkEnd, now_ms: int) -> None:
        super().lost(end, now_ms)
        super().lost(end, now_ms)


class Chunky(Honest):
    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        super().receive(messages[:1] if len(messages) > 3 else messages, now_ms)


class Fragile(Honest):
    def hear(self, line: bytes) -> None:
        line.decode("ascii")
        super().hear(line)


class Sloppy(Honest):
    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        super().receive(messages, now_ms)
        self.output.lines.append(Line(data=b'{"a": 1}'))


class Silent(Honest):
    def connected(self, now_ms: int) -> None: ...


class Hasty(Honest):
    def connected(self, now_ms: int) -> None:
        self.put(TurnBegan())
        super().connected(now_ms)


LINES = tuple(Heard(line) for line in (b"o", b"a", b"b", b"c"))
TALK = Conversation("talk", (Connected(), *LINES))
OPEN = Conversation("open", TALK.steps[:4])


def check(make: type[Honest]) -> None:
    kit = DriverKit(make)
    for conversation in (TALK, OPEN):
        kit.check_split(conversation, range(5))
        kit.check_ready(conversation)
        kit.check_memo(conversation)
        kit.check_end(conversation)
        kit.check_noise([*conversation.lines, b"\xff"])
        for seed in range(50):
            kit.check_noise(mutated(conversation, seed))


def test_an_honest_driver_passes() -> None:
    check(Honest)


@pytest.mark.parametrize(
    "bad", [Forgetful, Careless, Miscounting, Twice, Chunky, Sloppy, Silent, Hasty]
)
def test_a_driver_that_breaks_a_promise_is_found(bad: type[Honest]) -> None:
    with pytest.raises(AssertionError):
        check(bad)


def test_a_driver_that_raises_is_found() -> None:
    with pytest.raises(UnicodeDecodeError):
        check(Fragile)


@pytest.mark.parametrize("bad", [b"[]", b'{"a": 1}', b'{"a":1}\n', b'{"a":\r1}'])
def test_a_line_is_one_compact_object(bad: bytes) -> None:
    with pytest.raises(AssertionError):
        assert_one_line(bad)
    assert_one_line(b'{"a":1}')
