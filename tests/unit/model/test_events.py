from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from flybridge.model import events
from flybridge.model.events import Event, PermissionRequested, Tasks, TextDone, TurnEnded
from flybridge.model.ids import ItemId, PromptId, TurnId
from tests.unit.model.structs import round_trip, tags, values

GOLDEN = Path(__file__).parents[2] / "golden" / "model"
EVENTS = get_args(Event)


@pytest.mark.parametrize("struct", EVENTS, ids=tags(Event))
@given(data=st.data())
def test_every_event_survives_the_wire(struct: type[msgspec.Struct], data: st.DataObject) -> None:
    round_trip(data.draw(values(struct)), Event)


def test_tags_are_the_ones_the_world_knows() -> None:
    assert sorted(tags(Event)) == (GOLDEN / "events.txt").read_text().split()


def test_the_union_holds_every_event_of_the_module() -> None:
    written = [
        thing
        for thing in vars(events).values()
        if isinstance(thing, type)
        and issubclass(thing, events._Event)
        and thing is not events._Event
    ]
    assert written == list(EVENTS)


@pytest.mark.parametrize("struct", EVENTS, ids=tags(Event))
def test_every_event_is_frozen_and_leaves_out_its_defaults(struct: type[Any]) -> None:
    config = struct.__struct_config__
    assert config.frozen
    assert config.omit_defaults
    assert not config.forbid_unknown_fields  # a newer Flybridge may have said more


def test_what_has_its_default_is_not_written() -> None:
    event = TextDone(item=ItemId("itm_1"), text="hi")
    assert msgspec.json.encode(event) == b'{"type":"text.done","item":"itm_1","text":"hi"}'
    ended = TurnEnded(turn=TurnId("trn_1"), usage=UNSET)
    assert msgspec.json.encode(ended) == b'{"type":"turn.ended","turn":"trn_1"}'


def test_the_agents_own_json_is_kept_byte_for_byte() -> None:
    odd = b'{"b" : 1.50, "a":[ ],"\\u00e9":"\\/"}'
    asked = PermissionRequested(
        prompt=PromptId("prm_1"), tool="Bash", input=Raw(odd), digest="d", suggestions=(Raw(odd),)
    )
    wire = msgspec.json.encode(asked)
    assert wire.count(odd) == 2
    back = msgspec.json.decode(wire, type=Event)
    assert bytes(back.input) == odd


def test_a_field_of_a_newer_version_is_passed_over() -> None:
    wire = b'{"type":"tasks","tasks":[],"colour":"red"}'
    assert msgspec.json.decode(wire, type=Event) == Tasks(tasks=Raw(b"[]"))
