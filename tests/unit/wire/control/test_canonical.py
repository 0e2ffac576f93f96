from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.errors import InvalidRequestError
from flybridge.wire.control.canonical import MAX_INTEGER, canonical

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(PLAIN)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_it_is_the_same_value_written_in_one_way(value: Any) -> None:
    written = canonical(value)
    assert json.loads(written) == value
    assert canonical(json.loads(written)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ('\x00\x1f\b\t\n\f\r"\\/\x7f\u2028é', '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/\x7f\u2028é"'),
        # the order of the standard: by UTF-16 units, where a smiling face comes before a letter
        (
            {"\ufb33": 1, "\U0001f600": 2, "1": 3, "\r": 4},
            '{"\\r":4,"1":3,"\U0001f600":2,"\ufb33":1}',
        ),
        (-0, "0"),
    ],
)
def test_it_is_written_as_the_standard_says(value: Any, written: str) -> None:
    assert canonical(value).decode() == written


@pytest.mark.parametrize("value", [1.5, 2**53, -(2**53), "\ud800", {"a": float("nan")}, b"x"])
def test_what_has_no_one_way_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequestError):
        canonical(value)
