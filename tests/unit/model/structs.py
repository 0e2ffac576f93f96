"""Values of any struct of the model, drawn from its own annotations."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from hypothesis import strategies as st
from msgspec import Raw, inspect

WORDS = st.text(max_size=8) | st.sampled_from(["", "\n", "é\u2028", '"\\', "\x00", "ses_1"])
# numbers a JavaScript client can hold too
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
# spaces and odd order on purpose: what came in must go out unchanged
RAWS = st.sampled_from([b"{}", b'{"b" : 1, "a":[ ]}', b"null", b"1.50", b'"\\u00e9"', b"[1, 2]"])


def values(struct: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Any instance; fields with a default are sometimes left out."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return _struct(info)


def tags(union: Any) -> list[str]:
    return [str(struct.__struct_config__.tag) for struct in get_args(union)]


def round_trip(value: Any, union: Any) -> None:
    """Decoding what was encoded gives the same value, and the same bytes again."""
    wire = msgspec.json.encode(value)
    back = msgspec.json.decode(wire, type=union)
    assert back == value
    assert type(back) is type(value)
    assert msgspec.json.encode(back) == wire


def _struct(info: inspect.StructType) -> st.SearchStrategy[Any]:
    needed = {field.name: _any(field.type) for field in info.fields if field.required}
    optional = {field.name: _any(field.type) for field in info.fields if not field.required}
    drawn = st.fixed_dictionaries(needed, optional=optional)
    return drawn.map(lambda fields: info.cls(**fields))


def _any(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.StructType():
            return _struct(kind)
        case inspect.UnionType(types=types):
            return st.one_of([_any(one) for one in types])
        case inspect.VarTupleType(item_type=item):
            return st.lists(_any(item), max_size=3).map(tuple)
        case inspect.FrozenSetType(item_type=item):
            return st.frozensets(_any(item), max_size=3)
        case inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(_any(key), _any(value), max_size=3)
        case inspect.LiteralType(values=choices):
            return st.sampled_from(choices)
        case inspect.EnumType(cls=enum):
            return st.sampled_from(list(enum))
        case _:
            return _plain(kind)


def _plain(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.StrType():
            return WORDS
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            return NUMBERS
        case inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case inspect.BytesType():
            return st.binary(max_size=8)
        case inspect.NoneType():
            return st.none()
        case inspect.RawType():
            return RAWS.map(Raw)
        case _:
            raise NotImplementedError(f"teach tests/unit/model/structs.py to draw {kind}")
