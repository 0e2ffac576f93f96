from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.probes.messages_script import (
    DEFAULT_TEXT,
    Answer,
    Block,
    Event,
    Json,
    NewId,
    Rest,
    ScriptError,
    cut,
    find,
    helper_answer,
    is_helper,
    parse,
    stream,
    texts,
    whole,
)


def new_id() -> NewId:
    numbers = count(1)
    return lambda prefix: f"{prefix}_{next(numbers)}"


def user(*said: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": one} for one in said]}


def assistant(said: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": said}]}


def scripted(*answers: object) -> str:
    return "please\n@@ " + json.dumps(answers)


def said_in(*messages: Json) -> str:
    """What the model would say next in this conversation."""
    found = find({"messages": list(messages)})
    assert found is not None
    return str(found.answer.blocks[0].say)


# ---- which answer --------------------------------------------------------------------------------


def test_each_request_of_a_conversation_gets_the_next_answer() -> None:
    prompt = user(scripted({"say": "one"}, {"say": "two"}))
    assert said_in(prompt) == "one"
    assert said_in(prompt, assistant("one"), user("and?")) == "two"
    later = (assistant("one"), user("and?"), assistant("two"), user("and?"))
    assert said_in(prompt, *later) == DEFAULT_TEXT


def test_the_newest_script_counts() -> None:
    old, new = scripted({"say": "old"}), scripted({"say": "new"})
    assert said_in(user(old), assistant("old"), user(new)) == "new"
    assert said_in(user(old, new)) == "new"
    assert said_in(user(f"{old}\n{new}")) == "new"


def test_a_script_is_found_wherever_an_agent_puts_what_a_person_said() -> None:
    prompt = user(scripted({"tool": "Bash"}, {"say": "never"}))
    call = assistant("")
    reminder = f"<system-reminder>\n{scripted({'say': 'hurry'})}\n</system-reminder>"
    result = {"type": "tool_result", "tool_use_id": "t", "content": reminder}
    assert said_in(prompt, call, {"role": "user", "content": [result]}) == "hurry"
    assert said_in(prompt, call, {"role": "system", "content": reminder}) == "hurry"


def test_a_script_inside_a_script_is_for_whoever_is_given_it() -> None:
    inner = scripted({"say": "inner"})
    outer = scripted({"tool": "Task", "input": {"prompt": inner}}, {"say": "outer"})
    found = find({"messages": [user(outer)]})
    assert found is not None
    assert found.answer.blocks[0].tool == "Task"
    assert said_in(user(str(found.answer.blocks[0].input["prompt"]))) == "inner"


@pytest.mark.parametrize("messages", [[], None, "x", [None], [{"role": "user"}], [user("hello")]])
def test_where_there_is_no_script_none_is_found(messages: Any) -> None:
    assert find({"messages": messages}) is None


def test_texts_are_read_from_every_shape_of_content() -> None:
    assert texts({"content": "plain"}) == ["plain"]
    assert texts(user("a", "b")) == ["a", "b"]
    nested = {"type": "tool_result", "content": [{"type": "text", "text": "c"}, {"type": "image"}]}
    assert texts({"content": [nested, 5]}) == ["c"]
    assert texts({}) == []


# ---- bad scripts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        5,
        {"sya": "typo"},
        {"say": "two", "tool": "things"},
        {"blocks": [{}]},
        {"say": "x", "deltas": 0},
        {"say": "x", "pause_s": 3600},
    ],
)
def test_an_entry_that_is_no_answer_is_named(entry: object) -> None:
    with pytest.raises(ScriptError):
        parse([entry])


def test_a_script_that_is_no_json_is_named() -> None:
    with pytest.raises(ScriptError, match="not JSON"):
        find({"messages": [user("@@ [{")]})


# ---- helpers -------------------------------------------------------------------------------------


def test_an_agents_questions_on_the_side_are_told_from_its_turns() -> None:
    title: Json = {"model": "claude-haiku-4-5", "messages": [user("a title, please")]}
    probe: Json = {"model": "m", "max_tokens": 1, "messages": [user("quota")]}
    summary: Json = {
        "model": "m",
        "tools": [{"name": "Read"}],
        "messages": [user("Your task is to create a detailed summary of the conversation")],
    }
    turn: Json = {"model": "claude-haiku-4-5", "tools": [{"name": "Bash"}], "messages": [user("x")]}
    assert [is_helper(one) for one in (title, probe, summary, turn)] == [True, True, True, False]
    assert helper_answer(probe).stop_reason == "max_tokens"
    assert "<summary>" in str(helper_answer(summary).blocks[0].say)
    assert json.loads(str(helper_answer(title).blocks[0].say)) == {"title": "Scripted"}


