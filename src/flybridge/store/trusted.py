"""Folders a person trusts, each for one kind of agent."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.model.agent_kinds import FIRST_KIND
from flybridge.store.folders import resolved
from flybridge.store.private_file import read_private, write_private

MAX_FOLDERS = 4096  # of each kind
_T = TypeVar("_T")
_folders = msgspec.json.Decoder(list[str])
_by_kind = msgspec.json.Decoder(dict[str, list[str]])


class TrustedFolders:
    """The file ``trusted`` in the state directory, and ``trusted-agents`` beside it.

    A folder is trusted with everything in it, for one kind of agent. 0.1 knew no kinds: what its
    file ``trusted`` holds is trusted for ``FIRST_KIND``, and stays in that form, so that both
    versions can read it. ``trusted-agents`` lists those of all other kinds, by kind. Folders are
    kept and compared with every link and ``..`` in their paths resolved. Entries of older versions,
    which kept the path as it was given, are resolved once and written back: from then on a link
    that is changed leads to no trust.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._others_path = path.with_name(f"{path.name}-agents")
        given = _read(path, _folders) or []
        self._kinds = _read(self._others_path, _by_kind) or {}
        self._kinds[FIRST_KIND] = list(dict.fromkeys(str(resolved(folder)) for folder in given))
        if self._kinds[FIRST_KIND] != given:
            try:
                self._write(FIRST_KIND, self._kinds[FIRST_KIND])
            except StorageError:
                pass  # the resolved form holds in memory; the next start tries again

    def holds(self, folder: Path, kind: str = FIRST_KIND) -> bool:
        """Return whether this folder, or one that it is in, is trusted for a kind of agent.

        Blocking, but short.
        """
        known = set(self._kinds.get(kind, ()))
        real = resolved(folder)
        return any(str(above) in known for above in (real, *real.parents))

    def add(self, folder: Path, kind: str = FIRST_KIND) -> None:
        """Trust a folder; the oldest of its kind is forgotten when there are too many.

        Raises:
            StorageError: the disk refused; it is not trusted.
        """
        if not self.holds(folder, kind):
            known = self._kinds.get(kind, [])
            self._write(kind, [*known, str(resolved(folder))][-MAX_FOLDERS:])

    def remove(self, folder: Path, kind: str = "") -> bool:
        """Stop trusting a folder for a kind of agent, or for all kinds.

        Returns:
            False where it was not trusted by its own name.
        """
        names = {str(folder), str(resolved(folder))}
        kinds = [kind] if kind else list(self._kinds)
        holding = [known for known in kinds if names.intersection(self._kinds.get(known, ()))]
        for known in holding:
            self._write(known, [path for path in self._kinds[known] if path not in names])
        return bool(holding)

    def all(self, kind: str = FIRST_KIND) -> list[str]:
        """Return the folders that are trusted for a kind of agent."""
        return list(self._kinds.get(kind, ()))

    def by_kind(self) -> dict[str, list[str]]:
        """Return the trusted folders of every kind of agent that has any."""
        return {kind: list(folders) for kind, folders in sorted(self._kinds.items()) if folders}

    def _write(self, kind: str, folders: list[str]) -> None:
        if kind == FIRST_KIND:
            path, data = self._path, msgspec.json.encode(folders)
        else:
            others = {**self._kinds, kind: folders}
            del others[FIRST_KIND]
            kept = {known: paths for known, paths in others.items() if paths}
            path, data = self._others_path, msgspec.json.encode(kept)
        write_private(path, msgspec.json.format(data))
        self._kinds[kind] = folders


def _read(path: Path, decoder: msgspec.json.Decoder[_T]) -> _T | None:
    data = read_private(path)
    try:
        return decoder.decode(data) if data else None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageCorruptError(f"{path} cannot be read: {error}") from error
