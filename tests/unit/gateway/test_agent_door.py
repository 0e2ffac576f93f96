from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from flybridge.gateway.agent_door import AgentDoor
from flybridge.model.audit import Record


async def test_the_door_is_made_at_the_first_wish_and_where_it_was(short_tmp: Path) -> None:
    notes: list[Record] = []
    door = AgentDoor(short_tmp / "agent-port", lambda: 0, notes.append, 1000)
    await door.dial_ins.close()  # nobody ever came: nothing to shut
    await door.dial_ins.open()
    port = door.dial_ins.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /ws/cli/x HTTP/1.1\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 4")
    writer.close()
    await door.dial_ins.close()
    again = AgentDoor(short_tmp / "agent-port", lambda: 0, notes.append, 1000)
    await again.dial_ins.open()
    assert again.dial_ins.port == port
    await again.dial_ins.close()


def test_a_gateway_that_never_needs_it_does_not_load_it() -> None:
    code = "import sys, flybridge.gateway.agent_door; print('websockets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert done.stdout == "False\n"
