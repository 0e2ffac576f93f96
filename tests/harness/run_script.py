"""A script that drives `flybridge adhoc --output json`, as a test does it: over its pipes."""

from __future__ import annotations

import json
from typing import Any

from tests.harness.line_process import LineProcess
from tests.harness.terminal_home import Home

TERMINAL = ("run.completed", "run.failed", "run.cancelled")
Frame = dict[str, Any]


def marker(*questions: Frame) -> str:
    return f"<!--QUESTION:{json.dumps({'questions': list(questions)})}-->"


class Script(LineProcess):
    """One `flybridge adhoc --output json`; ``frames`` is what it has said so far."""

    def __init__(self, home: Home, *args: str, env: dict[str, str] | None = None) -> None:
        super().__init__(
            home.argv("adhoc", "--output", "json", *args),
            env={**home.env, **(env or {})},
            cwd=home.work,
            start_new_session=True,
        )

    @property
    def frames(self) -> list[Frame]:
        return self.messages

    # ---- saying --------------------------------------------------------------------------------

    def say(self, kind: str, payload: Frame, **more: Any) -> None:
        frame = {"v": "1", "id": "msg_x", "ts": "now", "type": kind, "payload": payload, **more}
        self.send(frame)

    def write(self, data: bytes) -> None:
        try:
            super().write(data)
        except (BrokenPipeError, ValueError):  # nobody listens, or it was closed here
            pass

    def start(self, prompt: str, *, run: str = "", agent: str = "recorder", **config: Any) -> None:
        named = {"run_id": run} if run else {}
        self.say("run.start", {"prompt": prompt, "config": {"agent": agent, **config}}, **named)

    def answer(self, question: Frame, value: Any) -> None:
        said = {"question_id": question["payload"]["question_id"], "value": value}
        self.say("run.input", said)

    # ---- hearing -------------------------------------------------------------------------------

    def wait_for(self, kind: str) -> Frame:
        """The next frame of a type."""
        while (frame := self.next_or_none()) is not None:
            if frame["type"] == kind:
                return frame
        raise AssertionError(f"no {kind}; came: {self.frames}, {self.end()}")

    def end(self) -> tuple[int, str]:
        """Everything is read; the exit status and what was said beside the protocol."""
        self.rest()
        status = self.exit_code()
        self.close()
        return status, self.errors().decode()

    # ---- what was said -------------------------------------------------------------------------

    @property
    def types(self) -> list[str]:
        return [frame["type"] for frame in self.frames]

    @property
    def ids(self) -> list[str]:
        return [frame["id"] for frame in self.frames]

    @property
    def terminal(self) -> list[Frame]:
        return [frame for frame in self.frames if frame["type"] in TERMINAL]

    @property
    def run(self) -> str:
        return str(self.frames[0]["run_id"])

    def texts(self, kind: str = "text") -> list[str]:
        said = [one["payload"] for one in self.frames if one["type"] == "run.progress"]
        return [one.get("content", "") for one in said if one["kind"] == kind]


def finished(home: Home, *args: str, env: dict[str, str] | None = None, **start: Any) -> Script:
    """A run from its beginning to its end, with its input closed."""
    script = Script(home, *args, env=env)
    if start:
        script.start(**start)
    script.close_input()
    script.end()
    return script
