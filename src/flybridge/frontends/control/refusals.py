"""What a control message comes to when it is not carried out: a result, a code and words."""

from __future__ import annotations

from flybridge.errors import FlybridgeError
from flybridge.wire.control.messages import Result

# by code; every other refusal is "rejected", every other error "internal_error"
_RESULTS: dict[str, Result] = {
    "session_not_found": "not_found",
    "session_closed": "not_live",
    "not_live": "not_live",
    "stale_turn": "not_live",
    "agent_exited": "not_live",
    "busy": "busy",
    "request_id_reused": "rejected",
    "invalid_request": "rejected",
    "not_allowed": "rejected",
    "not_supported": "rejected",
}
_CODES = {"stale_turn": "turn_ended", "session_not_found": "not_found"}
# What a sender may read of an error that is ours: never a path or a program's words.
_OURS = "see the gateway's log"


class ControlRefused(Exception):  # noqa: N818  it is an answer, not a failure
    """A message is not carried out; nothing of it was claimed."""

    def __init__(self, result: Result, code: str, message: str) -> None:
        super().__init__(message)
        self.result = result
        self.code = code


def rejected(code: str, message: str) -> ControlRefused:
    return ControlRefused("rejected", code, message)


def not_found() -> ControlRefused:
    """The same for a session that is not there and for one that the sender may not see."""
    return ControlRefused("not_found", "not_found", "no such session")


def refused_by(error: FlybridgeError) -> ControlRefused:
    """An error of the house, in the protocol's words."""
    result = _RESULTS.get(error.code, "internal_error")
    if result == "not_found":
        return not_found()
    message = _OURS if result == "internal_error" else str(error)
    return ControlRefused(result, _CODES.get(error.code, error.code), message)
