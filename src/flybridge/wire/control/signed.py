"""Control messages that come by a relay: signed by their sender, for one gateway, for a while.

A relay is not trusted: it may delay, drop or repeat a message, which does no harm, and nothing
else. What is signed binds issuer, gateway, request, time and body, in the one way there is to
write them down. A key, or where to find one, inside a message is refused: keys are pinned.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, Literal

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.wire.control import messages
from flybridge.wire.control.canonical import canonical
from flybridge.wire.control.times import parse_time

TYPE = "flybridge-control+jws"
MAX_LIFE_MS = 300_000
_SAFE = re.compile(r"[A-Za-z0-9_-]+")


class SignedMessage(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    tag="control.signed",
    forbid_unknown_fields=True,
):
    """A signed request: a JWS in its compact form, signed with Ed25519."""

    v: int
    jws: str


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the head of such a signature may say. There is one algorithm."""

    alg: Literal["EdDSA"]
    kid: str
    typ: Literal["flybridge-control+jws"]


class Envelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is signed."""

    iss: str  # who sends, as the body says, too
    aud: str  # the gateway it is for
    kid: str
    request_id: str
    sent_at: str
    expires_at: str
    body_sha256: str
    body: dict[str, Any]


class Parts(msgspec.Struct, frozen=True):
    """A signature taken apart, and not looked at yet."""

    header: Header
    payload: bytes
    signed: bytes  # what the signature is of
    signature: bytes


def take_apart(data: bytes) -> Parts:
    """Read a signed message.

    Raises:
        InvalidRequestError: it is none, or its head says what it may not.
    """
    try:
        message = msgspec.json.decode(data, type=SignedMessage)
        head, payload, signature = message.jws.split(".")
        header = msgspec.json.decode(_decode(head), type=Header)
        parts = Parts(header, _decode(payload), f"{head}.{payload}".encode(), _decode(signature))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidRequestError(f"no signed message: {str(error)[:200]}") from None
    if message.v != messages.VERSION:
        raise InvalidRequestError("a signed message of another version")
    return parts


def body_of(parts: Parts, *, audience: str, now_ms: int) -> bytes:
    """The request that was signed. Only for parts whose signature is good.

    Raises:
        InvalidRequestError: it is for somebody else, too old, or not what was signed for.
    """
    try:
        plain = msgspec.json.decode(parts.payload)
        envelope = msgspec.convert(plain, Envelope)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidRequestError(f"no signed message: {str(error)[:200]}") from None
    if canonical(plain) != parts.payload:
        raise InvalidRequestError("what is signed is not written in the one way there is")
    if not audience or envelope.aud != audience or envelope.kid != parts.header.kid:
        raise InvalidRequestError("signed for another gateway, or by another key")
    sent_ms, expires_ms = parse_time(envelope.sent_at), parse_time(envelope.expires_at)
    if expires_ms <= now_ms or not 0 < expires_ms - sent_ms <= MAX_LIFE_MS:
        raise InvalidRequestError("the signature has expired, or would hold for too long")
    body = canonical(envelope.body)
    told = (envelope.request_id, envelope.sent_at, envelope.iss)
    found = tuple(envelope.body.get(name) for name in ("request_id", "sent_at", "sender"))
    if hashlib.sha256(body).hexdigest() != envelope.body_sha256 or told != found:
        raise InvalidRequestError("signed for another body")
    return body


def to_sign(body: dict[str, Any], *, kid: str, audience: str, expires_at: str) -> bytes:
    """What has to be signed for a request: head and payload, as they travel."""
    data = canonical(body)
    envelope = {
        "iss": body.get("sender", ""),
        "aud": audience,
        "kid": kid,
        "request_id": body.get("request_id", ""),
        "sent_at": body.get("sent_at", ""),
        "expires_at": expires_at,
        "body_sha256": hashlib.sha256(data).hexdigest(),
        "body": body,
    }
    header = {"alg": "EdDSA", "kid": kid, "typ": TYPE}
    return _encode(canonical(header)) + b"." + _encode(canonical(envelope))


def put_together(signed: bytes, signature: bytes) -> bytes:
    """The message that travels."""
    jws = (signed + b"." + _encode(signature)).decode()
    return msgspec.json.encode(SignedMessage(v=messages.VERSION, jws=jws))


def is_signed(data: bytes) -> bool:
    """Whether it says of itself that it is."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return found.get("type") == SignedMessage.__struct_config__.tag


def encode_key(raw: bytes) -> str:
    """A key as people copy it."""
    return _encode(raw).decode()


def decode_key(text: str) -> bytes:
    """The other way.

    Raises:
        InvalidRequestError: it is none.
    """
    try:
        raw = _decode(text.strip())
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise InvalidRequestError("a key is 32 bytes in base64, 43 characters")
    return raw


def _encode(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _decode(text: str) -> bytes:
    """Strictly: one text for each bytes, or a signature would have many names."""
    if not _SAFE.fullmatch(text):
        raise ValueError("not base64url")
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise ValueError("not base64url") from None
    if _encode(data) != text.encode():
        raise ValueError("not base64url in its one form")
    return data
