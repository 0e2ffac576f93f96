from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flybridge.errors import InvalidRequestError, LocalProtocolError
from flybridge.model.deliveries import Entry
from flybridge.model.events import TurnStarted
from flybridge.model.ids import TurnId
from flybridge.session.ports import Line, OutLine, Write
from flybridge.store.rules import (
    check_digest,
    check_place_in_log,
    check_range,
    check_write,
    starting_after,
)
from flybridge.testing.steps import (
    ONE,
    TWO,
    batch_of,
    full_step,
    incarnation_row,
    input_row,
    session_row,
)


def test_a_whole_step_passes() -> None:
    check_write(full_step(1))
    check_place_in_log(full_step(1), epoch=1, last_seq=0)
    check_write(Write(session=ONE))
    check_place_in_log(Write(session=ONE), epoch=3, last_seq=7)


@pytest.mark.parametrize(
    "step",
    [
        Write(session=ONE, claims=[input_row(session=TWO)]),
        Write(session=ONE, inputs=[input_row(session=TWO)]),
        Write(session=ONE, incarnation=incarnation_row("inc_1", session=TWO)),
        Write(session=ONE, row=session_row(TWO)),
        Write(session=ONE, batches=[batch_of(1, session=TWO)]),
    ],
)
def test_a_part_of_another_session_is_refused(step: Write) -> None:
    with pytest.raises(LocalProtocolError, match="ses_two"):
        check_write(step)


def test_a_secret_is_refused_and_not_repeated_in_the_message() -> None:
    step = Write(session=ONE, outbox=[OutLine(3, Line(data=b"hunter2", secret=True))])
    with pytest.raises(LocalProtocolError, match="line 3 is secret") as refused:
        check_write(step)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("batches", "why"),
    [
        ([batch_of(0)], "holds 1 entries"),
        ([replace(batch_of(1), count=0)], "holds 0 entries"),
        ([replace(batch_of(1, 2), count=3)], "one line for each of 3"),
        ([batch_of(1), batch_of(3)], "does not follow 1"),
        ([batch_of(1), batch_of(1)], "does not follow 1"),
        ([batch_of(1), batch_of(2, epoch=2)], "changes the epoch"),
    ],
)
def test_batches_that_contradict_themselves_are_refused(batches: list[object], why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        check_write(Write(session=ONE, batches=batches))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "step",
    [
        Write(session=ONE, batches=[batch_of(5)]),
        Write(session=ONE, batches=[batch_of(7)]),
        Write(session=ONE, batches=[batch_of(6, epoch=1)]),
        Write(session=ONE, batches=[batch_of(6, epoch=2)], snapshot=(7, b"")),
        Write(session=ONE, snapshot=(6, b"")),
        Write(session=ONE, snapshot=(-1, b"")),
    ],
)
def test_a_step_that_contradicts_the_log_is_refused(step: Write) -> None:
    with pytest.raises(LocalProtocolError):
        check_place_in_log(step, epoch=2, last_seq=5)


@given(first=st.integers(1, 9), count=st.integers(1, 9), known=st.integers(-3, 8))
def test_what_is_cut_off_is_what_was_known(first: int, count: int, known: int) -> None:
    known = min(known, count - 1)
    entries = tuple(
        Entry(seq=seq, at_ms=0, event=TurnStarted(turn=TurnId(f"trn_{seq}")))
        for seq in range(first, first + count)
    )
    batch = replace(batch_of(first, count), entries=entries)
    left = starting_after(batch, first - 1 + known)
    lines = batch.wire.split(b"\n")[max(known, 0) :]
    assert left.wire.split(b"\n") == lines
    assert left.count == len(lines)
    assert left.last_seq == batch.last_seq
    assert left.entries == entries[-left.count :]
    assert starting_after(replace(batch, entries=None), first - 1 + known).entries is None


def test_the_name_of_a_blob_is_a_digest_and_no_path() -> None:
    check_digest("0123456789abcdef" * 4)
    for wrong in ("", "ab", "../" + "a" * 61, "A" * 64, "a" * 63 + "\n", "a" * 65, "é" * 64):
        with pytest.raises(InvalidRequestError):
            check_digest(wrong)


def test_a_range_of_bytes_makes_sense() -> None:
    check_range(0, -1)
    check_range(5, 0)
    for start, size in ((-1, 3), (0, -2)):
        with pytest.raises(InvalidRequestError):
            check_range(start, size)
