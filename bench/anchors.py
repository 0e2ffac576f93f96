"""What the gateway is compared with, measured in the same round on the same lines."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from asyncio.subprocess import PIPE
from pathlib import Path

from bench.gateway import Load
from bench.pieces import HERE, NODE_FOLDER, Pieces
from bench.processes import cpu_s, ended

SDK_S = 120
SYNC_BYTES = 16 * 1024
SYNC_GAP_S = 0.003


async def node_burst(pieces: Pieces, what: str, lines: int) -> tuple[float, float]:
    """Lines a second and CPU in microseconds a line of the Node bridge, with one client."""
    found, cpu = await _node(pieces, what, clients=1)
    return lines / found["elapsed_s"], cpu / lines * 1e6


async def node_latency(pieces: Pieces, what: str, clients: int) -> tuple[float, float]:
    """How late the Node bridge delivers, in microseconds: p50 and p99."""
    found, _ = await _node(pieces, what, clients=clients)
    return found["p50_us"], found["p99_us"]


async def _node(pieces: Pieces, what: str, *, clients: int) -> tuple[dict[str, float], float]:
    assert pieces.node is not None
    bridge = await asyncio.create_subprocess_exec(
        *(str(pieces.node), "bridge.mjs", str(pieces.fake_cli), "--emit", what),
        cwd=NODE_FOLDER,
        stdin=PIPE,
        stdout=PIPE,
    )
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    try:
        port = int(await bridge.stdout.readline())
        load = await Load.start(pieces, port=port, plain=1, turns=1, clients=clients, timeout=60)
        before = cpu_s(bridge.pid)
        bridge.stdin.write(b"start\n")
        found = await load.result()
        cpu = cpu_s(bridge.pid) - before
        await load.leave()
    finally:
        bridge.stdin.close()
        await ended(bridge)
    return found, cpu


def sdk_us(pieces: Pieces, what: str) -> float:
    """CPU in microseconds a message of claude-agent-sdk, which only reads."""
    argv = [str(pieces.sdk), str(HERE / "sdk_reader.py"), str(pieces.fake_cli), f"BENCH {what}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SDK_S)
    if done.returncode:
        raise RuntimeError(f"claude-agent-sdk could not read the fake CLI: {done.stderr[-500:]}")
    found = json.loads(done.stdout)
    return float(found["cpu_s"] / found["messages"] * 1e6)


def json_us(pieces: Pieces, what: str) -> float:
    """CPU in microseconds that stdlib json takes to decode one of the lines."""
    argv = [str(pieces.fake_cli), "--emit", what]
    lines = subprocess.run(argv, capture_output=True, check=True).stdout.splitlines()
    began = time.process_time()
    for line in lines:
        json.loads(line)
    return (time.process_time() - began) / len(lines) * 1e6


def sync_us(folder: Path | None, times: int) -> float:
    """The median of a write and its fdatasync: less than that nothing durable takes.

    As much as a commit writes, and as seldom as messages come: a disk that is kept busy answers
    several times as fast as one that was left alone for a moment.
    """
    took = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(times):
            time.sleep(SYNC_GAP_S)
            began = time.perf_counter()
            os.pwrite(file.fileno(), bytes(SYNC_BYTES), 0)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - began) * 1e6)
    return statistics.median(took)
