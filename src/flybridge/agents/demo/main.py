"""The demo agent as a process: stdin, stdout, signals, and how it leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

from flybridge.agents.demo.agent import Agent, BadLineError
from flybridge.agents.demo.options import VERSION, Options, UsageError, parse_options

READ_BYTES = 64 * 1024
TERMINATED = 128 + signal.SIGTERM


def main() -> int:
    try:
        options = parse_options(sys.argv[1:], os.environ)
    except UsageError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    if options.version:
        sys.stdout.write(f"{VERSION} (Flybridge demo agent)\n")
        return 0
    # Not through the event loop: it must also work while a write to a full pipe blocks.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(TERMINATED))
    return asyncio.run(_serve(options))


async def _serve(options: Options) -> int:
    agent = Agent(options, cwd=str(Path.cwd()))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, agent.signalled)
    # A thread, because stdin may be a file or a terminal, which an event loop cannot watch.
    threading.Thread(target=_read, args=(loop, agent), daemon=True).start()
    return await agent.run()


def _read(loop: asyncio.AbstractEventLoop, agent: Agent) -> None:
    taken = threading.Event()
    try:
        while data := os.read(0, READ_BYTES):
            taken.clear()
            loop.call_soon_threadsafe(_take, agent, data, taken)
            taken.wait()
        loop.call_soon_threadsafe(agent.end)
    except RuntimeError:
        pass  # the loop is closed: we are leaving anyway


def _take(agent: Agent, data: bytes, taken: threading.Event) -> None:
    try:
        agent.receive(data)
    except BadLineError as error:
        sys.stderr.write(f"Error parsing streaming input line: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    taken.set()
