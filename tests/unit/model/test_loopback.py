"""Which names mean this machine."""

from __future__ import annotations

import pytest

from flybridge.model.loopback import is_loopback


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "::1%lo", "::ffff:127.0.0.1"]
)
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "::ffff:10.0.0.1",
        "fe80::1%lo",
        "localhost.example",
        "127.1",
    ],
)
def test_not_this_machine_or_not_for_sure(host: str) -> None:
    assert not is_loopback(host)
