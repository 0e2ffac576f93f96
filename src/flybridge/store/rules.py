"""What every journal asks of a step before it takes it, and what it does to a batch it hands out.

Checked before any storage is touched, so that a mistake of ours costs one refused step and
never a half-written one.
"""

from __future__ import annotations

import msgspec

from flybridge.errors import InvalidRequestError, LocalProtocolError
from flybridge.model.deliveries import Batch
from flybridge.session.ports import Write

_HEX = frozenset("0123456789abcdef")


def check_write(write: Write) -> None:
    """Refuse a step that contradicts itself.

    Raises:
        LocalProtocolError: parts of it belong to another session, its batches do not follow
            each other, a batch is not one line per entry, or a secret would be kept.
    """
    for row in (*write.claims, *write.inputs, write.incarnation, write.row):
        if row is not None and row.session != write.session:
            raise LocalProtocolError(f"{write.session}: a row of {row.session} in its step")
    for out in write.outbox:
        if out.line.secret:
            raise LocalProtocolError(f"{write.session}: line {out.number} is secret, not kept")
    _check_batches(write)


def _check_batches(write: Write) -> None:
    before: Batch | None = None
    for batch in write.batches:
        where = f"{write.session}: batch at {batch.first_seq}"
        if batch.session != write.session:
            raise LocalProtocolError(f"{where} belongs to {batch.session}")
        if batch.first_seq < 1 or batch.count < 1:
            raise LocalProtocolError(f"{where} holds {batch.count} entries")
        if batch.wire.count(b"\n") != batch.count - 1:
            raise LocalProtocolError(f"{where} is not one line for each of {batch.count} entries")
        if before is not None:
            if batch.first_seq != before.last_seq + 1:
                raise LocalProtocolError(f"{where} does not follow {before.last_seq}")
            if batch.epoch != before.epoch:
                raise LocalProtocolError(f"{where} changes the epoch within a step")
        before = batch


def check_place_in_log(write: Write, *, epoch: int, last_seq: int) -> None:
    """Refuse a step that does not continue the log, which ends at ``last_seq`` of ``epoch``.

    Raises:
        LocalProtocolError: a number would be left out or used twice, the epoch is another
            one, or the snapshot claims events that are not there.
    """
    end = last_seq
    if write.batches:
        first, end = write.batches[0], write.batches[-1].last_seq
        if first.first_seq != last_seq + 1:
            raise LocalProtocolError(
                f"{write.session}: batch at {first.first_seq} does not follow {last_seq}"
            )
        if first.epoch != epoch:
            raise LocalProtocolError(
                f"{write.session}: batch of epoch {first.epoch} in epoch {epoch}"
            )
    if write.snapshot is not None and not 0 <= write.snapshot[0] <= end:
        raise LocalProtocolError(f"{write.session}: snapshot at {write.snapshot[0]} of {end}")


def starting_after(batch: Batch, after: int) -> Batch:
    """Cut off the entries up to ``after``, so that what is left starts with the next one."""
    known = after + 1 - batch.first_seq
    if known <= 0:
        return batch
    return msgspec.structs.replace(
        batch,
        first_seq=after + 1,
        count=batch.count - known,
        wire=batch.wire.split(b"\n", known)[known],
        entries=batch.entries[known:] if batch.entries is not None else None,
    )


def check_digest(digest: str) -> None:
    """Refuse what is not a SHA-256 in lower-case hex: it will be part of a path.

    Raises:
        InvalidRequestError: it is not.
    """
    if len(digest) != 64 or not _HEX.issuperset(digest):
        raise InvalidRequestError("not the name of a blob")


def check_range(start: int, size: int) -> None:
    """Refuse a range of bytes that means nothing.

    Raises:
        InvalidRequestError: it starts before the beginning, or is shorter than nothing.
    """
    if start < 0 or size < -1:
        raise InvalidRequestError(f"no {size} bytes from {start} on")
