"""What every front-end adapter must do, as tests to inherit.

    class TestMine(AdapterContract):
        greeting = b'{"type":"hello","proto":1}\\n'

        def adapter(self) -> Adapter:
            return MyAdapter()

        def samples(self) -> Sequence[Sample]:
            return [Sample(data=b"...", requests=(Attach(...),))]

        def bad(self) -> Sequence[bytes]:
            return [b"nonsense\\n"]

The kit needs no test framework beyond one that runs ``test_`` methods; its randomness is
seeded, so a failure comes back.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from flybridge.model.deliveries import (
    Batch,
    Delivery,
    Entry,
    Gauge,
    Preview,
    Reply,
    Shown,
    Stage,
    View,
)
from flybridge.model.events import Event, Notice, TurnStarted
from flybridge.model.ids import ItemId, SessionId, TurnId
from flybridge.model.requests import Ask, Detach, Request
from flybridge.session.ports import Adapter
from flybridge.wire.native.entries import encode_entries

NOW_MS = 1_700_000_000_000
_SESSION = SessionId("ses_contract")


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """Whole messages as the front end writes them, and all that they ask for."""

    data: bytes
    requests: tuple[Request, ...]


class Heard(msgspec.Struct, frozen=True):
    """What came of some bytes: comparable requests, and what was answered."""

    requests: list[bytes]
    answers: list[bytes]


class AdapterContract:
    """Inherit from this in a class whose name begins with Test."""

    greeting: bytes = b""  # what a client says before it is served
    rounds: int = 200  # of each random check

    def adapter(self) -> Adapter:
        """Make the adapter of a client that has just come in."""
        raise NotImplementedError

    def samples(self) -> Sequence[Sample]:
        """At least one sample of every kind of request the protocol can make."""
        raise NotImplementedError

    def bad(self) -> Sequence[bytes]:
        """Whole messages that ask for nothing and must be answered with an error."""
        raise NotImplementedError

    # ---- what holds ------------------------------------------------------------------------

    def test_every_request_is_returned_once(self) -> None:
        for sample in self.samples():
            adapter = self._greeted()
            heard = _hear(adapter, [sample.data])
            assert heard.requests == [_comparable(one) for one in sample.requests]
            assert not adapter.receive(b"", NOW_MS)

    def test_requests_do_not_depend_on_how_reads_were_split(self) -> None:
        stream = self.greeting + b"".join(self._messages())
        whole = _hear(self.adapter(), [stream])
        assert _hear(self.adapter(), _cut(stream, 1)) == whole
        rng = random.Random(1)
        for _ in range(self.rounds // 10):
            assert _hear(self.adapter(), _cut_anyhow(stream, rng)) == whole

    def test_any_bytes_give_requests_or_answers_but_never_a_raise(self) -> None:
        rng = random.Random(2)
        messages = self._messages()
        for _ in range(self.rounds):
            adapter = self._greeted()
            for _ in range(5):
                _hear(adapter, [_spoilt(rng.choice(messages), rng)])
            _hear(adapter, [rng.randbytes(rng.randrange(200)), b"\n"])

    def test_nothing_is_carried_out_before_the_greeting(self) -> None:
        if not self.greeting:
            return
        for sample in self.samples():
            adapter = self.adapter()
            heard = _hear(adapter, [sample.data])
            assert not heard.requests
            assert heard.answers, "the client must be told"

    def test_bad_input_is_answered_and_asks_for_nothing(self) -> None:
        for data in self.bad():
            heard = _hear(self._greeted(), [data])
            assert not heard.requests, data
            assert heard.answers, data

    def test_bad_input_does_not_spoil_what_comes_after_it(self) -> None:
        sample = self.samples()[0]
        for data in self.bad():
            heard = _hear(self._greeted(), [data, sample.data])
            assert heard.requests == [_comparable(one) for one in sample.requests], data

    def test_every_kind_of_delivery_is_taken_at_any_time(self) -> None:
        for sample in (Sample(data=b"", requests=()), *self.samples()):
            adapter = self._greeted()
            adapter.receive(sample.data, NOW_MS)
            adapter.take()
            for delivery in _deliveries(sample.requests):
                adapter.deliver(delivery, NOW_MS)
                assert all(type(frame) is bytes and frame for frame in adapter.take())

    def test_take_hands_over_everything_once(self) -> None:
        adapter = self._greeted()
        for delivery in _deliveries(()):
            adapter.deliver(delivery, NOW_MS)
        adapter.take()
        assert adapter.take() == []

    def test_a_tick_at_any_time_is_harmless(self) -> None:
        adapter = self.adapter()
        adapter.tick(0)
        _hear(adapter, [self.greeting])
        for _ in range(3):
            adapter.tick(adapter.deadline_ms or NOW_MS)
        assert all(type(frame) is bytes for frame in adapter.take())

    # ---- how it is checked -----------------------------------------------------------------

    def _greeted(self) -> Adapter:
        adapter = self.adapter()
        assert not adapter.receive(self.greeting, NOW_MS), "a greeting asks for nothing"
        adapter.take()
        return adapter

    def _messages(self) -> list[bytes]:
        return [*(sample.data for sample in self.samples()), *self.bad()]


def _hear(adapter: Adapter, reads: Sequence[bytes]) -> Heard:
    requests: list[bytes] = []
    answers: list[bytes] = []
    for read in reads:
        requests += [_comparable(one) for one in adapter.receive(read, NOW_MS)]
        answers += adapter.take()
    return Heard(requests, answers)


def _comparable(request: Request) -> bytes:
    """Requests hold raw JSON, which knows no equality."""
    return type(request).__name__.encode() + b" " + msgspec.json.encode(request)


def _cut(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


def _cut_anyhow(stream: bytes, rng: random.Random) -> list[bytes]:
    reads: list[bytes] = []
    while stream:
        size = rng.randrange(1, 80)
        reads.append(stream[:size])
        stream = stream[size:]
    return reads


def _spoilt(data: bytes, rng: random.Random) -> bytes:
    """One thing about these bytes is wrong, but not the end of the line."""
    body = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(body))
        match rng.randrange(3):
            case 0:
                body[at] = rng.randrange(256)
            case 1:
                body[at : at + rng.randrange(8)] = b""
            case _:
                body[at:at] = rng.choice(
                    (b"\x00", b"{", b'"', b"[[[", b"\xff\xfe", b"1e999", b"\n")
                )
        body = body or bytearray(b"\n")
    return bytes(body) + b"\n"


def _deliveries(requests: Sequence[Request]) -> Iterator[Delivery]:
    """One of each kind: for a session nobody knows, for no request at all, and for these."""
    events: tuple[Event, ...] = (TurnStarted(turn=TurnId("trn_1")), Notice(text="a\nb"))
    yield Batch(
        session=_SESSION,
        epoch=1,
        first_seq=1,
        count=len(events),
        wire=encode_entries(_SESSION, 1, 1, NOW_MS, [msgspec.json.encode(e) for e in events]),
        entries=tuple(Entry(seq=n, at_ms=NOW_MS, event=e) for n, e in enumerate(events, 1)),
    )
    yield Shown(_SESSION, Preview(ItemId("itm_1"), 0, 2, "so far"))
    yield Shown(_SESSION, Gauge("usage", Raw(b'{"tokens": 1}')))
    yield View(_SESSION, 2, Raw(b'{"why":"model"}'))
    yield Reply(ref="nobody-asked", stage=Stage.WRITTEN)
    for request in requests:
        if not isinstance(request, Detach):
            value = Raw(b"{}") if isinstance(request, Ask) else msgspec.UNSET
            yield Reply(ref=request.ref, stage=Stage.DONE, value=value)
            yield Reply(ref=request.ref, error="busy", message="later", duplicate=True)