# ---- the stream ----------------------------------------------------------------------------------

blocks = st.one_of(
    st.builds(Block, say=st.text(), deltas=st.integers(1, 9)),
    st.builds(Block, think=st.text(), deltas=st.integers(1, 9)),
    st.builds(Block, redacted=st.just("YQ==")),
    st.builds(Block, tool=st.just("Bash"), input=st.dictionaries(st.text(), st.text())),
)


def joined(answer: Answer) -> list[Json]:
    """The content as a client puts it together from the events."""
    content: list[Json] = []
    pieces: dict[int, str] = {}
    for one in stream(answer, "m", new_id()):
        if isinstance(one, Rest) or one.kind not in ("content_block_start", "content_block_delta"):
            continue
        index = one.data["index"]
        if one.kind == "content_block_start":
            content.append(dict(one.data["content_block"]))
            continue
        delta = one.data["delta"]
        match delta["type"]:
            case "input_json_delta":
                pieces[index] = pieces.get(index, "") + delta["partial_json"]
            case "signature_delta":
                content[index]["signature"] = delta["signature"]
            case kind:
                name = kind.removesuffix("_delta")
                content[index][name] += delta[name]
    for index, text in pieces.items():
        content[index]["input"] = json.loads(text)
    return content


@given(st.lists(blocks, max_size=4))
def test_the_stream_and_the_whole_say_the_same(given_blocks: list[Block]) -> None:
    answer = Answer(blocks=tuple(given_blocks))
    complete = whole(answer, "m", new_id())
    assert joined(answer) == complete["content"]
    *_, ended, _ = stream(answer, "m", new_id())
    assert isinstance(ended, Event)
    assert ended.data["delta"]["stop_reason"] == complete["stop_reason"]


@given(st.text(), st.integers(1, 50))
def test_a_text_is_cut_into_as_many_pieces_as_it_can_be(text: str, pieces: int) -> None:
    parts = cut(text, pieces)
    assert "".join(parts) == text
    assert len(parts) == max(1, min(pieces, len(text)))


def test_a_block_rests_where_it_is_told_to() -> None:
    answer = Answer(blocks=(Block(say="abcd", deltas=4, hold="/f", hold_after=3),))
    kinds = [one.path if isinstance(one, Rest) else one.kind for one in stream(answer, "m", str)]
    assert kinds[3:] == [
        *["content_block_delta"] * 3,
        "/f",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_a_hold_without_a_place_is_at_the_end_of_the_block() -> None:
    steps = list(stream(Answer(blocks=(Block(say="ab", hold="/f", pause_s=1),)), "m", str))
    assert steps[3:6] == [
        Event("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "ab"}}),
        Rest(seconds=1),
        Rest(path="/f"),
    ]


def test_what_ends_badly_has_no_end() -> None:
    faulty, hung_up = (
        [one.kind for one in stream(answer, "m", str) if isinstance(one, Event)]
        for answer in (Answer(fault="overloaded_error"), Answer(cut=True))
    )
    assert faulty == ["message_start", "ping", "error"]
    assert hung_up == ["message_start", "ping"]


def test_stop_reason_details_and_usage_are_as_scripted() -> None:
    details = {"type": "refusal", "category": None}
    answer = Answer(stop="refusal", stop_details=details, usage={"output_tokens": 7})
    message = whole(answer, "m", str)
    assert (message["stop_reason"], message["stop_details"]) == ("refusal", details)
    assert (message["usage"]["input_tokens"], message["usage"]["output_tokens"]) == (10, 7)
    *_, ended, _ = stream(answer, "m", str)
    assert isinstance(ended, Event)
    assert (ended.data["delta"]["stop_details"], ended.data["usage"]) == (
        details,
        {"output_tokens": 7},
    )


def test_a_tools_input_can_be_streamed_broken() -> None:
    answer = Answer(blocks=(Block(tool="Bash", raw='{"command":', deltas=2),))
    pieces = [
        one.data["delta"]["partial_json"]
        for one in stream(answer, "m", str)
        if isinstance(one, Event) and one.kind == "content_block_delta"
    ]
    assert "".join(pieces) == '{"command":'


def test_an_event_is_written_as_the_api_writes_it() -> None:
    assert Event("ping", {"n": 1}).encode() == b'event: ping\ndata: {"type":"ping","n":1}\n\n'
