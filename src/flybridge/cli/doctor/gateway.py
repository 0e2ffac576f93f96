"""The gateway and the keepers: who runs, who answers, what was left behind."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import flybridge
from flybridge.cli.doctor.text import Check
from flybridge.cli.rendering.tool_text import duration
from flybridge.client import connect
from flybridge.config.state_dir import StateDir
from flybridge.errors import FlybridgeError, GatewayUnreachableError

ANSWER_S = 5.0
START_S = 2.0  # one that is just starting gets so long
POLL_S = 0.05
KERNEL_BYTES = 4 << 20  # of what the kernel lists


async def check_gateway(state: StateDir) -> Check:
    """Ask the gateway how it is; where none answers, find out why. None is started."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            async with asyncio.timeout(ANSWER_S):
                return _running(await _ask(state))
        except TimeoutError:
            return _silent(state)
        except (GatewayUnreachableError, FileNotFoundError):
            holder = lock_holder(state.lock)
            if holder is None:
                return _absent(state)
            if time.monotonic() > deadline:
                return _silent(state)
            await asyncio.sleep(POLL_S)
        except FlybridgeError as error:
            fix = "run flybridge gateway stop with the version that started it"
            return Check(area="gateway", status="problem", text=str(error), fix=fix)


async def _ask(state: StateDir) -> dict[str, Any]:
    async with await connect(state, start=False, name="doctor") as client:
        return await client.status()


def _running(said: dict[str, Any]) -> Check:
    up = duration(time.time_ns() // 1_000_000 - int(said["started_ms"]))
    text = f"{said['version']} answers, process {said['pid']}, up for {up}"
    names = ("version", "pid", "python", "agents", "sessions", "clients", "started_ms")
    data = {name: said[name] for name in names if name in said}
    if said["version"] == flybridge.__version__:
        return Check(area="gateway", text=text, data=data)
    fix = f"flybridge gateway stop; the next command starts {flybridge.__version__}"
    return Check(area="gateway", status="note", text=text, fix=fix, data=data)


def _absent(state: StateDir) -> Check:
    data: dict[str, object] = {"stale_socket": state.socket.exists()}
    text = "none runs; the next command starts one"
    if data["stale_socket"]:
        text = f"none runs; {state.socket.name} was left over, the next one sweeps it away"
        return Check(area="gateway", status="note", text=text, data=data)
    return Check(area="gateway", text=text, data=data)


def _silent(state: StateDir) -> Check:
    pid = lock_holder(state.lock)
    who = f"process {pid}" if pid else "a process"
    return Check(
        area="gateway",
        status="problem",
        text=f"{who} holds {state.lock.name} and does not answer",
        fix=f"read {state.log}; if it stays so: kill {pid or 'it'}",
        data={"pid": pid},
    )


def lock_holder(lock: Path) -> int | None:
    """The process that holds a lock file, as the kernel says; None when nobody does.

    Trying to take the lock would tell, too, and keep a gateway from starting meanwhile.
    """
    try:
        found = lock.stat()
    except OSError:
        return None
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    for line in _listed("/proc/locks"):
        words = line.split()
        if "FLOCK" in words and device in words:
            return int(words[words.index(device) - 1])
    return None


# ---- keepers -------------------------------------------------------------------------------------


def check_keepers(state: StateDir, gateway: Check) -> Check:
    """Who holds agents; without a gateway they wait for the next one."""
    try:
        names = {one.name for one in os.scandir(state.keepers) if one.name.endswith(".sock")}
    except OSError:
        names = set()
    bound = {Path(line.split(maxsplit=7)[7]).name for line in _bound_sockets()}
    living, dead = names & bound, names - bound
    data: dict[str, object] = {"living": len(living), "dead": len(dead)}
    one = len(living) == 1
    text = "1 holds an agent" if one else f"{len(living)} hold agents" if living else "none"
    if living and "pid" not in gateway.data:
        text += f" without a gateway; the next one finds {'it' if one else 'them'}"
    if dead:
        text += f"; socket files left over: {len(dead)}, harmless"
    return Check(area="keepers", text=text, data=data)


def _bound_sockets() -> list[str]:
    return [line for line in _listed("/proc/net/unix") if len(line.split(maxsplit=7)) == 8]


def _listed(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(KERNEL_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return []
