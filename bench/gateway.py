"""A real gateway to measure: `flybridge serve`, its keepers, its journal on a disk, one token."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.pieces import Pieces
from bench.processes import cpu_s, ended, keepers_of, rss_kib
from flybridge.auth.authority import Authority
from flybridge.client.gateway import Client, connect
from flybridge.config.state_dir import StateDir
from flybridge.listeners.websocket import PATH
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.store.credentials import CredentialFile

START_S = 30.0
TURN_MS = 120_000
PLAIN = (sys.executable, "-m", "flybridge")
PROFILED = (sys.executable, str(Path(__file__).parent / "serve_profiled.py"))
IMPORTS = (sys.executable, "-X", "importtime", "-m", "flybridge")


class Gateway:
    """``async with Gateway(pieces) as gateway``: it runs, and it is ended after.

    ``folder`` holds its state directory; ``launcher`` is how `flybridge` is run.
    """

    def __init__(
        self,
        pieces: Pieces,
        folder: Path | None = None,
        *,
        launcher: Sequence[str] = PLAIN,
        environ: Mapping[str, str] = {},
    ) -> None:
        self.pieces = pieces
        self._launcher = launcher
        self._environ = environ
        self._home = Path(tempfile.mkdtemp(prefix="fb-bench-", dir=folder))
        self.state = StateDir(self._home / "state")
        self.token = ""
        self.port = _free_port()
        self.first_byte_ms = 0.0
        self.idle_mib = 0.0
        self._process: asyncio.subprocess.Process
        self._client: Client
        self._sessions: list[str] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_s(self) -> float:
        return cpu_s(self.pid)

    def rss_kib(self) -> float:
        return rss_kib(self.pid)

    # ---- coming up and going down ------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._prepare()
        began = time.perf_counter()
        self._process = await asyncio.create_subprocess_exec(
            *self._launcher,
            *("serve", "--port", str(self.port), "--state", str(self.state.path)),
            env=self._all_of_environ(),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=(self._home / "log").open("wb"),
            start_new_session=True,
        )
        try:
            await self._first_byte(began)
            self.first_byte_ms = (time.perf_counter() - began) * 1000
            self._client = await connect(self.state, start=False)
            await self._client.status()
        except BaseException:
            await self._stop()
            raise
        self.idle_mib = self.rss_kib() / 1024
        return self

    def _all_of_environ(self) -> dict[str, str]:
        """Ours, with a home of its own, and with compiled modules as an installed program has."""
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        home = str(self._home)
        return {**kept, "HOME": home, "XDG_CONFIG_HOME": home, **self._environ}

    def start_profile(self) -> None:
        """For a gateway with :data:`PROFILED` as its launcher."""
        self._process.send_signal(signal.SIGUSR1)

    def log(self) -> str:
        """What it wrote to stderr so far."""
        return (self._home / "log").read_text()

    def _prepare(self) -> None:
        config = self._home / "flybridge" / "config.yaml"
        config.parent.mkdir()
        program = json.dumps([str(self.pieces.fake_cli)])
        config.write_text(f"agents:\n  fake:\n    kind: claude\n    program: {program}\n")
        config.chmod(0o600)
        (self._home / "project").mkdir()
        self.state.prepare()
        authority = Authority(
            CredentialFile(self.state.tokens),
            owner=f"uid:{os.geteuid()}",
            cookie="bench",
            now_ms=lambda: int(time.time() * 1000),
        )
        self.token = authority.create_token("bench", frozenset({"view", "input"}))

    async def _first_byte(self, began: float) -> None:
        """Wait until somebody answers at the port."""
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                if self._process.returncode is not None or time.perf_counter() - began > START_S:
                    raise RuntimeError(self.log()) from None
                await asyncio.sleep(0.002)
                continue
            writer.write(b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % self.port)
            first = await reader.read(1)
            writer.close()
            if first:
                return

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for session in self._sessions:
            await self.end(session)
        await self._client.close()
        await self._stop()

    async def _stop(self) -> None:
        if self._process.returncode is None:
            self._process.terminate()
        await ended(self._process)
        shutil.rmtree(self._home, ignore_errors=True)

    # ---- sessions ----------------------------------------------------------------------------

    async def open(self) -> tuple[str, int]:
        """A session whose agent has answered once, and the process of its keeper."""
        before = keepers_of(self.pid)
        session = await self._client.open(
            agent="fake", cwd=self._home / "project", folder="restrict"
        )
        self._sessions.append(session)
        await self.turn(session, "deltas 1 1")
        (keeper,) = keepers_of(self.pid) - before
        return session, keeper

    async def turn(self, session: str, what: str) -> None:
        """One whole turn of the fake CLI."""
        reply = await self._submit(session, what, Stage.DONE)
        if reply is not Stage.DONE:
            raise RuntimeError(f"the turn {what!r} did not end: {reply}")

    async def begin(self, session: str, what: str) -> None:
        """Begin a turn of the fake CLI, and do not wait for its end."""
        await self._submit(session, what, Stage.ACCEPTED)

    async def _submit(self, session: str, what: str, until: Stage) -> Stage | None:
        command = SendInput(content=(Text(f"BENCH {what}"),))
        reply = await self._client.submit(session, command, until=until, wait_ms=TURN_MS)
        return reply.stage

    async def last_seq(self, session: str) -> int:
        (row,) = [one for one in await self._client.sessions() if one.session == session]
        return row.last_seq

    async def end(self, session: str) -> None:
        await self._client.ask("stop_agent", {"session": session})

    # ---- clients -----------------------------------------------------------------------------

    async def load(self, session: str, **options: object) -> Load:
        """Clients of a session, attached and waiting."""
        return await Load.start(
            self.pieces, self.token, port=self.port, path=PATH, session=session, **options
        )


class Load:
    """A process of clients. What they saw is checked, or there is no figure."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, pieces: Pieces, token: str = "", **options: object) -> Load:
        process = await asyncio.create_subprocess_exec(
            str(pieces.load),
            *(f"{name}={value}" for name, value in options.items()),
            env={**os.environ, "BENCH_TOKEN": token},
            stdin=PIPE,
            stdout=PIPE,
        )
        load = cls(process)
        if await load._line() != b"ready":
            raise RuntimeError("the clients were not let in")
        return load

    async def result(self) -> dict[str, float]:
        """Wait until every client has seen what it waits for.

        Raises:
            RuntimeError: something was lost, doubled, out of order or never came.
        """
        found: dict[str, float] = json.loads(await self._line() or b"{}")
        wrong = {name: found.get(name, 1) for name in ("disorder", "closed", "unfinished")}
        if any(wrong.values()):
            await self.leave()
            raise RuntimeError(f"the clients did not see what they should have: {wrong}, {found}")
        return found

    async def leave(self) -> None:
        """Hang up."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await ended(self._process)

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        return (await self._process.stdout.readline()).strip()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
