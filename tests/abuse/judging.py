"""A gateway's judge in a process of its own: under another user, or in another namespace.

It listens, judges whoever connects first as a gateway would, and prints the verdict.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

SOURCES = str(Path(__file__).parents[2] / "src")
NOBODY = 65534
OTHER = 4343

JUDGE = r"""
import asyncio, json, socket, sys
from flybridge.auth.tcp_peer import TcpPeers, peer_rules
forwarders, users = json.loads(sys.argv[1])
server = socket.create_server(("127.0.0.1", 0))
server.settimeout(120)
print(server.getsockname()[1], flush=True)
accepted, client = server.accept()
peers = TcpPeers(tuple, peer_rules(forwarders, users))
async def judge():
    origin = await peers.origin(client, server.getsockname())
    return await peers.verdict(client, server.getsockname()), origin.refused
verdict, refused = asyncio.run(judge())
print(verdict, refused.code if refused else "-", flush=True)
accepted.recv(65536)
answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
accepted.sendall(answer)
"""


def as_user(uid: int) -> tuple[str, ...]:
    """Return the beginning of a command that runs the rest as another user."""
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups")


@functools.cache
def can_import(uid: int) -> bool:
    """Return whether another user can read this checkout and its environment."""
    argv = [*as_user(uid), sys.executable, "-c", "import flybridge.auth.tcp_peer"]
    env = {**os.environ, "PYTHONPATH": SOURCES}
    return subprocess.run(argv, env=env, cwd="/", capture_output=True, timeout=60).returncode == 0


def need_user(uid: int) -> None:
    if not can_import(uid):
        pytest.skip("could not run: needs a checkout that other users can read")


class Judge:
    """One judge, and the port that it listens on."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program
        self.port = int(self._line())

    def _line(self) -> str:
        assert self._program.stdout is not None
        return self._program.stdout.readline().strip()

    def verdict(self) -> tuple[str, str]:
        """Return the verdict on whoever connected, and the code of a refusal."""
        verdict, code = self._line().split()
        return verdict, code


@contextmanager
def judging(
    command: Sequence[str] = (),
    *,
    forwarders: Sequence[int | str] = (),
    users: Sequence[int | str] = (),
) -> Iterator[Judge]:
    """Yield a judge that ``command`` starts."""
    import json

    rules = json.dumps([list(forwarders), list(users)])
    argv = [*command, sys.executable, "-c", JUDGE, rules]
    env = {**os.environ, "PYTHONPATH": SOURCES}
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env, cwd="/", text=True
    ) as program:
        try:
            yield Judge(program)
        finally:
            program.terminate()
