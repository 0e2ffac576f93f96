"""A script that drives `flybridge adhoc --output json`, as a test does it: over its pipes."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import threading
import time
from typing import Any

from tests.harness.terminal_home import Home

WAIT_S = 15.0
TERMINAL = ("run.completed", "run.failed", "run.cancelled")
Frame = dict[str, Any]


def steps(*steps: Frame, text: str = "go") -> str:
    """A prompt that tells the recorder what to do."""
    return f"{text}\n@@ {json.dumps(list(steps))}"


def marker(*questions: Frame) -> str:
    return f"<!--QUESTION:{json.dumps({'questions': list(questions)})}-->"


class Script:
    """One `flybridge adhoc --output json`; ``frames`` is what it has said so far."""

    def __init__(self, home: Home, *args: str, env: dict[str, str] | None = None) -> None:
        self.frames: list[Frame] = []
        self.raw: list[bytes] = []
        self.process = subprocess.Popen(
            home.argv("adhoc", "--output", "json", *args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**home.env, **(env or {})},
            cwd=home.work,
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors = b""
        self._ended: tuple[int, str] | None = None
        self._threads = [threading.Thread(target=one) for one in (self._read, self._listen)]
        for one in self._threads:
            one.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self._errors = self.process.stderr.read()

    # ---- saying --------------------------------------------------------------------------------

    def say(self, kind: str, payload: Frame, **more: Any) -> None:
        frame = {"v": "1", "id": "msg_x", "ts": "now", "type": kind, "payload": payload, **more}
        self.write(json.dumps(frame).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):  # nobody listens, or it was closed here
            pass

    def start(self, prompt: str, *, run: str = "", agent: str = "recorder", **config: Any) -> None:
        named = {"run_id": run} if run else {}
        self.say("run.start", {"prompt": prompt, "config": {"agent": agent, **config}}, **named)

    def answer(self, question: Frame, value: Any) -> None:
        said = {"question_id": question["payload"]["question_id"], "value": value}
        self.say("run.input", said)

    def close_input(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    # ---- hearing -------------------------------------------------------------------------------

    def next(self) -> Frame | None:
        """The next frame; None at the end."""
        try:
            line = self._lines.get(timeout=WAIT_S)
        except queue.Empty:
            raise AssertionError(f"nothing came; so far: {self.types}") from None
        if not line:
            self._lines.put(b"")  # it stays at its end
            return None
        self.raw.append(line)
        frame: Frame = json.loads(line)
        self.frames.append(frame)
        return frame

    def wait_for(self, kind: str) -> Frame:
        """The next frame of a type."""
        while (frame := self.next()) is not None:
            if frame["type"] == kind:
                return frame
        raise AssertionError(f"no {kind}; came: {self.frames}, {self.end()}")

    def end(self) -> tuple[int, str]:
        """Everything is read; the exit status and what was said beside the protocol."""
        if self._ended is not None:
            return self._ended
        while self.next() is not None:
            pass
        status = self.process.wait(WAIT_S)
        for one in self._threads:
            one.join(WAIT_S)
        self.close_input()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self._ended = status, self._errors.decode()
        return self._ended

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(how)

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


def until(is_so: Any, what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.02)
