"""``python -m bench.peers``: how long a gateway takes to judge a connection on a busy machine.

A crowd of processes with threads and open files stands beside the gateway's judge, below a keeper
or not. Measured is the time from a new connection to its verdict: of a program that connects again,
as a browser does, and of one that has just been started. The goal is 20 ms of a processor for 95 of
100 connections of a browser.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bench.ending import say
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.runtime.keeper.process import start_time

GOAL_MS = 20.0
CROWD = r"""
import os, sys, threading
processes, threads, files = map(int, sys.argv[1:])
threading.stack_size(64 * 1024)
wait = threading.Event().wait
reading, writing = os.pipe()
for _ in range(processes):
    if os.fork() == 0:
        for _ in range(files):
            os.dup(0)
        for _ in range(threads - 1):
            threading.Thread(target=wait, daemon=True).start()
        os.write(writing, b"x")
        wait()
left = processes
while left:
    left -= len(os.read(reading, left))
print("ready", flush=True)
sys.stdin.read()
os.killpg(0, 9)
"""
CONNECT = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.recv(1)"
)


@contextmanager
def crowd(processes: int, threads: int, files: int) -> Iterator[int]:
    """Yield the pid of the process above a crowd."""
    argv = [sys.executable, "-c", CROWD, str(processes), str(threads), str(files)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    ) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        try:
            assert program.stdout.readline() == b"ready\n"
            yield program.pid
        finally:
            program.stdin.close()
            program.wait(60)


class Took(NamedTuple):
    """Milliseconds by the clock, and of a processor: the second ones hold on a loaded machine."""

    wall_ms: float
    cpu_ms: float


async def judge(peers: TcpPeers, server: socket.socket, login: str, verdict: str) -> Took:
    """Accept one connection and return how many milliseconds its verdict takes."""
    accepted, client = await asyncio.to_thread(server.accept)
    with accepted:
        began, used = time.perf_counter(), time.process_time()
        found = await peers.verdict(client, server.getsockname(), login=login)
        took = Took((time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000)
        assert found == verdict, found
    return took


async def measure(peers: TcpPeers, count: int) -> dict[str, list[Took]]:
    again: list[Took] = []
    fresh: list[Took] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for _ in range(count):
            with socket.create_connection(("127.0.0.1", port)):
                again.append(await judge(peers, server, "browser", "person"))
        for _ in range(max(count // 5, 1)):
            argv = [sys.executable, "-S", "-c", CONNECT, str(port)]
            with subprocess.Popen(argv):  # noqa: ASYNC220
                fresh.append(await judge(TcpPeers(peers._keepers), server, "", "person"))
    return {"a browser's next connection": again, "a program just started": fresh}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("processes", 500), ("threads", 10), ("files", 100), ("count", 100)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    missed = False
    for below in (False, True):
        with crowd(given.processes, given.threads, given.files) as pid:
            keepers = ((pid, start_time(pid) or ""),) if below else ()
            found = asyncio.run(measure(TcpPeers(keepers.__iter__), given.count))
        where = "below a keeper" if below else "outside keepers"
        each = f"{given.threads} threads and {given.files} files each"
        say(f"{given.processes} processes with {each}, {where}")
        for name, times in found.items():
            wall, cpu = (sorted(kind) for kind in zip(*times, strict=True))
            middle, most = len(times) // 2, int(len(times) * 0.95) - 1
            say(
                f"  {name}: median {wall[middle]:.1f} ms, p95 {wall[most]:.1f} ms; "
                f"of a processor {cpu[middle]:.1f} ms, p95 {cpu[most]:.1f} ms"
            )
            missed |= cpu[most] > GOAL_MS and name.startswith("a browser")
    os._exit(1 if missed else 0)


if __name__ == "__main__":
    main()
