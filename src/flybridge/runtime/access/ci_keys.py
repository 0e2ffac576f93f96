"""CI keys: how a program without a terminal opens a session in a mode that asks less.

A person at a terminal makes a key and names the modes that it allows, and the agent. A program that
has the key may open sessions of that kind of agent in these modes, and nothing else: a mode of the
same name may grant more in another agent. The key is not a login. It is accepted at the
gateway's own socket only, and never from a process below a keeper, so an agent that reads the key
gains nothing by it.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol

from flybridge.errors import NotAllowedError
from flybridge.model.ci_key import CiKey
from flybridge.session.authorisation import Caller

PREFIX = "fbc_"


class CiKeys(Protocol):
    """The keys there are."""

    def all(self) -> tuple[CiKey, ...]: ...

    def replace(self, keys: tuple[CiKey, ...]) -> None: ...


def check_key(
    keys: CiKeys | None, caller: Caller, key: str, *, kind: str, mode: str, now_ms: int
) -> CiKey | None:
    """Return the key if it lets this caller open a session in ``mode``; None if none was given.

    ``kind`` is the kind of the session's agent.

    Raises:
        NotAllowedError: the key is not valid, or not for this kind, mode or caller.
    """
    if not key:
        return None
    if caller.of_agent:
        raise NotAllowedError("admin", why="an agent cannot grant itself anything")
    if caller.door != "unix" or not caller.process:
        raise NotAllowedError("admin", message="A CI key is accepted at the gateway's socket only.")
    known = _find(keys, key, now_ms)
    if known is None:
        raise NotAllowedError("admin", message="The CI key is unknown, expired or revoked.")
    if kind not in known.kinds:
        text = f"is for agents of the kind {', '.join(known.kinds)}, not {kind[:40]}"
        raise NotAllowedError("admin", message=f"The CI key {known.name!r} {text}.")
    if mode not in known.modes:
        allowed = ", ".join(known.modes)
        raise NotAllowedError(
            "admin", message=f"The CI key {known.name!r} allows {allowed}, but not {mode[:40]}."
        )
    return known


def _find(keys: CiKeys | None, key: str, now_ms: int) -> CiKey | None:
    name, _, secret = key.removeprefix(PREFIX).partition(".")
    digest = digest_of(secret)
    for known in keys.all() if keys is not None else ():
        over = 0 < known.expires_ms <= now_ms
        if known.id == name and hmac.compare_digest(known.digest, digest) and not over:
            return known
    return None


def digest_of(secret: str) -> str:
    """Return what is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
