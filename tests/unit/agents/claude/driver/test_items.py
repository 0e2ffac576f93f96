from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from flybridge.agents.claude.driver.memo import MAX_BLOCKS, MAX_STREAMS, MAX_TOOLS
from flybridge.model.capabilities import LinkEnd
from flybridge.model.deliveries import Preview
from flybridge.model.events import Notice, Unrecognised
from flybridge.model.facts import ItemClosed, ItemOpened, ToolCalled, ToolReturned
from flybridge.model.ids import ItemId
from flybridge.session.ports import BLOB_BYTES
from flybridge.testing.drivers import SESSION
from tests.harness.claude_cli import (
    assistant,
    block_start,
    block_stop,
    delta,
    hear,
    init,
    kinds,
    line,
    message_start,
    only,
    result,
    text,
    text_start,
    tool_result,
    tool_start,
    tool_use,
)
from tests.harness.claude_recordings import attached

ITEM = ItemId("itm_kit_1")
SECOND = ItemId("itm_kit_2")
T1 = ItemId("t1")
TASK = ItemId("task")


def shown(facts: list[Any]) -> list[Preview]:
    return [one for one in facts if isinstance(one, Preview)]


# ---- growing -------------------------------------------------------------------------------------


def test_deltas_of_one_read_become_one_preview() -> None:
    driver = attached()
    hear(driver, message_start(), text_start())
    assert hear(driver, delta("a"), delta("b"), delta("c")) == [Preview(ITEM, 0, 3, "abc")]
    assert hear(driver, delta("d")) == [Preview(ITEM, 3, 4, "d")]


def test_a_preview_comes_after_the_opening_and_before_the_closing_of_its_item() -> None:
    facts = hear(
        attached(), message_start(), text_start(), delta("a"), assistant(text("ab")), block_stop()
    )
    assert kinds(facts) == ["TurnBegan", "ItemOpened", "Preview", "ItemClosed"]


def test_the_complete_block_replaces_what_was_streamed() -> None:
    facts = hear(attached(), message_start(), text_start(), delta("x"), assistant(text("whole")))
    assert only(facts, ItemClosed) == ItemClosed(item=ITEM, text="whole")


def test_a_thought_is_an_item_of_its_own_and_a_redacted_one_says_so() -> None:
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    facts = hear(
        attached(),
        message_start(),
        block_start(thought),
        delta("hm", field="thinking"),
        assistant({"type": "thinking", "thinking": "hm", "signature": "s"}),
        block_stop(),
        block_start({"type": "redacted_thinking", "data": "x"}, 1),
        assistant({"type": "redacted_thinking", "data": "x"}),
    )
    assert facts[1:] == [
        ItemOpened(item=ITEM, kind="thinking"),
        Preview(ITEM, 0, 1, "hm"),
        ItemClosed(item=ITEM, text="hm"),
        ItemOpened(item=SECOND, kind="thinking"),
        ItemClosed(item=SECOND, text="", redacted=True),
    ]


def test_a_tools_input_is_shown_while_it_is_written() -> None:
    driver = attached()
    facts = hear(driver, message_start(), tool_start("t1"), delta('{"a"', field="partial_json"))
    assert only(facts, ItemOpened) == ItemOpened(item=T1, kind="tool", name="Bash")
    assert shown(facts) == [Preview(T1, 0, 1, '{"a"')]
    called = only(hear(driver, assistant(tool_use("t1", a=1))), ToolCalled)
    assert (called.item, called.name) == ("t1", "Bash")
    assert called.input is not UNSET
    assert bytes(called.input) == b'{"a":1}'


def test_a_block_that_starts_with_text_has_shown_it() -> None:
    facts = hear(attached(), message_start(), block_start(text("begin ")), delta("more"))
    assert shown(facts) == [Preview(ITEM, 0, 2, "begin more")]


def test_parallel_blocks_have_each_their_preview() -> None:
    driver = attached()
    hear(driver, message_start(), text_start(0), tool_start("t1", 1))
    facts = hear(driver, delta("a", 0), delta("{", 1, "partial_json"), delta("b", 0))
    assert facts == [Preview(ITEM, 0, 2, "ab"), Preview(T1, 0, 1, "{")]


