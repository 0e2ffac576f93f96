"""What a bridge is asked for, and the conversation in which it goes on."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Literal

import msgspec

from flybridge.client import Client
from flybridge.model.options import AgentOptions

LABEL = "flybridge.ipc"  # of a session that an IPC front end has opened
TUGTALKS_AGENT = "claude"
TUGTALKS_FILE = (".tugtool", ".session")
MAX_BYTES = 200
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says."""

    cwd: str
    agent: str
    mode: str
    mode_given: bool = False
    model: str = ""
    session: str = ""
    new: bool = False
    plugin_dirs: tuple[str, ...] = ()
    add_dirs: tuple[str, ...] = ()
    allow_bypass: bool = False
    folder: Literal["ask", "trust", "restrict"] = "ask"

    @property
    def agent_options(self) -> AgentOptions:
        """Return the options that were given, for an agent that has them."""
        values: AgentOptions = {
            "plugin_dirs": self.plugin_dirs,
            "add_dirs": self.add_dirs,
            "allow_bypass": self.allow_bypass,
        }
        return {name: value for name, value in values.items() if value}


async def last_conversation(client: Client, wanted: Wanted) -> str:
    """Return the newest conversation that an IPC front end had in this project, or "".

    Where there was none, it is the one that TugTalk left behind, unless an agent has it open.
    """
    rows = [
        row
        for row in await client.list()
        if row["labels"].get(LABEL) and row["cwd"] == wanted.cwd and row["agent"] == wanted.agent
    ]
    if not rows and wanted.agent == TUGTALKS_AGENT:
        left = tugtalk_session(Path(wanted.cwd))
        return "" if left and await holder_of(client, left) else left
    known = [row for row in rows if row.get("conversation")]
    newest = max(known, key=lambda row: int(row["changed_ms"]), default=None)
    return str(newest["conversation"]) if newest is not None else ""


async def holder_of(client: Client, conversation: str) -> str:
    """Return the session whose agent has this conversation open, or ""."""
    rows = [
        row
        for row in await client.list()
        if row.get("conversation") == conversation and row["status"] not in ("off", "closed")
    ]
    return str(rows[0]["session"]) if rows else ""


def tugtalk_session(project: Path) -> str:
    """Return the conversation id that TugTalk has left in a project, or "".

    The file belongs to the project, so it is read with suspicion: only a small regular file with
    nothing but a UUID in it counts.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(project.joinpath(*TUGTALKS_FILE), flags)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        text = os.read(fd, MAX_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return ""
    finally:
        os.close(fd)
    return text if _UUID.fullmatch(text) else ""
