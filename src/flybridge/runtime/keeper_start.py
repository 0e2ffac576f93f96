"""Starting a keeper: a process that outlives us, told everything over a pipe.

The keeper itself is ``keeper_program.py``; what it promises stands there.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from importlib.util import MAGIC_NUMBER, cache_from_source
from io import FileIO
from pathlib import Path
from typing import Literal

import msgspec

from flybridge.errors import AgentStartError, KeeperError
from flybridge.runtime import keeper_program
from flybridge.runtime.keeper_program import BOOT_ENV
from flybridge.runtime.process import start_time

_ANSWER_BYTES = 16 * 2**10


class KeeperSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a keeper is told at its start, over a pipe: never on disk, never in arguments.

    ``env`` is the agent's whole environment; the keeper adds FLYBRIDGE_INCARNATION, by which
    stragglers are found. ``pipes`` "none": the agent has no stdin and its stdout is treated
    like stderr (it is spoken to in another way). ``umask`` -1: the gateway's own.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    incarnation: str
    secret: str
    socket: str
    pipes: Literal["stdio", "none"] = "stdio"
    umask: int = -1
    hello_s: float = 30
    orphan_s: float = 900
    drain_s: float = 2
    grace_s: float = 5
    memory_bytes: int = 2**20
    spill_bytes: int = 256 * 2**20


class StartedKeeper(msgspec.Struct, frozen=True, kw_only=True):
    """A keeper that is ready for HELLO: its pid and start time, and its agent's pid."""

    pid: int
    start: str
    agent_pid: int


async def start_keeper(
    spec: KeeperSpec, *, python: str = sys.executable, timeout_s: float = 30
) -> StartedKeeper:
    """Start a keeper and its agent; it lives on when this process ends.

    While this process lives it reaps the keeper, so none stays behind as a zombie. Whoever is
    cancelled here leaves a keeper that ends itself, as nobody says HELLO to it.

    Raises:
        AgentStartError: the agent could not be started, with the reason.
        KeeperError: the keeper itself did not come up.
    """
    # Python's own JSON: unlike msgspec's it carries what is not Unicode in an environment.
    document = json.dumps(msgspec.to_builtins(spec)).encode()
    try:
        with ExitStack() as files:
            spec_r, spec_w = _pipe(files)
            answer_r, answer_w = _pipe(files)
            pid = _spawn(python, spec_r.fileno(), answer_w.fileno())
            start = start_time(pid) or ""
            _reap_when_over(pid)
            spec_r.close()
            answer_w.close()
            async with _killing_after(timeout_s, pid):
                await _write_all(spec_w, document)
                answer = await _read_all(answer_r)
    except OSError as error:
        raise KeeperError(f"{python}: {error.strerror}") from error
    return StartedKeeper(pid=pid, start=start, agent_pid=_agent_pid(spec, answer))


def _pipe(files: ExitStack) -> tuple[FileIO, FileIO]:
    reader, writer = os.pipe()
    return files.enter_context(FileIO(reader, "r")), files.enter_context(FileIO(writer, "w"))


@asynccontextmanager
async def _killing_after(timeout_s: float, pid: int) -> AsyncIterator[None]:
    """Give a keeper so much time, then end it: it is still our child, so it is the right one."""
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        _kill_child(pid)
        raise KeeperError(f"the keeper was not ready after {timeout_s:g} s") from None


def _spawn(python: str, stdin: int, stdout: int) -> int:
    """Start the program with nothing of ours: the keeper leaves our session and our files."""
    kept = {name: os.environ[name] for name in ("PATH", BOOT_ENV) if name in os.environ}
    return os.posix_spawn(
        python,
        (python, "-I", "-S", str(_program(python))),
        kept,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, stdin, 0),
            (os.POSIX_SPAWN_DUP2, stdout, 1),
            (os.POSIX_SPAWN_DUP2, stdout, 2),  # a traceback is an answer, too
        ],
        setsigmask=(),
        setsigdef=(signal.SIGPIPE,),
    )


def _program(python: str) -> Path:
    """Return the program's file: the compiled one, if it is this very source's.

    Compiling it at each start would cost every keeper 15 ms and 2.5 MiB.
    """
    source = Path(keeper_program.__file__)
    if python != sys.executable:
        return source
    try:
        compiled = Path(cache_from_source(str(source)))
        head = compiled.read_bytes()[:16]
        made_from = source.stat()
    except (OSError, NotImplementedError):
        return source
    stamp = struct.pack("<III", 0, int(made_from.st_mtime) & 0xFFFFFFFF, made_from.st_size)
    return compiled if head == MAGIC_NUMBER + stamp else source


def _agent_pid(spec: KeeperSpec, answer: bytes) -> int:
    word, _, rest = answer.decode(errors="replace").strip().partition(" ")
    if word == "ready" and rest.isdecimal():
        return int(rest)
    if word == "failed":
        raise AgentStartError(Path(spec.argv[0]).name if spec.argv else "agent", reason=rest)
    raise KeeperError(f"the keeper did not start: {word} {rest}".rstrip())


def _reap_when_over(pid: int) -> None:
    """Collect the keeper's exit when it comes, so that no zombie stays."""
    loop = asyncio.get_running_loop()
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:  # no descriptor left: better no keeper than a zombie
        _kill_child(pid)
        os.waitpid(pid, 0)
        raise

    def reap() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # somebody waits for all children
            pass

    loop.add_reader(pidfd, reap)


def _kill_child(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


async def _write_all(file: FileIO, data: bytes) -> None:
    """Write everything and close; a reader that is gone will say so elsewhere."""
    os.set_blocking(file.fileno(), False)
    rest = memoryview(data)
    try:
        while rest:
            count = file.write(rest)  # None: the pipe is full
            rest = rest[count or 0 :]
            if rest:
                await _ready(file.fileno(), "write")
    except BrokenPipeError:
        pass
    file.close()


async def _read_all(file: FileIO) -> bytes:
    """Read the keeper's one answer; it closes its end right after."""
    os.set_blocking(file.fileno(), False)
    answer = b""
    while len(answer) < _ANSWER_BYTES:
        piece = file.read(_ANSWER_BYTES)
        if piece == b"":
            break
        if piece is None:  # nothing there yet
            await _ready(file.fileno(), "read")
        else:
            answer += piece
    return answer


async def _ready(fd: int, way: Literal["read", "write"]) -> None:
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    if way == "read":
        loop.add_reader(fd, wake)
    else:
        loop.add_writer(fd, wake)
    try:
        await waiter
    finally:
        if way == "read":
            loop.remove_reader(fd)
        else:
            loop.remove_writer(fd)
