"""The adapter kit finds what it is there to find: each fault makes its check fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.native.adapter import NativeAdapter
from flybridge.model.deliveries import Delivery
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Detach, Request
from flybridge.session.ports import Adapter
from flybridge.testing.adapters import AdapterContract, Sample
from flybridge.wire.native.messages import Welcome

WELCOME = Welcome(proto=1, version="0", generation=1, principal="uid:1")


class Sound(NativeAdapter):
    """No fault of its own."""

    def __init__(self) -> None:
        super().__init__(welcome=WELCOME)


class Twice(Sound):
    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
        return [*super().receive(data, now_ms)] * 2


class Forgetful(Sound):
    """Drops the rest of a read that is not a whole line."""

    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
        return super().receive(data[: data.rfind(b"\n") + 1], now_ms)


class Raising(Sound):
    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
        if b"\xff" in data:
            raise InvalidRequestError("no")
        return super().receive(data, now_ms)


class Trusting(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.greeted = True


class Mute(Sound):
    def take(self) -> list[bytes]:
        super().take()
        return []


class Touchy(Sound):
    """Takes no more after the first mistake."""

    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
        found = super().receive(data, now_ms)
        self.closed = self.closed or any(b"error" in frame for frame in self._output)
        return found


class Picky(Sound):
    def deliver(self, what: Delivery, now_ms: int) -> None:
        self._output.append(b"")


class Repeating(Sound):
    def take(self) -> list[bytes]:
        return list(self._output)


class Impatient(Sound):
    def tick(self, now_ms: int) -> None:
        raise ValueError(now_ms)


def contract(kind: type[Sound]) -> AdapterContract:
    class Contract(AdapterContract):
        greeting = b'{"type":"hello","proto":1}\n'

        def adapter(self) -> Adapter:
            return kind()

        def samples(self) -> Sequence[Sample]:
            ask = Ask(ref="1", name="list")
            detach = Detach(session=SessionId("s"))
            return [
                Sample(data=b'{"type":"ask","ref":"1","name":"list"}\n', requests=(ask,)),
                Sample(data=b'{"type":"detach","session":"s"}\n', requests=(detach,)),
            ]

        def bad(self) -> Sequence[bytes]:
            return [b"nonsense\n", b'{"type":"ask","ref":"1"}\n', b'"\xff"\n']

    return Contract()


CHECKS = [name for name in dir(AdapterContract) if name.startswith("test_")]
FAULTS: list[tuple[type[Sound], str]] = [
    (Twice, "test_every_request_is_returned_once"),
    (Forgetful, "test_requests_do_not_depend_on_how_reads_were_split"),
    (Raising, "test_any_bytes_give_requests_or_answers_but_never_a_raise"),
    (Trusting, "test_nothing_is_carried_out_before_the_greeting"),
    (Mute, "test_bad_input_is_answered_and_asks_for_nothing"),
    (Touchy, "test_bad_input_does_not_spoil_what_comes_after_it"),
    (Picky, "test_every_kind_of_delivery_is_taken_at_any_time"),
    (Repeating, "test_take_hands_over_everything_once"),
    (Impatient, "test_a_tick_at_any_time_is_harmless"),
]


@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_adapter_passes(check: str) -> None:
    getattr(contract(Sound), check)()


@pytest.mark.parametrize(("kind", "check"), FAULTS)
def test_a_fault_is_found(kind: type[Sound], check: str) -> None:
    with pytest.raises((AssertionError, InvalidRequestError, ValueError)):
        getattr(contract(kind), check)()


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert {check for _, check in FAULTS} == set(CHECKS)


def test_a_protocol_without_a_greeting_skips_that_check() -> None:
    class Open(AdapterContract):
        greeting = b""

    Open().test_nothing_is_carried_out_before_the_greeting()


@pytest.mark.parametrize("part", ["adapter", "samples", "bad"])
def test_what_must_be_given_is_asked_for(part: str) -> None:
    with pytest.raises(NotImplementedError):
        getattr(AdapterContract(), part)()
