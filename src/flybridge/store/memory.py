"""Journal and blobs without a disk, with the promises of the real ones: for tests and demos.

A :class:`Disk` outlives the journals on it, so that a test can kill a gateway, cut the power
and start again.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Generator, Sequence, Set
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from flybridge.errors import (
    InvalidRequestError,
    LocalProtocolError,
    RequestReusedError,
    SessionNotFoundError,
    StorageError,
)
from flybridge.model.deliveries import Batch
from flybridge.model.ids import InputKey, ItemId, SessionId
from flybridge.session.ports import (
    Draft,
    IncarnationRow,
    InputRow,
    Loaded,
    OutLine,
    Place,
    SessionRow,
    Write,
)
from flybridge.store.rules import (
    check_digest,
    check_place_in_log,
    check_range,
    check_write,
    starting_after,
)


class _Session(msgspec.Struct):
    row: SessionRow
    batches: list[Batch] = []
    inputs: dict[InputKey, InputRow] = {}
    outbox: dict[int, OutLine] = {}
    place: Place | None = None
    drafts: dict[ItemId, Draft] = {}
    incarnations: dict[str, IncarnationRow] = {}
    snapshot: tuple[int, bytes] | None = None

    def copy(self) -> _Session:
        """Share the rows, which nobody changes in place, and none of the containers."""
        return replace(
            self,
            row=_copied(self.row),
            batches=self.batches.copy(),
            inputs=self.inputs.copy(),
            outbox=self.outbox.copy(),
            drafts=self.drafts.copy(),
            incarnations=self.incarnations.copy(),
        )


class _Image(msgspec.Struct):
    """All that a disk holds."""

    sessions: dict[SessionId, _Session] = {}
    generation: int = 0
    boot: str = ""
    clean: bool = True

    def copy(self) -> _Image:
        return replace(self, sessions={name: one.copy() for name, one in self.sessions.items()})


_Step: TypeAlias = Callable[[_Image], None]


class Disk:
    """What is left when a journal is gone."""

    def __init__(self) -> None:
        self._now = _Image()
        self._synced = _Image()
        self._steps: list[_Step] = []  # done since the last sync
        self._holder: object = None

    def power_loss(self) -> None:
        """Forget what no barrier covered, and end the journal that is open."""
        self._now = self._synced.copy()
        self._steps.clear()
        self._holder = None

    def hold(self, holder: object) -> None:
        """Let ``holder`` have the disk, and nobody else: whoever had it is dead."""
        self._holder = holder

    def look(self, holder: object) -> _Image:
        if holder is not self._holder:
            raise StorageError("this journal is closed")
        return self._now

    def do(self, step: _Step) -> None:
        step(self._now)
        self._steps.append(step)

    def sync(self) -> None:
        for step in self._steps:
            step(self._synced)
        self._steps.clear()


class MemoryJournal:
    """A :class:`~flybridge.session.ports.Journal` on a :class:`Disk`."""

    def __init__(self, disk: Disk | None = None, *, boot: str = "boot") -> None:
        self._disk = disk if disk is not None else Disk()
        self._boot = boot
        self._disk.hold(self)
        self._disk.do(self._begin)
        self._disk.sync()
        self.generation = self._image.generation

    @property
    def disk(self) -> Disk:
        return self._disk

    def reopen(self, *, boot: str | None = None) -> MemoryJournal:
        """Start again as after kill -9: this object is dead, the data is not."""
        return MemoryJournal(self._disk, boot=self._boot if boot is None else boot)

    def find(self, session: SessionId, key: InputKey) -> InputRow | None:
        one = self._image.sessions.get(session)
        row = one.inputs.get(key) if one is not None else None
        return None if row is None else replace(row)

    def commit(self, write: Write, *, urgent: bool = False) -> None:
        check_write(write)
        image = self._image
        _check(image, write)
        step = _own(write)
        self._disk.do(lambda image: _take(image, step))

    def barrier(self) -> Awaitable[None]:
        _ = self._image
        self._disk.sync()
        return _Done()

    def read(self, session: SessionId, after: int, max_bytes: int) -> Sequence[Batch]:
        one = self._image.sessions.get(session)
        after = max(after, 0)
        if one is None or one.row.last_seq <= after:
            return []
        first = bisect_right(one.batches, after + 1, key=lambda batch: batch.first_seq) - 1
        found: list[Batch] = []
        for batch in one.batches[first:]:
            if found and len(batch.wire) > max_bytes:
                break
            found.append(starting_after(replace(batch, epoch=one.row.epoch), after))
            max_bytes -= len(found[-1].wire)
        return found

    def load(self, session: SessionId) -> Loaded | None:
        one = self._image.sessions.get(session)
        if one is None:
            return None
        lives = list(one.incarnations.values())
        return Loaded(
            row=_copied(one.row),
            snapshot=one.snapshot,
            place=one.place,
            outbox=[one.outbox[number] for number in sorted(one.outbox)],
            drafts=one.drafts.copy(),
            incarnation=replace(lives[-1]) if lives else None,
        )

    def sessions(self) -> Sequence[SessionRow]:
        return [_copied(one.row) for one in self._image.sessions.values()]

    def live(self) -> Sequence[IncarnationRow]:
        return [
            replace(life)
            for one in self._image.sessions.values()
            for life in one.incarnations.values()
            if life.state != "ended"
        ]

    def delete(self, session: SessionId) -> None:
        def forget(image: _Image) -> None:
            image.sessions.pop(session, None)

        _ = self._image
        self._disk.do(forget)

    def prune(self, before_ms: int) -> list[SessionId]:
        gone = [
            name
            for name, one in self._image.sessions.items()
            if (one.row.closed or one.row.archived)
            and one.row.changed_ms < before_ms
            and all(life.state == "ended" for life in one.incarnations.values())
        ]
        for session in gone:
            self.delete(session)
        return gone

    def recover(self) -> None:
        _ = self._image

    def close(self) -> None:
        try:
            _ = self._image
        except StorageError:
            return
        self._disk.do(_end)
        self._disk.sync()
        self._disk.hold(None)

    @property
    def _image(self) -> _Image:
        return self._disk.look(self)

    def _begin(self, image: _Image) -> None:
        if not image.clean and image.boot != self._boot:
            for one in image.sessions.values():
                one.row.epoch += 1
        image.generation += 1
        image.boot, image.clean = self._boot, False


class MemoryBlobs:
    """A :class:`~flybridge.session.ports.Blobs` in a dict."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def put(self, digest: str, data: bytes) -> None:
        check_digest(digest)
        if hashlib.sha256(data).hexdigest() != digest:
            raise LocalProtocolError(f"blob {digest} is not what its name says")
        self._data[digest] = bytes(data)

    def get(self, digest: str, start: int = 0, size: int = -1) -> bytes:
        check_digest(digest)
        check_range(start, size)
        if digest not in self._data:
            raise InvalidRequestError(f"no blob {digest}")
        return self._data[digest][start:][: size if size >= 0 else None]

    def size(self, digest: str) -> int | None:
        check_digest(digest)
        data = self._data.get(digest)
        return None if data is None else len(data)

    def sweep(self, keep: Set[str]) -> int:
        gone = self._data.keys() - keep
        for digest in gone:
            del self._data[digest]
        return len(gone)