def test_an_answer_without_a_stream_is_opened_and_closed_in_one_go() -> None:
    facts = hear(attached(), init(), assistant(text("hi"), tool_use("t1")))
    assert kinds(facts)[2:] == ["ItemOpened", "ItemClosed", "ItemOpened", "ToolCalled"]


def test_a_block_of_another_message_is_not_the_streamed_one() -> None:
    facts = hear(
        attached(), message_start("msg_1"), text_start(), assistant(text("other"), name="msg_2")
    )
    half, whole = [one for one in facts if isinstance(one, ItemClosed)]
    assert (half.item, half.status) == ("itm_kit_1", "discarded")
    assert (whole.item, whole.text) == ("itm_kit_2", "other")


def test_a_stream_whose_start_was_lost_is_followed_all_the_same() -> None:
    facts = hear(attached(), text_start(), delta("a"), assistant(text("a"), name="msg_9"))
    assert kinds(facts) == ["TurnBegan", "ItemOpened", "Preview", "ItemClosed"]


# ---- closed without being complete ---------------------------------------------------------------


def test_a_half_message_is_discarded_when_a_new_one_overtakes_it() -> None:
    driver = attached()
    hear(driver, message_start("msg_1"), text_start(0), tool_start("t1", 1))
    facts = hear(driver, delta("half"), message_start("msg_2"))
    assert facts == [
        Preview(ITEM, 0, 1, "half"),
        ItemClosed(item=ITEM, status="discarded"),
        ToolReturned(item=T1, status="discarded"),
    ]


def test_a_block_streamed_to_its_end_is_complete_even_without_its_complete_form() -> None:
    driver = attached()
    hear(driver, message_start("msg_1"), text_start(), delta("all"), block_stop())
    assert hear(driver, message_start("msg_2")) == [ItemClosed(item=ITEM, status="complete")]


def test_what_is_open_at_the_end_of_a_turn_is_partial() -> None:
    driver = attached()
    hear(driver, message_start(), text_start(), delta("x"), assistant(tool_use("t1")))
    facts = hear(driver, result())
    assert facts[:2] == [
        ItemClosed(item=ITEM, status="partial"),
        ToolReturned(item=T1, status="partial"),
    ]
    assert kinds(facts)[2:] == ["TurnOver"]


def test_an_aborted_answer_keeps_its_text_as_partial() -> None:
    facts = hear(attached(), message_start(), text_start(), assistant(text("half"), aborted=True))
    assert only(facts, ItemClosed) == ItemClosed(item=ITEM, text="half", status="partial")


def test_a_dead_agent_leaves_nothing_open() -> None:
    driver = attached()
    hear(driver, message_start(), text_start(), assistant(tool_use("t1")), delta("x"))
    driver.lost(LinkEnd(why="exit"), 0)
    assert [what for _, what in driver.take().out] == [
        ItemClosed(item=ITEM, status="partial"),
        ToolReturned(item=T1, status="partial"),
    ]
    driver.lost(LinkEnd(why="exit"), 0)
    assert driver.take().out == []


def test_a_background_agents_call_outlives_the_turn() -> None:
    driver = attached()
    hear(driver, init(), assistant(tool_use("agent", "Agent")), tool_result("agent"))
    hear(driver, assistant(tool_use("inner"), parent="agent"))
    assert kinds(hear(driver, result())) == ["TurnOver"]
    returned = only(hear(driver, tool_result("inner", parent="agent")), ToolReturned)
    assert (returned.status, returned.parent) == ("ok", "agent")


def test_a_running_sub_agents_calls_end_with_the_turn() -> None:
    driver = attached()
    hear(driver, init(), assistant(tool_use("task", "Task")))
    hear(driver, assistant(tool_use("inner"), parent="task"))
    assert [one.item for one in hear(driver, result()) if isinstance(one, ToolReturned)] == [
        "task",
        "inner",
    ]


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        (
            [{"type": "image", "source": {}}, {"type": "hologram"}, 7],
            "[image]\n[hologram]\n[unknown]",
        ),
        (None, ""),
    ],
)
def test_a_result_is_text(content: Any, expected: str) -> None:
    facts = hear(attached(), assistant(tool_use("t1")), tool_result("t1", content))
    assert only(facts, ToolReturned).text == expected


