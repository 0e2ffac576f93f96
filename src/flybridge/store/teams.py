"""Who belongs to which team, and what they may steer: one small file, replaced whole.

A rule allows or denies. What no rule allows is denied, and a denial wins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from flybridge.store.private_file import read_versioned, write_private

VERSION = 1
ANY: Final = "*"
What: TypeAlias = Literal["*", "stdin", "interrupt", "capabilities"]


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody in a team: the name they send under, and who has to be at the other end."""

    team: str
    name: str
    principal: str  # uid:1000, agent:uid:1000, token:<id>


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody of a team may do, or may not. ``*`` is everybody, every session, everything."""

    effect: Literal["allow", "deny"]
    team: str
    sender: str = ANY
    session: str = ANY
    what: What = ANY


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever signs with this one is ``key:<name>``, whatever way a message came."""

    name: str
    public: str  # 32 bytes in base64


class Teams(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the file."""

    version: int = VERSION
    gateway: str = ""  # what signed messages must be meant for; made with the first key
    keys: tuple[Key, ...] = ()
    members: tuple[Member, ...] = ()
    rules: tuple[Rule, ...] = ()

    def member(self, team: str, name: str, principal: str) -> Member | None:
        """The member of that name, if it is this principal's."""
        wanted = Member(team=team, name=name, principal=principal)
        return wanted if wanted in self.members else None

    def applying(self, member: Member, what: str) -> list[Rule]:
        """The rules that say something about this member and that, in any session."""
        return [
            rule
            for rule in self.rules
            if rule.team == member.team
            and rule.sender in (ANY, member.name)
            and rule.what in (ANY, what)
        ]


class TeamFile:
    """The file ``teams`` in the state directory. One gateway writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.teams = read_versioned(path, Teams, VERSION)

    def save(self, teams: Teams) -> None:
        """Replace it.

        Raises:
            StorageError: the disk refused; the old one holds.
        """
        write_private(self._path, msgspec.json.format(msgspec.json.encode(teams)))
        self.teams = teams
