"""Which session an agent's own conversation id belongs to: the first that had it.

An agent says by itself which conversation it is in. Rules of teams and control messages go by
that id, so one that another session has or had is not taken over from what an agent says.
"""

from __future__ import annotations

from collections.abc import Iterable

from flybridge.model.ids import SessionId
from flybridge.session.ports import Journal, SessionRow


class ConversationIds:
    """The ids of all sessions in the journal, read once and kept up to date."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._sessions: dict[str, set[SessionId]] | None = None

    def is_taken(self, name: str, by: SessionId) -> bool:
        """Return whether another session than ``by`` has or had this id."""
        return bool(self._known().get(name, set()) - {by})

    def note(self, row: SessionRow) -> None:
        """Remember the ids of a session whose row was committed."""
        if self._sessions is not None:
            _add(self._sessions, row)

    def forget(self, session: SessionId) -> None:
        """Forget a session that was deleted."""
        for sessions in (self._sessions or {}).values():
            sessions.discard(session)

    def _known(self) -> dict[str, set[SessionId]]:
        if self._sessions is None:
            self._sessions = _index(self._journal.sessions())
        return self._sessions


def _index(rows: Iterable[SessionRow]) -> dict[str, set[SessionId]]:
    found: dict[str, set[SessionId]] = {}
    for row in rows:
        _add(found, row)
    return found


def _add(found: dict[str, set[SessionId]], row: SessionRow) -> None:
    for name in (row.conversation, *row.conversations):
        if name:
            found.setdefault(name, set()).add(row.session)
