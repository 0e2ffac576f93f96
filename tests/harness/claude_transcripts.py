"""Transcripts written by hand, as short as they can be; and those the real programs wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

GOLDEN = Path(__file__).parents[1] / "golden" / "claude" / "transcripts"
SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"


def golden(name: str) -> list[bytes]:
    return (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()


def line(kind: str, **more: Any) -> bytes:
    return msgspec.json.encode({"type": kind, **more})


class Writer:
    """Writes a conversation as the CLI would: every line hangs on the one before.

    ``at`` says on which line the next one hangs; the time goes up by a second a line.
    """

    def __init__(self, cwd: str = "/home/ada/boat", session: str = SESSION) -> None:
        self.lines: list[bytes] = []
        self.at: str | None = None
        self._cwd = cwd
        self._session = session
        self._count = 0

    def put(self, kind: str, **more: Any) -> str:
        self._count += 1
        uuid = more.pop("uuid", f"u{self._count}")
        base = {
            "parentUuid": self.at,
            "isSidechain": False,
            "cwd": self._cwd,
            "sessionId": self._session,
            "version": "2.1.38",
            "gitBranch": "main",
            "uuid": uuid,
            "timestamp": f"2026-01-01T00:{self._count // 60:02}:{self._count % 60:02}.000Z",
        }
        self.lines.append(line(kind, **{**base, **more}))
        self.at = uuid
        return str(uuid)

    def prompt(self, text: str, **more: Any) -> str:
        return self.put("user", message={"role": "user", "content": text}, **more)

    def say(self, text: str, **more: Any) -> str:
        return self.agent({"type": "text", "text": text}, **more)

    def call(self, tool: str, command: str = "ls", **more: Any) -> str:
        given = {"command": command}
        return self.agent({"type": "tool_use", "id": tool, "name": "Bash", "input": given}, **more)

    def agent(self, block: dict[str, Any], message: str = "", **more: Any) -> str:
        name = message or f"msg_{self._count}"
        body = {"id": name, "role": "assistant", "model": "claude-x", "content": [block]}
        return self.put("assistant", message=body, **more)

    def result(self, tool: str, text: str = "done", **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": tool, "content": text}
        return self.put("user", message={"role": "user", "content": [block]}, **more)


def talk() -> Writer:
    """Two prompts, one call: eight lines, u1 to u7 and a line about the queue."""
    writer = Writer()
    writer.lines.append(line("queue-operation", operation="dequeue", sessionId=SESSION))
    writer.prompt("look around")
    writer.say("I look.")
    writer.call("toolu_1")
    writer.result("toolu_1", "a.txt")
    writer.say("One file.")
    writer.prompt("thank you")
    writer.say("Ahoy.")
    return writer
