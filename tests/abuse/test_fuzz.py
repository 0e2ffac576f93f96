"""The fuzzers of gate and envelope: 10^5 inputs on every run, and proof that they would find
something. ``python -m fuzz gate --count 10000000`` is for a soak."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from flybridge.auth.gate import Gate, Head, Refused
from flybridge.auth.login import Login
from flybridge.frontends.native.adapter import NativeAdapter
from flybridge.listeners.http.route import Params
from flybridge.model.requests import Request
from fuzz import envelope, gate
from fuzz.frames import FoundError
from fuzz.gate import Maker

PART = 12_500


@pytest.mark.abuse(2, 3, 4, 5, 14)
@pytest.mark.parametrize("part", range(4))
async def test_no_head_gets_past_the_gate_that_may_not(part: int) -> None:
    endings = await gate.run(1, part * PART, PART)
    assert endings["let in"] > 500
    assert {"a login", "a token", "nobody", "not_authenticated"} <= endings.keys()
    assert {f"refused with {one}" for one in gate.STATUSES} <= endings.keys()


@pytest.mark.abuse(49)
@pytest.mark.parametrize("part", range(4))
async def test_nothing_that_is_said_raises_what_none_may_raise(part: int) -> None:
    endings = await envelope.run(1, part * PART, PART)
    assert endings.total() == PART
    for name in ("understood", "a body: understood", "a query: understood", "closed"):
        assert endings[name] > 50, endings


async def test_an_input_is_the_same_every_time() -> None:
    assert await gate.run(7, 30, 200) == await gate.run(7, 30, 200)
    assert await envelope.run(7, 30, 200) == await envelope.run(7, 30, 200)


@pytest.mark.parametrize("broken", ["_host", "_origin", "_body", "_form"])
async def test_it_finds_a_gate_that_forgets_to_look(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def nothing(*_: object) -> Refused | None:
        return None

    monkeypatch.setattr(f"flybridge.auth.gate.{broken}", nothing)
    with pytest.raises(FoundError, match="number"):
        await gate.run(1, 0, 3000)


async def test_it_finds_a_gate_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(one: Gate, head: Head) -> Refused | None:
        head.one(b"host").decode("ascii")
        return None

    monkeypatch.setattr("flybridge.auth.gate._host", strict)
    with pytest.raises(FoundError, match="number"):
        await gate.run(1, 0, 3000)


async def test_it_finds_an_adapter_that_does_not_wait_for_hello(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Hasty(NativeAdapter):
        def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
            was, self.greeted = self.greeted, True
            found = super().receive(data, now_ms)
            self.greeted = was
            return found

    monkeypatch.setattr(envelope, "NativeAdapter", Hasty)
    with pytest.raises(FoundError, match="before hello"):
        await envelope.run(1, 0, 3000)


async def test_it_finds_a_query_that_breaks_something(monkeypatch: pytest.MonkeyPatch) -> None:
    def loose(kind: type[Params], path: object, query: bytes) -> Params:
        query.decode("ascii")
        return kind()

    monkeypatch.setattr(envelope, "params_of", loose)
    with pytest.raises(FoundError, match="number"):
        await envelope.run(1, 0, 3000)


def test_the_judge_sees_an_answer_that_is_none() -> None:
    maker = Maker(random.Random(1), b"fbt_a.b", Login("c.d", "k"))
    with pytest.raises(FoundError, match="refused with"):
        gate.judge(gate.GATES[0], maker.head(), Refused(500, "x", "y"))
