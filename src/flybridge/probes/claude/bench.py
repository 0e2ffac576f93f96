"""Where probes find the CLI they are about: one life for many of them, a new one where needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model.capabilities import Capabilities, OpenSpec
from flybridge.model.facts import TurnOver
from flybridge.model.ids import InputKey
from flybridge.probes.claude.conversation import Conversation
from flybridge.probes.claude.fields import Fields
from flybridge.probes.claude.world import World

ANCHOR = "Remember the first anchor."


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that was had and ended: its id, and one prompt of it."""

    agent_session: str
    prompt: str
    key: InputKey
    status: int  # with which the CLI ended


class Bench:
    """What every probe is handed. A life that a probe left in disorder is not used again."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.api = world.api
        self.capabilities: Capabilities = ClaudeAgent().capabilities(world.version_output())
        self.fields = Fields()
        self._talk: Conversation | None = None
        self._past: Past | None = None
        self._deadline = 0.0
        self._files = 0

    # ---- one probe after the other ---------------------------------------------------------------

    def begin(self, deadline: float) -> None:
        self._deadline = deadline
        if self._talk is not None:
            self._talk.begin(deadline)

    def drop(self) -> None:
        """End the life there is; the next probe gets another one."""
        if self._talk is not None:
            self._talk.close()
            self._talk = None

    # ---- lives -----------------------------------------------------------------------------------

    @property
    def talk(self) -> Conversation:
        """The conversation that probes share."""
        if self._talk is None:
            self.open(agent_session=str(uuid4()))
        assert self._talk is not None
        return self._talk

    def open(self, **how: Any) -> Conversation:
        """Begin another life, and end the one before."""
        self.drop()
        spec = OpenSpec(agent="claude", cwd=str(self.world.cwd), **how)
        self._talk = Conversation(self.world, spec, self.capabilities, self.fields)
        self._talk.begin(self._deadline)
        return self._talk

    def past(self) -> Past:
        """A conversation to go on with; the one there is, or a new one, is ended for it."""
        if self._past is None:
            prompt = f"past-{self._file_number()}"
            talk = self.talk
            turns = len(talk.all(TurnOver))
            key = talk.say(prompt, {"say": ANCHOR})
            talk.get(TurnOver, turns + 1)
            talk.end_input()
            self._past = Past(
                agent_session=talk.spec.agent_session,
                prompt=prompt,
                key=key,
                status=talk.exit_status(),
            )
            self.drop()
        return self._past

    # ---- things in its world ---------------------------------------------------------------------

    def file(self, name: str) -> Path:
        """A path in the folder where the CLI works; nothing is there yet."""
        return self.world.cwd / f"{name}-{self._file_number()}"

    def outside(self, name: str) -> Path:
        """A path in no folder that the CLI works in."""
        return self.world.base / f"{name}-{self._file_number()}"

    def _file_number(self) -> int:
        self._files += 1
        return self._files

    def results(self, prompt: str) -> list[dict[str, Any]]:
        """The tool results in the newest request of the conversation that holds these words."""
        about = [one for one in self.api.turns if any(prompt in text for text in one.given())]
        return about[-1].blocks("tool_result") if about else []


def bash(command: str) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a probe"}}


def waiting(mark: Path, go: Path) -> dict[str, object]:
    """A tool that asks first, says that it runs, and runs until it is let go."""
    return bash(f"echo x >>{mark}; while [ ! -e {go} ]; do sleep 0.05; done")


def value_of(raw: msgspec.Raw) -> Any:
    return json.loads(bytes(raw))
