from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model import commands
from flybridge.model.commands import Command, SendInput
from flybridge.model.content import Text
from tests.unit.model.structs import round_trip, tags, values

GOLDEN = Path(__file__).parents[2] / "golden" / "model"


@pytest.mark.parametrize("struct", get_args(Command), ids=tags(Command))
@given(data=st.data())
def test_every_command_survives_the_wire(struct: type[msgspec.Struct], data: st.DataObject) -> None:
    round_trip(data.draw(values(struct)), Command)


def test_tags_are_the_ones_the_world_knows() -> None:
    assert sorted(tags(Command)) == (GOLDEN / "commands.txt").read_text().split()


def test_the_union_holds_every_command_of_the_module() -> None:
    written = [
        thing
        for thing in vars(commands).values()
        if isinstance(thing, type) and thing.__module__ == commands.__name__
    ]
    assert written == list(get_args(Command))


def test_a_message_needs_only_its_content() -> None:
    said = b'{"type":"send_input","content":[{"type":"text","text":"hi"}]}'
    assert msgspec.json.decode(said, type=Command) == SendInput(content=(Text("hi"),))


@pytest.mark.parametrize(
    "said",
    [
        b'{"type":"send_input","content":"hi"}',
        b'{"type":"send_input","content":[],"mode":"shout"}',
        b'{"type":"answer_permission","prompt":"p","decision":"allow"}',
        b'{"type":"answer_permission","prompt":"p","digest":"d","decision":"maybe"}',
        b'{"type":"fly"}',
        b"[]",
    ],
)
def test_what_is_no_command_is_not_taken_for_one(said: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(said, type=Command)
