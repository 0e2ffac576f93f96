"""A real gateway for the client to talk to: its own process, a recorder, the demo agent."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from flybridge.client.gateway import Client, connect
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayUnreachableError
from flybridge.auth.authority import FILE_SCOPES, Authority
from flybridge.store.credentials import CredentialFile
from flybridge.testing import recorder

START_S = 20.0
CONFIG = """\
default_agent: demo
agents:
  demo:
    kind: demo
    program: {demo}
  recorder:
    kind: claude
    program: {recorder}
log_level: warning
"""


def steps(*steps: dict[str, Any], text: str = "go") -> str:
    """A message that tells the recorder what to do."""
    return f"{text}\n@@ {json.dumps(list(steps))}"


class RealGateway:
    """May be killed and started again; ``close`` leaves nothing behind."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.state = StateDir(base / "s")
        self.record = base / "record"
        self.work = base / "w"
        self.work.mkdir()
        self.url = ""
        self.token = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._serve: list[str] = []
        record = ["--record", str(self.record), "--no-dedupe", "--eof-now"]
        config = base / "cfg" / "flybridge" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(
            CONFIG.format(
                demo=json.dumps([sys.executable, "-P", "-m", "flybridge.demo", "--speed", "0"]),
                recorder=json.dumps([sys.executable, "-I", recorder.__file__, *record]),
            )
        )
        config.chmod(0o600)
        self.environ = {**os.environ, "XDG_CONFIG_HOME": str(base / "cfg")}

    # ---- the process -------------------------------------------------------------------------

    def start(self) -> None:
        """Start it; a client that waits for it reaches it as soon as it is there."""
        what = self._serve or ["gateway", "run"]
        with (self.base / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "flybridge", *what, "--state", str(self.state.path)],
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def serve(self, *more: str) -> None:
        """Start it with a port of its own, which it keeps, and make a token for it."""
        self.state.prepare()
        if not self.token:
            self.token = self._authority().create_token("test", FILE_SCOPES)
        self._serve = ["serve", "--port", "0", *more]
        self.start()
        self.url = await self._address()
        port = self.url.split("/")[2].rpartition(":")[2]
        self._serve = ["serve", "--port", port, *more]

    def _authority(self) -> Authority:
        file = CredentialFile(self.state.tokens)
        return Authority(file, owner="me", cookie="c", now_ms=lambda: time.time_ns() // 10**6)

    async def _address(self) -> str:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if found := re.search(r"Flybridge is at (\S+)", self.log()):
                return found[1]
            await asyncio.sleep(0.02)
        raise AssertionError(f"it does not serve: {self.log()}")

    def log(self) -> str:
        return (self.base / "log").read_text()

    def kill(self) -> None:
        """Without a word; agents stay with their keepers."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    async def client(self) -> Client:
        """Over the socket, as soon as it answers."""
        deadline = time.monotonic() + START_S
        while True:
            try:
                return await connect(self.state, start=False)
            except GatewayUnreachableError:
                if time.monotonic() > deadline:
                    raise AssertionError(f"no gateway: {self.log()}") from None
                await asyncio.sleep(0.02)

    async def web_client(self, **more: Any) -> Client:
        """Over the URL."""
        return await connect(self.url, token=self.token, **more)

    async def close(self) -> None:
        """End every agent, then the gateway."""
        assert self._process is not None
        if self._process.poll() is None:
            async with await self.client() as client:
                for row in await client.sessions():
                    await client.ask("stop_agent", {"session": row.session})
            self._process.terminate()
            self._process.wait(10)

    # ---- what the agent saw ------------------------------------------------------------------

    def told(self, kind: str) -> int:
        return sum(one.kind == kind for one in recorder.read_record(self.record))


@asynccontextmanager
async def real_gateway(base: Path) -> AsyncIterator[RealGateway]:
    gateway = RealGateway(base)
    try:
        yield gateway
    finally:
        await gateway.close()
