from __future__ import annotations

import pytest

from flybridge.auth.gate import Head
from flybridge.auth.login import cookies_of


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], []),
        ([b"a=1; us=2;us=3"], [b"2", b"3"]),
        ([b"aus=1; usa=2"], []),
        ([b"us"], [b""]),
        ([b"us=1", b"b=2; us=a=b"], [b"1", b"a=b"]),
    ],
)
def test_all_cookies_of_a_name_are_found_in_their_order(
    lines: list[bytes], found: list[bytes]
) -> None:
    head = Head(method="GET", target="/", headers=[(b"cookie", line) for line in lines])
    assert cookies_of(head, b"us") == found
