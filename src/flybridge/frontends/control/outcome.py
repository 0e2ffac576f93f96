"""What a session's ledger and log say of a control message that was claimed."""

from __future__ import annotations

from flybridge.frontends.control.translate import Ending, Verdict, judge
from flybridge.model import events as e
from flybridge.model.ids import InputKey
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.unit_of_work import replay
from flybridge.session.ports import InputRow


def choice_of(live: LiveSession, key: InputKey) -> str:
    """Return how a request was taken (started, steered, queued, idle); empty if it is unknown."""
    row = live.services.journal.find(live.session, key)
    return row.choice if row is not None else ""


def is_claimed_with(live: LiveSession, key: InputKey, fingerprint: str) -> bool:
    """Return whether the ledger has this key with this fingerprint."""
    row = live.services.journal.find(live.session, key)
    return row is not None and row.fingerprint == fingerprint


def verdict_of(live: LiveSession, key: InputKey, *, duplicate: bool) -> Verdict:
    """Return what an acknowledgement has to say of a request, as it is recorded now."""
    row = live.services.journal.find(live.session, key)
    cancelled = row is not None and row.stage == "cancelled"
    ending = _ending(live, row) if row is not None and cancelled else None
    choice = row.choice if row is not None else ""
    return judge(live.stage(key), choice, duplicate=duplicate, ending=ending)


def _ending(live: LiveSession, row: InputRow) -> Ending:
    """Read from the log how a request was cancelled."""
    events = replay(live.services.journal, live.session, row.seq - 1)
    found = next((entry.event for entry in events if entry.seq == row.seq), None)
    return Ending(
        interrupt=row.kind == "interrupt",
        left=bool(row.incarnation),
        reason=found.reason if isinstance(found, e.InputOutcome) else "",
    )
