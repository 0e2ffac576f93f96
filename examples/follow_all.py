"""Say what every session waits for, whenever that changes. Ctrl-C ends it.

    python examples/follow_all.py

With FLYBRIDGE_URL and FLYBRIDGE_TOKEN_FILE it follows the sessions of another machine: a token
that may only view is enough. Lost connections are made again; nothing needs to be done for it.
"""

# ruff: noqa: T201
from __future__ import annotations

import asyncio

import msgspec

from flybridge.client import Client, SessionRow, SessionView, ViewItem, connect

EVERY_S = 1.0  # how often to look for new sessions


async def follow(client: Client, row: SessionRow) -> None:
    shown = ""
    async with client.watch(row.session, last=1, previews=False) as items:
        async for item in items:
            if isinstance(item, ViewItem):
                state = msgspec.json.decode(item.state, type=SessionView)
                if state.why != shown:
                    shown = state.why
                    name = state.title or row.cwd
                    print(f"{row.session[:12]} {name}: {state.status}, {state.why}", flush=True)


async def main() -> None:
    followed: set[str] = set()
    async with await connect(name="follow-all") as client, asyncio.TaskGroup() as following:
        while True:
            for row in await client.sessions():
                if row.session not in followed:
                    followed.add(row.session)
                    following.create_task(follow(client, row))
            await asyncio.sleep(EVERY_S)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
