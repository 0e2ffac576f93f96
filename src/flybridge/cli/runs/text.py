"""A run as text: what the agent says on standard output, everything else beside it."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from flybridge.cli.rendering.safe_text import one_line, visible
from flybridge.frontends.runs.wire.messages import VERSION

MAX_PROGRESS = 100


def start_frame(prompt: str) -> bytes:
    """What a script would say to begin."""
    frame = {"v": VERSION, "type": "run.start", "payload": {"prompt": prompt}}
    return msgspec.json.encode(frame) + b"\n"


class Written(NamedTuple):
    """What one frame becomes: bytes for standard output, and bytes for standard error."""

    output: bytes = b""
    beside: bytes = b""


def as_frame(line: bytes) -> Written:
    """Pass a frame on as it is."""
    return Written(line)


class RunText:
    """Turns frames into text. ``progress`` adds a line for each step, for people who watch."""

    def __init__(self, *, progress: bool) -> None:
        self._progress = progress

    def show(self, line: bytes) -> Written:
        """Return what the agent said for standard output, and the rest for standard error."""
        frame = msgspec.json.decode(line)
        said: dict[str, Any] = frame["payload"]
        match frame["type"]:
            case "run.progress" if said["kind"] == "text":
                return Written(f"{visible(said['content'])}\n".encode())
            case "run.progress" if self._progress and said["kind"] != "text_delta":
                words = f"{said.get('tool', '')} {said.get('content', '')}".strip()
                return _beside(f"{said['kind']}: {one_line(words)[:MAX_PROGRESS]}")
            case "run.artifact" if self._progress:
                return _beside(f"{said['kind']}: {one_line(said['name'])}")
            case "run.failed":
                return _beside(failure(said["code"], said["message"]))
            case "run.cancelled":
                return _beside(f"flybridge: cancelled: {one_line(said.get('reason', ''))}")
            case _:
                return Written()

    def show_id(self, line: bytes) -> Written:
        """Return the run's id, or why there is none."""
        frame = msgspec.json.decode(line)
        if frame["type"] == "run.started":
            return Written(f"{frame['run_id']}\n".encode())
        return self.show(line) if frame["type"] == "run.failed" else Written()


def failure(code: str, message: str) -> str:
    """Return the line that reports a failed run to a person, who speaks no protocol."""
    shown = f" ({code})" if code != "protocol_error" else ""
    return f"flybridge: {one_line(message)}{shown}"


def _beside(text: str) -> Written:
    return Written(beside=f"{text}\n".encode(errors="backslashreplace"))
