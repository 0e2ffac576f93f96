"""A real gateway in a process of its own: started, killed, started again, and ended.

``GatewayProcess`` is the process with its folder: the state directory, the configuration, the
environment and what it printed. Suites add their own agents and clients to it. ``RealGateway``
is a complete one with a recorder and the demo agent, for tests of clients.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from flybridge.auth.authority import FILE_SCOPES, Authority
from flybridge.client.gateway import Client, connect
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayUnreachableError, SessionNotFoundError
from flybridge.session.authorisation import Scope
from flybridge.store.credentials import CredentialFile
from flybridge.testing import recorder
from tests.harness import leftovers
from tests.harness.agent_programs import DEMO, agent, recorder_program
from tests.harness.waiting import POLL_S, WAIT_S, wait_until


class Installation:
    """A folder with all that our commands see: state, configuration, environment, working folder.

    ``env`` and ``under`` (the programs before ours: strace, setpriv) may be changed at any time.
    """

    def __init__(self, base: Path, *, env: Mapping[str, str] | None = None) -> None:
        self.base = base
        self.state = base / "s"
        self.state_dir = StateDir(self.state)
        self.config = base / "config" / "flybridge" / "config.yaml"
        self.record = base / "record"  # of the recorder
        self.work = base / "w"
        self.work.mkdir(exist_ok=True)
        self.under: Sequence[str] = ()
        self.env = {
            **(os.environ if env is None else env),
            leftovers.MARK: os.environ.get(leftovers.MARK, ""),
            "XDG_CONFIG_HOME": str(base / "config"),
        }

    def configure(self, text: str) -> None:
        """Write the configuration file, as only its owner may read it."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)
        self.config.chmod(0o600)

    def argv(self, *words: str) -> list[str]:
        """Return the command line of a command of ours for this state directory."""
        ours = [*self.under, sys.executable, "-m", "flybridge"]
        return [*ours, *words, "--state", str(self.state)]


