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

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

GOLDEN = Path(__file__).parents[1] / "golden" / "ipc"
PLAYED = (
    "attach_png",
    "handshake",
    "interrupt_permission",
    "interrupt_text",
    "perm_allow",
    "perm_deny_message",
    "question_single",
    "session_fork",
    "slash_cost",
    "subagent",
    "text_plain",
    "thinking",
    "tool_error",
    "tool_read",
)
# What is different each time, or stands for something of the machine it was recorded on.
FREE = {
    "msg_id", "request_id", "session_id", "tool_use_id", "parent_tool_use_id", "cwd", "model",
    "tools", "slash_commands", "plugins", "agents", "skills", "mcp_servers", "apiKeySource",
    "total_cost_usd", "duration_ms", "duration_api_ms", "usage", "modelUsage", "num_turns",
    "output", "structured_result", "tool_name", "rev", "fast_mode_state", "input",
}  # fmt: skip


def improved(message: Json) -> bool:
    """Whether the original had no such message: ids as soon as they are known, whole thoughts,
    and what a sub-agent says."""
    if message["type"] == "session_init":
        return not message["session_id"].startswith("pending")
    if message["type"] == "thinking_text":
        return not message["is_partial"]
    return message["type"] == "tool_use_structured" and "parent_tool_use_id" in message


def plain(messages: Sequence[Json]) -> list[Json]:
    """Without improvements; the pieces of one text as one."""
    found: list[Json] = []
    for one in messages:
        if improved(one) or (one["type"] == "assistant_text" and "parent_tool_use_id" in one):
            continue
        if one.get("is_partial") and found and kinds([found[-1]]) == kinds([one]):
            found[-1] = {**found[-1], "text": found[-1]["text"] + one["text"]}
        else:
            found.append(one)
    return found


def recorded(name: str) -> list[Json]:
    return [json.loads(line) for line in (GOLDEN / f"{name}.ndjson").read_text().splitlines()]


def at(message: Any, cwd: Path) -> Any:
    """A message with the paths of this run."""
    return json.loads(json.dumps(message).replace("/project", str(cwd)))


async def played(front: Front, script: Sequence[Json], cwd: Path) -> None:
    """Say what was said then, each when as much had come as then."""
    expected = 0
    for entry in script:
        if entry["dir"] == "out":
            expected += 1
            continue
        await front.until(lambda count=expected: len(plain(front.seen)) >= count)  # type: ignore[misc]
        message = at(entry["msg"], cwd)
        if "request_id" in message:  # ours has another name for it
            asked = [one for one in front.seen if one["type"] == "control_request_forward"]
            message["request_id"] = asked[-1]["request_id"]
        front.send(message)
    await front.until(lambda: len(plain(front.seen)) >= expected)


@pytest.mark.conforms("ipc: recordings")
@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("bridge", ["2.1.38"], indirect=True)
async def test_a_recording_played_again_gives_what_it_gave(bridge: Bridge, name: str) -> None:
    cwd = bridge.repository(f"ipc-{name}", {"a.txt": "alpha\nbeta\n", "b.txt": "bravo\n"})
    script = recorded(name)
    before = [at(entry["msg"], cwd) for entry in script if entry["dir"] == "out"]
    async with await Front.start(bridge, cwd, greet=False) as front:
        await played(front, script, cwd)
        now = plain(front.seen)
        assert kinds(now) == kinds(before)
        for ours, theirs in zip(now, before, strict=True):
            assert set(theirs) <= set(ours), theirs["type"]
            same = {key for key in theirs if key not in FREE}
            if theirs["type"] == "assistant_text" and theirs["text"].startswith(LOOSE):
                same.discard("text")
            assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}


LOOSE = ("word", "Total cost", "Hello from")  # how far it came, what it cost, the model's default
