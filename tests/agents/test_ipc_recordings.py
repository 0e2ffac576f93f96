"""`flybridge ipc` beside the recordings of the bridge whose IPC it speaks.

Each recording is played again to the same version of the real CLI. What comes must be what came
then: the same types in the same order with the same fields, up to ids, times and what ours does
better. The improvements are taken out before the comparison, each by name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.ipc_front import Front, Json, kinds
from tests.agents.rig import Bridge
from tests.agents.test_ipc_sessions import session_of

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

GOLDEN = Path(__file__).parents[1] / "golden" / "ipc"
PLAYED = (
    "api_error_401",
    "attach_png",
    "bad_json",
    "handshake",
    "handshake_wrong_version",
    "interrupt_permission",
    "interrupt_text",
    "perm_allow",
    "perm_deny_message",
    "permission_mode_change",
    "question_single",
    "resume_second_start",
    "session_fork",
    "slash_cost",
    "subagent",
    "text_plain",
    "thinking",
    "tool_error",
    "tool_read",
)
# Where the original kept quiet: a line nobody can read, and an answer that was an error of the
# API, each are an `error` of ours; and such a turn has not ended well.
TOLD = {"api_error_401", "bad_json"}
ENDS_BADLY = {"api_error_401": 1}  # so many turns
# What is different each time, or stands for something of the machine it was recorded on.
FREE = {
    "msg_id", "request_id", "session_id", "tool_use_id", "parent_tool_use_id", "cwd", "model",
    "tools", "slash_commands", "plugins", "agents", "skills", "mcp_servers", "apiKeySource",
    "total_cost_usd", "duration_ms", "duration_api_ms", "usage", "modelUsage", "num_turns",
    "output", "structured_result", "tool_name", "rev", "fast_mode_state", "input",
}  # fmt: skip


def improved(message: Json, before: Sequence[Json]) -> bool:
    """Whether the original had no such message: ids as soon as they are known, whole thoughts,
    and what a sub-agent says."""
    if message["type"] == "session_init":
        begun = any(one["type"] == "session_init" for one in before)
        return begun and not message["session_id"].startswith("pending")
    if message["type"] == "thinking_text":
        return not message["is_partial"]
    return message["type"] == "tool_use_structured" and "parent_tool_use_id" in message


def plain(messages: Sequence[Json], *, told: bool = False) -> list[Json]:
    """Without improvements; the pieces of one text as one. ``told``: without errors, too."""
    found: list[Json] = []
    for one in messages:
        if improved(one, found) or (
            one["type"] == "assistant_text" and "parent_tool_use_id" in one
        ):
            continue
        if told and one["type"] == "error" and one["recoverable"]:
            continue
        if one.get("is_partial") and found and kinds([found[-1]]) == kinds([one]):
            found[-1] = {**found[-1], "text": found[-1]["text"] + one["text"]}
        else:
            found.append(one)
    return found


def recorded(name: str) -> list[Json]:
    """A recording, up to where somebody switched permissions off: ours leaves that to a person,
    and refuses it (test_ipc_sessions.py)."""
    lines = (GOLDEN / f"{name}.ndjson").read_text().splitlines()
    script: list[Json] = [json.loads(line) for line in lines]
    off = {"type": "permission_mode", "mode": "bypassPermissions"}
    return script[: next((n for n, one in enumerate(script) if one.get("msg") == off), None)]


def at(message: Any, cwd: Path) -> Any:
    """A message with the paths of this run."""
    return json.loads(json.dumps(message).replace("/project", str(cwd)))


def starts(script: Sequence[Json]) -> list[list[Json]]:
    """A recording, cut where the bridge was started once more."""
    found: list[list[Json]] = []
    for entry in script:
        if entry["dir"] == "in" and entry.get("msg", {}).get("type") == "protocol_init":
            found.append([])
        found[-1].append(entry)
    return found


async def played(front: Front, script: Sequence[Json], cwd: Path, *, told: bool) -> list[Json]:
    """Say what was said then, each when as much had come as then; all that came."""
    expected = 0

    def enough() -> bool:
        return len(plain(front.seen, told=told)) >= expected

    for entry in script:
        if entry["dir"] == "out":
            expected += 1
            continue
        await front.until(enough)
        if "raw" in entry:
            front.write(entry["raw"].encode() + b"\n")
            continue
        message = at(entry["msg"], cwd)
        if "request_id" in message:  # ours has another name for it
            asked = [one for one in front.seen if one["type"] == "control_request_forward"]
            message["request_id"] = asked[-1]["request_id"]
        front.send(message)
    await front.until(enough)
    return plain(front.seen, told=told)


def compare(now: Sequence[Json], before: Sequence[Json], *, bad_ends: int = 0) -> None:
    assert kinds(now) == kinds(before)
    for ours, theirs in zip(now, before, strict=True):
        assert set(theirs) <= set(ours), theirs["type"]
        same = {key for key in theirs if key not in FREE}
        if theirs["type"] == "assistant_text" and theirs["text"].startswith(LOOSE):
            same.discard("text")
        if theirs["type"] == "turn_complete" and bad_ends:
            bad_ends -= 1
            assert (ours["result"], theirs["result"]) == ("error", "success")
            same.discard("result")
        assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}


@pytest.mark.conforms("ipc: recordings")
@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
async def test_a_recording_played_again_gives_what_it_gave(bridge: Bridge, name: str) -> None:
    cwd = bridge.repository(f"ipc-{name}", {"a.txt": "alpha\nbeta\n", "b.txt": "bravo\n"})
    scripts = starts(recorded(name))
    for script in scripts:
        before = [at(entry["msg"], cwd) for entry in script if entry["dir"] == "out"]
        async with await Front.start(bridge, cwd, greet=False) as front:
            now = await played(front, script, cwd, told=name in TOLD)
            compare(now, before, bad_ends=ENDS_BADLY.get(name, 0))
            if name in TOLD:
                assert "error" in kinds(front.seen)
            if len(scripts) > 1:  # the next one goes on with what was said in this one
                said = [one["msg"]["text"] for one in script if "text" in one.get("msg", {})]
                await bridge.saved(said[0])


@pytest.mark.conforms("ipc: recordings", "ipc: dead agent")
@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
async def test_an_agent_that_is_killed_is_told_as_it_was_and_its_turn_is_closed(
    bridge: Bridge,
) -> None:
    """The recording of a killed agent. The original left the turn open, and was of no use until
    it was told to continue; ours closes the turn, and the next message brings the agent back."""
    script = recorded("agent_killed_in_turn")
    cwd = bridge.repository("ipc-agent_killed_in_turn")
    before = [at(entry["msg"], cwd) for entry in script if entry["dir"] == "out"]
    said = [at(entry["msg"], cwd) for entry in script if entry["dir"] == "in"]
    first_error = kinds(before).index("error")
    async with await Front.start(bridge, cwd, greet=False) as front:
        for message in said[:2]:
            front.send(message)
        await front.next("assistant_text")
        bridge.kill_agent(await session_of(bridge, front))
        over = await front.next("turn_complete")
        died = plain(front.seen)
        assert kinds(died)[: first_error + 1] == kinds(before)[: first_error + 1]
        assert died[first_error]["recoverable"] is True
        assert (over["result"], kinds(died).count("error")) == ("error", 1)
        again = await front.turn(said[2]["text"])
        assert again[-1]["result"] == "success"
        lost = [one["message"] for one in again if one["type"] == "error"]
        assert all("conversation to go on with is lost" in one for one in lost)  # killed too early
        await bridge.saved(said[2]["text"])
        begin = len(front.seen)
        front.send({"type": "session_command", "command": "continue"})
        init = await front.next("session_init")
        assert init["session_id"] == "pending-continue"
        front.say("back?")
        await front.next("turn_complete")
        last = plain(front.seen[begin:])
        assert kinds(last) == kinds(before)[kinds(before).index("error") + 2 :]


def test_every_recording_is_played() -> None:
    assert {one.stem for one in GOLDEN.glob("*.ndjson")} == {*PLAYED, "agent_killed_in_turn"}


LOOSE = ("word", "Total cost", "Hello from")  # how far it came, what it cost, the model's default
