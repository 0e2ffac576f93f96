"""Real starters for tests, none of which outlives its test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from flybridge.runtime.keeper.keeper_program import descendants, process
from flybridge.runtime.keeper.process import alive, start_time
from flybridge.runtime.keeper.start import KeeperSpec, StartedKeeper, start_keeper
from flybridge.runtime.keeper.starter import KeeperStarter, StarterAlarm
from tests.harness import leftovers
from tests.harness.keepers import Keepers
from tests.harness.waiting import until

# A process that leaves its agent's session, terminal and environment, says who it is, and then
# kills its keeper. It lives on until somebody ends it.
ESCAPE = """
import fcntl, os, pty, signal, sys, termios, time
keeper = os.getppid()
if os.fork() == 0:
    os.setsid()
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSCTTY, 0)
    for fd in (main, side): os.set_inheritable(fd, True)  # or the terminal would hang up
    code = '''
import os, sys, time
with open("escaped.new", "w") as file: file.write(str(os.getpid()))
os.rename("escaped.new", "escaped")
while not os.path.exists("go"): time.sleep(0.005)
for fd in (0, 1, 2): os.close(fd)
os.kill(int(sys.argv[1]), 9)
while True: time.sleep(1)
'''
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code, str(keeper)], {})
signal.pause()
"""


def of_process(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


def is_dumpable(pid: int) -> bool:
    """Whether the kernel lets this user debug the process."""
    return Path(f"/proc/{pid}/mem").stat().st_uid == os.getuid() != 0


class Gateway:
    """What a gateway has to do with a starter."""

    def __init__(self, folder: Path, *, idle_s: float = 5.0) -> None:
        self.starter = KeeperStarter(folder, idle_s=idle_s)
        self.alarms: list[StarterAlarm] = []
        self.starter.observers.append(self.alarms.append)


class Starters:
    """Makes gateways on one state directory; nothing of them is left afterwards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keepers = Keepers(folder)
        self._gateways: list[Gateway] = []
        self._seen: set[tuple[int, str]] = set()

    def gateway(self, **changed: Any) -> Gateway:
        made = Gateway(self.folder, **changed)
        self._gateways.append(made)
        return made

    async def start(
        self, gateway: Gateway, argv: list[str], **changed: Any
    ) -> tuple[KeeperSpec, StartedKeeper]:
        spec = self.keepers.spec(argv, **changed)
        started = await start_keeper(spec, gateway.starter)
        self.note(gateway)
        self._seen.add((started.pid, started.start))
        return spec, started

    def note(self, gateway: Gateway) -> None:
        """Remember the starter, to end it after the test."""
        pid = gateway.starter.pid
        self._seen.add((pid, start_time(pid) or ""))

    async def close(self) -> None:
        for gateway in self._gateways:
            await gateway.starter.close()
        await self.keepers.close()
        for pid, start in self._seen:
            if alive(pid, start):
                below = descendants(pid)
                leftovers.kill(pid)
                for child in below:
                    if process(child.pid) is not None:
                        leftovers.kill(child.pid)
        await until(lambda: not any(alive(*one) for one in self._seen))
