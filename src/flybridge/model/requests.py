"""What a client asks of the gateway. Each Submit, Attach and Ask gets exactly one Reply."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model.commands import Command
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId


class Submit(msgspec.Struct, frozen=True, kw_only=True):
    """Carry out a command once.

    ``request`` is the client's own name for it and the idempotency key: the same one sent
    again gets the recorded outcome. The reply comes when ``until`` is reached, or after
    ``wait_ms`` with what has been reached by then.
    """

    ref: str
    session: SessionId
    command: Command
    request: str
    until: Stage = Stage.WRITTEN
    wait_ms: int = 2000


class Attach(msgspec.Struct, frozen=True, kw_only=True):
    """Send what comes after ``after`` in ``epoch`` (0: from the start), then everything live.

    ``last`` > 0 asks for at most that many of the newest events instead of all.
    """

    ref: str
    session: SessionId
    epoch: int = 0
    after: int = 0
    last: int = 0
    previews: bool = True


class Detach(msgspec.Struct, frozen=True, kw_only=True):
    session: SessionId


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """Anything that is not a command to one session: open, list, page, view, status, stop."""

    ref: str
    name: str
    params: Raw | UnsetType = UNSET


Request: TypeAlias = Submit | Attach | Detach | Ask
