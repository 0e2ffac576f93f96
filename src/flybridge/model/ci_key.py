"""A CI key: lets a program without a terminal choose permission modes that a person named."""

from __future__ import annotations

import msgspec

from flybridge.model.agent_kinds import KINDS_OF_0_1


class CiKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key as it is stored: only the SHA-256 digest of its secret is kept."""

    id: str
    name: str
    modes: tuple[str, ...]  # the permission modes that it allows
    digest: str  # of the secret, in hex
    created_ms: int
    expires_ms: int = 0  # 0: when it is revoked
    kinds: tuple[str, ...] = KINDS_OF_0_1  # of the agents for which it allows them
