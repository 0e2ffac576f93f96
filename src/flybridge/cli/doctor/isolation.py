"""Check how well agents are kept apart: kernel settings, other users, agents on pipes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flybridge.cli.doctor.text import Check
from flybridge.cli.sessions.text import SHORT
from flybridge.client import connect
from flybridge.config.state_dir import StateDir
from flybridge.errors import FlybridgeError

ANSWER_S = 5.0
PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
MOUNTS = "/proc/self/mounts"
MOUNTS_BYTES = 1 << 20
SHOWN = 5  # ids of sessions
_SCOPES = {
    0: "off (ptrace_scope 0)",
    1: "on (ptrace_scope 1): a process can debug only what it started",
    2: "on (ptrace_scope 2): only an administrator can debug",
    3: "on (ptrace_scope 3): nobody can debug",
}
_HIDEPID = {"0": "off", "1": "noaccess", "2": "invisible", "4": "ptraceable"}
DEBUG_RISK = (
    "an agent's tools can debug the agent and copy its descriptors (ptrace, pidfd_getfd), and so "
    "answer its prompts"
)
WALL = "run agents under their own Unix user, or in a container"


async def check_isolation(state: StateDir, gateway: Check) -> list[Check]:
    """Check Yama, hidepid, and whether the living agents talk over sockets."""
    checks = [check_yama(PTRACE_SCOPE), check_hidepid(MOUNTS, uid=os.geteuid())]
    if "pid" in gateway.data:
        checks.append(await check_old_agents(state))
    return checks


def check_yama(path: str) -> Check:
    """Report whether the kernel keeps a process from debugging others of the same user."""
    scope = _ptrace_scope(path)
    data: dict[str, object] = {"ptrace_scope": scope}
    if scope is not None and scope > 0:
        return Check(area="yama", text=_SCOPES.get(scope, f"ptrace_scope {scope}"), data=data)
    text = "not in this kernel" if scope is None else _SCOPES[0]
    how = "" if scope is None else "sysctl kernel.yama.ptrace_scope=1; or "
    return Check(
        area="yama", status="note", text=f"{text}: {DEBUG_RISK}", fix=f"{how}{WALL}", data=data
    )


def _ptrace_scope(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None


def check_hidepid(path: str, *, uid: int) -> Check:
    """Report whether /proc hides processes; the gateway has to see who its peers descend from."""
    value = _hidepid(path)
    data: dict[str, object] = {"hidepid": value}
    if value == "off":
        return Check(area="hidepid", text="off: every user sees all command lines", data=data)
    if uid == 0:
        return Check(area="hidepid", text=f"{value}; root sees everything", data=data)
    return Check(
        area="hidepid",
        status="note",
        text=f"{value}: the gateway may not see which process a peer descends from, and treats "
        "every peer it cannot judge as an agent, without the right to approve",
        fix="mount /proc without hidepid, or with gid= of a group that this user is in",
        data=data,
    )


def _hidepid(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            lines = file.read(MOUNTS_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return "off"
    found = "off"
    for line in lines:
        words = line.split()
        if len(words) > 3 and words[1:3] == ["/proc", "proc"]:  # the last mount is the visible one
            options = dict(word.partition("=")[::2] for word in words[3].split(","))
            value = options.get("hidepid", "0")
            found = _HIDEPID.get(value, value)
    return found


def check_other_users(users: Sequence[int | str], forwarders: Sequence[int | str]) -> list[Check]:
    """Report the other Unix users that the configuration admits; nothing if it admits none."""
    if not users and not forwarders:
        return []
    admitted = [f"{user} may sign in" for user in users]
    admitted += [f"{user} forwards connections" for user in forwarders]
    data: dict[str, object] = {"users": list(users), "forwarders": list(forwarders)}
    return [Check(area="other users", text=", ".join(admitted), data=data)]


async def check_old_agents(state: StateDir) -> Check:
    """Report living agents that an older version connected by pipes."""
    try:
        async with asyncio.timeout(ANSWER_S):
            rows = await _rows(state)
    except (FlybridgeError, OSError, TimeoutError):
        text = "the gateway did not list its sessions"
        return Check(area="old agents", status="note", text=text, fix="run this command again")
    old = [str(row["session"]) for row in rows if row.get("agent_io") == "pipes"]
    data: dict[str, object] = {"sessions": old}
    if not old:
        return Check(area="old agents", text="none: every living agent is protected", data=data)
    names = ", ".join(session[:SHORT] for session in old[:SHOWN])
    more = f" and {len(old) - SHOWN} more" if len(old) > SHOWN else ""
    return Check(
        area="old agents",
        status="note",
        text=f"{names}{more}: started by an older version; other programs of this user can "
        "answer their prompts",
        fix="restart these sessions' agents: flybridge sessions kill ID, then send a message",
        data=data,
    )


async def _rows(state: StateDir) -> list[dict[str, Any]]:
    async with await connect(state, start=False, name="doctor") as client:
        return await client.list()
