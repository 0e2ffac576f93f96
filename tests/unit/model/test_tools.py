from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model.events import Event, PermissionRequested, ToolStarted
from flybridge.model.tools import (
    CUT,
    MAX_PATHS,
    NO_SUBJECT,
    PATH_CHARS,
    ToolSubject,
    headline,
    limited,
    limited_paths,
)
from tests.unit.model.structs import round_trip, values

OLD_ROWS = [
    b'{"type":"tool.started","item":"toolu_1","name":"Bash","input":{"command":"ls"}}',
    b'{"type":"permission.requested","prompt":"p","tool":"Bash","input":{},"digest":"d"}',
]


@given(data=st.data())
def test_a_subject_survives_the_wire(data: st.DataObject) -> None:
    round_trip(data.draw(values(ToolSubject)), ToolSubject)


@pytest.mark.parametrize("row", OLD_ROWS)
def test_a_row_without_a_kind_is_read_and_written_as_it_was(row: bytes) -> None:
    event: Event = msgspec.json.decode(row, type=Event)
    assert isinstance(event, ToolStarted | PermissionRequested)
    assert (event.kind, event.subject) == ("", NO_SUBJECT)
    assert msgspec.json.encode(event) == row


def test_a_long_text_is_cut_and_says_so() -> None:
    assert limited("sail", 4) == "sail"
    assert limited("sails", 4) == "sa" + CUT
    assert len(limited("x" * 100, 10)) == 10


def test_all_paths_are_there_or_none() -> None:
    assert limited_paths("", "a", "b") == ("a", "b")
    assert limited_paths("a", "x" * (PATH_CHARS + 1)) == ()
    assert limited_paths(*map(str, range(MAX_PATHS + 1))) == ()


def test_a_headline_is_what_a_call_is_used_on() -> None:
    full = ToolSubject(title="t", command="c", paths=("a", "b"), url="u")
    assert headline("execute", full) == "c"
    assert headline("search", full) == "t in a, b"
    assert headline("search", ToolSubject(paths=("a",))) == "a"
    assert headline("fetch", ToolSubject(title="t", url="u")) == "u"
    assert headline("edit", ToolSubject(title="t", paths=("a", "b"))) == "a, b"
    assert headline("agent", ToolSubject(title="t")) == "t"
    assert headline("", NO_SUBJECT) == ""
