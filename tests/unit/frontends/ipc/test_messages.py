"""What is said and done: streamed, whole, nested, and closed with its turn."""

from __future__ import annotations

import pytest

from flybridge.model import events as ev
from flybridge.model.ids import ItemId, TurnId
from tests.unit.frontends.ipc.session_kit import Kit, raw, types


@pytest.mark.conforms("ipc: stream text", "ipc: result success", "ipc: round trip")
def test_a_turn_is_metadata_pieces_cost_the_whole_and_its_end() -> None:
    kit = Kit()
    key = kit.message()
    turn = kit.begin(key)
    kit.text("t1", ["Hel", "lo"])
    kit.text("t2", [" there"])
    kit.end(turn, key)
    lines = kit.lines()
    assert types(lines) == [
        "session_init",
        "system_metadata",
        *["assistant_text"] * 3,
        "cost_update",
        "assistant_text",
        "turn_complete",
    ]
    pieces, (cost, whole, over) = lines[2:5], lines[5:]
    assert [(one["text"], one["rev"], one["seq"]) for one in pieces] == [
        ("Hel", 0, 0),
        ("lo", 1, 0),
        (" there", 2, 0),
    ]
    assert (whole["text"], whole["seq"], whole["rev"]) == ("Hello there", 1, 0)
    assert (over["seq"], over["result"], over["subtype"]) == (2, "success", "success")
    assert over["permission_denials"] == []
    assert (cost["total_cost_usd"], cost["modelUsage"]) == (0.5, {"m": {"contextWindow": 10}})
    assert {one["msg_id"] for one in (*pieces, whole, over)} == {key.rpartition(":")[2]}


@pytest.mark.conforms("ipc: metadata")
def test_metadata_comes_once_a_turn_even_when_the_agent_says_it_once() -> None:
    kit = Kit()
    kit.end(kit.begin())
    kit.lines()
    kit.apply(ev.TurnStarted(turn=TurnId("trn_9")))
    kit.text("t", ["x"])
    lines = kit.lines()
    assert types(lines)[:2] == ["system_metadata", "assistant_text"]
    assert lines[0]["tools"] == ["Read", "Bash"]
    assert lines[0]["apiKeySource"] == "none"


def test_text_that_was_not_streamed_is_shown() -> None:
    kit = Kit()
    turn = kit.begin(kit.message())
    kit.apply(
        ev.ItemStarted(item=ItemId("t"), kind="text"), ev.TextDone(item=ItemId("t"), text="All")
    )
    kit.end(turn)
    said = [one["text"] for one in kit.lines() if one["type"] == "assistant_text"]
    assert said == ["All", "All"]


def test_what_a_broken_connection_tells_again_is_not_said_twice() -> None:
    kit = Kit()
    kit.begin(kit.message())
    kit.apply(ev.ItemStarted(item=ItemId("t"), kind="text"))
    kit.adapter.preview("t", 0, 2, "ab")
    kit.adapter.preview("t", 0, 3, "abc")  # attached anew
    kit.adapter.preview("t", 9, 10, "z")  # something is missing: the end has it
    kit.apply(ev.TextDone(item=ItemId("t"), text="abcdz"))
    said = [one["text"] for one in kit.lines() if one["type"] == "assistant_text"]
    assert said == ["ab", "c", "dz"]


def test_a_long_text_is_taken_from_its_blob() -> None:
    kit = Kit()
    turn = kit.begin(kit.message())
    kit.apply(ev.ItemStarted(item=ItemId("t"), kind="text"))
    kit.adapter.apply(ev.TextDone(item=ItemId("t"), text="head", blob="d"), {"d": b"head and tail"})
    kit.end(turn)
    assert [one["text"] for one in kit.lines() if one["type"] == "assistant_text"] == [
        "head and tail",
        "head and tail",
    ]


@pytest.mark.conforms("ipc: thinking deltas")
def test_thoughts_are_streamed_and_end_whole() -> None:
    kit = Kit()
    kit.begin(kit.message())
    kit.apply(ev.ItemStarted(item=ItemId("h"), kind="thinking"))
    kit.adapter.preview("h", 0, 1, "hm")
    kit.apply(ev.ThinkingDone(item=ItemId("h"), text="hm hm"))
    kit.apply(ev.ThinkingDone(item=ItemId("r"), redacted=True))
    thoughts = [one for one in kit.lines() if one["type"] == "thinking_text"]
    assert [(one["text"], one["is_partial"]) for one in thoughts] == [
        ("hm", True),
        (" hm", True),
        ("hm hm", False),
        ("[redacted thinking]", False),
    ]
    assert thoughts[-1]["redacted"] is True


