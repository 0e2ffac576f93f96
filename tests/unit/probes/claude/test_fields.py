from __future__ import annotations

import json

from flybridge.agents.claude.wire.decode import fields
from flybridge.model.events import Unrecognised
from flybridge.probes.claude.fields import MAX_KINDS, Fields, kind_of


def line(**message: object) -> bytes:
    return json.dumps(message).encode()


def test_a_kind_is_the_type_and_what_makes_it_another_one() -> None:
    lines = [
        line(type="result", subtype="success"),
        line(type="system", subtype="init"),
        line(type="control_request", request={"subtype": "can_use_tool"}),
        line(type="stream_event", event={"type": "message_start"}),
        b"no json",
    ]
    assert [kind_of(fields(one)) for one in lines] == [
        "result",
        "system/init",
        "control_request/can_use_tool",
        "stream_event/message_start",
        "?",
    ]


def test_only_what_was_never_seen_is_new() -> None:
    seen = Fields()
    seen.note(line(type="result", is_error=False))
    seen.note(line(type="control_request", request={"subtype": "can_use_tool", "input": {}}))
    known = {
        "result": "is_error type",
        "control_request/can_use_tool": "request request.subtype request.input type",
    }
    assert seen.new_fields(known) == "none"
    seen.note(line(type="result", weather="fair"))
    seen.note(line(type="control_request", request={"subtype": "can_use_tool", "mood": 1}))
    seen.note(line(type="tide"))
    assert seen.new_fields(known) == (
        "new: control_request/can_use_tool request.mood, result weather, tide"
    )


def test_values_are_not_kept() -> None:
    seen = Fields()
    seen.note(line(type="result", key="a secret"))
    assert seen.seen == {"result": ["key", "type"]}


def test_unrecognised_messages_are_counted_by_their_kind() -> None:
    seen = Fields()
    assert seen.unknown_messages() == "none"
    seen.keep([Unrecognised(source="claude", text=json.dumps({"type": "tide"}))] * 2)
    assert seen.unknown_messages() == "unrecognised: tide (2)"


def test_a_flood_of_kinds_and_names_is_bounded() -> None:
    seen = Fields()
    for number in range(MAX_KINDS + 50):
        seen.note(line(type=f"kind {number}"))
        seen.note(line(type="kind 0", **{f"name {number}": 1}))
    assert len(seen.seen) == MAX_KINDS
    assert len(seen.seen["kind 0"]) <= MAX_KINDS
