"""A box with four buttons: shows what an agent wants to do, and says yes or no to it.

    flybridge devices pair --token --name box --may approve --may interrupt
    DEVICE_TOKEN=fbd_... python examples/button_box.py 192.168.1.20:3333

Buttons are lines here: y (yes), a (always), n (no), e (escape), each with a slot if it is not 0
("y 1"). On real hardware the loop that reads lines reads pins instead.
"""

# ruff: noqa: T201
from __future__ import annotations

import json
import os
import sys
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

BUTTONS = {"y": "yes", "a": "always", "n": "no", "e": "escape"}


def show(message: dict[str, object]) -> None:
    """One line for what changed: a display has few of them."""
    if message["type"] != "agent_status":
        return
    wants = f"{message.get('promptToolType', '')} {message.get('promptToolDetail', '')}".strip()
    print(f"[{message['slot']}] {message['agent']} {message['state']} {wants}".rstrip(), flush=True)


def press(socket: ClientConnection) -> None:
    """Every line of stdin is a button."""
    for line in sys.stdin:
        key, _, slot = line.strip().partition(" ")
        if key in BUTTONS:
            action = {"type": "action", "action": BUTTONS[key], "slot": int(slot or "0")}
            socket.send(json.dumps(action))
    socket.close()


def main(address: str) -> int:
    token = os.environ.get("DEVICE_TOKEN", "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with connect(f"ws://{address}/", additional_headers=headers, compression=None) as socket:
        threading.Thread(target=press, args=(socket,), daemon=True).start()
        try:
            while True:
                show(json.loads(socket.recv()))
        except ConnectionClosed:
            return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:3333"))
