"""`flybridge ipc` and the real CLIs: what a turn looks like to a front end, message by message."""

from __future__ import annotations

import base64
import json
import uuid
from pathlib import Path

import pytest

from tests.agents.ipc_front import Front, Json, kinds
from tests.agents.rig import Bridge
from tests.agents.talk import bash

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

END = ["cost_update", "assistant_text/complete", "turn_complete"]
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP436AARAwQCgAw7gZ9vw2nHQAAAABJ"
    "RU5ErkJggg=="
)
QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    },
    {
        "question": "Which days?",
        "header": "Days",
        "multiSelect": True,
        "options": [{"label": "Mon", "description": "m"}, {"label": "Tue", "description": "t"}],
    },
]


def read(path: Path) -> Json:
    return {"tool": "Read", "input": {"file_path": str(path)}}


@pytest.mark.conforms("ipc: init", "ipc: metadata", "ipc: stream text", "ipc: thinking deltas")
async def test_text_and_thoughts_are_streamed_and_then_whole(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        assert kinds(front.seen) == ["protocol_ack", "session_init"]
        ack = {"type": "protocol_ack", "version": 1, "session_id": "pending", "ipc_version": 2}
        assert front.seen[0] == ack
        assert front.seen[1]["session_id"] == "pending"

        go = bridge.base / f"go-{uuid.uuid4().hex}"  # the rest comes once the first piece is seen
        seen = len(front.seen)
        front.say(
            "hello",
            {"say": "Hello from afar", "deltas": 3, "hold": str(go), "hold_after": 1},
        )
        await front.next("assistant_text", lambda message: bool(message["is_partial"]))
        go.touch()
        last = await front.next("turn_complete")
        first = front.seen[seen : front.seen.index(last) + 1]
        assert kinds(first) == ["session_init", "system_metadata", "assistant_text", *END]
        metadata = first[1]
        assert metadata["session_id"] == first[0]["session_id"]
        assert metadata["permissionMode"] == "acceptEdits"
        assert (metadata["version"], metadata["cwd"]) == (
            bridge.claude.version,
            str(bridge.claude.cwd),
        )
        assert "Read" in metadata["tools"]
        assert "compact" in metadata["slash_commands"]
        pieces = [one for one in first if one.get("is_partial")]
        assert "".join(one["text"] for one in pieces) == "Hello from afar"
        assert [one["rev"] for one in pieces] == list(range(len(pieces)))
        assert len(pieces) > 1
        complete, over = first[-2:]
        assert (complete["text"], complete["seq"], over["seq"]) == ("Hello from afar", 1, 2)
        assert (over["result"], over["subtype"]) == ("success", "success")
        assert {one["msg_id"] for one in (*pieces, complete, over)} == {over["msg_id"]}
        assert {one["seq"] for one in pieces} == {0}
        cost = first[-3]
        assert cost["total_cost_usd"] > 0
        assert {"num_turns", "duration_ms", "duration_api_ms", "usage", "modelUsage"} <= set(cost)

        hidden = await front.turn("hide", [{"redacted": "eHh4"}, {"say": "Well."}])
        marked = [one for one in hidden if one["type"] == "thinking_text"]
        assert [(one["redacted"], one["is_partial"]) for one in marked] == [(True, False)]

        think = await front.turn("think", [{"think": "Step by step."}, {"say": "It is 42."}])
        assert kinds(think) == [
            "system_metadata",
            "thinking_text",
            "thinking_text/complete",
            "assistant_text",
            *END,
        ]
        assert think[-1]["seq"] == 8
        whole = next(one for one in think if kinds([one]) == ["thinking_text/complete"])
        assert whole["text"] == "Step by step."

        long = await front.turn("long", {"say": "word ", "repeat": 40_000, "deltas": 200})
        assert kinds(long) == ["system_metadata", "assistant_text", *END]
        assert long[-2]["text"].strip() == ("word " * 40_000).strip()  # too long for an event
        assert "".join(one["text"] for one in long if one.get("is_partial")) == long[-2]["text"]


@pytest.mark.conforms("ipc: slash output", "ipc: compact boundary")
async def test_slash_commands_print_what_they_print(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("first", {"say": "One."})
        cost = await front.turn("/cost")
        assert kinds(cost) == [
            "system_metadata",
            "assistant_text/complete",
            "cost_update",
            "turn_complete",
        ]
        assert cost[1]["source"] == "slash_command"
        assert (cost[1]["seq"], cost[-1]["seq"]) == (3, 4)
        context = await front.turn("/context")
        said = [one for one in context if one.get("source") == "slash_command"]
        assert len(said) == 1
        assert "Tokens" in said[0]["text"]
        unknown = await front.turn("/no-such-command")
        if bridge.claude.version != "2.1.325":  # which hands it to the model
            assert kinds(unknown) == kinds(cost)
            assert "no-such-command" in unknown[1]["text"]
        assert unknown[-1]["result"] == "success"
        await front.turn("second", {"say": "Two."})  # 2.1.200 does not compact a single turn
        compacted = await front.turn("/compact")
        assert "compact_boundary" in kinds(compacted)
        assert compacted[-1]["result"] == "success"
        front.send({"type": "view", "name": "context"})
        view = await front.next("view")
        assert view["data"]["totalTokens"] > 0
        parts = {one["name"]: one["tokens"] for one in view["data"]["categories"]}
        assert parts["System prompt"] > 0
        assert parts["System tools"] > 0
        await front.turn("/clear")
        clear = await front.turn("anew", {"say": "Anew."})
        names = [one["session_id"] for one in front.seen if one["type"] == "session_init"]
        assert (
            names[-1]
            == next(one for one in clear if one["type"] == "system_metadata")["session_id"]
        )
        assert len(names) == (2 if bridge.claude.version == "2.1.38" else 3)  # the old keeps its id


@pytest.mark.parametrize("bridge", ["2.1.38", "2.1.325"], indirect=True)  # as in test_claude_slash
@pytest.mark.conforms("ipc: compact boundary")
async def test_a_context_that_is_full_is_compacted_by_itself(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        usage = {"input_tokens": 2_000_000, "output_tokens": 10}
        full = {"blocks": [{"say": "A long story.", "deltas": 2}], "usage": usage}
        before = await front.turn("ipc-full", full)
        assert "compact_boundary" not in kinds(before)
        after = await front.turn("ipc-full-after", {"say": "Going on."})
        assert kinds(after).count("compact_boundary") == 1
        assert kinds(after).index("compact_boundary") < kinds(after).index("assistant_text")
        assert kinds(after)[-3:] == END
        if bridge.claude.version != "2.1.38":  # which sums up the new prompt with the old ones
            assert after[-2]["text"] == "Going on."
        assert after[-1]["result"] == "success"
        assert "error" not in kinds(after)
    last = bridge.api.turns[-1]
    assert "A long story." not in last.said()
    assert "Nothing worth telling." in "\n".join(last.given())


@pytest.mark.conforms("ipc: tool result", "ipc: structured result", "ipc: mixed content")
async def test_tools_are_named_and_their_results_are_whole(bridge: Bridge) -> None:
    one, two, missing = (bridge.claude.cwd / name for name in ("a.txt", "b.txt", "missing.txt"))
    one.write_text("alpha\nbeta\n")
    two.write_text("bravo\n")
    async with await Front.start(bridge, None, "--new") as front:
        got = await front.turn("read", [{"say": "Reading."}, read(one)], {"say": "Two lines."})
        assert kinds(got) == [
            "session_init",
            "system_metadata",
            "assistant_text",
            "tool_use",
            "tool_use",
            "tool_result",
            "tool_use_structured",
            "assistant_text",
            *END,
        ]
        begun, called = got[3:5] if got[3]["type"] == "tool_use" else got[4:6]
        assert (begun["input"], called["input"]) == ({}, {"file_path": str(one)})
        result = next(m for m in got if m["type"] == "tool_result")
        structured = next(m for m in got if m["type"] == "tool_use_structured")
        assert "alpha" in result["output"]
        assert result["is_error"] is False
        assert structured["tool_name"] == "Read"
        assert structured["structured_result"]["file"]["content"].startswith("alpha")
        assert got[-2]["text"] == "Reading.Two lines."

        one.write_text("alpha\ngamma\n")  # 2.1.200 does not read an unchanged file twice
        both = await front.turn("both", [read(one), read(two)], {"say": "Both."})
        path_of = {m["tool_use_id"]: m["input"].get("file_path") for m in both if "input" in m}
        said = {path_of[m["tool_use_id"]]: m["output"] for m in both if m["type"] == "tool_result"}
        assert set(said) == {str(one), str(two)}  # they run side by side, in any order
        assert "alpha" in said[str(one)]
        assert "bravo" in said[str(two)]

        wrong = await front.turn("none", read(missing), {"tool": "NoSuchTool"}, {"say": "Pity."})
        results = [m for m in wrong if m["type"] == "tool_result"]
        assert [m["is_error"] for m in results] == [True, True]
        assert not any("tool_use_error" in m["output"] for m in results)
        assert wrong[-1]["result"] == "success"


@pytest.mark.conforms("ipc: permission forward", "ipc: allow", "ipc: deny")
async def test_permissions_are_asked_for_and_decided(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "ipc-made"
    other = bridge.claude.cwd / "ipc-other"
    async with await Front.start(bridge, None, "--new") as front:
        front.say("allow", [{"say": "I will."}, bash("python3 -c 'print(6*7)'")], {"say": "Done."})
        asked = await front.next("control_request_forward")
        assert (asked["tool_name"], asked["is_question"]) == ("Bash", False)
        assert asked["input"]["command"] == "python3 -c 'print(6*7)'"
        assert asked["tool_use_id"].startswith("toolu")
        front.send({"type": "view", "name": "permissions"})
        pending = (await front.next("view"))["data"]["pending"]
        assert [one["requestId"] for one in pending] == [asked["request_id"]]
        front.send({"type": "tool_approval", "request_id": "nobody", "decision": "allow"})
        begin = len(front.seen)
        front.send(
            {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
        )
        await front.next("turn_complete")
        assert kinds(front.seen[begin:]) == [
            "tool_result",
            "tool_use_structured",
            "assistant_text",
            *END,
        ]
        assert front.seen[begin]["output"] == "42"
        assert front.seen[-2]["text"] == "I will.Done."
        assert any("nobody" in line for line in front.errors)

        front.say("deny", bash(f'python3 -c \'open("{made}", "w")\''), {"say": "Understood."})
        asked = await front.next("control_request_forward")
        answer = {"type": "tool_approval", "request_id": asked["request_id"]}
        front.send({**answer, "decision": "deny", "message": "Not here, please."})
        result = await front.next("tool_result")
        assert (result["output"], result["is_error"]) == ("Not here, please.", True)
        over = await front.next("turn_complete")
        assert over["result"] == "success"
        assert [one["tool_name"] for one in over["permission_denials"]] == ["Bash"]
        assert not made.exists()

        front.say("edit", bash(f'python3 -c \'open("{made}", "w")\''), {"say": "Well."})
        asked = await front.next("control_request_forward")
        changed = {"command": f"touch {other}", "description": "another"}
        answer = {"type": "tool_approval", "request_id": asked["request_id"]}
        front.send({**answer, "decision": "allow", "updatedInput": changed})
        await front.next("turn_complete")
        assert (made.exists(), other.exists()) == (False, True)

        again = bash("python3 -c 'print(1)'")
        front.say("always", again, {"say": "Once."})
        asked = await front.next("control_request_forward")
        rule = {**asked["permission_suggestions"][0], "destination": "session"}
        answer = {"type": "tool_approval", "request_id": asked["request_id"]}
        front.send({**answer, "decision": "allow", "updatedPermissions": [rule]})
        await front.next("turn_complete")
        assert "control_request_forward" not in kinds(
            await front.turn("and again", again, {"say": "Twice."})
        )


@pytest.mark.conforms("ipc: question")
async def test_questions_are_answered_by_their_text(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        front.say(
            "ask", {"tool": "AskUserQuestion", "input": {"questions": QUESTIONS}}, {"say": "k"}
        )
        asked = await front.next("control_request_forward")
        assert (asked["tool_name"], asked["is_question"]) == ("AskUserQuestion", True)
        assert [one["question"] for one in asked["input"]["questions"]] == [
            "Which colour?",
            "Which days?",
        ]
        answers = {"Which colour?": "Blue", "Which days?": "Mon,Tue"}
        front.send(
            {"type": "question_answer", "request_id": asked["request_id"], "answers": answers}
        )
        result = await front.next("tool_result")
        assert '"Which colour?"="Blue"' in result["output"]
        separator = "," if bridge.claude.version == "2.1.38" else ", "
        assert f'"Which days?"="Mon{separator}Tue"' in result["output"]
        assert (await front.next("turn_complete"))["result"] == "success"


@pytest.mark.conforms("ipc: interrupt")
async def test_an_interrupt_ends_the_turn_and_the_next_one_runs(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        front.say("talk", {"say": "word ", "repeat": 200, "deltas": 200, "pause_s": 0.05})
        await front.next("assistant_text")
        front.send({"type": "interrupt"})
        await front.next("turn_complete")
        assert kinds(front.seen)[-3:] == END
        assert front.seen[-1]["result"] == "error"
        assert front.seen[-2]["text"].startswith("word")

        front.say("ask", bash("python3 -c 'print(1)'"), {"say": "Done."})
        asked = await front.next("control_request_forward")
        begin = len(front.seen)
        front.send({"type": "interrupt"})
        over = await front.next("turn_complete")
        assert over["result"] == "error"
        later = kinds(front.seen[begin:])
        assert later[0] == "control_request_cancel"
        assert front.seen[begin]["request_id"] == asked["request_id"]
        assert later[-2:] == ["cost_update", "turn_complete"]
        late = {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
        front.send(late)

        mark = bridge.claude.cwd / "running"
        front.say("run", bash(f'python3 -c \'open("{mark}", "w")\'; sleep 30'), {"say": "Done."})
        asked = await front.next("control_request_forward")
        front.send({**late, "request_id": asked["request_id"]})
        while not mark.exists():
            await front.settle()
        begin = len(front.seen)
        front.send({"type": "interrupt"})
        over = await front.next("turn_complete")
        assert over["result"] == "error"
        assert "tool_result" in kinds(front.seen[begin:])

        on = await front.turn("go on", {"say": "Going on."})
        assert kinds(on)[-5:] == ["system_metadata", "assistant_text", *END]
        assert on[-1]["result"] == "success"
        assert any(late["request_id"] in line for line in front.errors)


@pytest.mark.conforms("ipc: attachments")
async def test_attachments_reach_the_model_and_bad_ones_do_not(bridge: Bridge) -> None:
    png = {"filename": "secret-name.png", "content": PNG, "media_type": "image/png"}
    note = {"filename": "n.txt", "content": "the note says seven", "media_type": "text/plain"}
    big = base64.b64encode(b"x" * (5 * 2**20 + 1)).decode()
    async with await Front.start(bridge, None, "--new") as front:
        front.say("ipc-look", {"say": "A picture."}, attachments=[png, note])
        await front.next("turn_complete")
        sent = [one for one in bridge.api.turns if any("ipc-look" in t for t in one.given())][-1]
        assert len(sent.blocks("image")) == 1
        assert any("the note says seven" in text for text in sent.given())
        assert "secret-name" not in json.dumps(sent.blocks("image"))
        for wrong in (
            {"filename": "b.bmp", "content": PNG, "media_type": "image/bmp"},
            {"filename": "b.png", "content": big, "media_type": "image/png"},
        ):
            front.say("never", attachments=[wrong])
            error = await front.next("error")
            assert error["recoverable"] is True
        assert (await front.turn("still", {"say": "Here."}))[-1]["result"] == "success"


@pytest.mark.conforms("ipc: subagent")
async def test_a_subagents_messages_name_their_parent(bridge: Bridge) -> None:
    inner = [{"tool": "Bash", "input": {"command": "python3 -c 'print(5)'", "description": "x"}}]
    prompt = f"do it\n@@ {json.dumps([*inner, {'say': 'Sub says five.'}])}"
    task = {"description": "Look", "prompt": prompt, "subagent_type": "general-purpose"}
    async with await Front.start(bridge, None, "--new") as front:
        front.say(
            "go",
            [{"say": "Delegating."}, {"tool": "Task", "input": task}],
            {"say": "Main."},
            {"say": "Back."},
        )
        asked = await front.next("control_request_forward")
        front.send(
            {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
        )
        result = await front.next("tool_result", lambda m: "parent_tool_use_id" in m)
        over = await front.next("turn_complete")
        parent = next(m for m in front.seen if m["type"] == "tool_use")["tool_use_id"]
        assert (asked["parent_tool_use_id"], result["parent_tool_use_id"]) == (parent, parent)
        assert (result["output"], over["result"]) == ("5", "success")
        inside = [m for m in front.seen if m.get("parent_tool_use_id") == parent]
        used = [m for m in inside if m["type"] == "tool_use"]
        assert [(m["tool_name"], m["input"]["description"]) for m in used] == [("Bash", "x")]
        ends = [m for m in front.seen if kinds([m]) == ["assistant_text/complete"]]
        said = [m["text"] for m in ends if "parent_tool_use_id" not in m]
        assert said[0] == "Delegating.Main."  # newer ones end it, and begin another turn later
        assert len(said) == (1 if bridge.claude.version == "2.1.38" else 2)


@pytest.mark.conforms("ipc: api error")
async def test_an_api_error_is_an_error_and_the_turn_ends_as_one(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        for status in (401, 429):
            got = await front.turn(f"fail-{status}", {"status": status, "message": "no luck"})
            got = [one for one in got if one["type"] != "session_init"]
            assert kinds(got) == ["system_metadata", "error", "cost_update", "turn_complete"]
            assert "no luck" in got[1]["message"] or str(status) in got[1]["message"]
            assert got[-1]["result"] == "error"
        assert (await front.turn("after", {"say": "Fine."}))[-1]["result"] == "success"


async def test_d05_an_interrupt_right_behind_its_message_is_no_error(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("first", {"say": "One."})
        for number in range(3):
            begin = len(front.seen)
            words = {"say": "word ", "repeat": 200, "deltas": 200, "pause_s": 0.05}
            front.say(f"behind {number}", words)
            front.send({"type": "interrupt"})
            over = await front.next("turn_complete")
            assert over["result"] == "error"
            assert "error" not in kinds(front.seen[begin:])
        assert (await front.turn("go on", {"say": "On."}))[-1]["result"] == "success"
