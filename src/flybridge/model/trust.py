"""The files of a project that an agent obeys, as the agent itself publishes them.

*Settings* run programs or change permissions: a folder that has some is opened only when a person
trusts it for this agent, or with the settings left out. *Instructions* are text for the model:
they are listed with the question and never asked about.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

# In which folders above the session's folder the agent looks for a file, too. "repository": up to
# the root of the repository, and outside of a repository nowhere. "repository_or_all": up to the
# root of the repository, and outside of a repository in every folder above.
Above: TypeAlias = Literal["none", "repository", "repository_or_all", "all"]


class TrustFile(msgspec.Struct, frozen=True, kw_only=True):
    """One path, relative to a folder and with ``/`` between its parts, that an agent reads."""

    path: str
    kind: Literal["file", "folder"] = "file"  # "folder": every file in it counts
    above: Above = "none"
    nested: bool = False  # the agent also reads it in folders below the session's folder
    harmless: tuple[str, ...] = ()  # names of files directly in the folder that do not count
    own_in_home: bool = False  # in the user's home folder it holds the user's own settings

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))


class TrustFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one agent obeys in a project, in its two classes."""

    settings: tuple[TrustFile, ...] = ()
    instructions: tuple[TrustFile, ...] = ()

    def is_setting(self, parts: tuple[str, ...]) -> bool:
        """Return whether a path is one of the settings, or inside of one, at any depth.

        ``parts`` are the parts of a path relative to the project. Letter case is ignored, as some
        file systems do. Harmless files in a folder of settings count here, too.
        """
        lowered = tuple(part.lower() for part in parts)
        return any(
            lowered[start : start + len(wanted)] == wanted
            for wanted in (tuple(part.lower() for part in file.parts) for file in self.settings)
            for start in range(len(lowered))
        )
