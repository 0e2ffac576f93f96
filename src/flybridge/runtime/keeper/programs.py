"""Starting a program of ours that outlives us: a document in, one answer out.

The document carries secrets, so it goes over a socket, which nobody can open through /proc.
"""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import sys
from contextlib import ExitStack
from importlib.util import MAGIC_NUMBER, cache_from_source
from io import FileIO
from pathlib import Path
from typing import Literal

from flybridge.runtime.keeper.keeper_program import BOOT_ENV, one_way_sockets

_ANSWER_BYTES = 16 * 2**10
_BUFFER_BYTES = 128 * 2**10


def channel(files: ExitStack) -> tuple[FileIO, FileIO]:
    """Open a channel; return its (reading, writing) ends, which ``files`` closes."""
    reader, writer = one_way_sockets(_BUFFER_BYTES)
    return files.enter_context(FileIO(reader, "r")), files.enter_context(FileIO(writer, "w"))


def bare_environment() -> dict[str, str]:
    """Return the little that a program of ours gets of our environment."""
    return {name: os.environ[name] for name in ("PATH", BOOT_ENV) if name in os.environ}


def spawn(argv: list[str], stdin: int, stdout: int) -> int:
    """Start a program with nothing of ours but these descriptors; return its pid.

    Raises:
        OSError: it cannot be started.
    """
    return os.posix_spawn(
        argv[0],
        argv,
        bare_environment(),
        file_actions=[
            (os.POSIX_SPAWN_DUP2, stdin, 0),
            (os.POSIX_SPAWN_DUP2, stdout, 1),
            (os.POSIX_SPAWN_DUP2, stdout, 2),  # a traceback is an answer, too
        ],
        setsigmask=(),
        setsigdef=(signal.SIGPIPE,),
    )


def command(source: str, python: str, *args: str) -> list[str]:
    """Return the command that runs a program of ours, alone: ``-I -S`` and its file."""
    return [python, "-I", "-S", str(_file(Path(source), python)), *args]


def _file(source: Path, python: str) -> Path:
    """Return the program's file: the compiled one, if it is this very source's.

    Compiling it at each start would cost every keeper 15 ms and 2.5 MiB.
    """
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


def reap_when_over(pid: int) -> None:
    """Collect a child's exit when it comes, so that no zombie stays.

    Raises:
        OSError: no descriptor is left; the child is killed.
    """
    loop = asyncio.get_running_loop()
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:  # better no program than a zombie
        kill_child(pid)
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


def kill_child(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


async def write_all(file: FileIO, data: bytes) -> None:
    """Write everything and close; a reader that is gone will say so elsewhere."""
    os.set_blocking(file.fileno(), False)
    rest = memoryview(data)
    try:
        while rest:
            count = file.write(rest)  # None: the channel is full
            rest = rest[count or 0 :]
            if rest:
                await _ready(file.fileno(), "write")
    except (BrokenPipeError, ConnectionResetError):
        pass
    file.close()


async def read_all(file: FileIO) -> bytes:
    """Read the program's one answer; it closes its end right after."""
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
