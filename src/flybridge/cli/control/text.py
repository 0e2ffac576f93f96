"""What `flybridge control` prints of an acknowledgement."""

from __future__ import annotations

import msgspec
from msgspec import UnsetType

from flybridge.wire.control.messages import Ack, Capabilities, InterruptAck, given

_TAKEN = {
    "started": "started a turn",
    "steered": "sent into the running turn",
    "queued": "queued until the running turn ends",
    "idle": "no turn was running",
}
_NAMES = {"turn_id": "turn"}


def line_of(ack: Ack) -> str:
    """Return one line that says what became of a request."""
    known = " (already known)" if ack.duplicate else ""
    if isinstance(ack.error, UnsetType):
        words = _success(ack)
        return f"ok{known}: {words}" if words else f"ok{known}"
    words = given(ack.detail, "") or ack.error.message
    return " ".join(part for part in (ack.result + known, words, f"({ack.error.code})") if part)


def _success(ack: Ack) -> str:
    detail, outcome = given(ack.detail, ""), given(ack.outcome, "")
    if detail in _TAKEN:
        return _TAKEN[detail]
    if not isinstance(ack, InterruptAck):
        return detail
    return "the turn was stopped" if outcome == "done" else "the interrupt was sent"


def rows_of(capabilities: Capabilities) -> list[str]:
    """Return the lines that show what a session can take."""
    found = msgspec.to_builtins(capabilities)
    limits = found.pop("limits")
    rows = {**found, **limits}
    return [f"{_NAMES.get(name, name)}: {_value(value)}" for name, value in rows.items()]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value != "" else "none"