def test_a_result_keeps_the_agents_own_object() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1")))
    returned = only(hear(driver, tool_result("t1", tool_use_result={"stdout": "x"})), ToolReturned)
    assert returned.detail is not UNSET
    assert json.loads(bytes(returned.detail)) == {"stdout": "x"}


def test_a_failed_call_is_an_error_and_a_rejected_one_is_denied() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1"), tool_use("t2")))
    assert only(hear(driver, tool_result("t1", is_error=True)), ToolReturned).status == "error"
    meta = [{"id": "t2", "permission_decision": {"decision": "reject"}}]
    rejected = hear(driver, tool_result("t2", is_error=True, tool_result_meta=meta))
    assert only(rejected, ToolReturned).status == "denied"


def test_results_come_in_any_order() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1"), tool_use("t2")))
    facts = hear(driver, tool_result("t2"), tool_result("t1"))
    assert [one.item for one in facts if isinstance(one, ToolReturned)] == ["t2", "t1"]


def test_a_result_of_a_call_nobody_saw_gets_an_item() -> None:
    facts = hear(attached(), tool_result("t9", parent="agent"))
    assert facts == [
        ItemOpened(item=ItemId("t9"), kind="tool", parent=ItemId("agent")),
        ToolReturned(item=ItemId("t9"), text="out", parent=ItemId("agent")),
    ]


# ---- an agent that breaks the rules --------------------------------------------------------------


def test_a_second_result_of_one_call_is_kept_but_ends_nothing() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1")), tool_result("t1"))
    assert kinds(hear(driver, tool_result("t1"))) == ["Unrecognised"]


def test_a_tool_id_in_use_is_not_opened_again() -> None:
    driver = attached()
    hear(driver, message_start(), tool_start("t1", 0))
    assert kinds(hear(driver, tool_start("t1", 1))) == ["Unrecognised"]
    hear(driver, assistant(tool_use("t1")))
    assert kinds(hear(driver, assistant(tool_use("t1")))) == ["Unrecognised"]


def test_a_tool_id_used_again_later_gets_a_name_of_its_own() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1")), tool_result("t1"))
    facts = hear(driver, assistant(tool_use("t1")))
    assert only(facts, Notice).level == "warning"
    again = only(facts, ToolCalled).item
    assert again != "t1"
    assert only(hear(driver, tool_result("t1")), ToolReturned).item == again


@pytest.mark.parametrize("tool", ["", "x" * 300])
def test_a_tool_without_a_sane_id_is_kept_as_it_is(tool: str) -> None:
    assert kinds(hear(attached(), init(), assistant(tool_use(tool))))[2:] == ["Unrecognised"]


def test_a_tool_id_that_looks_like_one_of_ours_cannot_be_mistaken_for_it() -> None:
    called = only(hear(attached(), assistant(tool_use(ITEM))), ToolCalled)
    assert called.item.startswith(f"{ITEM}~")


def test_a_block_started_twice_closes_the_first() -> None:
    driver = attached()
    hear(driver, message_start(), text_start())
    assert hear(driver, text_start()) == [
        ItemClosed(item=ITEM, status="discarded"),
        ItemOpened(item=SECOND, kind="text"),
    ]


@pytest.mark.parametrize("index", [-1, 10**30])
def test_a_block_with_an_absurd_index_is_kept_as_it_is(index: int) -> None:
    driver = attached()
    hear(driver, message_start())
    assert kinds(hear(driver, text_start(index))) == ["Unrecognised"]
    msgspec.json.decode(driver.memo(SESSION))


def test_a_delta_of_no_block_is_kept_as_it_is() -> None:
    assert kinds(hear(attached(), message_start(), delta("stray", 7)))[1:] == ["Unrecognised"]


