"""Run one task where nobody can be asked anything; the exit status says how it went.

    TASK_USD=0.50 TASK_SECONDS=600 python examples/run_in_ci.py "fix the failing test"

0: done. 1: the agent failed. 2: it went over the budget. 3: it took too long. Sent again with
the same TASK_ID, a task is not run again: its outcome is told.
"""

# ruff: noqa: T201
from __future__ import annotations

import asyncio
import os
import sys
import uuid

from flybridge.client import Decline, Deny, PermissionPrompt, QuestionPrompt, connect

AGENT = os.environ.get("FLYBRIDGE_AGENT", "demo")
USD = float(os.environ.get("TASK_USD", "1"))
SECONDS = float(os.environ.get("TASK_SECONDS", "600"))
TASK = os.environ.get("TASK_ID") or str(uuid.uuid4())


async def deny(prompt: PermissionPrompt) -> Deny:
    return Deny("nobody is here to ask: do without it")


async def decline(prompt: QuestionPrompt) -> Decline:
    return Decline()


async def main(task: str) -> int:
    client = await connect(name="ci")
    new = client.start(
        agent=AGENT, cwd=".", budget_usd=USD, request=TASK, on_permission=deny, on_question=decline
    )
    async with client, new as session:
        try:
            async with asyncio.timeout(SECONDS):
                turn = await session.ask(task, request=TASK)
        except TimeoutError:
            return 3
        finally:  # the agent ends; the log stays, and anybody can go on from there
            await client.ask("stop_agent", {"session": session.id})
    print(turn.text or turn.message)
    print(f"{turn.reason or turn.outcome}, {turn.cost_usd:.2f} USD", file=sys.stderr)
    if turn.reason == "limit" or turn.cost_usd > USD:
        return 2
    return 0 if turn.ok else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]) or "hello")))
