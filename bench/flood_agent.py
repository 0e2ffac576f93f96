"""An agent that answers each message with a burst of delta lines, as fast as its pipe takes them.

Run by path. ``FLOOD n`` in a message: n lines. Each is written as the real CLI would write it.
"""

from __future__ import annotations

import json
import os
import sys

CHUNK = 256 * 1024
IDS = {
    "session_id": "s",
    "parent_tool_use_id": None,
    "uuid": "00000000-0000-0000-0000-000000000000",
}


def line(**message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def event(kind: str, **more: object) -> bytes:
    return line(type="stream_event", event={"type": kind, **more}, **IDS)


def delta_line() -> bytes:
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": " word"})


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def turn(message: dict[str, object], count: int) -> None:
    echo = {**message, "isReplay": True, "session_id": "s"}
    write(line(type="system", subtype="init", model="flood", permissionMode="default", **IDS))
    write(line(**echo))
    start = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": {}}
    write(event("message_start", message=start))
    write(event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
    one = delta_line()
    block = one * (CHUNK // len(one))
    left = count * len(one)
    while left:
        write(block[:left])
        left -= min(left, len(block))
    write(event("content_block_stop", index=0) + event("message_stop"))
    write(line(type="result", subtype="success", is_error=False, total_cost_usd=0.0, **IDS))


def main() -> None:
    if "--version" in sys.argv:
        print("2.1.325 (flood)")  # noqa: T201
        return
    for raw in sys.stdin.buffer:
        message = json.loads(raw)
        if message["type"] == "control_request":
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            write(line(type="control_response", response=answer))
        elif message["type"] == "user":
            text = message["message"]["content"][0]["text"]
            turn(message, int(text.split()[1]) if text.startswith("FLOOD") else 1)


if __name__ == "__main__":
    main()
