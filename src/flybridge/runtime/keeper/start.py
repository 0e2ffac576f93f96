"""Starting a keeper: a process that outlives us, told everything over a socket.

The keeper itself is ``keeper_program.py``; what it promises stands there.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec

from flybridge.errors import AgentStartError, KeeperError
from flybridge.runtime.keeper import keeper_program
from flybridge.runtime.keeper.keeper_program import kill_exactly, process, read_file
from flybridge.runtime.keeper.process import start_time
from flybridge.runtime.keeper.programs import (
    bare_environment,
    channel,
    command,
    read_all,
    reap_when_over,
    spawn,
    write_all,
)
from flybridge.runtime.keeper.starter import KeeperStarter


class KeeperSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a keeper is told at its start, over a pipe: never on disk, never in arguments.

    ``env`` is the agent's whole environment; the keeper adds FLYBRIDGE_INCARNATION, by which
    stragglers are found. ``pipes`` "none": the agent has no stdin and its stdout is treated
    like stderr (it is spoken to in another way). ``umask`` -1: the gateway's own.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    incarnation: str
    secret: str
    socket: str
    pipes: Literal["stdio", "none"] = "stdio"
    umask: int = -1
    hello_s: float = 30
    orphan_s: float = 900
    drain_s: float = 2
    grace_s: float = 5
    memory_bytes: int = 2**20
    spill_bytes: int = 256 * 2**20


class StartedKeeper(msgspec.Struct, frozen=True, kw_only=True):
    """A keeper that is ready for HELLO: its pid and start time, and its agent's pid."""

    pid: int
    start: str
    agent_pid: int


async def start_keeper(
    spec: KeeperSpec,
    starter: KeeperStarter | None = None,
    *,
    python: str = sys.executable,
    timeout_s: float = 30,
) -> StartedKeeper:
    """Start a keeper and its agent; it lives on when this process ends.

    The keeper is a child of the starter. Without one, it is a child of this process, which reaps
    it, and what a killed keeper leaves behind is adopted by init. Whoever is cancelled here
    leaves a keeper that ends itself, as nobody says HELLO to it.

    Raises:
        AgentStartError: the agent could not be started, with the reason.
        KeeperError: the keeper itself, or the starter, did not come up.
    """
    if spec.umask < 0:  # the starter's own is not the gateway's
        spec = msgspec.structs.replace(spec, umask=_umask())
    # Python's own JSON: unlike msgspec's it carries what is not Unicode in an environment.
    document = json.dumps(msgspec.to_builtins(spec)).encode()
    argv = command(keeper_program.__file__, python)
    try:
        with ExitStack() as files:
            spec_r, spec_w = channel(files)
            answer_r, answer_w = channel(files)
            ends = spec_r.fileno(), answer_w.fileno()
            if starter is not None:
                pid, start = await starter.spawn(argv, bare_environment(), ends)
            else:
                pid = spawn(argv, *ends)
                start = start_time(pid) or ""
                reap_when_over(pid)
            spec_r.close()
            answer_w.close()
            async with _killing_after(timeout_s, pid, start, starter):
                await write_all(spec_w, document)
                answer = await read_all(answer_r)
    except OSError as error:
        raise KeeperError(f"{python}: {error.strerror}") from error
    return StartedKeeper(pid=pid, start=start, agent_pid=_agent_pid(spec, answer))


@asynccontextmanager
async def _killing_after(
    timeout_s: float, pid: int, start: str, starter: KeeperStarter | None
) -> AsyncIterator[None]:
    """Give a keeper so much time, then end it."""
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        if starter is not None:
            starter.expect_end(pid, start)
        found = process(pid)
        if found is not None and found.start == start:
            kill_exactly(found)
        raise KeeperError(f"the keeper was not ready after {timeout_s:g} s") from None


def _umask() -> int:
    """Return this process's own; asking os.umask would change it for a moment."""
    found = re.search(rb"^Umask:\s*([0-7]+)$", read_file("/proc/self/status"), re.MULTILINE)
    return int(found[1], 8) if found else 0o022


def _agent_pid(spec: KeeperSpec, answer: bytes) -> int:
    word, _, rest = answer.decode(errors="replace").strip().partition(" ")
    if word == "ready" and rest.isdecimal():
        return int(rest)
    if word == "failed":
        raise AgentStartError(Path(spec.argv[0]).name if spec.argv else "agent", reason=rest)
    raise KeeperError(f"the keeper did not start: {word} {rest}".rstrip())
