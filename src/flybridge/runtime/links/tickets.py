"""The ticket an agent brings along when it connects to us: good for one life of one agent.

It is made from the life's own secret, so nothing has to be kept of it: a gateway that was
started anew makes the same one, and the agent it left behind is let in again. From a ticket the
secret cannot be had, and it opens nothing else.
"""

from __future__ import annotations

import hashlib
import hmac

from flybridge.session.ports import IncarnationRow

_WHAT = b"flybridge agent socket\n"
MAX_CHARS = 256


def ticket_of(row: IncarnationRow) -> str:
    """The ticket of one life."""
    mac = hmac.new(row.secret.encode(), _WHAT + row.incarnation.encode(), hashlib.sha256)
    return f"{row.incarnation}.{mac.hexdigest()}"


def life_in(ticket: str) -> str:
    """Which life a ticket says it is for; nothing is proven by that."""
    return ticket[:MAX_CHARS].rpartition(".")[0]


def is_ticket_of(row: IncarnationRow, ticket: str) -> bool:
    """Whether this is it, compared in a time that tells nothing."""
    return hmac.compare_digest(ticket_of(row).encode(), ticket.encode("utf-8", "replace"))
