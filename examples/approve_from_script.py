"""Let an agent work under a policy: some commands may run, others not, the rest is for people.

    python examples/approve_from_script.py "run ls" "run rm -rf build" "write notes.txt"

A program may decide in sessions it opened itself, over the Unix socket, for as long as it runs.
A token never may: whatever reads a file could hold one, an agent too. What the policy leaves
open can be answered by a person meanwhile, say with `flybridge chat`.
"""

# ruff: noqa: T201
from __future__ import annotations

import asyncio
import os
import sys

from flybridge.client import Allow, Deny, PermissionPrompt, connect

HARMLESS = {"ls", "pwd", "date", "echo"}


async def policy(prompt: PermissionPrompt) -> Allow | Deny | None:
    """Whatever is not decided here stays open."""
    if prompt.tool != "Bash":
        print(f"for a person: {prompt.tool} {prompt.input}", flush=True)
        return None
    command = str(prompt.input.get("command", ""))
    # one plain command: anything a shell would read more into is not on the list
    if (
        command.split()[:1]
        and command.split()[0] in HARMLESS
        and command.replace(" ", "").isalnum()
    ):
        print(f"allowed: {command}")
        return Allow()
    print(f"denied: {command}")
    return Deny("only ls, pwd, date and echo run here")


async def main(wishes: list[str]) -> int:
    agent = os.environ.get("FLYBRIDGE_AGENT", "demo")
    async with (
        await connect(name="policy") as client,
        client.start(agent=agent, cwd=".", on_permission=policy) as session,
    ):
        for wish in wishes:
            turn = await session.ask(wish)
            print(turn.text)
        await session.end()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:] or ["run ls", "run touch mine"])))
