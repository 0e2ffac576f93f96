from __future__ import annotations

import json
from pathlib import Path

import pytest

from flybridge.client.control.sender import Between
from flybridge.client.control.signed import SignedChannel, new_key, public_of, read_key, sign
from flybridge.errors import GatewayError
from flybridge.frontends.control.signed import is_signature
from flybridge.wire.control import signed
from flybridge.wire.control.times import format_time, parse_time


class Ear:
    def __init__(self) -> None:
        self.heard: list[bytes] = []

    async def exchange(self, message: bytes, between: Between = lambda data: False) -> bytes:
        self.heard.append(message)
        return b"{}"


async def test_whatever_goes_through_is_signed() -> None:
    key, ear, at = bytes(32), Ear(), format_time(1_700_000_000_000)
    body = {"type": "x", "request_id": "r", "sender": "lead", "sent_at": at}
    channel = SignedChannel(ear, name="k", key=key, audience="gw_1")
    assert await channel.exchange(json.dumps(body).encode()) == b"{}"
    parts = signed.take_apart(ear.heard[0])
    assert is_signature(public_of(key), parts.signature, parts.signed)
    found = signed.body_of(parts, audience="gw_1", now_ms=parse_time(at))
    assert json.loads(found) == body


def test_a_key_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "key"
    public = new_key(path)
    key = read_key(path)
    assert public_of(key) == public
    assert is_signature(public, sign(key, b"data"), b"data")
    assert not is_signature(public, sign(key, b"data"), b"other")
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(GatewayError, match="cannot write"):
        new_key(path)
    path.chmod(0o644)
    with pytest.raises(GatewayError, match="chmod 600"):
        read_key(path)
    path.chmod(0o600)
    path.write_text("nonsense")
    with pytest.raises(GatewayError, match="43 characters"):
        read_key(path)
    with pytest.raises(GatewayError, match="cannot read"):
        read_key(tmp_path / "none")
