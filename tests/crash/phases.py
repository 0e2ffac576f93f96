"""Eight moments of a session's life: how to get one there, so that somebody can be killed then."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from tests.crash.checker import GUARDED
from tests.crash.evidence import Client, Json, answer, send_input
from tests.crash.operations import warm
from tests.crash.rig import Rig

Enter: TypeAlias = Callable[["Scene"], None]
FLOOD_BYTES = 3 << 20  # its whole text comes in one line of more than a mebibyte


class Scene:
    """One session of a rig on its way into a phase. ``gate`` lets a held agent go on."""

    def __init__(self, rig: Rig, client: Client, name: str) -> None:
        self.rig = rig
        self.client = client
        self.name = name
        self.gate = rig.base / f"gate-{name}"
        self.session = client.open(name, rig.work)
        self.rig.followed[self.session] = client.follow(self.session)
        self.requests: list[str] = []

    def say(self, *steps: Json, until: str = "observed", wait: bool = True) -> None:
        request = f"{self.name}.{len(self.requests)}"
        self.requests.append(request)
        command = send_input(request, *steps)
        if wait:
            self.client.carry_out(self.session, request, command, until=until)
        else:
            self.client.submit(self.session, request, command, until=until)

    def open_gate(self) -> None:
        self.gate.touch()

    @property
    def gated(self) -> Json:
        return {"wait_file": str(self.gate)}

    def prompt(self) -> Json:
        """Wait for a prompt; the command that allows it."""
        prompts = self.client.transcripts[self.session].prompts
        self.client.until(lambda: prompts)
        found = next(iter(prompts.values()))
        return answer(found.id, found.digest)

    def blocks(self) -> list[tuple[str, str]]:
        """(kind, status) of everything in the transcript."""
        found = self.client.transcripts[self.session].blocks
        return [(one.kind, one.status) for one in found.values()]


def starting(scene: Scene) -> None:
    """Nothing more: whoever is killed now is killed while the agent comes up."""


def idle(scene: Scene) -> None:
    warm(scene.client, scene.session, scene.name)


def unread(scene: Scene) -> None:
    """One message makes the agent stop reading; the next one is written, and never read."""
    idle(scene)
    scene.say({"stop_reading": str(scene.gate)}, {"say": "reads no more"}, scene.gated)
    blocks = scene.client.transcripts[scene.session].blocks
    scene.client.until(lambda: any(one.text == "reads no more" for one in blocks.values()))
    scene.say({"say": "late"}, until="written")


def streaming(scene: Scene) -> None:
    scene.say({"flood": FLOOD_BYTES, "line": 1000}, {"say": "all said"})
    scene.client.until(lambda: ("text", "open") in scene.blocks())
    blocks = scene.client.transcripts[scene.session].blocks
    scene.client.until(lambda: any(b.kind == "text" and b.text for b in blocks.values()))


def tool(scene: Scene) -> None:
    """A call that has no result until the gate opens."""
    call = f"toolu_{scene.name}"
    use = {"type": "tool_use", "id": call, "name": "Free", "input": {"command": "sleep"}}
    begun = {"message": {"id": f"msg_{scene.name}", "role": "assistant", "content": [use]}}
    result = {"type": "tool_result", "tool_use_id": call, "content": "slept"}
    over = {"message": {"role": "user", "content": [result]}}
    scene.say(
        {"junk": _line("assistant", begun)},
        scene.gated,
        {"junk": _line("user", over)},
        {"say": "woke up"},
    )
    scene.client.until(lambda: ("tool", "running") in scene.blocks() or _has_tool(scene))


def prompt(scene: Scene) -> None:
    scene.say({"tool": GUARDED, "ask": True, "input": {"command": scene.name}}, {"say": "ran"})
    scene.prompt()


def answered(scene: Scene) -> None:
    prompt(scene)
    scene.client.submit(scene.session, f"{scene.name}.a", scene.prompt(), until="done")


def ending(scene: Scene) -> None:
    scene.say({"say": "nearly"}, scene.gated, {"say": "over"})
    scene.open_gate()


PHASES: dict[str, Enter] = {
    one.__name__: one for one in (starting, idle, unread, streaming, tool, prompt, answered, ending)
}


def _has_tool(scene: Scene) -> bool:
    blocks = scene.client.transcripts[scene.session].blocks.values()
    return any(one.kind == "tool" and one.input for one in blocks)


def _line(kind: str, more: Json) -> str:
    return json.dumps({"type": kind, "parent_tool_use_id": None, "session_id": "", **more}) + "\n"
