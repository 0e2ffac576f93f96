"""What an answer is made of, and what came of a tool call."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from flybridge.agents.demo.stream import Helper, Json

numbers = itertools.count(1)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool call came to: ``text`` for the model, ``detail`` as ``tool_use_result``.

    ``content`` stands in the place of the text where that is not all, such as for a picture.
    """

    text: str
    content: list[Json] | None = None
    failed: bool = False
    detail: Json | str = ""


def new_call_id() -> str:
    return f"toolu_demo_{next(numbers):06}"


Work: TypeAlias = Callable[[Json], Awaitable[Outcome]]


class Think(msgspec.Struct, frozen=True):
    text: str


class Hidden(msgspec.Struct, frozen=True):
    """A thought that the API does not show."""


class Say(msgspec.Struct, frozen=True):
    text: str
    rush: bool = False  # letter by letter, as fast as it goes


class Call(msgspec.Struct, frozen=True, eq=False):
    """A tool call the model makes. ``work`` carries it out where the demo's hands do not."""

    name: str
    input: Json
    description: str = ""
    work: Work | None = None
    by: Helper | None = None
    free: bool = False  # nobody is asked: it is all pretence
    id: str = msgspec.field(default_factory=new_call_id)


Block: TypeAlias = Think | Hidden | Say | Call


def failed(text: str) -> Outcome:
    return Outcome(text=text, failed=True, detail=f"Error: {text}")
