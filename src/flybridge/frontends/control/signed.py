"""Who signed a control message, by the keys that were pinned. Needs ``flybridge[signed]``."""

from __future__ import annotations

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.model.loopback import is_loopback
from flybridge.session.authorisation import Caller
from flybridge.store.teams import Teams
from flybridge.wire.control import signed

DOOR = "signed"


def opened(teams: Teams, caller: Caller, data: bytes, now_ms: int) -> tuple[Caller, bytes]:
    """The request in a signed message, and who sent it: whoever holds the key, and not whoever
    brought it.

    Raises:
        InvalidRequestError: nobody we know signed that, for us, for now.
    """
    parts = signed.take_apart(data)
    found = next((one for one in teams.keys if one.name == parts.header.kid), None)
    if found is None or not is_signature(found.public, parts.signature, parts.signed):
        raise InvalidRequestError("nobody we know has signed that")
    body = signed.body_of(parts, audience=teams.gateway, now_ms=now_ms)
    sender = msgspec.structs.replace(
        caller, principal=f"key:{found.name}", credential="", door=DOOR, process=""
    )
    return sender, body


def is_signature(public: str, signature: bytes, data: bytes) -> bool:
    """Whether that key signed this.

    Raises:
        InvalidRequestError: it cannot be told here.
    """
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise InvalidRequestError("this gateway has no flybridge[signed]") from None
    try:
        Ed25519PublicKey.from_public_bytes(signed.decode_key(public)).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_remote(caller: Caller) -> bool:
    """Whether it came from another machine: then it has to be signed."""
    return caller.door not in ("unix", DOOR) and not is_loopback(caller.source)
