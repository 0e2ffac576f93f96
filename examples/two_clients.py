"""Two programs in one session: one talks, the other decides, and both see the same.

    python examples/two_clients.py

Here both run in one process, each with a connection of its own. Either may lose it at any time:
what was said is said once, and whoever comes back sees what it missed.
"""

# ruff: noqa: T201
from __future__ import annotations

import asyncio
import sys

from flybridge.client import Allow, PermissionPrompt, connect


async def decide(prompt: PermissionPrompt) -> Allow:
    print(f"the second helm allows {prompt.tool}: {prompt.input}")
    return Allow()


async def main() -> int:
    async with (
        await connect(name="first") as first,
        await connect(name="second") as second,
        first.start(agent="demo", cwd=".") as talking,
        second.session(talking.id, on_permission=decide) as deciding,
    ):
        turn = await talking.ask("run date")
        print(f"the first helm hears: {turn.text}")
        async with asyncio.timeout(10):  # either may be an event ahead of the other
            while deciding.transcript.last_seq != talking.transcript.last_seq:
                await asyncio.sleep(0.01)
        same = deciding.transcript.blocks == talking.transcript.blocks
        print(f"both saw the same: {same}")
        await talking.end()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