@pytest.mark.conforms(
    "ipc: tool use", "ipc: tool result", "ipc: structured result", "ipc: subagent"
)
def test_a_tool_is_told_twice_and_below_an_agent_once() -> None:
    kit = Kit()
    kit.begin(kit.message())
    kit.lines()
    kit.apply(
        ev.ItemStarted(item=ItemId("a"), kind="tool", name="Task"),
        ev.ToolStarted(item=ItemId("a"), name="Task", input=raw({"x": 1})),
        ev.ItemStarted(item=ItemId("b"), kind="tool", name="Edit", parent=ItemId("a")),
        ev.ToolStarted(item=ItemId("b"), name="Edit", input=raw({}), parent=ItemId("a")),
        ev.ToolResult(
            item=ItemId("b"), text="ok", detail=raw({"structuredPatch": []}), parent=ItemId("a")
        ),
        ev.ToolResult(
            item=ItemId("a"), status="error", text="<tool_use_error>No.</tool_use_error>"
        ),
    )
    lines = kit.lines()
    assert types(lines) == ["tool_use"] * 3 + ["tool_result", "tool_use_structured", "tool_result"]
    assert [one.get("input") for one in lines[:3]] == [{}, {"x": 1}, {}]
    assert [one.get("parent_tool_use_id") for one in lines] == [None, None, "a", "a", "a", None]
    assert (lines[4]["tool_name"], lines[4]["structured_result"]) == (
        "Edit",
        {"structuredPatch": []},
    )
    assert (lines[5]["output"], lines[5]["is_error"]) == ("No.", True)


def test_a_picture_has_no_text() -> None:
    kit = Kit()
    kit.begin(kit.message())
    kit.apply(ev.ToolResult(item=ItemId("a"), text="[image]", detail=raw({"type": "image"})))
    kit.apply(ev.ToolResult(item=ItemId("b"), text="[image]"))
    assert [one["output"] for one in kit.lines() if one["type"] == "tool_result"] == ["", "[image]"]


def test_a_subagents_words_have_an_id_of_their_own() -> None:
    kit = Kit()
    key = kit.message()
    turn = kit.begin(key)
    kit.text("s", ["From below."], parent="a")
    kit.end(turn, key)
    kit.lines()
    kit.text("s2", ["Later."], parent="a")  # it goes on when the turn is over
    (below,) = kit.lines()
    assert below["msg_id"] == f"{key.rpartition(':')[2]}:a"
    assert below["parent_tool_use_id"] == "a"


@pytest.mark.conforms("ipc: slash output", "ipc: slash error")
def test_slash_output_is_whole_and_its_errors_are_errors() -> None:
    kit = Kit()
    turn = kit.begin(kit.message("/cost"))
    kit.lines()
    kit.apply(ev.Notice(text="$1", command=True))
    kit.apply(ev.Notice(text="bad", level="warning", command=True), ev.Notice(text="by the way"))
    kit.end(turn)
    said, error, _, over = kit.lines()
    assert (said["text"], said["source"], said["seq"]) == ("$1", "slash_command", 0)
    assert (error["message"], error["recoverable"]) == ("bad", True)
    assert (over["result"], over["seq"]) == ("success", 1)


def test_slash_output_too_long_for_a_notice_is_slash_output_too() -> None:
    kit = Kit()
    turn = kit.begin(kit.message("/context"))
    kit.lines()
    kit.apply(ev.ItemStarted(item=ItemId("t"), kind="text", name="command"))
    kit.adapter.apply(ev.TextDone(item=ItemId("t"), text="head", blob="d"), {"d": b"head, tail"})
    kit.end(turn)
    lines = kit.lines()
    assert types(lines) == ["assistant_text", "cost_update", "turn_complete"]
    assert (lines[0]["text"], lines[0]["source"]) == ("head, tail", "slash_command")


def test_a_turn_that_only_has_a_last_word_says_it() -> None:
    kit = Kit()
    turn = kit.begin(kit.message("/x"))
    kit.lines()
    kit.end(turn, message="Unknown skill: x")
    said, _, over = kit.lines()
    assert (said["text"], said["source"], over["type"]) == (
        "Unknown skill: x",
        "slash_command",
        "turn_complete",
    )


@pytest.mark.conforms("ipc: api error", "ipc: result subtypes")
def test_errors_and_limits_end_a_turn_as_errors() -> None:
    kit = Kit()
    turn = kit.begin(kit.message())
    kit.lines()
    kit.apply(ev.Error(code="authentication_failed", text="401"))
    kit.end(turn, reason="error", message="401")
    error, _, over = kit.lines()
    assert (error["message"], over["result"]) == ("401", "error")
    for subtype in ("error_max_turns", "error_max_budget_usd", "error_during_execution"):
        kit.end(kit.begin(kit.message()), reason="limit", result={"subtype": subtype})
        over = kit.lines()[-1]
        assert (over["result"], over["subtype"]) == ("error", subtype)


@pytest.mark.conforms("ipc: permission denials")
def test_denials_are_repeated_at_the_end() -> None:
    kit = Kit()
    kit.end(kit.begin(kit.message()), result={"permission_denials": [{"tool_name": "Bash"}]})
    assert kit.lines()[-1]["permission_denials"] == [{"tool_name": "Bash"}]
