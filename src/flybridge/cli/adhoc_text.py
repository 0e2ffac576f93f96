"""A run as text: what the agent says on standard output, everything else beside it."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from flybridge.cli.safe_text import one_line, visible
from flybridge.wire.runs.messages import VERSION

MAX_PROGRESS = 100


def start_frame(prompt: str) -> bytes:
    """What a script would say to begin."""
    frame = {"v": VERSION, "type": "run.start", "payload": {"prompt": prompt}}
    return msgspec.json.encode(frame) + b"\n"


class RunText:
    """Makes text out of frames. ``progress``: one line each, for who likes to watch."""

    def __init__(self, beside: TextIO, *, progress: bool) -> None:
        self._beside = beside
        self._progress = progress

    def show(self, line: bytes) -> bytes:
        """What goes to standard output."""
        frame = msgspec.json.decode(line)
        said: dict[str, Any] = frame["payload"]
        match frame["type"]:
            case "run.progress" if said["kind"] == "text":
                return f"{visible(said['content'])}\n".encode()
            case "run.progress" if self._progress and said["kind"] != "text_delta":
                words = f"{said.get('tool', '')} {said.get('content', '')}".strip()
                self._say(f"{said['kind']}: {one_line(words)[:MAX_PROGRESS]}")
            case "run.artifact" if self._progress:
                self._say(f"{said['kind']}: {one_line(said['name'])}")
            case "run.failed":
                self._say(f"flybridge: {one_line(said['message'])} ({said['code']})")
            case "run.cancelled":
                self._say(f"flybridge: cancelled: {one_line(said.get('reason', ''))}")
            case _:
                pass
        return b""

    def show_id(self, line: bytes) -> bytes:
        """Only which run it is."""
        frame = msgspec.json.decode(line)
        if frame["type"] == "run.started":
            return f"{frame['run_id']}\n".encode()
        return self.show(line) if frame["type"] == "run.failed" else b""

    def _say(self, text: str) -> None:
        try:
            self._beside.write(f"{text}\n")
            self._beside.flush()
        except OSError:
            pass
