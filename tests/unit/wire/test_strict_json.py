from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.errors import InvalidRequestError
from flybridge.wire.strict_json import check, decode

BAD: dict[str, bytes] = {
    "a key twice": b'{"a":1,"a":2}',
    "a key twice, inside": b'[{"b":{"a":1,"a":1}}]',
    "a key twice, escaped": b'{"a":1,"\\u0061":2}',
    "NaN": b'{"a":NaN}',
    "infinity": b'{"a":-Infinity}',
    "a number without end": b'{"a":1e999}',
    "5000 digits": b'{"a":' + b"9" * 5000 + b"}",
    "2**63": b'{"a":9223372036854775808}',
    "depth 65": b"[" * 65 + b"]" * 65,
    "depth 100,000": b"[" * 100_000 + b"]" * 100_000,
    "depth 100,000, open": b'{"a":' * 100_000,
    "half a surrogate": b'{"a":"\\ud83d"}',
    "half a surrogate as a key": b'{"\\ude00":1}',
    "NUL": b'{"a":"\\u0000"}',
    "a raw NUL": b'{"a":"\x00"}',
    "BOM": b'\xef\xbb\xbf{"a":1}',
    "two documents": b'{"a":1}{"a":2}',
    "two lines": b'{"a":1}\n{"a":2}',
    "not UTF-8": b'{"a":"\xff"}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "nothing": b"",
    "a comment": b'{"a":1} // x',
    "single quotes": b"{'a':1}",
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD.keys())
def test_what_two_readers_could_read_differently_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        check(data)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 64 + b"]" * 64,
        b'{"a":"\\ud83d\\ude00 \\\\u0000"}',
        b' {"a" : 9223372036854775807 , "b":-1.5e300}\r\n',
        '{"é":"[[[[{{{{"}'.encode(),
    ],
)
def test_what_is_plain_is_taken(data: bytes) -> None:
    check(data)


class Two(msgspec.Struct):
    a: int
    b: msgspec.Raw = msgspec.Raw(b"0")


def test_a_body_is_read_into_its_type() -> None:
    assert decode(b'{"a":5}', Two).a == 5
    with pytest.raises(InvalidRequestError, match="`int`"):
        decode(b'{"a":"5"}', Two)
    with pytest.raises(InvalidRequestError):
        decode(b'{"a":5,"b":{"x":1,"x":2}}', Two)  # msgspec would pass over what stays raw


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text('aé"\\{[ '),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab"), inner, max_size=4),
    max_leaves=20,
)


@given(anything)
def test_whatever_python_writes_is_plain(value: Any) -> None:
    check(json.dumps(value).encode())


@given(st.binary(max_size=200) | st.text('{}[]",:0123eE.-\\u', max_size=60).map(str.encode))
def test_any_bytes_are_json_or_refused_by_name(data: bytes) -> None:
    try:
        check(data)
    except InvalidRequestError:
        return
    json.loads(data)
