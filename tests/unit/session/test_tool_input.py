from __future__ import annotations

import hashlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from flybridge.session.ports import BLOB_BYTES
from flybridge.session.tool_input import Kept, is_object, kept, meaning_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(' \n"é'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b'{"a":1,"b":2}', b'{ "b": 2,\n "a": 1 }', True),
        (b'{"a":"\xc3\xa9"}', b'{"a":"\\u00e9"}', True),
        (b'{"a":{"x":1,"y":2}}', b'{"a":{"y":2,"x":1}}', True),
        (b'{"a":[1,2]}', b'{"a":[2,1]}', False),
        (b'{"a":1}', b'{"a":true}', False),
        (b'{"a":1}', b'{"a":"1"}', False),
        (b'{"a":null}', b"{}", False),
        (b'{"a":12345678901234567890123}', b'{"a":12345678901234567890124}', False),
    ],
)
def test_what_says_the_same_is_the_same_however_it_is_written(
    one: bytes, other: bytes, same: bool
) -> None:
    assert (meaning_of(Raw(one)) == meaning_of(Raw(other))) is same


@pytest.mark.parametrize("broken", [b"", b"{", b"\xff", b'{"a":"\xff"}', b"[" * 100_000])
def test_what_is_not_json_has_no_meaning_and_is_no_object(broken: bytes) -> None:
    assert meaning_of(Raw(broken)) == ""
    assert not is_object(Raw(broken))


@given(value=values, indent=st.sampled_from([None, 0, 2]))
def test_an_input_is_kept_on_one_line_and_says_what_it_said(
    value: object, indent: int | None
) -> None:
    raw = Raw(json.dumps(value, indent=indent).encode())
    found = kept(raw)
    assert isinstance(found.input, Raw)
    assert b"\n" not in bytes(found.input)
    assert msgspec.json.decode(found.input) == value
    assert meaning_of(found.input) == meaning_of(raw)
    assert is_object(raw) is isinstance(value, dict)


def test_what_is_too_long_for_a_row_is_a_blob() -> None:
    fits = b'{"a":"%s"}' % (b"x" * (BLOB_BYTES - len(b'{"a":""}')))
    assert kept(Raw(fits)) == Kept(input=Raw(fits))
    long = fits.replace(b'"a":', b'"a": "y", "b":')
    data = long.replace(b" ", b"")
    digest = hashlib.sha256(data).hexdigest()
    assert kept(Raw(long)) == Kept(input=UNSET, blob=digest, blobs={digest: data})
