"""Starting the gateway when there is none.

Who starts it does not matter: it is detached, and of several that start at once the lock in the
state directory keeps one; the others end by themselves.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayError, GatewayUnreachableError

START_S = 15.0
POLL_S = 0.02
AGAIN_S = 0.75  # how long to look for the winner when ours has ended
STARTS = 4
TAIL_BYTES = 1000

_T = TypeVar("_T")
_started: list[subprocess.Popen[bytes]] = []  # kept to be reaped: they outlive their starter


def gateway_argv(state: StateDir) -> list[str]:
    """The command that runs a gateway for this directory until nobody needs it."""
    run = ["-m", "flybridge", "gateway", "run", "--state", str(state.path), "--auto"]
    return [sys.executable, *run]


def refuse_inside_agent(environ: Mapping[str, str] = os.environ) -> None:
    """An agent's descendants use a gateway, they never start one.

    Raises:
        GatewayUnreachableError: this process runs inside an agent.
    """
    if session := environ.get("FLYBRIDGE_SESSION"):
        raise GatewayUnreachableError(
            f"no gateway answers, and inside an agent (session {session}) none is started; "
            "run `flybridge gateway run` in a terminal of your own"
        )


async def start_and_reach(
    state: StateDir,
    argv: Sequence[str],
    reach: Callable[[], Awaitable[_T]],
    *,
    start_s: float = START_S,
    again_s: float = AGAIN_S,
) -> _T:
    """Start a gateway and try ``reach`` until it answers.

    A gateway that was just ending may still hold the lock when ours looks: then ours ends too,
    and is started once more.

    Raises:
        GatewayUnreachableError: none answered in time; the text has the end of its log.
    """
    deadline = time.monotonic() + start_s
    for _ in range(STARTS):
        process = _spawn(state, argv)
        until = deadline
        while time.monotonic() < until:
            try:
                return await reach()
            except GatewayUnreachableError:
                await asyncio.sleep(POLL_S)
            if process.poll() is not None:
                until = min(until, time.monotonic() + again_s)
        if time.monotonic() >= deadline:
            break
    raise GatewayUnreachableError(f"the gateway did not start{_tail(state)}")


def _spawn(state: StateDir, argv: Sequence[str]) -> subprocess.Popen[bytes]:
    _started[:] = [process for process in _started if process.poll() is None]
    state.prepare()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        log = os.open(state.log, flags, 0o600)
    except OSError as error:
        raise GatewayError(f"cannot write {state.log}: {error.strerror}") from error
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",  # -m looks for modules in the working directory: never in somebody's project
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        raise GatewayError(f"cannot start a gateway: {error}") from error
    finally:
        os.close(log)
    _started.append(process)
    return process


def _tail(state: StateDir) -> str:
    try:
        with state.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = log.read(TAIL_BYTES).decode(errors="replace").strip()
    except OSError:
        return ""
    return f"; {state.log} ends with:\n{text}" if text else ""
