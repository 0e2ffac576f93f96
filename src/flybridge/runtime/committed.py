"""What the gateway keeps of a session's commit: conversation ids, and alarms for the audit log."""

from __future__ import annotations

from collections.abc import Iterable

from flybridge.model.audit import Record
from flybridge.model.deliveries import Entry
from flybridge.model.events import AlarmRaised
from flybridge.model.ids import SessionId
from flybridge.runtime.services import Services
from flybridge.session.alarms import Taken
from flybridge.session.ports import Write


def note_committed(services: Services, write: Write, entries: Iterable[Entry] = ()) -> None:
    """Pass on what others have to know of a write that is durable."""
    if write.row is not None and services.conversation_ids is not None:
        services.conversation_ids.note(write.row)
    for entry in entries:
        if isinstance(entry.event, AlarmRaised):
            services.audit(record_of(write.session, entry.event))


def taken_by_others(services: Services, session: SessionId) -> Taken:
    """Return the question whether another session has or had a conversation id."""
    ids = services.conversation_ids
    return lambda name: ids is not None and ids.is_taken(name, session)


def record_of(session: SessionId, alarm: AlarmRaised) -> Record:
    """Return an alarm as the audit log names it."""
    return Record(
        event="alarm",
        outcome="raised",
        code=alarm.code,
        session=session,
        target=alarm.prompt or alarm.item or alarm.turn,
        detail=alarm.text,
    )
