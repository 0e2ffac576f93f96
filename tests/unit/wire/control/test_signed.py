"""What is bound by a signature, with no signature in sight: the parts, and how they fit."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.wire.control import signed
from flybridge.wire.control.canonical import canonical
from flybridge.wire.control.times import format_time

NOW_MS = 1_700_000_000_000
BODY: dict[str, Any] = {
    "type": "control.interrupt.request",
    "v": 1,
    "request_id": "r",
    "team": "t",
    "session_id": "s",
    "agent_id": "a:1",
    "sender": "lead",
    "sent_at": format_time(NOW_MS),
    "signal": "interrupt",
}


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sealed(
    body: dict[str, Any] = BODY, *, life_ms: int = 60_000, audience: str = "gw_1", kid: str = "k"
) -> bytes:
    expires_at = format_time(NOW_MS + life_ms)
    data = signed.to_sign(body, kid=kid, audience=audience, expires_at=expires_at)
    return signed.put_together(data, b"x" * 64)


def opened(data: bytes, now_ms: int = NOW_MS) -> dict[str, Any]:
    found = signed.body_of(signed.take_apart(data), audience="gw_1", now_ms=now_ms)
    body: dict[str, Any] = json.loads(found)
    return body


def test_what_was_sealed_is_found_again() -> None:
    data = sealed()
    assert signed.is_signed(data)
    assert opened(data) == BODY
    assert signed.take_apart(data).signature == b"x" * 64
    assert not signed.is_signed(json.dumps(BODY).encode())
    assert not signed.is_signed(b"nonsense")


@pytest.mark.abuse(50)
@pytest.mark.parametrize(
    "header",
    [
        {"alg": "none", "kid": "k", "typ": signed.TYPE},
        {"alg": "HS256", "kid": "k", "typ": signed.TYPE},
        {"alg": "EdDSA", "kid": "k", "typ": signed.TYPE, "jwk": {}},
        {"alg": "EdDSA", "kid": "k", "typ": signed.TYPE, "jku": "http://evil.example"},
        {"alg": "EdDSA", "kid": "k", "typ": signed.TYPE, "crit": ["x"]},
        {"alg": "EdDSA", "kid": "k"},
        {"alg": "EdDSA", "typ": signed.TYPE},
        [],
    ],
)
def test_abuse_50_a_head_says_nothing_but_who(header: object) -> None:
    _, payload, signature = json.loads(sealed())["jws"].split(".")
    jws = f"{b64(json.dumps(header).encode())}.{payload}.{signature}"
    with pytest.raises(InvalidRequestError):
        signed.take_apart(json.dumps({"type": "control.signed", "v": 1, "jws": jws}).encode())


@pytest.mark.abuse(50)
@pytest.mark.parametrize(
    "jws", ["", "a.b", "a.b.c.d", "....", "e30.e30.", "e30=.e30.e30", "e3 0.e30.e30", "é.e30.e30"]
)
def test_abuse_50_a_signature_has_three_parts_and_one_form(jws: str) -> None:
    with pytest.raises(InvalidRequestError):
        signed.take_apart(json.dumps({"type": "control.signed", "v": 1, "jws": jws}).encode())


def changed(**more: Any) -> bytes:
    """The same, with something in what is signed changed after the fact."""
    head, payload, signature = json.loads(sealed())["jws"].split(".")
    envelope = json.loads(base64.urlsafe_b64decode(payload + "=="))
    envelope.update(more)
    jws = f"{head}.{b64(canonical(envelope))}.{signature}"
    return json.dumps({"type": "control.signed", "v": 1, "jws": jws}).encode()


@pytest.mark.abuse(50)
@pytest.mark.parametrize(
    "more",
    [
        {"aud": "gw_2"},
        {"kid": "other"},
        {"request_id": "other"},
        {"iss": "other"},
        {"sent_at": format_time(NOW_MS - 1)},
        {"body": {**BODY, "team": "other"}},
        {"body_sha256": "0" * 64},
        {"expires_at": format_time(NOW_MS)},
        {"expires_at": format_time(NOW_MS + 301_000)},
        {"expires_at": "never"},
        {"more": 1},
    ],
)
def test_abuse_50_everything_is_bound_to_everything(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        opened(changed(**more))


@pytest.mark.abuse(50)
def test_abuse_50_another_order_of_keys_is_another_message() -> None:
    head, payload, signature = json.loads(sealed())["jws"].split(".")
    envelope = json.loads(base64.urlsafe_b64decode(payload + "=="))
    other = json.dumps(dict(reversed(envelope.items())), separators=(",", ":")).encode()
    jws = f"{head}.{b64(other)}.{signature}"
    with pytest.raises(InvalidRequestError, match="one way"):
        opened(json.dumps({"type": "control.signed", "v": 1, "jws": jws}).encode())


@pytest.mark.abuse(50)
def test_abuse_50_a_signature_lasts_a_few_minutes_and_is_for_somebody() -> None:
    data = sealed()
    with pytest.raises(InvalidRequestError, match="expired"):
        opened(data, NOW_MS + 60_000)
    with pytest.raises(InvalidRequestError, match="another gateway"):
        signed.body_of(signed.take_apart(data), audience="", now_ms=NOW_MS)


@pytest.mark.parametrize("text", ["", "x", "A" * 42, "A" * 44, "é" * 43, "=" * 43])
def test_a_key_has_one_form(text: str) -> None:
    raw = bytes(range(32))
    assert signed.decode_key(signed.encode_key(raw) + "\n") == raw
    with pytest.raises(InvalidRequestError):
        signed.decode_key(text)
