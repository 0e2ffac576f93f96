"""The journal's rows: a step into tables, tables into what a session needs to go on.

Plain functions on a connection. The caller holds the transaction and turns SQLite's errors
into ours.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable

import msgspec

from flybridge.errors import (
    LocalProtocolError,
    RequestReusedError,
    SessionNotFoundError,
    StorageCorruptError,
)
from flybridge.model.deliveries import Batch
from flybridge.model.ids import InputKey, ItemId, SessionId
from flybridge.session.ports import (
    Draft,
    IncarnationRow,
    InputRow,
    Line,
    Loaded,
    OutLine,
    Place,
    SessionRow,
    Write,
)
from flybridge.store.rules import check_place_in_log, starting_after

_encode = msgspec.json.Encoder().encode
_input = msgspec.json.Decoder(InputRow)
_incarnation = msgspec.json.Decoder(IncarnationRow)
_session = msgspec.json.Decoder(SessionRow)

OF_A_SESSION = (
    *("sessions", "batches", "inputs", "outbox"),
    *("places", "drafts", "incarnations", "snapshots"),
)

# ---- writing ------------------------------------------------------------------------------------


def take(db: sqlite3.Connection, write: Write) -> None:
    """Put one step into the tables.

    Raises:
        RequestReusedError: a claimed key is taken.
        LocalProtocolError: the step contradicts the log, the ledger or the outbox.
        SessionNotFoundError: there is no such session, and the step brings no row.
    """
    if write.row is not None:
        _put_row(db, write.row)
    _append(db, write)
    _put_inputs(db, write)
    _put_outbox(db, write)
    _put_drafts(db, write)
    if write.place is not None:
        place = write.place
        db.execute(
            "INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?)",
            (write.session, place.incarnation, place.out_offset, place.memo),
        )
    if write.incarnation is not None:
        _put_incarnation(db, write.incarnation)
    if write.snapshot is not None:
        db.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (write.session, *write.snapshot)
        )


def forget(db: sqlite3.Connection, sessions: Iterable[SessionId]) -> None:
    for session in sessions:
        for table in OF_A_SESSION:
            db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))


def raise_epochs(db: sqlite3.Connection) -> None:
    db.execute("UPDATE sessions SET epoch = epoch + 1")


def _put_row(db: sqlite3.Connection, row: SessionRow) -> None:
    db.execute(
        "INSERT INTO sessions (session, epoch, last_seq, changed_ms, finished, body)"
        " VALUES (?, ?, 0, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET"
        " changed_ms = excluded.changed_ms, finished = excluded.finished, body = excluded.body",
        (row.session, row.epoch, row.changed_ms, row.closed or row.archived, _encode(row)),
    )


def _append(db: sqlite3.Connection, write: Write) -> None:
    found = db.execute(
        "SELECT epoch, last_seq FROM sessions WHERE session = ?", (write.session,)
    ).fetchone()
    if found is None:
        raise SessionNotFoundError(write.session)
    check_place_in_log(write, epoch=found[0], last_seq=found[1])
    for one in write.batches:
        db.execute(
            "INSERT INTO batches (session, epoch, first_seq, count, crc, wire)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (one.session, one.epoch, one.first_seq, one.count, zlib.crc32(one.wire), one.wire),
        )
    if write.batches:
        db.execute(
            "UPDATE sessions SET last_seq = ? WHERE session = ?",
            (write.batches[-1].last_seq, write.session),
        )


def _put_inputs(db: sqlite3.Connection, write: Write) -> None:
    for row in write.claims:
        done = db.execute(
            "INSERT INTO inputs VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (row.session, row.key, _encode(row)),
        )
        if done.rowcount != 1:
            raise RequestReusedError(row.key)
    for row in write.inputs:
        done = db.execute(
            "UPDATE inputs SET body = ? WHERE session = ? AND key = ?",
            (_encode(row), row.session, row.key),
        )
        if done.rowcount != 1:
            raise LocalProtocolError(f"{row.session}: input {row.key!r} was never claimed")


def _put_outbox(db: sqlite3.Connection, write: Write) -> None:
    for number in write.outbox_done:
        db.execute("DELETE FROM outbox WHERE session = ? AND number = ?", (write.session, number))
    for out in write.outbox:
        done = db.execute(
            "INSERT INTO outbox VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (write.session, out.number, out.line.key, out.line.on_restart, out.line.data),
        )
        if done.rowcount != 1:
            raise LocalProtocolError(f"{write.session}: line {out.number} is in the outbox")


def _put_drafts(db: sqlite3.Connection, write: Write) -> None:
    for item, draft in write.drafts.items():
        # surrogatepass: half of an emoji at the end of a delta is text so far all the same
        db.execute(
            "INSERT INTO drafts (session, item, count, text) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (session, item) DO UPDATE SET"
            " count = excluded.count, text = excluded.text",
            (write.session, item, draft.count, draft.text.encode("utf-8", "surrogatepass")),
        )
    for item in write.drafts_gone:
        db.execute("DELETE FROM drafts WHERE session = ? AND item = ?", (write.session, item))


def _put_incarnation(db: sqlite3.Connection, row: IncarnationRow) -> None:
    db.execute(
        "INSERT INTO incarnations (session, incarnation, state, body) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (session, incarnation) DO UPDATE SET"
        " state = excluded.state, body = excluded.body",
        (row.session, row.incarnation, row.state, _encode(row)),
    )


# ---- reading ------------------------------------------------------------------------------------


def find(db: sqlite3.Connection, session: SessionId, key: InputKey) -> InputRow | None:
    row = db.execute(
        "SELECT body FROM inputs WHERE session = ? AND key = ?", (session, key)
    ).fetchone()
    return None if row is None else _input.decode(row[0])


def read(db: sqlite3.Connection, session: SessionId, after: int, max_bytes: int) -> list[Batch]:
    """Return what follows ``after``.

    Raises:
        StorageCorruptError: an entry is damaged or missing; none is passed over.
    """
    head = db.execute(
        "SELECT epoch, last_seq FROM sessions WHERE session = ?", (session,)
    ).fetchone()
    if head is None or head[1] <= after:
        return []
    cursor = db.execute(
        "SELECT first_seq, count, crc, wire FROM batches WHERE session = ?1 AND first_seq"
        " >= (SELECT max(first_seq) FROM batches WHERE session = ?1 AND first_seq <= ?2)"
        " ORDER BY first_seq",
        (session, after + 1),
    )
    try:
        return _batches(cursor, session, head, after, max_bytes)
    finally:
        cursor.close()  # an open one would keep the write-ahead log from being checkpointed


def _batches(
    cursor: sqlite3.Cursor, session: SessionId, head: tuple[int, int], after: int, max_bytes: int
) -> list[Batch]:
    epoch, last_seq = head
    found: list[Batch] = []
    for first, count, crc, wire in cursor:
        if found and len(wire) > max_bytes:
            return found
        follows = first == after + 1 if found else first <= after + 1 < first + count
        if not follows or zlib.crc32(wire) != crc:
            raise StorageCorruptError(f"{session}: damaged at entry {first}")
        batch = Batch(session=session, epoch=epoch, first_seq=first, count=count, wire=wire)
        found.append(starting_after(batch, after))
        after = batch.last_seq
        max_bytes -= len(found[-1].wire)
    if after != last_seq:
        raise StorageCorruptError(f"{session}: entry {after + 1} of {last_seq} is missing")
    return found


def load(db: sqlite3.Connection, session: SessionId) -> Loaded | None:
    rows = _sessions(db.execute(f"{_SESSION} WHERE session = ?", (session,)))
    if not rows:
        return None
    life = db.execute(
        "SELECT body FROM incarnations WHERE session = ? ORDER BY id DESC LIMIT 1", (session,)
    ).fetchone()
    place = db.execute(
        "SELECT incarnation, out_offset, memo FROM places WHERE session = ?", (session,)
    ).fetchone()
    return Loaded(
        row=rows[0],
        snapshot=db.execute(
            "SELECT seq, state FROM snapshots WHERE session = ?", (session,)
        ).fetchone(),
        place=None if place is None else Place(*place),
        outbox=_outbox(db, session),
        drafts=_drafts(db, session),
        incarnation=None if life is None else _incarnation.decode(life[0]),
    )


def sessions(db: sqlite3.Connection) -> list[SessionRow]:
    return _sessions(db.execute(f"{_SESSION} ORDER BY id"))


def live(db: sqlite3.Connection) -> list[IncarnationRow]:
    rows = db.execute("SELECT body FROM incarnations WHERE state != 'ended' ORDER BY id")
    return [_incarnation.decode(body) for (body,) in rows]


def finished(db: sqlite3.Connection, before_ms: int) -> list[SessionId]:
    """Name what is closed or archived, was last changed before then, and has no agent."""
    rows = db.execute(
        "SELECT session FROM sessions AS s WHERE finished AND changed_ms < ? AND NOT EXISTS"
        " (SELECT 1 FROM incarnations AS i WHERE i.session = s.session AND state != 'ended')"
        " ORDER BY id",
        (before_ms,),
    )
    return [SessionId(session) for (session,) in rows]


def highest_batch(db: sqlite3.Connection) -> int:
    """Number the newest row: rises with every batch, whatever its session."""
    (number,) = db.execute("SELECT coalesce(max(id), 0) FROM batches").fetchone()
    return int(number)


_SESSION = "SELECT epoch, last_seq, body FROM sessions"


def _sessions(rows: Iterable[tuple[int, int, bytes]]) -> list[SessionRow]:
    found = []
    for epoch, last_seq, body in rows:
        row = _session.decode(body)
        row.epoch, row.last_seq = epoch, last_seq
        found.append(row)
    return found


def _outbox(db: sqlite3.Connection, session: SessionId) -> list[OutLine]:
    rows = db.execute(
        "SELECT number, data, key, on_restart FROM outbox WHERE session = ? ORDER BY number",
        (session,),
    )
    return [
        OutLine(number, Line(data=data, key=key, on_restart=on_restart))
        for number, data, key, on_restart in rows
    ]


def _drafts(db: sqlite3.Connection, session: SessionId) -> dict[ItemId, Draft]:
    rows = db.execute(
        "SELECT item, count, text FROM drafts WHERE session = ? ORDER BY id", (session,)
    )
    return {
        ItemId(item): Draft(count, text.decode("utf-8", "surrogatepass"))
        for item, count, text in rows
    }
