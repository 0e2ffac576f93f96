"""`flybridge ipc` and the real CLIs: sessions that come and go, settings, and accidents."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from flybridge.model.commands import Delete
from flybridge.model.deliveries import Stage
from flybridge.runtime.keeper.keeper_program import read_file
from tests.agents.ipc_front import Front, kinds
from tests.agents.rig import Bridge
from tests.agents.talk import bash, waiting

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]
ENDS = ("turn_complete", "turn_cancelled")


async def session_of(bridge: Bridge, front: Front) -> str:
    """The gateway's session that a front end is in."""
    known = [one["session_id"] for one in front.seen if one["type"] == "session_init"][-1]
    client = await bridge.client()
    try:
        rows = [row for row in await client.list() if row["conversation"] == known]
        return str(max(rows, key=lambda row: int(row["changed_ms"]))["session"])
    finally:
        await client.close()


@pytest.mark.conforms("ipc: mode change", "ipc: model change")
async def test_mode_and_model_change_live_and_show_in_the_next_metadata(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        front.send({"type": "permission_mode", "mode": "plan"})
        first = await front.turn("one", {"say": "One."})
        metadata = [one for one in first if one["type"] == "system_metadata"]
        assert [one["permissionMode"] for one in metadata] == ["plan"]
        front.send({"type": "permission_mode", "mode": "default"})
        front.send({"type": "model_change", "model": "claude-haiku-4-5"})
        second = await front.turn("two", {"say": "Two."})
        metadata = [one for one in second if one["type"] == "system_metadata"]
        assert [one["permissionMode"] for one in metadata] == ["default"]
        assert "haiku" in metadata[0]["model"]
        for mode in ("nonsense", "bypassPermissions"):
            front.send({"type": "permission_mode", "mode": mode})
            error = await front.next("error")
            assert error["recoverable"] is True
            assert mode in error["message"]
        third = await front.turn("three", {"say": "Three."})
        assert third[0]["permissionMode"] == "default"
        front.send({"type": "view", "name": "settings"})
        view = (await front.next("view"))["data"]
        assert view["permissionMode"] == "default"
        assert "plan" in view["availableModes"]


@pytest.mark.conforms("ipc: fork", "ipc: continue", "ipc: new session")
async def test_fork_continue_and_new_begin_with_pending_and_name_themselves(
    bridge: Bridge,
) -> None:
    cwd = bridge.repository("ipc-branches")
    async with await Front.start(bridge, cwd) as front:
        first = await front.turn("remember-the-seven", {"say": "Seven."})
        origin = real = first[0]["session_id"]
        await bridge.saved("remember-the-seven")
        front.send({"type": "model_change", "model": "claude-haiku-4-5"})

        for command, pending in (("fork", "pending-fork"), ("continue", "pending-continue")):
            front.send({"type": "session_command", "command": command})
            assert (await front.next("session_init"))["session_id"] == pending
            got = await front.turn(f"after-{command}", {"say": "Still seven."})
            real = next(one for one in got if one["type"] == "system_metadata")["session_id"]
            assert (real == origin) is False  # the copy, and then the copy again
            given = [one for one in bridge.api.turns if f"after-{command}" in str(one.given())][-1]
            assert any("remember-the-seven" in text for text in given.given())
            await bridge.saved(f"after-{command}")
        assert [one["seq"] for one in front.seen if one["type"] == "turn_complete"] == [2, 5, 8]

        front.send({"type": "session_command", "command": "new"})
        assert (await front.next("session_init"))["session_id"] == "pending"
        got = await front.turn("after-new", {"say": "What seven?"})
        metadata = next(one for one in got if one["type"] == "system_metadata")
        assert metadata["session_id"] not in (origin, real)
        assert "haiku" in metadata["model"]
        given = [one for one in bridge.api.turns if "after-new" in str(one.given())][-1]
        assert not any("remember-the-seven" in text for text in given.given())
        assert not any(one["type"] == "error" for one in front.seen)


@pytest.mark.conforms("ipc: resume")
async def test_the_last_conversation_of_the_project_is_gone_on_with(bridge: Bridge) -> None:
    cwd = bridge.repository("ipc-resumed")
    async with await Front.start(bridge, cwd) as front:
        got = await front.turn("the-word-is-anchor", {"say": "Noted."})
        known = got[0]["session_id"]
        await bridge.saved("the-word-is-anchor")
    assert front.process.returncode == 0
    async with await Front.start(bridge, cwd) as front:
        assert front.seen[1]["session_id"] == known
        got = await front.turn("which-word", {"say": "Anchor."})
        assert kinds(got) == [
            "system_metadata",
            "assistant_text",
            "cost_update",
            "assistant_text/complete",
            "turn_complete",
        ]
        assert got[0]["session_id"] == known
        given = [one for one in bridge.api.turns if "which-word" in str(one.given())][-1]
        assert any("the-word-is-anchor" in text for text in given.given())
        front.say("may-i", bash("python3 -c 'print(3)'"), {"say": "Yes."})
        asked = await front.next("control_request_forward")
        front.send(
            {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
        )
        assert (await front.next("turn_complete"))["result"] == "success"


@pytest.mark.conforms("ipc: lost session")
async def test_a_lost_conversation_is_replaced_by_a_new_one_and_said_so(bridge: Bridge) -> None:
    gone = "11111111-2222-4333-8444-555555555555"
    async with await Front.start(bridge, None, "--session", gone) as front:
        assert front.seen[1]["session_id"] == gone
        front.say("hello-again", {"say": "New here."})
        error = await front.next("error")
        assert error["recoverable"] is True
        assert "lost" in error["message"]
        over = await front.next("turn_complete")
        assert over["result"] == "success"
        metadata = [one for one in front.seen if one["type"] == "system_metadata"]
        assert [one["session_id"] == gone for one in metadata] == [False]
        assert [one["type"] for one in front.seen].count("error") == 1


@pytest.mark.conforms("ipc: dead agent")
async def test_a_dead_agent_is_one_error_and_the_next_message_brings_it_back(
    bridge: Bridge,
) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("before-the-fall", {"say": "Here."})
        await bridge.saved("before-the-fall")
        front.say("talk", {"say": "word ", "repeat": 200, "deltas": 200, "pause_s": 0.05})
        await front.next("assistant_text")
        begin = len(front.seen)
        bridge.kill_agent(await session_of(bridge, front))
        over = await front.next("turn_complete")
        assert over["result"] == "error"
        assert [one["type"] for one in front.seen[begin:]].count("error") == 1
        got = await front.turn("back-again", {"say": "Back."})
        assert got[-1]["result"] == "success"
        assert "error" not in kinds(got)
        given = [one for one in bridge.api.turns if "back-again" in str(one.given())][-1]
        assert any("before-the-fall" in text for text in given.given())


@pytest.mark.conforms("ipc: message during a turn")
async def test_a_message_during_a_turn_has_an_end_of_its_own(bridge: Bridge) -> None:
    mark, go = bridge.claude.cwd / "ipc-mark", bridge.claude.cwd / "ipc-go"
    async with await Front.start(bridge, None, "--new", "--permission-mode", "default") as front:
        front.say("first", waiting(mark, go), {"say": "First done."})
        asked = await front.next("control_request_forward")
        front.send(
            {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
        )
        while not mark.exists():
            await front.settle()
        front.say("second and no script")
        await front.settle()
        go.touch()
        one = await front.next("turn_complete")
        two = await front.next("turn_complete")
        assert one["msg_id"] != two["msg_id"]
        assert (one["result"], two["result"]) == ("success", "success")
        if "merged_into" in two:
            assert two["merged_into"] == one["msg_id"]
        else:
            said = [m for m in front.seen if m["type"] == "assistant_text"]
            assert {m["msg_id"] for m in said} == {one["msg_id"], two["msg_id"]}


@pytest.mark.conforms("ipc: stop a task")
@pytest.mark.parametrize("bridge", ["2.1.325"], indirect=True)
async def test_a_task_in_the_background_is_stopped_and_the_conversation_goes_on(
    bridge: Bridge, tmp_path: Path
) -> None:
    mark = bridge.claude.cwd / "ipc-task"
    given = {**waiting(mark, tmp_path / "never")["input"], "run_in_background": True}  # type: ignore[dict-item]
    async with await Front.start(bridge, None, "--new", "--permission-mode", "default") as front:
        front.say("ipc-task", {"tool": "Bash", "input": given}, {"say": "Runs."})
        asked = await front.next("control_request_forward")
        front.send(
            {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
        )
        told = await front.next("tool_use_structured")
        task = told["structured_result"]["backgroundTaskId"]
        assert (await front.next("turn_complete"))["result"] == "success"
        while not mark.exists():
            await front.settle()
        group = bridge.agent_of(await session_of(bridge, front))
        front.send({"type": "stop_task", "task_id": task})
        while [pid for pid in bridge.alive_below(group) if str(mark) in command_of(pid)]:
            await front.settle()
        assert (await front.turn("ipc-task-after", {"say": "Here."}))[-1]["result"] == "success"
        assert "error" not in kinds(front.seen)


@pytest.mark.conforms("ipc: stop a task")
@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
async def test_an_old_one_cannot_stop_a_task_and_that_is_said(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("ipc-no-task", {"say": "One."})
        front.send({"type": "stop_task", "task_id": "any"})
        error = await front.next("error")
        assert error["recoverable"] is True
        assert "stop" in error["message"]
        assert (await front.turn("ipc-no-task-after", {"say": "Two."}))[-1]["result"] == "success"


async def test_a_bridge_that_ends_leaves_an_archived_session_and_the_next_one_goes_on(
    bridge: Bridge,
) -> None:
    cwd = bridge.repository("ipc-archived")
    async with await Front.start(bridge, cwd) as front:
        got = await front.turn("keep-this", {"say": "Kept."})
        known = next(one for one in got if one["type"] == "system_metadata")["session_id"]
        await bridge.saved("keep-this")
        assert await archived(bridge, str(cwd)) == [False]
        front.send({"type": "session_command", "command": "fork"})
        await front.next("session_init")
        await front.turn("in-the-copy", {"say": "Copied."})
        await bridge.saved("in-the-copy")
        assert sorted(await archived(bridge, str(cwd))) == [False, True]
        front.end_input()
        assert await front.ended() == 0
    assert await archived(bridge, str(cwd)) == [True, True]
    async with await Front.start(bridge, cwd) as front:
        assert front.seen[1]["session_id"] not in ("pending", known)  # the copy
        got = await front.turn("what-was-it", {"say": "That."})
        given = [one for one in bridge.api.turns if "what-was-it" in str(one.given())][-1]
        assert any("keep-this" in text for text in given.given())
        assert sorted(await archived(bridge, str(cwd))) == [False, True, True]


async def archived(bridge: Bridge, cwd: str) -> list[bool]:
    client = await bridge.client()
    try:
        return [bool(row["archived"]) for row in await client.list() if row["cwd"] == cwd]
    finally:
        await client.close()


def command_of(pid: int) -> str:
    return read_file(f"/proc/{pid}/cmdline", 1 << 16).decode(errors="replace")


@pytest.mark.conforms("ipc: bad input")
async def test_bad_lines_are_named_and_nothing_else_happens(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new", greet=False) as front:
        front.send({"type": "user_message", "text": "too early"})
        assert "protocol_init" in (await front.next("error"))["message"]
        front.send({"type": "protocol_init", "version": 1})
        await front.next("session_init")
        bad = [b'{"type":"user_message","text":', b"not json", b"42", b"null", b"[]", b'"text"']
        bad += [b'{"type":"dance"}', b'{"type":"user_message"}', b'{"type":"permission_mode"}']
        bad += [b'{"type":"user_message","text":7}', b'{"type":"view","name":"nothing"}', b"\xff"]
        for line in bad:
            front.write(line + b"\n")
            error = await front.next("error")
            assert error["recoverable"] is True, line
        front.write(b"   \n\n")
        front.send({"type": "stop_task", "task_id": "nobody"})
        if bridge.claude.version == "2.1.38":  # newer ones have no objection
            assert (await front.next("error"))["recoverable"] is True
        assert (await front.turn("alive", {"say": "Alive."}))[-1]["result"] == "success"


@pytest.mark.conforms("ipc: wrong version", "ipc: end of input", "ipc: SIGTERM")
async def test_it_ends_with_its_input_a_signal_or_a_wrong_version(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, greet=False) as front:
        front.send({"type": "protocol_init", "version": 2})
        error = await front.next("error")
        assert error["recoverable"] is False
        assert await front.ended() == 1

    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("eof", {"say": "Ok."})
        session = await session_of(bridge, front)
        group = bridge.agent_of(session)
        assert front.process.stdin is not None
        front.process.stdin.close()
        assert await front.ended() == 0
        assert bridge.alive_below(group) == []

    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("term", {"say": "Ok."})
        session = await session_of(bridge, front)
        group = bridge.agent_of(session)
        client = await bridge.client()
        try:
            async with await client.attach(session) as other:
                front.process.send_signal(signal.SIGTERM)
                assert await front.ended() == 0
                assert bridge.alive_below(group) != []  # somebody else is attached
                assert other is not None
            await client.ask("stop_agent", {"session": session})
            await asyncio.sleep(0)
        finally:
            await client.close()


async def test_d10_an_agent_that_dies_after_an_interrupt_is_no_error(bridge: Bridge) -> None:
    async with await Front.start(bridge, None, "--new") as front:
        await front.turn("first", {"say": "One."})
        agent = bridge.agent_of(await session_of(bridge, front))
        front.say("talk", {"say": "word ", "repeat": 400, "deltas": 400, "pause_s": 0.1})
        await front.next("assistant_text")
        begin = len(front.seen)
        os.kill(agent, signal.SIGSTOP)  # it hears nothing of the interrupt
        front.send({"type": "interrupt"})
        front.send({"type": "view", "name": "session_state"})
        await front.next("view")  # the interrupt before it was taken
        os.kill(agent, signal.SIGKILL)
        await front.until(lambda: any(one["type"] in ENDS for one in front.seen[begin:]))
        assert "error" not in kinds(front.seen[begin:])
        assert (await front.turn("go on", {"say": "On."}))[-1]["result"] == "success"


async def test_d02_every_session_command_is_acknowledged(bridge: Bridge) -> None:
    async with await Front.start(bridge, bridge.repository("ipc-new"), "--new") as front:
        for _ in range(2):
            front.send({"type": "session_command", "command": "new"})
            assert (await front.next("session_init"))["session_id"] == "pending"


async def test_d11_a_conversation_of_tugtalks_goes_on(bridge: Bridge) -> None:
    cwd = bridge.repository("ipc-moved")
    async with await Front.start(bridge, cwd, "--new") as front:
        got = await front.turn("said-to-tugtalk", {"say": "Noted."})
        known = next(one for one in got if one["type"] == "system_metadata")["session_id"]
        await bridge.saved("said-to-tugtalk")
        session = await session_of(bridge, front)
        front.end_input()
        assert await front.ended() == 0
    client = await bridge.client()
    try:  # as if it had been said elsewhere
        await client.submit(session, Delete(), request="forget", until=Stage.ACCEPTED)
    finally:
        await client.close()
    (cwd / ".tugtool").mkdir()
    (cwd / ".tugtool" / ".session").write_text(known)
    async with await Front.start(bridge, cwd) as front:
        assert front.seen[1]["session_id"] == known
        await front.turn("what-was-said", {"say": "That."})
        given = [one for one in bridge.api.turns if "what-was-said" in str(one.given())][-1]
        assert any("said-to-tugtalk" in text for text in given.given())
