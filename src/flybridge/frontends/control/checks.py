"""What is looked at before a control message is claimed. Everything here is pure."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec
from msgspec import UNSET

from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.refusals import rejected
from flybridge.wire.control.messages import (
    VERSION,
    ContentRef,
    Limits,
    Request,
    StdinRequest,
    given,
)
from flybridge.wire.control.times import parse_time

_SHA256 = re.compile(r"[0-9a-f]{64}")
_TEXT = re.compile(r"text/[a-z0-9.+-]+(?:\s*;\s*charset=\"?utf-?8\"?)?", re.IGNORECASE)
PREFIX = "control/"  # of the names that control messages have in a ledger
# When it was sent, by what, and who wants to hear how far it is; and whom it is for, which the
# key says: a session and its agent have more than one name each, and a retry may use another.
_NOT_THE_BODY = ("sent_at", "meta", "progress", "team", "session_id", "agent_id")
_DEFAULTS = {"interrupt": False, "content_encoding": "utf-8"}


def fingerprint(request: Request) -> str:
    """What makes two messages under one key the same one.

    A field that says what holds without it makes no difference, and neither does a preview.
    """
    body = _body(request)
    body.pop("content_preview", None)
    return _digest({name: value for name, value in body.items() if _DEFAULTS.get(name) != value})


def fingerprint_before(request: Request) -> str:
    """Return the fingerprint as 0.1.0 recorded it, which counted defaults that are spelled out."""
    return _digest(_body(request))


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(request)
    return {name: value for name, value in body.items() if name not in _NOT_THE_BODY}


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(body, order="sorted")).hexdigest()


def ledger_name(request: Request) -> str:
    """The message's name in its session's ledger. The sender's principal is added there, and a
    session has one team and one agent: together they are the protocol's unique key."""
    return f"{PREFIX}{request.request_id}"


def check_version(request: Request) -> None:
    """Refuse another version.

    Raises:
        ControlRefused: it is one.
    """
    if request.v != VERSION:
        raise rejected("unsupported_version", f"this is version {VERSION}, not {request.v}")


def check_age(request: Request, limits: Limits, now_ms: int) -> None:
    """Refuse what was sent too long ago, or is yet to be sent.

    Raises:
        ControlRefused: it was.
    """
    try:
        sent_ms = parse_time(request.sent_at)
    except InvalidRequestError as error:
        raise rejected("invalid_time", str(error)) from None
    if now_ms - sent_ms > limits.max_age_s * 1000:
        raise rejected("too_old", f"sent more than {limits.max_age_s:g} s ago")
    if sent_ms - now_ms > limits.skew_s * 1000:
        raise rejected("too_new", f"sent more than {limits.skew_s:g} s ahead of our clock")


def check_content(request: StdinRequest, limits: Limits, *, local: bool, now_ms: int) -> None:
    """Refuse content that is none, is said twice, too long, or not ours to read.

    Raises:
        ControlRefused: it is.
    """
    encoding = given(request.content_encoding, "utf-8")
    if encoding.lower() != "utf-8":
        raise rejected("unsupported_encoding", f"content is utf-8, not {encoding[:40]!r}")
    if (request.content is UNSET) == (request.content_ref is UNSET):
        raise rejected("invalid_request", "there is either content or content_ref")
    if isinstance(request.content_ref, ContentRef):
        _check_ref(request.content_ref, limits, local=local, now_ms=now_ms)
        return
    text = given(request.content, "")
    check_text(text)
    if len(text) > limits.hard_bytes or len(text.encode()) > limits.hard_bytes:
        most = f"more than {limits.hard_bytes} bytes go by content_ref"
        raise rejected("content_too_large", most)


def check_text(text: str) -> None:
    """Refuse content that is empty or only white space.

    Raises:
        ControlRefused: it is.
    """
    if not text.strip():
        raise rejected("empty_content", "The content is empty.")


def _check_ref(ref: ContentRef, limits: Limits, *, local: bool, now_ms: int) -> None:
    if not local:
        raise rejected("ref_not_local", "only senders on this machine may name a file")
    if not _SHA256.fullmatch(ref.sha256):
        raise rejected("ref_invalid", "sha256 is 64 lower-case hex digits")
    if ref.size_bytes <= 0:
        raise rejected("empty_content", "there is nothing to say")
    if ref.size_bytes > limits.ref_bytes:
        raise rejected("content_too_large", f"a file has at most {limits.ref_bytes} bytes")
    if not _TEXT.fullmatch(ref.mime):
        raise rejected("unsupported_encoding", "a file is text in utf-8")
    if ref.expires_at is UNSET:
        return
    try:
        expires_ms = parse_time(given(ref.expires_at, ""))
    except InvalidRequestError as error:
        raise rejected("invalid_time", str(error)) from None
    if expires_ms <= now_ms:
        raise rejected("ref_expired", "the reference has expired")
