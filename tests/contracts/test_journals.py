"""The shipped journal kit, run over every journal of ours."""

from __future__ import annotations

import shutil
from pathlib import Path

from flybridge.session.ports import Journal
from flybridge.store.memory import Disk, MemoryJournal
from flybridge.store.sqlite import SqliteJournal
from flybridge.testing.faulty import FaultyJournal
from flybridge.testing.journals import JournalContract, JournalRig


class MemoryRig:
    def __init__(self) -> None:
        self._disk = Disk()

    def open(self, *, boot: str = "boot-1") -> Journal:
        return MemoryJournal(self._disk, boot=boot)

    def kill(self, journal: Journal) -> None:
        """Nothing to do: opening the disk again is what kills."""


class SqliteRig:
    """Kills by going on with a copy of the files as they are: SQLite writes, it does not map."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._life = 0

    @property
    def path(self) -> Path:
        return self._folder / str(self._life) / "journal.db"

    def open(self, *, boot: str = "boot-1") -> Journal:
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        return SqliteJournal.open(str(self.path), boot=boot, ballast_bytes=4096)

    def kill(self, journal: Journal) -> None:
        left = self.path.parent
        self._life += 1
        shutil.copytree(left, self.path.parent)
        journal.close()  # on the files nobody looks at any more


class FaultlessRig(MemoryRig):
    """The journal that can fail, told to fail at nothing."""

    def open(self, *, boot: str = "boot-1") -> Journal:
        return FaultyJournal(super().open(boot=boot))


class TestMemoryJournal(JournalContract):
    def rig(self, folder: Path) -> JournalRig:
        return MemoryRig()


class TestSqliteJournal(JournalContract):
    def rig(self, folder: Path) -> JournalRig:
        return SqliteRig(folder)


class TestFaultyJournal(JournalContract):
    def rig(self, folder: Path) -> JournalRig:
        return FaultlessRig()