def test_a_block_of_an_unknown_kind_is_kept_when_it_is_complete() -> None:
    hologram = {"type": "hologram", "data": "x"}
    driver = attached()
    assert kinds(hear(driver, message_start(), block_start(hologram), delta("y"))) == ["TurnBegan"]
    kept = only(hear(driver, assistant(hologram)), Unrecognised)
    assert json.loads(kept.text) == hologram
    assert kinds(hear(driver, message_start("msg_2"))) == []


def test_what_is_open_is_bounded() -> None:
    driver = attached()
    hear(driver, init(), message_start())
    many = [text_start(index) for index in range(MAX_BLOCKS + 1)]
    assert kinds(hear(driver, *many)).count("Unrecognised") == 1
    calls = [assistant(tool_use(f"t{at}")) for at in range(MAX_TOOLS + 1)]
    assert only(hear(driver, *calls), ToolReturned) == ToolReturned(
        item=ItemId("t0"), status="partial"
    )
    parents = [f"p{at}" for at in range(MAX_STREAMS + 3)]
    facts = hear(
        driver,
        *(one for p in parents for one in (message_start("m", p), block_start(text(""), 0, p))),
    )
    closed = [one for one in facts if isinstance(one, ItemClosed)]
    assert len(closed) == 4
    assert {one.status for one in closed} == {"discarded"}


# ---- sub-agents ----------------------------------------------------------------------------------


def test_a_sub_agents_items_hang_on_the_call_that_started_it() -> None:
    driver = attached()
    hear(driver, init(), assistant(tool_use("task", "Task")))
    facts = hear(driver, assistant(text("sub"), tool_use("inner"), parent="task"))
    assert [one.parent for one in facts if isinstance(one, ItemOpened | ToolCalled)] == ["task"] * 3


def test_a_sub_agents_stream_does_not_disturb_the_main_one() -> None:
    driver = attached()
    hear(driver, init(), assistant(tool_use("task", "Task")), message_start(), text_start())
    hear(driver, message_start("sub", "task"), block_start(text(""), 0, "task"))
    facts = hear(driver, delta("main"), delta("sub", parent="task"))
    assert facts == [Preview(ITEM, 0, 1, "main"), Preview(SECOND, 0, 1, "sub")]
    assert hear(driver, result())[:3] == [
        ItemClosed(item=ITEM, status="partial"),
        ItemClosed(item=SECOND, status="partial"),
        ToolReturned(item=TASK, status="partial"),
    ]


# ---- big bodies ----------------------------------------------------------------------------------


def test_a_long_text_is_a_head_and_a_blob() -> None:
    driver = attached()
    whole = "é" * BLOB_BYTES
    driver.receive([assistant(text(whole))], 0)
    output = driver.take()
    closed = only([what for _, what in output.out], ItemClosed)
    assert closed.text == "é" * 1024
    assert output.blobs[closed.blob].decode() == whole


def test_a_long_input_is_a_blob() -> None:
    driver = attached()
    driver.receive([assistant(tool_use("t1", content="x" * BLOB_BYTES))], 0)
    output = driver.take()
    called = only([what for _, what in output.out], ToolCalled)
    assert called.input is UNSET
    assert json.loads(output.blobs[called.blob])["content"] == "x" * BLOB_BYTES


def test_a_long_result_is_a_head_and_a_blob() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1")))
    long = "x" * (BLOB_BYTES + 1)
    driver.receive([tool_result("t1", long, tool_use_result={"stdout": long, "code": 0})], 0)
    output = driver.take()
    returned = only([what for _, what in output.out], ToolReturned)
    assert returned.text == "x" * 2048
    assert output.blobs[returned.blob] == long.encode()
    assert returned.detail is not UNSET
    detail = json.loads(bytes(returned.detail))
    assert detail["code"] == 0
    assert detail["_omitted"] == ["stdout"]
    assert json.loads(output.blobs[detail["_blob"]])["stdout"] == long


# ---- said twice, or not at all -------------------------------------------------------------------


