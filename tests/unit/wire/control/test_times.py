from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.errors import InvalidRequestError
from flybridge.wire.control.times import format_time, parse_time


@given(st.integers(0, 4_000_000_000_000))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_time_comes_back_as_it_was(at_ms: int) -> None:
    assert parse_time(format_time(at_ms)) == at_ms


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T00:00:01.123456789Z", 1123),
        ("1970-01-01T00:00:01+00:00", 1000),
    ],
)
def test_fractions_and_the_other_way_to_write_utc_are_read(text: str, at_ms: int) -> None:
    assert parse_time(text) == at_ms


@pytest.mark.conforms("S2-10f")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-02-20",
        "2026-02-20T21:15:00",
        "2026-02-20 21:15:00Z",
        "2026-02-20t21:15:00z",
        "2026-02-20T21:15:00+01:00",
        "2026-02-20T21:15:00-00:00",
        "2026-02-30T21:15:00Z",
        "2026-02-20T24:15:00Z",
        "2016-12-31T23:59:60Z",
        "2026-02-20T21:15:00.Z",
        "٢٠٢٦-02-20T21:15:00Z",
        "2026-02-20T21:15:00Z\n",
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        parse_time(text)
