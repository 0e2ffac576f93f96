"""A real gateway with the flood agent, and how much of the machine each process used."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from bench import flood_agent
from flybridge.client.gateway import Client, connect
from flybridge.client.state_dir import StateDir

CONFIG = """\
agents:
  flood:
    kind: claude
    program: [{python}, -I, {agent}]
"""


def cpu_s(pid: int) -> float:
    """CPU time of all threads of a process, from the scheduler's own count."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def rss_mib(pid: int) -> float:
    for row in Path(f"/proc/{pid}/status").read_text().splitlines():
        if row.startswith("VmRSS"):
            return int(row.split()[1]) / 1024
    return 0.0


def children_named(word: str, of: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if word.encode() in command and parent == of:
                found.append(int(entry.name))
    return found


class Rig:
    """``async with Rig() as rig``: a gateway process, a client, an open session."""

    async def __aenter__(self) -> Rig:
        self._folder = tempfile.TemporaryDirectory(prefix="fb-bench-")
        folder = Path(self._folder.name)
        config = folder / "flybridge" / "config.yaml"
        config.parent.mkdir()
        config.write_text(CONFIG.format(python=sys.executable, agent=flood_agent.__file__))
        self.state = StateDir(folder / "state")
        argv = [sys.executable, "-m", "flybridge", "gateway", "run", "--state"]
        self.gateway = subprocess.Popen(  # noqa: ASYNC220 (nothing else runs yet)
            [*argv, str(self.state.path)],
            env={**os.environ, "XDG_CONFIG_HOME": str(folder)},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.client = await self._connect()
        self.session = await self.client.open(agent="flood", cwd=str(folder))
        return self

    async def _connect(self) -> Client:
        deadline = time.monotonic() + 15
        while True:
            try:
                return await connect(self.state, start=False)
            except Exception:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)

    @property
    def keeper(self) -> int:
        return children_named("keeper_program", self.gateway.pid)[0]

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.client.ask("stop_agent", {"session": self.session})
        await self.client.close()
        self.gateway.send_signal(signal.SIGTERM)
        self.gateway.wait(20)
        self._folder.cleanup()
