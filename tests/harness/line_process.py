"""A child process that speaks in lines of JSON over its pipes, read with a bound."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from tests.harness.waiting import WAIT_S

Json: TypeAlias = dict[str, Any]


class LineProcess:
    """Use as a context, or call ``end``; what is still alive at its end is killed.

    ``raw`` has all lines that were read so far, ``messages`` what they said.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        start_new_session: bool = False,
    ) -> None:
        self.raw: list[bytes] = []
        self.messages: list[Json] = []
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=start_new_session,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        self._threads = [
            threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process if it still runs, and close its pipes."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT_S)
        for thread in self._threads:
            thread.join(WAIT_S)
        self.close_input()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    # ---- towards the process -------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Json) -> None:
        """Write messages, a line for each."""
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def close_input(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # what was not written yet is lost with the reader
            pass

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(how)

    # ---- from the process ----------------------------------------------------------------------

    def line(self) -> bytes:
        """Return the next line; nothing at the end, however often it is called.

        Raises:
            AssertionError: no line comes within the bound.
        """
        try:
            line = self._lines.get(timeout=WAIT_S)
        except queue.Empty:
            raise AssertionError(f"no line within {WAIT_S:g} s; before: {self.messages}") from None
        if line:
            self.raw.append(line)
        else:
            self._lines.put(b"")
        return line

    def next_or_none(self) -> Json | None:
        """Return the next message, or None at the end."""
        line = self.line()
        if not line:
            return None
        self.messages.append(parsed(line))
        return self.messages[-1]

    def next(self) -> Json:
        """Return the next message.

        Raises:
            AssertionError: stdout ended before.
        """
        message = self.next_or_none()
        assert message is not None, f"stdout ended; stderr: {self.errors()!r}"
        return message

    def until(self, wanted: Callable[[Json], bool]) -> list[Json]:
        """Return everything up to the first wanted message, that one included."""
        messages = [self.next()]
        while not wanted(messages[-1]):
            messages.append(self.next())
        return messages

    def until_type(self, name: str) -> Json:
        """Return the next message of a type."""
        return self.until(lambda message: message["type"] == name)[-1]

    def until_line(self, text: str) -> None:
        """Read on to a line that is this text, of a process that does not speak JSON.

        Raises:
            AssertionError: stdout ended before.
        """
        while (line := self.line()) != f"{text}\n".encode():
            assert line, f"stdout ended before {text!r}; stderr: {self.errors()!r}"

    def rest(self) -> list[Json]:
        """Return everything up to the end of stdout."""
        return list(iter(self.next_or_none, None))

    def exit_code(self) -> int:
        """Wait for the end of the process; return its exit status."""
        return self.process.wait(WAIT_S)

    def errors(self) -> bytes:
        """Return what was written to stderr; all of it once the process ended."""
        if self.process.poll() is not None:
            self._threads[1].join(WAIT_S)
        return b"".join(self._errors)


def parsed(line: bytes) -> Json:
    """Return the message in a line; a line without one becomes a message of its own type."""
    try:
        message: Json = json.loads(line)
    except ValueError:
        message = {"type": "noise", "line": line}
    return message
