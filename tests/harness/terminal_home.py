"""The real program at a real (pseudo) terminal, in a home of its own.

Nothing here sleeps to be in time: everything waits for what is to be seen, with a deadline.
"""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from flybridge.client import connect
from flybridge.errors import SessionNotFoundError
from tests.harness import leftovers
from tests.harness.agent_programs import DEMO, agent, recorder_program
from tests.harness.gateway_process import Installation
from tests.harness.screen_model import ScreenModel
from tests.harness.waiting import WAIT_S

FAST = "flybridge-demo-fast"  # a model of the demo agent: it does not wait between words
STEADY = "steady"  # the demo agent at an even pace
SLOW = "slow"  # ... and one that is never done before its test is
PACES_MS = {STEADY: 4, SLOW: 350}


class Terminal:
    """A program that believes somebody sits before it; ``seen`` is what is on its screen."""

    def __init__(
        self, argv: Sequence[str], *, env: dict[str, str], cwd: Path, columns: int, lines: int
    ) -> None:
        self.model = ScreenModel(columns, lines)
        self._main, self.side = pty.openpty()
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, size)
        self.modes = termios.tcgetattr(self.side)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            argv,
            stdin=self.side,
            stdout=self.side,
            stderr=self.side,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    @property
    def seen(self) -> str:
        self._read(0)
        return self.model.text

    def _read(self, wait_s: float) -> None:
        while select.select([self._main], [], [], wait_s)[0]:
            try:
                data = os.read(self._main, 1 << 16)
            except OSError:  # the other side is closed
                return
            self.model.feed(self._decoder.decode(data))
            wait_s = 0

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def say(self, text: str) -> None:
        self.type(text + "\r")

    def wait_for(self, *texts: str) -> str:
        """Wait until all of these are on the screen."""
        return self.wait_until(lambda seen: all(text in seen for text in texts), str(texts))

    def wait_until(self, is_so: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + WAIT_S
        while not is_so(self.model.text):
            assert time.monotonic() < deadline, f"never came: {what}; seen:\n{self.model.text}"
            self._read(0.05)
        return self.model.text

    def wait_for_prompt(self) -> str:
        """Wait until the last row is an empty line to type in, and nothing runs."""
        return self.wait_until(
            lambda seen: seen.endswith("\n>") and "Esc interrupts" not in seen, "an idle prompt"
        )

    def wait_end(self) -> int:
        """Wait until the program is gone; its exit status."""
        deadline = time.monotonic() + WAIT_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still there; seen:\n{self.model.text}"
            self._read(0.02)
        self._read(0)
        return self.process.returncode

    def kill(self) -> None:
        """As the machine would: without a word."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self.side)
        os.close(self._main)


class Home(Installation):
    """An installation, and everything that was started in it."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.env |= {
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOME": str(base),
            "XDG_STATE_HOME": str(base / "state"),
        }
        self.terminals: list[Terminal] = []
        self.configure(self.agents())

    def agents(self) -> str:
        """Return the agents of the configuration."""
        agents = agent("recorder", recorder_program(self.record))
        for name, pace in PACES_MS.items():
            agents += agent(name, ["env", f"FLYBRIDGE_DEMO_SPEED={pace}", *DEMO], kind="demo")
        return f"agents:\n{agents}"

    def run(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command without a terminal to its end."""
        return subprocess.run(
            self.argv(*args),
            input=stdin,
            capture_output=True,
            text=True,
            env=self.env,
            cwd=self.work,
            start_new_session=True,
            timeout=50,
        )

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Start a command without a terminal; the caller waits for its end."""
        return subprocess.Popen(
            self.argv(*args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
            cwd=self.work,
            start_new_session=True,
        )

    def chat(
        self, *args: str, columns: int = 100, lines: int = 40, env: dict[str, str] | None = None
    ) -> Terminal:
        """Start a chat at a terminal."""
        return self.at_terminal("chat", *args, columns=columns, lines=lines, env=env)

    def at_terminal(
        self, *args: str, columns: int = 200, lines: int = 40, env: dict[str, str] | None = None
    ) -> Terminal:
        """Start any command at a terminal."""
        terminal = Terminal(
            self.argv(*args),
            env={**self.env, **(env or {})},
            cwd=self.work,
            columns=columns,
            lines=lines,
        )
        self.terminals.append(terminal)
        return terminal

    def demo(self, *args: str, agent: str = "demo", **more: Any) -> Terminal:
        """A new chat with the demo agent, ready to be typed into."""
        model = ["--model", FAST] if agent == "demo" else []
        terminal = self.chat("--agent", agent, *model, *args, **more)
        terminal.wait_for_prompt()
        return terminal

    def sessions(self) -> list[dict[str, Any]]:
        done = self.run("sessions", "list", "--all", "--json")
        assert done.returncode == 0, done.stderr
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows

    def session(self) -> str:
        (row,) = self.sessions()
        return str(row["session"])

    def events(self, session: str) -> list[dict[str, Any]]:
        done = self.run("sessions", "show", session, "--json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def gateway_pid(self) -> int:
        done = self.run("gateway", "status", "--json")
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["pid"])

    def close(self) -> None:
        """End everything, and see that it ended."""
        for terminal in self.terminals:
            terminal.close()
        if self.state.exists():
            asyncio.run(self._end_all())
        leftovers.expect_none_below(self.base)

    async def _end_all(self) -> None:
        """What ``sessions kill`` and ``gateway stop`` do, without starting Python anew."""
        argv = [*self.argv("gateway", "run"), "--auto"]
        async with await connect(self.state, argv=argv) as client:
            for row in await client.list():
                with suppress(SessionNotFoundError):  # it was being deleted
                    await client.ask("stop_agent", {"session": row["session"]})
            await client.stop_gateway()


@contextmanager
def home_in(base: Path) -> Iterator[Home]:
    home = Home(base)
    try:
        yield home
    finally:
        home.close()