class _Done:
    """An awaitable that is done, on any loop or none."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


def _copied(row: SessionRow) -> SessionRow:
    return replace(row, labels=row.labels.copy())


def _own(write: Write) -> Write:
    """Copy a step, so that whoever made it may go on using its parts."""
    return replace(
        write,
        batches=[replace(batch, entries=None) for batch in write.batches],
        claims=[replace(row) for row in write.claims],
        inputs=[replace(row) for row in write.inputs],
        outbox=write.outbox.copy(),
        drafts=write.drafts.copy(),
        incarnation=None if write.incarnation is None else replace(write.incarnation),
        row=None if write.row is None else _copied(write.row),
    )


def _check(image: _Image, write: Write) -> None:
    """Refuse now what would fail in the middle: :func:`_take` must not."""
    one = image.sessions.get(write.session)
    if one is None:
        if write.row is None:
            raise SessionNotFoundError(write.session)
        one = _Session(row=replace(write.row, last_seq=0))
    check_place_in_log(write, epoch=one.row.epoch, last_seq=one.row.last_seq)
    known = set(one.inputs)
    for claim in write.claims:
        if claim.key in known:
            raise RequestReusedError(claim.key)
        known.add(claim.key)
    for update in write.inputs:
        if update.key not in known:
            raise LocalProtocolError(f"{write.session}: input {update.key!r} was never claimed")
    numbers = set(one.outbox) - set(write.outbox_done)
    for out in write.outbox:
        if out.number in numbers:
            raise LocalProtocolError(f"{write.session}: line {out.number} is in the outbox")
        numbers.add(out.number)


def _take(image: _Image, write: Write) -> None:
    one = _row(image, write)
    one.batches.extend(write.batches)
    if write.batches:
        one.row.last_seq = write.batches[-1].last_seq
    for row in (*write.claims, *write.inputs):
        one.inputs[row.key] = row
    for number in write.outbox_done:
        one.outbox.pop(number, None)
    one.outbox.update((out.number, out) for out in write.outbox)
    one.drafts.update(write.drafts)
    for item in write.drafts_gone:
        one.drafts.pop(item, None)
    one.place = write.place or one.place
    if write.incarnation is not None:
        one.incarnations[write.incarnation.incarnation] = write.incarnation
    one.snapshot = write.snapshot or one.snapshot


def _row(image: _Image, write: Write) -> _Session:
    one = image.sessions.get(write.session)
    if one is None:
        assert write.row is not None  # checked before
        row = replace(_copied(write.row), last_seq=0)
        one = image.sessions[write.session] = _Session(row=row)
    elif write.row is not None:
        one.row = replace(_copied(write.row), epoch=one.row.epoch, last_seq=one.row.last_seq)
    return one


def _end(image: _Image) -> None:
    image.clean = True