def said_again(words: str = "whole", **fields: Any) -> bytes:
    """An answer as 2.1.38 gives it without a stream, after one that broke."""
    body = {"id": "msg_2", "content": [text(words)], "stop_reason": "end_turn", **fields}
    return line(type="assistant", message=body, parent_tool_use_id=None)


def test_a_text_said_again_after_its_stream_broke_is_shown_once() -> None:
    driver = attached("2.1.38")
    hear(driver, message_start("msg_1"), text_start(), delta("whole"))
    hear(driver, assistant(text("whole"), name="msg_1"))
    driver = attached("2.1.38", driver.memo(SESSION))
    assert hear(driver, said_again()) == []


def test_a_text_half_said_before_its_stream_broke_is_replaced_by_the_whole() -> None:
    driver = attached("2.1.38")
    hear(driver, message_start("msg_1"), text_start(), delta("wh"))
    half, _, whole = hear(driver, said_again())
    assert half == ItemClosed(item=ITEM, status="discarded")
    assert isinstance(whole, ItemClosed)
    assert (whole.status, whole.text) == ("complete", "whole")


@pytest.mark.parametrize(
    "between",
    [
        [assistant(tool_use("t9"), name="msg_1"), tool_result("t9")],
        [result(), init()],
        [assistant(text("other"), name="msg_3")],
    ],
)
def test_a_model_that_repeats_itself_is_heard(between: list[bytes]) -> None:
    driver = attached("2.1.38")
    hear(driver, assistant(text("whole"), name="msg_1"), *between)
    assert kinds(hear(driver, said_again()))[-2:] == ["ItemOpened", "ItemClosed"]
    streamed = hear(driver, assistant(text("whole"), name="msg_4"))  # does not know its end
    assert kinds(streamed) == ["ItemOpened", "ItemClosed"]


def test_a_block_that_never_had_anything_in_it_is_discarded() -> None:
    driver = attached()
    hear(driver, message_start(), text_start(0), block_stop(0), text_start(1))
    closed = [one for one in hear(driver, result()) if isinstance(one, ItemClosed)]
    assert [one.status for one in closed] == ["discarded", "discarded"]
    hidden = block_start({"type": "redacted_thinking", "data": "x"})
    hear(driver, init(), message_start("msg_2"), hidden, block_stop())
    assert only(hear(driver, result()), ItemClosed).status == "complete"


def test_an_aborted_answer_without_a_word_is_discarded() -> None:
    driver = attached()
    hear(driver, message_start(), text_start())
    assert only(hear(driver, assistant(text(""), aborted=True)), ItemClosed).status == "discarded"


# ---- tools of the API's own ----------------------------------------------------------------------


def test_a_tool_of_the_apis_own_is_a_call_with_a_result() -> None:
    driver = attached()
    call = {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"q": "tide"}}
    hits = [{"type": "web_search_result", "title": "Tides", "url": "http://t"}]
    found = {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": hits}
    start = [message_start(), block_start({**call, "input": {}}), block_start(found, 1)]
    assert kinds(hear(driver, *start)) == ["TurnBegan", "ItemOpened"]
    facts = hear(driver, assistant(call), assistant(found))
    assert only(facts, ToolCalled).name == "web_search"
    assert only(facts, ToolReturned).text == "Tides http://t"
    assert kinds(hear(driver, assistant(found))) == ["Unrecognised"]


def test_a_tool_of_the_apis_own_may_fail() -> None:
    driver = attached()
    call = {"type": "server_tool_use", "id": "srv1", "name": "web_fetch", "input": {}}
    bad = {"type": "web_fetch_tool_result_error", "error_code": "url_not_allowed"}
    failed = {"type": "web_fetch_tool_result", "tool_use_id": "srv1", "content": bad}
    returned = only(hear(driver, assistant(call), assistant(failed)), ToolReturned)
    assert (returned.status, returned.text) == ("error", "url_not_allowed")
    page = {"type": "web_fetch_result", "url": "http://t"}
    fetched = {"type": "web_fetch_tool_result", "tool_use_id": "srv2", "content": page}
    again = hear(driver, assistant({**call, "id": "srv2"}), assistant(fetched))
    assert only(again, ToolReturned).text == "http://t"
