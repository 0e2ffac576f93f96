"""Drive an agent over the IPC: one message, every permission denied, the answer printed.

    python examples/ipc_python.py "think about boats"

FLYBRIDGE_AGENT chooses the agent; without it, it is the demo, which needs no key.
"""

# ruff: noqa: T201
from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def main(question: str) -> int:
    agent = os.environ.get("FLYBRIDGE_AGENT", "demo")
    bridge = subprocess.Popen(
        [sys.executable, "-m", "flybridge", "ipc", "--new", "--agent", agent],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert bridge.stdin is not None
    assert bridge.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert bridge.stdin is not None
        bridge.stdin.write(json.dumps(message).encode() + b"\n")
        bridge.stdin.flush()

    good = False
    send({"type": "protocol_init", "version": 1})
    for line in bridge.stdout:
        said = json.loads(line)
        match said["type"]:
            case "session_init" if said["session_id"] == "pending":
                send({"type": "user_message", "text": question})
            case "control_request_forward":
                denied = {"decision": "deny", "message": "nobody is here"}
                send({"type": "tool_approval", "request_id": said["request_id"], **denied})
            case "assistant_text" if not said["is_partial"]:
                print(said["text"])
            case "turn_complete":
                good = said["result"] == "success"
                bridge.stdin.close()  # it ends the agent, and then itself
    return 0 if bridge.wait() == 0 and good else 1


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]) or "hello"))
