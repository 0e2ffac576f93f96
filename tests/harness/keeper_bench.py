"""Real keepers with small agents, and a raw peer that can say anything to them."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flybridge.runtime.keeper import keeper_program as program
from flybridge.runtime.keeper.process import boot_id, fence, start_time
from tests.harness.processes import rss_kib
from tests.harness.waiting import WAIT_S, wait_until

SECRET = "canary-7d1f"


def sh(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def py(script: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script]


class Peer:
    """A connection to a keeper that speaks frames by hand."""

    def __init__(self, path: str) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(WAIT_S)
        folder = os.open(Path(path).parent, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock.connect(program.short_path(path, folder, Path(path).name))
        finally:
            os.close(folder)
        self.welcome: dict[str, Any] = {}
        self.output = b""
        self.output_at = -1
        self.stderr = b""
        self.wrote = -1
        self.exit: dict[str, int] = {}
        self.refused: dict[str, Any] = {}
        self.over = False

    def send(self, kind: int, number: int = 0, body: bytes = b"") -> None:
        self.sock.sendall(program.frame(kind, number, body))

    def hello(self, **changed: object) -> None:
        hello = {"proto": 1, "generation": 1, "secret": SECRET, "after": 0, **changed}
        self.send(program.HELLO, 0, json.dumps(hello).encode())

    def line(self, number: int, text: bytes) -> None:
        self.send(program.INPUT, number, text)

    def until(self, fact: Callable[[], object]) -> None:
        """Read frames until something is so."""
        while not fact():
            assert not self.over, f"the keeper hung up: {self.refused}"
            self.read()

    def until_over(self) -> None:
        while not self.over:
            self.read()

    def read(self) -> None:
        try:
            kind, number, length = program.FRAME.unpack(self._exactly(program.FRAME.size))
            body = self._exactly(length)
        except (EOFError, ConnectionResetError):
            self.over = True
            return
        if kind == program.OUT:
            if self.output_at < 0:
                self.output_at = number
            assert number == self.output_at + len(self.output)
            self.output += body
        elif kind == program.ERR:
            self.stderr += body
        elif kind == program.WROTE:
            self.wrote = number
        elif kind == program.WELCOME:
            self.welcome = json.loads(body)
        elif kind == program.EXIT:
            self.exit = json.loads(body)
        elif kind == program.REFUSED:
            self.refused = json.loads(body)
        else:
            raise AssertionError(f"frame of type {kind}")

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.sock.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def close(self) -> None:
        self.sock.close()


class Kept:
    """A keeper that was started by hand, and its agent."""

    def __init__(self, process: subprocess.Popen[bytes], spec: dict[str, Any]) -> None:
        self.process = process
        self.pid = process.pid
        self.start = start_time(process.pid) or ""
        self.socket: str = spec["socket"]
        self.incarnation: str = spec["incarnation"]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(spec).encode())
        process.stdin.close()
        self.answer = process.stdout.readline().decode()
        process.stdout.close()
        word, _, rest = self.answer.partition(" ")
        self.agent = int(rest) if word == "ready" else 0

    @property
    def over(self) -> bool:
        return self.process.poll() is not None

    @property
    def rss_kib(self) -> int:
        return rss_kib(self.pid)


class Bench:
    """Starts keepers in one folder and leaves none of them behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names = (f"inc_{os.getpid()}_{n}" for n in itertools.count(1))
        self._kept: list[Kept] = []
        self._peers: list[Peer] = []
        self._marks: list[str] = []

    def incarnation(self) -> str:
        """Return a name whose agents will not outlive the test."""
        self._marks.append(next(self._names))
        return self._marks[-1]

    def start(self, argv: list[str], **changed: object) -> Kept:
        name = self.incarnation()
        spec = {
            "argv": argv,
            "env": {"PATH": os.environ["PATH"]},
            "cwd": str(self.folder),
            "incarnation": name,
            "secret": SECRET,
            "socket": str(self.folder / f"{name}.sock"),
            **changed,
        }
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", program.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._kept.append(Kept(process, spec))
        return self._kept[-1]

    def add(self, kept: Kept) -> None:
        """End this keeper, too, when the test is over."""
        self._kept.append(kept)

    def knock(self, kept: Kept | str) -> Peer:
        """Connect without a word."""
        peer = Peer(kept if isinstance(kept, str) else kept.socket)
        self._peers.append(peer)
        return peer

    def meet(self, kept: Kept, **hello: object) -> Peer:
        """Connect, say HELLO and wait for WELCOME."""
        peer = self.knock(kept)
        peer.hello(**hello)
        peer.until(lambda: peer.welcome)
        return peer

    def refused(self, kept: Kept, **hello: object) -> str:
        """Say HELLO and return the code of the refusal."""
        peer = self.knock(kept)
        peer.hello(**hello)
        peer.until_over()
        return str(peer.refused.get("code"))

    def close(self) -> None:
        for peer in self._peers:
            peer.close()
        for kept in self._kept:
            kept.process.kill()
            kept.process.wait()
        for mark in self._marks:
            self._fence(mark)

    def _fence(self, mark: str) -> None:
        asyncio.run(
            fence(group=0, start="", boot=boot_id(), marker=(program.MARKER, mark), timeout_s=5)
        )


def stop(pid: int) -> None:
    """Freeze a process of ours and wait until it is frozen."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
