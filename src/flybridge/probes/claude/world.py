"""All that a probed CLI gets to see: a home and a folder of its own, a model that is a script.

Nothing of the user's is in it but the search path: no configuration, no conversation, no key;
and, where the system allows it, no network.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from flybridge.config.state_dir import SOCKET_PATH_BYTES
from flybridge.errors import AgentNotFoundError
from flybridge.probes import offline
from flybridge.probes.messages_api import MessagesApi
from flybridge.runtime.keeper.keeper_program import MARKER
from flybridge.runtime.keeper.process import boot_id, fence, start_time

VERSION_S = 10.0
VERSION_BYTES = 4096
GONE_S = 30.0  # for the processes of a killed program to end, on a busy machine too
# what a CLI does by itself is off
SWITCHES = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_BUG_COMMAND",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "IS_SANDBOX",  # one that runs as root would refuse some modes
)


class World:
    """From ``with`` to its end; then every process and every file of it is gone.

    ``cwd`` is a git repository where there is git: a CLI writes to the root of the one it is in.
    """

    def __init__(self, program: Sequence[str], *, path: str, agent: str = "claude") -> None:
        found = shutil.which(program[0], path=path)
        if found is None:
            raise AgentNotFoundError(agent, program=program[0])
        self.program = (found, *program[1:])
        self.base = Path(tempfile.mkdtemp(prefix="flybridge-probe-", dir=_folder()))
        self.cwd = self.base / "repo"
        self.offline = False
        self.api = MessagesApi(unix=str(self.base / "api.sock"))
        self.env = {
            "PATH": path,
            "LANG": "C.UTF-8",
            "HOME": str(self.base / "home"),
            "TMPDIR": str(self.base / "tmp"),
            "CLAUDE_CONFIG_DIR": str(self.base / "home" / ".claude"),
            "CLAUDE_CODE_TMPDIR": str(self.base / "tmp"),
            "CLAUDE_CODE_MAX_RETRIES": "2",
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "FLYBRIDGE_SESSION": "ses_probe",  # nothing that runs in here starts a gateway
            **dict.fromkeys(SWITCHES, "1"),
        }
        self._lives = 0

    def __enter__(self) -> Self:
        try:
            self.api.start()
            for folder in (self.base / "home", self.base / "tmp", self.cwd):
                folder.mkdir()
            self.env["ANTHROPIC_BASE_URL"] = self.api.url
            self.offline = _run([*_offline(), "--check"], self.env) == 0
            if shutil.which("git", path=self.env["PATH"]):
                _run(["git", "init", "-q", str(self.cwd)], self.env)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.api.close()
        shutil.rmtree(self.base, ignore_errors=True)

    @property
    def argv(self) -> tuple[str, ...]:
        """How the program is started: through the wall that keeps it offline."""
        socket = str(self.base / "api.sock")
        return (*_offline(), socket, str(self.api.port), *self.program)

    def version_output(self) -> bytes:
        """What the program says about its version; nothing when it does not say it in time."""
        with Life(self, (*self.argv, "--version"), stdin=subprocess.DEVNULL) as life:
            try:
                return life.process.communicate(timeout=VERSION_S)[0][:VERSION_BYTES]
            except subprocess.TimeoutExpired:
                return b""

    def next_life(self) -> str:
        self._lives += 1
        return f"{self.base.name}-{self._lives}"


class Life:
    """One process of the program. However the ``with`` ends, nothing of it is left."""

    def __init__(
        self,
        world: World,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] = {},
        stdin: int = subprocess.PIPE,
    ) -> None:
        self._marker = (MARKER, world.next_life())
        self.process = subprocess.Popen(
            list(argv),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=world.cwd,
            env={**world.env, **env, **dict([self._marker])},
            start_new_session=True,
        )
        self._start = start_time(self.process.pid) or ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill it with everything it started, wherever that went."""
        self.process.kill()
        group = self.process.pid
        asyncio.run(
            fence(
                group=group,
                start=self._start,
                boot=boot_id(),
                marker=self._marker,
                timeout_s=GONE_S,
            )
        )
        self.process.wait(GONE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _folder() -> str:
    """Where temporary files go, unless a socket's path would be too long there."""
    usual = tempfile.gettempdir()
    fits = len(os.fsencode(usual)) + len("/flybridge-probe-12345678/api.sock") <= SOCKET_PATH_BYTES
    return usual if fits else "/tmp"


def _offline() -> list[str]:
    return [sys.executable, "-I", "-S", str(offline.__file__)]


def _run(argv: Sequence[str], env: dict[str, str]) -> int:
    try:
        return subprocess.run(argv, env=env, capture_output=True, timeout=VERSION_S).returncode
    except (OSError, subprocess.TimeoutExpired):
        return -1