class GatewayProcess(Installation):
    """An installation and the gateway process that runs on it.

    What the process prints goes to files below ``base``, so that it never blocks on a pipe.
    """

    def __init__(
        self, base: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        super().__init__(base, env=env)
        self.cwd = cwd or self.work
        self.log = base / "log"  # what all gateways here wrote to stderr
        self.address = ""  # of the last one that served
        self._out = base / "out"
        self._words: tuple[str, ...] = ("gateway", "run")
        self._process: subprocess.Popen[bytes] | None = None

    # ---- start -------------------------------------------------------------------------------

    def start(self) -> None:
        """Start a gateway as it ran last, at first with ``gateway run``; do not wait for it."""
        self.launch(*self._words)

    def launch(self, *words: str) -> None:
        """Start a gateway with this command, and do not wait for it."""
        assert not self.is_running
        self._words = words
        with self._out.open("wb") as out, self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.argv(*words),
                env=self.env,
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                start_new_session=True,
            )

    def serve(self, *args: str, port: int = 0) -> str:
        """Start ``serve`` and wait for its address, which is returned; it keeps its port."""
        self.launch("serve", "--port", str(port), *args)
        self.address = self.printed(r"Flybridge is at (\S+)\n")
        self._words = ("serve", "--port", str(self.port), *args)
        return self.address

    def printed(self, pattern: str) -> str:
        """Wait until the gateway has printed a match to stdout; return its first group."""

        def found() -> re.Match[str] | None:
            over = not self.is_running  # read afterwards, or the last words would be missed
            match = re.search(pattern, self.out())
            assert match or not over, f"ended before {pattern!r}: {self.out()}{self.tail()}"
            return match

        match = wait_until(found, lambda: f"{pattern!r} in {self.out()}{self.tail()}")
        assert match is not None
        return match[1]

    @property
    def port(self) -> int:
        """The port of the last gateway that served."""
        return int(self.address.split("/")[2].rpartition(":")[2])

    def out(self) -> str:
        """Return what the last gateway wrote to stdout."""
        return self._out.read_text() if self._out.exists() else ""

    def tail(self) -> str:
        """Return the end of the log, for the message of a failure."""
        return self.log.read_text()[-2000:] if self.log.exists() else ""

    async def client(self) -> Client:
        """Connect to the Unix socket as soon as the gateway answers there."""
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                return await connect(self.state_dir, start=False)
            except GatewayUnreachableError:
                if not self.is_running or time.monotonic() > deadline:
                    raise AssertionError(f"no gateway: {self.tail()}") from None
                await asyncio.sleep(POLL_S)

    def wait_until_ready(self) -> None:
        """Block until the gateway answers; for code outside an event loop."""

        async def reached() -> None:
            await (await self.client()).close()

        asyncio.run(reached())

    # ---- the process -------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def status(self) -> int | None:
        """The exit status of the last gateway, as far as it ended."""
        return None if self._process is None else self._process.poll()

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, within_s: float = WAIT_S) -> int:
        """Wait for the end of the process; return its exit status.

        Raises:
            subprocess.TimeoutExpired: it still runs after ``within_s``.
        """
        assert self._process is not None
        return self._process.wait(within_s)

    def kill(self) -> None:
        """End the gateway with SIGKILL; its keepers and agents live on."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(WAIT_S)

    def stop(self) -> int:
        """End the gateway with SIGTERM, if it runs; return its exit status.

        Its keepers and agents live on.
        """
        assert self._process is not None
        if self._process.poll() is None:
            self._process.terminate()
        return self._process.wait(WAIT_S)

    # ---- the end -----------------------------------------------------------------------------

    async def end_agents(self) -> None:
        """Stop the agent of every session of the running gateway."""
        async with await self.client() as client:
            for row in await client.list():
                with suppress(SessionNotFoundError):  # it was being deleted
                    await client.ask("stop_agent", {"session": row["session"]})

    def kill_all(self) -> None:
        """End the gateway, and kill every keeper and agent that is left below ``base``.

        Raises:
            AssertionError: something does not end.
        """
        if self._process is not None:
            self.stop()
        wait_until(lambda: not leftovers.kill_below(self.base), f"the end of all below {self.base}")


class RealGateway(GatewayProcess):
    """A gateway with a recorder and the demo agent, and a token to come in over its URL."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.token = ""
        program = recorder_program(self.record, "--no-dedupe", "--eof-now")
        agents = agent("demo", [*DEMO, "--speed", "0"], kind="demo") + agent("recorder", program)
        self.configure(f"default_agent: demo\nagents:\n{agents}log_level: warning\n")

    def serve(self, *args: str, port: int = 0) -> str:
        """Start it with a port, and make a token for it."""
        self.token = self.token or self.create_token("test", FILE_SCOPES)
        return super().serve(*args, port=port)

    def create_token(self, name: str, scopes: frozenset[Scope]) -> str:
        """Write a token to the state directory, before the gateway runs."""
        self.state_dir.prepare()
        file = CredentialFile(self.state_dir.tokens)
        return Authority(file, owner="me", cookie="c", now_ms=_now_ms).create_token(name, scopes)

    async def close(self) -> None:
        """End every agent, then the gateway.

        Raises:
            AssertionError: something of them is left.
        """
        if self.is_running:
            await self.end_agents()
            self.stop()
            leftovers.expect_none_below(self.base)
        else:
            self.kill_all()

    async def web_client(self, **more: Any) -> Client:
        """Connect over the URL."""
        return await connect(self.address, token=self.token, **more)

    def told(self, kind: str) -> int:
        """Count the entries of a kind in the recorder's record."""
        return sum(entry.kind == kind for entry in recorder.read_record(self.record))


def _now_ms() -> int:
    return time.time_ns() // 10**6


@asynccontextmanager
async def real_gateway(base: Path) -> AsyncIterator[RealGateway]:
    gateway = RealGateway(base)
    try:
        yield gateway
    finally:
        await gateway.close()
