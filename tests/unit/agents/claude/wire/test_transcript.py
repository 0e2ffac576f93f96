from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.agents.claude.wire import transcript as t
from flybridge.wire.lines import CutLine
from tests.harness.claude_transcripts import GOLDEN, golden, line

FILES = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))


@pytest.mark.parametrize("name", FILES)
def test_every_line_the_real_programs_wrote_can_be_read(name: str) -> None:
    for raw in golden(name):
        found = t.read_line(raw)
        assert not isinstance(found, t.Odd), raw
        if "uuid" in json.loads(raw):
            assert isinstance(found, t.Node)


def test_a_line_with_a_uuid_is_a_node_whatever_its_type() -> None:
    found = t.read_line(line("of-next-year", uuid="u1", parentUuid="u0", more=[1]))
    assert found == t.Node(type="of-next-year", uuid="u1", parent="u0")


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (line("custom-title", customTitle="x"), t.Title(text="x", given=True)),
        (line("ai-title", aiTitle="x"), t.Title(text="x", given=False)),
        (line("summary", summary="x", leafUuid="u"), t.Title(text="x", given=False)),
        (line("last-prompt", lastPrompt="p", leafUuid="u"), t.LastPrompt(prompt="p", leaf="u")),
        (line("queue-operation", operation="dequeue"), t.Queued(operation="dequeue", text="")),
        (line("cost-state", sessionId="s"), t.Other(type="cost-state", session="s")),
        (b'{"no":"type"}', t.Odd(reason="no line of a transcript")),
        (b"[]", t.Odd(reason="no line of a transcript")),
        (b'{"type":"user","mess', t.Odd(reason="not JSON")),
        (b"\0\0\0", t.Odd(reason="not JSON")),
        (b'{"type":"\xff"}', t.Odd(reason="not UTF-8")),
        (CutLine(b'{"type":"user","uuid":"u"}'), t.Odd(reason="line too long")),
    ],
)
def test_what_a_line_is(raw: bytes, found: t.Line) -> None:
    assert t.read_line(raw) == found


def test_half_an_emoji_costs_a_character_and_not_the_line() -> None:
    raw = rb'{"type":"user","uuid":"u","message":{"role":"user","content":"\ud83d!"}}'
    found = t.read_line(raw)
    assert isinstance(found, t.Node)
    assert list(t.texts(found)) == [("user", "\ufffd!")]


def test_a_field_of_another_kind_costs_the_node_and_not_the_reader() -> None:
    assert t.read_line(line("user", uuid="u", parentUuid=5)) == t.Other(type="user", session="")


@given(st.binary(max_size=80))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    t.read_line(data)
    t.unglue(data)


def test_deep_nesting_is_no_line() -> None:
    raw = b'{"type":"user","uuid":"u","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    found = t.read_line(raw)
    assert isinstance(found, t.Odd) or t.body(found) is None  # type: ignore[arg-type]


def node(**more: object) -> t.Node:
    found = t.read_line(line(str(more.pop("type", "user")), uuid="u", **more))
    assert isinstance(found, t.Node)
    return found


@pytest.mark.parametrize("message", [None, "x", {}, {"role": "user"}, 5])
def test_a_message_without_content_is_none(message: object) -> None:
    assert t.body(node(message=message)) is None
    assert list(t.texts(node(message=message))) == []


def test_the_words_of_a_line_are_those_of_people_agents_and_tools() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "b", "signature": "s"},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls", "n": 1}},
        {"type": "tool_result", "tool_use_id": "t", "content": "d"},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "e"}]},
        {"type": "image", "source": {"type": "base64", "media_type": "m", "data": "zzz"}},
        {"type": "of-next-year", "text": "f"},
    ]
    found = list(t.texts(node(type="assistant", message={"content": content})))
    assert found == [
        ("assistant", "a"),
        ("thinking", "b"),
        ("tool", "Bash ls "),
        ("result", "d"),
        ("result", "e"),
    ]
    assert list(t.texts(node(message={"content": "plain"}))) == [("user", "plain")]
    assert list(t.texts(node(type="system", content="said"))) == [("system", "said")]


def test_what_was_said_in_the_middle_of_a_turn_is_in_an_attachment() -> None:
    given = {"type": "queued_command", "prompt": "stop there"}
    assert t.steered(node(type="attachment", attachment=given)) == "stop there"
    parts = {"type": "queued_command", "prompt": [{"type": "text", "text": "and here"}]}
    assert t.steered(node(type="attachment", attachment=parts)) == "and here"
    other = {"type": "date", "prompt": "no"}
    assert t.steered(node(type="attachment", attachment=other)) == ""


def test_lines_that_grew_together_come_apart_again() -> None:
    one, two = line("user", uuid="u1", text="}{ ä"), line("assistant", uuid="u2")
    assert t.unglue(one + two) == [one, two]
    assert t.unglue(one + two[:-5]) == [one]
    assert t.unglue(one) == []
    assert t.unglue(b"{}{}") == []
    assert t.unglue(b"nonsense") == []


def test_a_line_is_hung_elsewhere_and_stays_the_same_otherwise() -> None:
    raw = b'{"z":1.50,"parentUuid":"u0","type":"user","uuid":"u1","n":{"a" : 1}}'
    assert t.with_parent(raw, "u9") == raw.replace(b'"u0"', b'"u9"')
    assert t.with_parent(raw, None) == raw.replace(b'"u0"', b"null")


@pytest.mark.parametrize(
    "given", ["", "x", "../../etc", "0f0e0d0c-0b0a-4908-8706-05040302010", "0" * 36]
)
def test_only_a_uuid_names_a_transcript(given: str) -> None:
    assert not t.is_session_id(given)
    assert t.is_session_id("0f0e0d0c-0b0a-4908-8706-050403020100")


def test_a_directory_has_a_folder_as_the_programs_name_it() -> None:
    assert t.folder_for("/tmp/a_b.c d/é") == "-tmp-a-b-c-d--"
    assert t.folder_for("/🚢") == "---"  # JavaScript counts it as two
    assert t.is_folder_of("-home-ada", "/home/ada")
    assert not t.is_folder_of("-home-ada", "/home/bob")


def test_a_long_directory_has_a_cut_folder_with_a_hash() -> None:
    long = "/d" * 150
    assert t.is_folder_of("-d" * 100 + "-5o0z2", long)
    assert not t.is_folder_of("-d" * 150, long)
    assert not t.is_folder_of("-d-5o0z2", "/d")
