"""Steps to try a journal with, and ways to tell what became of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flybridge.model.deliveries import Batch
from flybridge.model.ids import IncarnationId, InputKey, ItemId, SessionId
from flybridge.session.ports import (
    Draft,
    IncarnationRow,
    InputRow,
    Journal,
    Line,
    OutLine,
    Place,
    SessionRow,
    Write,
)

ONE = SessionId("ses_one")
TWO = SessionId("ses_two")
PLENTY = 2**30


def session_row(session: SessionId = ONE) -> SessionRow:
    """A session as it is first written."""
    return SessionRow(session=session, agent="demo", cwd="/", created_ms=1, labels={"slot": "a"})


def batch_of(first_seq: int, count: int = 1, *, session: SessionId = ONE, epoch: int = 1) -> Batch:
    """A step of ``count`` entries whose lines tell which they are."""
    lines = [f'{{"seq":{seq},"of":"{session}"}}'.encode() for seq in _seqs(first_seq, count)]
    wire = b"\n".join(lines)
    return Batch(session=session, epoch=epoch, first_seq=first_seq, count=count, wire=wire)


def input_row(key: str = "me:1", *, stage: str = "accepted", session: SessionId = ONE) -> InputRow:
    """A line of the ledger."""
    return InputRow(
        session=session, key=InputKey(key), kind="send_input", by="me", fingerprint="f", stage=stage
    )


def incarnation_row(name: str, *, session: SessionId = ONE) -> IncarnationRow:
    """A life of an agent that has just begun."""
    return IncarnationRow(
        incarnation=IncarnationId(name), session=session, state="starting", socket="s", secret="x"
    )


def full_step(step: int) -> Write:
    """A step that touches every table; ``step`` 1, 2, 3 … continue each other."""
    return Write(
        session=ONE,
        batches=[batch_of(2 * step - 1), batch_of(2 * step)],
        claims=[input_row(f"me:{step}")],
        outbox=[OutLine(step, Line(data=b"line %d" % step, key=InputKey(f"me:{step}")))],
        place=Place(IncarnationId("inc_1"), 100 * step, b"memo %d" % step),
        drafts={ItemId(f"itm_{step}"): Draft(step, "so far")},
        incarnation=incarnation_row(f"inc_{step}"),
        row=session_row(),
        snapshot=(2 * step, b"state %d" % step),
    )


def faulty_steps() -> Sequence[Write]:
    """Steps that are right but for one part each."""
    steps = [full_step(2) for _ in range(9)]
    steps[0].batches.append(batch_of(9))
    steps[1].batches[1] = batch_of(4, session=TWO)
    steps[2].batches[1] = msgspec.structs.replace(batch_of(4), count=2)
    steps[3].claims.append(input_row("me:1"))
    steps[4].claims.append(input_row("me:3", session=TWO))
    steps[5].inputs.append(input_row("me:4"))
    steps[6].outbox.append(OutLine(1, Line(data=b"again")))
    steps[7].outbox.append(OutLine(9, Line(data=b"hunter2", secret=True)))
    steps[8].snapshot = (5, b"ahead")
    return steps


def read_all(journal: Journal, session: SessionId, after: int, max_bytes: int) -> list[bytes]:
    """Read slice after slice to the end, and check that each starts where the last ended."""
    lines: list[bytes] = []
    while batches := journal.read(session, after, max_bytes):
        for batch in batches:
            assert batch.first_seq == after + 1
            assert batch.entries is None
            found = batch.wire.split(b"\n")
            assert len(found) == batch.count
            lines += found
            after = batch.last_seq
    return lines


def told_by(journal: Journal) -> bytes:
    """Everything the journal tells about a session, as bytes that can be compared."""
    keys = [InputKey(f"me:{number}") for number in range(1, 6)]
    return msgspec.json.encode(
        [
            journal.load(ONE),
            [journal.find(ONE, key) for key in keys],
            journal.live(),
            journal.sessions(),
            [line.decode() for line in read_all(journal, ONE, 0, PLENTY)],
        ]
    )


def lines_of(*batches: Batch) -> list[bytes]:
    """Every entry's line, in order."""
    return [line for batch in batches for line in batch.wire.split(b"\n")]


def _seqs(first_seq: int, count: int) -> range:
    return range(first_seq, first_seq + count)
