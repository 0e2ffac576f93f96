"""Ask an agent one question, print its answer, and end it.

    python examples/ask_once.py "think about boats"

FLYBRIDGE_AGENT chooses the agent; without it, it is the demo, which needs no key.
"""

# ruff: noqa: T201
from __future__ import annotations

import asyncio
import os
import sys

from flybridge.client import connect


async def main(question: str) -> int:
    agent = os.environ.get("FLYBRIDGE_AGENT", "demo")
    async with (
        await connect(name="ask-once") as client,
        client.start(agent=agent, cwd=".") as session,
    ):
        turn = await session.ask(question)
        print(turn.text)
        await session.end()
    return 0 if turn.ok else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]) or "hello")))
