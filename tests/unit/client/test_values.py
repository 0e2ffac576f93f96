from __future__ import annotations

import pytest
from msgspec import Raw

from flybridge.client.values import Opened, SessionList, page_of, reply_of, value_of, view_of
from flybridge.errors import RemoteProtocolError
from flybridge.model.deliveries import Stage
from flybridge.wire.native.messages import ReplyLine


def reply(value: bytes) -> ReplyLine:
    return ReplyLine(ref="1", value=Raw(value))


def test_a_value_is_typed_or_the_gateways_fault() -> None:
    assert value_of(reply(b'{"session":"s","more":1}'), Opened).session == "s"
    for bad in (b'{"session":1}', b"[]", b"\xff", b"[" * 5000):
        with pytest.raises(RemoteProtocolError, match="bad reply"):
            value_of(reply(bad), Opened)
    with pytest.raises(RemoteProtocolError):
        value_of(ReplyLine(ref="1"), Opened)


def test_a_row_of_a_newer_or_older_gateway_can_be_read() -> None:
    [row] = value_of(
        reply(b'{"sessions":[{"session":"s","status":"asleep"}]}'), SessionList
    ).sessions
    assert (row.session, row.status, row.why) == ("s", "asleep", "nothing")


def test_a_page_holds_what_was_asked_for() -> None:
    entries = ",".join(f'{{"seq":{n},"at_ms":1,"event":{{"type":"x"}}}}' for n in range(3, 9))
    page = page_of(reply(f'{{"epoch":1,"head":9,"events":[{entries}]}}'.encode()), 4, 2)
    assert [one.seq for one in page.events] == [5, 6]


def test_a_reply_is_told_in_the_models_words() -> None:
    assert reply_of(ReplyLine(ref="1", stage="done")).stage is Stage.DONE
    assert reply_of(ReplyLine(ref="1", stage="dreamt")).stage is None


def test_a_view_is_read_as_far_as_it_is_known() -> None:
    view = view_of(b'{"why":"permission","prompts":[{"prompt":"p1","new":1}],"new":2}')
    assert view is not None
    assert (view.why, view.prompts[0].prompt, view.turn) == ("permission", "p1", "")
    assert view_of(b"[]") is None
    assert view_of(b"[" * 5000) is None
