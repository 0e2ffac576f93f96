"""The loop of `flybridge ipc`, as a real process against a real gateway and the demo agent."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.frontends.ipc.wire.lines import read_outbound
from tests.harness.gateway_process import RealGateway, real_gateway
from tests.harness.waiting import WAIT_S

pytestmark = pytest.mark.slow  # every test starts a gateway and bridges

INIT = b'{"type":"protocol_init","version":1}\n'
Json = dict[str, Any]


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[RealGateway]:
    async with real_gateway(short_tmp) as gateway:
        gateway.start()
        async with await gateway.client():
            pass
        yield gateway


async def start(
    gateway: RealGateway, *flags: str, agent: str = "demo", stdout: int = asyncio.subprocess.PIPE
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flybridge", "ipc", "--agent", agent, *flags),
        env={**gateway.env, "FLYBRIDGE_STATE": str(gateway.state)},
        cwd=gateway.work,
        stdin=asyncio.subprocess.PIPE,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


def say(process: asyncio.subprocess.Process, *messages: Json) -> None:
    assert process.stdin is not None
    for one in messages:
        process.stdin.write(json.dumps(one).encode() + b"\n")


async def until(process: asyncio.subprocess.Process, kind: str) -> list[Json]:
    """Everything up to the next message of this type."""
    assert process.stdout is not None
    found: list[Json] = []
    async with asyncio.timeout(WAIT_S):
        while not found or found[-1]["type"] != kind:
            line = await process.stdout.readline()
            assert line, (found, await _errors(process))
            read_outbound(line)
            found.append(json.loads(line))
    return found


async def _errors(process: asyncio.subprocess.Process) -> bytes:
    assert process.stderr is not None
    return await process.stderr.read()


async def ended(process: asyncio.subprocess.Process) -> int:
    """Its exit status, once nobody writes to it any more."""
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(WAIT_S):
        await process.communicate()
    assert process.returncode is not None
    return process.returncode


@pytest.mark.sample
async def test_a_conversation_is_had_and_gone_on_with(gateway: RealGateway) -> None:
    process = await start(gateway)
    say(process, {"type": "protocol_init", "version": 1}, {"type": "user_message", "text": "hello"})
    first = await until(process, "turn_complete")
    assert [one["type"] for one in first[:2]] == ["protocol_ack", "session_init"]
    name = [one["session_id"] for one in first if one["type"] == "session_init"][-1]
    assert await ended(process) == 0
    async with await gateway.client() as client:
        assert [(row.status, row.archived) for row in await client.sessions()] == [("off", True)]

    process = await start(gateway)
    say(process, {"type": "protocol_init", "version": 1}, {"type": "user_message", "text": "hello"})
    again = await until(process, "turn_complete")
    assert again[1]["session_id"] == name
    process.send_signal(signal.SIGTERM)
    assert await ended(process) == 0


@pytest.mark.parametrize(
    ("configured", "flags", "mode"),
    [
        ("", [], "acceptEdits"),
        ("plan", [], "plan"),
        ("plan", ["--permission-mode=default"], "default"),
    ],
)
async def test_it_starts_in_the_mode_that_is_configured_unless_a_flag_says_otherwise(
    gateway: RealGateway, configured: str, flags: list[str], mode: str
) -> None:
    if configured:
        gateway.env["FLYBRIDGE_IPC_PERMISSION_MODE"] = configured
    process = await start(gateway, "--new", *flags)
    say(process, {"type": "protocol_init", "version": 1}, {"type": "user_message", "text": "hello"})
    told = await until(process, "turn_complete")
    (metadata,) = [one for one in told if one["type"] == "system_metadata"]
    assert metadata["permissionMode"] == mode
    assert await ended(process) == 0


async def test_whoever_started_it_may_approve_without_a_terminal(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    say(process, {"type": "protocol_init", "version": 1})
    say(process, {"type": "user_message", "text": "run touch mine"})
    asked = (await until(process, "control_request_forward"))[-1]
    answer = {"type": "tool_approval", "request_id": asked["request_id"], "decision": "allow"}
    say(process, answer)
    after = await until(process, "turn_complete")
    assert [one["is_error"] for one in after if one["type"] == "tool_result"] == [False]
    assert after[-1]["result"] == "success"
    assert await ended(process) == 0


async def test_a_second_bridge_joins_the_first_and_leaves_it_the_agent(
    gateway: RealGateway,
) -> None:
    hello = {"type": "user_message", "text": "think boats"}
    first = await start(gateway)
    say(first, {"type": "protocol_init", "version": 1}, hello)
    name = [one for one in await until(first, "turn_complete") if "session_id" in one][-1]
    second = await start(gateway)
    say(second, {"type": "protocol_init", "version": 1}, hello)
    seen = await until(second, "turn_complete")
    assert seen[1]["session_id"] == name["session_id"]
    assert [one["type"] for one in seen].count("system_metadata") == 1
    theirs = await until(first, "turn_complete")
    assert theirs[-1]["msg_id"] != seen[-1]["msg_id"]
    assert await ended(second) == 0
    say(first, hello)
    assert (await until(first, "turn_complete"))[-1]["result"] == "success"
    assert await ended(first) == 0


async def test_an_interrupt_that_comes_too_early_still_counts(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    say(
        process,
        {"type": "protocol_init", "version": 1},
        {"type": "user_message", "text": "run touch never"},
        {"type": "interrupt"},
    )
    assert (await until(process, "turn_complete"))[-1]["result"] == "error"
    assert await ended(process) == 0


async def test_sessions_change_and_views_are_shown(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    say(process, {"type": "protocol_init", "version": 1}, {"type": "user_message", "text": "hello"})
    await until(process, "turn_complete")
    say(process, {"type": "session_command", "command": "new"})
    assert (await until(process, "session_init"))[-1]["session_id"] == "pending"
    say(process, {"type": "user_message", "text": "hello"})
    assert (await until(process, "turn_complete"))[-1]["seq"] == 5
    for name in ("settings", "sessions", "session_state"):
        say(process, {"type": "view", "name": name})
        assert (await until(process, "view"))[-1]["name"] == name
    assert await ended(process) == 0


@pytest.mark.conforms("ipc: only messages on stdout")
async def test_nothing_but_messages_is_ever_written(gateway: RealGateway) -> None:
    """Random input: whole lines are answered or refused, and the program ends as it should."""
    chance = random.Random(7)
    process = await start(gateway, "--new")
    assert process.stdin is not None
    process.stdin.write(INIT)
    kinds = ["user_message", "interrupt", "tool_approval", "view", "model_change", "x", ""]
    for _ in range(60):
        noise = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
        object_ = {"type": chance.choice(kinds), chance.choice(["text", "mode", "name"]): "hello"}
        process.stdin.write(chance.choice([noise, json.dumps(object_).encode()]) + b"\n")
    process.stdin.write(b'{"type":"half')
    process.stdin.close()
    async with asyncio.timeout(WAIT_S):
        out, err = await process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in err
    lines = out.splitlines()
    assert len(lines) > 10
    for line in lines:
        read_outbound(line)


@pytest.mark.conforms("ipc: wrong version", "ipc: SIGTERM", "ipc: end of input")
async def test_it_ends_when_it_should(gateway: RealGateway) -> None:
    process = await start(gateway)
    say(process, {"type": "protocol_init", "version": 2})
    assert await ended(process) == 1

    process = await start(gateway)  # nothing was ever said
    assert await ended(process) == 0

    reading, writing = os.pipe()  # a parent that reads nothing
    process = await start(gateway, "--new", stdout=writing)
    os.close(writing)
    say(process, {"type": "protocol_init", "version": 1})
    say(process, *[{"type": "view", "name": "x"} for _ in range(2000)])
    async with asyncio.timeout(WAIT_S):
        while len(await asyncio.to_thread(os.read, reading, 1)) == 0:
            pass
    process.send_signal(signal.SIGTERM)
    assert await ended(process) == 0
    os.close(reading)


async def test_under_nohup_it_goes_on_after_a_hangup(gateway: RealGateway) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what nohup does; a program inherits it
    try:
        process = await start(gateway, "--new")
    finally:
        signal.signal(signal.SIGHUP, before)
    say(process, {"type": "protocol_init", "version": 1})
    await until(process, "session_init")
    process.send_signal(signal.SIGHUP)
    for text in ("hello", "again"):  # a bridge that ends would still close one turn
        say(process, {"type": "user_message", "text": text})
        await until(process, "turn_complete")
    assert await ended(process) == 0


async def test_what_cannot_be_started_is_an_error_for_good(gateway: RealGateway) -> None:
    process = await start(gateway, agent="nobody")
    say(process, {"type": "protocol_init", "version": 1})
    error = (await until(process, "error"))[-1]
    assert error["recoverable"] is False
    assert "nobody" in error["message"]
    assert await ended(process) == 1


async def test_it_ends_when_nobody_reads_it_any_more(gateway: RealGateway) -> None:
    reading, writing = os.pipe()
    process = await start(gateway, "--new", stdout=writing)
    os.close(writing)
    os.close(reading)
    say(process, {"type": "protocol_init", "version": 1})
    async with asyncio.timeout(WAIT_S):
        await process.wait()
    assert await ended(process) == 0


async def lines_of(process: asyncio.subprocess.Process) -> tuple[list[Json], int]:
    """Everything that is written until it ends, and its exit status."""
    async with asyncio.timeout(2 * WAIT_S):
        out, _ = await process.communicate()
    assert process.returncode is not None
    return [json.loads(line) for line in out.splitlines()], process.returncode


async def test_d07_a_message_is_answered_although_the_input_ends_at_once(
    gateway: RealGateway,
) -> None:
    process = await start(gateway, "--new")
    say(process, {"type": "protocol_init", "version": 1})
    say(process, {"type": "user_message", "text": "think boats", "attachments": []})
    assert process.stdin is not None
    process.stdin.close()
    found, status = await lines_of(process)
    assert status == 0
    assert found[-1]["type"] == "turn_complete"
    assert found[-1]["result"] == "success"
    assert any(one["type"] == "assistant_text" and not one["is_partial"] for one in found)


async def test_d07_a_turn_that_cannot_be_finished_is_closed(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    say(process, {"type": "protocol_init", "version": 1})
    say(process, {"type": "user_message", "text": "run touch never"})
    assert process.stdin is not None
    process.stdin.close()
    found, status = await lines_of(process)
    assert status == 0
    kinds = [one["type"] for one in found]
    assert "control_request_cancel" in kinds
    assert (kinds[-1], found[-1]["result"]) == ("turn_complete", "error")
    assert not (gateway.work / "never").exists()


async def test_d07_a_signal_closes_the_turn_at_once(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    say(process, {"type": "protocol_init", "version": 1})
    say(process, {"type": "user_message", "text": "run touch never"})
    await until(process, "control_request_forward")  # the turn lasts until somebody answers
    process.send_signal(signal.SIGTERM)
    found, status = await lines_of(process)
    assert status == 0
    assert found[-1]["type"] == "turn_complete"
    assert found[-1]["result"] == "error"


async def test_d07_nobody_waits_for_a_turn_that_nobody_reads(gateway: RealGateway) -> None:
    reading, writing = os.pipe()
    process = await start(gateway, "--new", stdout=writing)
    os.close(writing)
    say(process, {"type": "protocol_init", "version": 1})
    say(process, {"type": "user_message", "text": "count"})
    seen = b""
    async with asyncio.timeout(WAIT_S):
        while b"assistant_text" not in seen:
            seen += await asyncio.to_thread(os.read, reading, 1 << 16)
    os.close(reading)
    assert await ended(process) == 0  # long before a minute is over


async def test_d02_new_is_acknowledged_however_often_it_is_said(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    say(process, {"type": "protocol_init", "version": 1})
    await until(process, "session_init")
    for command, name in (("new", "pending"), ("new", "pending"), ("continue", "pending-continue")):
        say(process, {"type": "session_command", "command": command})
        assert (await until(process, "session_init"))[-1]["session_id"] == name
    assert await ended(process) == 0


async def test_d06_a_picture_of_exactly_five_mebibytes_is_taken(gateway: RealGateway) -> None:
    process = await start(gateway, "--new")
    picture = {
        "filename": "x.png",
        "media_type": "image/png",
        "content": base64.b64encode(bytes(5 * 2**20)).decode(),
    }
    say(process, {"type": "protocol_init", "version": 1})
    say(process, {"type": "user_message", "text": "", "attachments": [picture]})
    told = await until(process, "turn_complete")
    assert told[-1]["result"] == "success"
    assert "error" not in [one["type"] for one in told]
    assert await ended(process) == 0
