"""Names of runs and frames.

The id of a frame says where it stands in the run's log, so that it is the same whenever the
log is told again: ``msg_``, 16 digits of the run, 10 of the event, 4 of the frame within it.
What is not in the log (a piece of text, a question asked again) has 8 more, of this telling.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_ID = re.compile(r"msg_([0-9a-f]{16})([0-9a-f]{10})([0-9a-f]{4})([0-9a-f]{8})?")
PASSING = 0x8000  # frames that are not in the log count from here


class Place(NamedTuple):
    """Where a frame stands: behind which event, and as which of its frames."""

    seq: int
    nth: int


def message_id(run: str, place: Place, telling: str = "") -> str:
    """The id of a frame; ``telling``: 8 digits, for one that is not in the log."""
    digest = hashlib.sha256(run.encode()).hexdigest()[:16]
    return f"msg_{digest}{place.seq:010x}{place.nth & 0xFFFF:04x}{telling}"


def place_of(run: str, message: str) -> Place | None:
    """Where a frame of this run stands; None: it is none of this run."""
    found = _ID.fullmatch(message)
    if found is None or not message_id(run, Place(0, 0)).startswith(f"msg_{found[1]}"):
        return None
    return Place(int(found[2], 16), int(found[3], 16))
