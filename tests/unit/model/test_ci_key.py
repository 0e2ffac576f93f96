from __future__ import annotations

import msgspec

from flybridge.model.ci_key import CiKey


def test_a_key_is_read_as_it_was_written() -> None:
    key = CiKey(id="i", name="n", modes=("acceptEdits",), digest="d", created_ms=1)
    assert msgspec.json.decode(msgspec.json.encode(key), type=CiKey) == key
    assert key.expires_ms == 0


def test_a_key_stored_before_keys_had_kinds_is_for_the_agents_there_were() -> None:
    old = b'{"id":"i","name":"n","modes":["acceptEdits"],"digest":"d","created_ms":1}'
    assert msgspec.json.decode(old, type=CiKey).kinds == ("claude", "demo")
