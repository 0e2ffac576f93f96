"""A kit is only worth something if it tells good from bad: bad journals, and who notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from flybridge.errors import FlybridgeError, RequestReusedError
from flybridge.model.deliveries import Batch
from flybridge.model.ids import InputKey, SessionId
from flybridge.session.ports import InputRow, Journal, Loaded, SessionRow, Write
from flybridge.store.memory import Disk, MemoryJournal
from flybridge.testing.journals import JournalContract, JournalRig


class Rig:
    def __init__(self, make: Callable[[Disk, str], Journal]) -> None:
        self._make = make
        self.disk = Disk()

    def open(self, *, boot: str = "boot-1") -> Journal:
        return self._make(self.disk, boot)

    def kill(self, journal: Journal) -> None: ...


class Untrimmed(MemoryJournal):
    """Hands out whole batches, known entries and all."""

    def read(self, session: SessionId, after: int, max_bytes: int) -> Sequence[Batch]:
        return [one for one in super().read(session, 0, max_bytes) if one.last_seq > after]


class Unbounded(MemoryJournal):
    """Hands out all it has."""

    def read(self, session: SessionId, after: int, max_bytes: int) -> Sequence[Batch]:
        return super().read(session, after, 2**30)


class Overwriting(MemoryJournal):
    """Takes a claim of a taken key for an update."""

    def commit(self, write: Write, *, urgent: bool = False) -> None:
        try:
            super().commit(write)
        except RequestReusedError:
            write.inputs, write.claims = [*write.claims, *write.inputs], []
            super().commit(write)


class Aliasing(MemoryJournal):
    """Keeps the caller's own rows."""

    def __init__(self, disk: Disk, *, boot: str) -> None:
        super().__init__(disk, boot=boot)
        self._rows: dict[InputKey, InputRow] = {}

    def commit(self, write: Write, *, urgent: bool = False) -> None:
        super().commit(write)
        self._rows.update((row.key, row) for row in (*write.claims, *write.inputs))

    def find(self, session: SessionId, key: InputKey) -> InputRow | None:
        return self._rows.get(key) or super().find(session, key)


class Halved(MemoryJournal):
    """Writes the session's row even if the rest of the step is refused."""

    def commit(self, write: Write, *, urgent: bool = False) -> None:
        try:
            super().commit(write)
        except FlybridgeError:
            if write.row is not None:
                write.row.title = "half"
                super().commit(Write(session=write.session, row=write.row))
            raise


class Forgetful(MemoryJournal):
    """Never counts its lives, nor knows in which the machine went down."""

    def __init__(self, disk: Disk, *, boot: str) -> None:
        super().__init__(disk, boot="always the same")
        self.generation = 1


class Undying(MemoryJournal):
    """Hides deleted sessions instead of forgetting them."""

    def __init__(self, disk: Disk, *, boot: str) -> None:
        super().__init__(disk, boot=boot)
        self._hidden: set[SessionId] = set()

    def delete(self, session: SessionId) -> None:
        self._hidden.add(session)

    def load(self, session: SessionId) -> Loaded | None:
        return None if session in self._hidden else super().load(session)

    def sessions(self) -> Sequence[SessionRow]:
        return [row for row in super().sessions() if row.session not in self._hidden]


def failures(kind: Callable[..., Journal], folder: Path) -> set[str]:
    """Run the kit over a kind of journal; name the promises it breaks."""

    class Contract(JournalContract):
        def rig(self, folder: Path) -> JournalRig:
            return Rig(lambda disk, boot: kind(disk, boot=boot))

    failed = set()
    for name in (name for name in dir(Contract) if name.startswith("test_")):
        try:
            getattr(Contract(), name)(folder)
        except (AssertionError, FlybridgeError):
            failed.add(name)
    return failed


def test_a_right_journal_breaks_no_promise(tmp_path: Path) -> None:
    assert failures(MemoryJournal, tmp_path) == set()


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (Untrimmed, "test_a_reader_may_start_after_any_entry"),
        (Unbounded, "test_a_read_is_bounded_but_never_empty_handed"),
        (Overwriting, "test_a_key_is_claimed_once"),
        (Overwriting, "test_a_taken_key_fails_the_whole_step"),
        (Aliasing, "test_the_journal_keeps_no_hand_on_what_it_was_given"),
        (Halved, "test_a_refused_step_leaves_nothing"),
        (Forgetful, "test_the_generation_rises_at_each_opening"),
        (Forgetful, "test_the_epoch_rises_only_when_the_machine_went_down"),
        (Undying, "test_a_deleted_session_is_gone"),
    ],
)
def test_a_wrong_one_is_found_out(
    kind: Callable[..., Journal], promise: str, tmp_path: Path
) -> None:
    assert promise in failures(kind, tmp_path)


def test_a_kit_without_a_rig_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError):
        JournalContract().rig(tmp_path)
