from __future__ import annotations

import hashlib
import json

import msgspec
import pytest
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.sink import FIELD_BYTES, Sink, slim
from flybridge.model.events import Notice, Unrecognised
from flybridge.model.ids import InputKey, SessionId
from flybridge.session.ports import BLOB_BYTES


def test_what_was_put_is_taken_once_and_in_order() -> None:
    sink = Sink()
    sink.session = SessionId("ses_1")
    sink.put(Notice(text="a"))
    sink.put(Notice(text="b"))
    sink.write(b"{}", InputKey("k"), "drop")
    output = sink.take()
    assert output.out == [("ses_1", Notice(text="a")), ("ses_1", Notice(text="b"))]
    assert [(line.data, line.key, line.on_restart) for line in output.lines] == [
        (b"{}", "k", "drop")
    ]
    assert sink.take().out == []


def test_a_text_that_fits_is_left_alone() -> None:
    for text in ("", "x" * BLOB_BYTES, "é" * (BLOB_BYTES // 2)):
        assert Sink().text(text) == (text, "")


def test_the_head_of_a_long_text_ends_at_a_character() -> None:
    sink = Sink()
    head, blob = sink.text("x" + "é" * BLOB_BYTES)
    assert head == "x" + "é" * 1023
    whole = sink.take().blobs[blob]
    assert hashlib.sha256(whole).hexdigest() == blob


def test_a_small_body_is_kept_as_it_is() -> None:
    raw = Raw(b'{"a":1}')
    assert Sink().body(raw) == (raw, "")
    assert Sink().body(UNSET) == (UNSET, "")
    assert Sink().detail(raw) is raw
    assert Sink().detail(UNSET) is UNSET


@pytest.mark.parametrize("name", ["_blob", "\\u005fblob", "\\u005f\\u0062\\u006c\\u006f\\u0062"])
def test_a16_an_agent_cannot_name_a_blob_that_it_did_not_bring(name: str) -> None:
    raw = f'{{"a":1,"{name}":"{"0" * 64}","b":{{"_blob":2}}}}'
    detail = Sink().detail(Raw(raw.encode()))
    assert detail is not UNSET
    assert json.loads(bytes(detail)) == {"a": 1, "b": {"_blob": 2}}
    other = Raw(b'{"text":"a \\u005f _blob"}')
    assert Sink().detail(other) is other
    some = Raw(b'["_blob"]')
    assert Sink().detail(some) is some


def test_a_big_object_keeps_its_small_fields_and_a_way_to_the_rest() -> None:
    sink = Sink()
    raw = msgspec.json.encode({"path": "a", "file": "x" * BLOB_BYTES})
    detail = sink.detail(Raw(raw))
    assert detail is not UNSET
    kept = json.loads(bytes(detail))
    assert kept == {"path": "a", "_omitted": ["file"], "_blob": hashlib.sha256(raw).hexdigest()}
    assert sink.take().blobs == {kept["_blob"]: raw}


def test_a_big_list_is_only_a_way_to_itself() -> None:
    sink = Sink()
    detail = sink.detail(Raw(msgspec.json.encode(["x" * BLOB_BYTES])))
    assert detail is not UNSET
    assert list(json.loads(bytes(detail))) == ["_blob"]


def test_many_middling_fields_do_not_add_up_to_a_big_object() -> None:
    kept = slim(msgspec.json.encode({str(at): "x" * (FIELD_BYTES - 2) for at in range(100)}))
    assert sum(len(bytes(raw)) for raw in kept.values()) < BLOB_BYTES


def test_noise_is_kept_as_text_whatever_its_bytes() -> None:
    sink = Sink()
    sink.unrecognised(b"\xff noise", "t1")
    ((_, fact),) = sink.take().out
    assert isinstance(fact, Unrecognised)
    assert (fact.source, fact.text, fact.parent) == ("claude", "\ufffd noise", "t1")
    sink.unrecognised(b"x" * (BLOB_BYTES + 1))
    output = sink.take()
    fact = output.out[0][1]
    assert isinstance(fact, Unrecognised)
    assert len(fact.text) == 2048
    assert output.blobs[fact.blob] == b"x" * (BLOB_BYTES + 1)
