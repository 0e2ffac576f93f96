"""The toy agent itself: one JSON object per line. It pretends to run commands, and runs none."""

from __future__ import annotations

import json
import sys
import uuid

always = False


def write(**message: str) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def turn(text: str) -> None:
    global always
    name, command = uuid.uuid4().hex, text.removeprefix("run ")
    if command == text:
        write(id=name, text=f"You said: {text.upper() if '--shout' in sys.argv else text}")
        return
    write(call=name, command=command)
    if not always:
        write(ask=f"{name}-ask", command=command)
        answer = json.loads(sys.stdin.readline() or sys.exit())
        write(got=answer["key"])
        always = answer["always"]
        if not answer["allow"]:
            write(result="denied", text="not allowed")
            return
    write(result="ok", text=f"pretended to run {command}")


if __name__ == "__main__":
    if "--version" in sys.argv:
        sys.stdout.write("toy 1.0\n")
        sys.exit()
    resumed = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else ""
    write(hello=resumed or uuid.uuid4().hex)
    for line in sys.stdin:
        message = json.loads(line)
        write(got=message["key"])
        write(turn="begin")
        turn(message["say"])
        write(turn="end")
