"""``make bench``: what a streamed line and a command cost, and what a keeper weighs.

Rounds are interleaved with their anchors; medians with the best and the worst beside them.
Rates move with the machine, ratios and CPU per line are what holds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time

import msgspec

from bench.flood_agent import delta_line
from bench.gateway_rig import Rig, cpu_s, rss_mib
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage


def say(text: str) -> SendInput:
    return SendInput(content=(Text(text),))


def anchor_json_us(lines: int) -> float:
    """stdlib json.loads of the same line: the anchor for decoding."""
    line = delta_line()
    start = time.process_time()
    for _ in range(lines):
        json.loads(line)
    return (time.process_time() - start) / lines * 1e6


def anchor_sync_us(rounds: int) -> float:
    """One small write and fdatasync: the anchor for anything durable."""
    with tempfile.TemporaryFile(dir=tempfile.gettempdir()) as file:
        start = time.perf_counter()
        for _ in range(rounds):
            os.write(file.fileno(), b"x" * 512)
            os.fdatasync(file.fileno())
        return (time.perf_counter() - start) / rounds * 1e6


async def burst(rig: Rig, lines: int, watchers: int) -> tuple[float, float, float]:
    """CPU of the gateway and of the keeper per line, and lines per second."""
    attached = [await rig.client.attach(rig.session) for _ in range(min(watchers, 1))]
    keeper = rig.keeper
    before, before_keeper, start = cpu_s(rig.gateway.pid), cpu_s(keeper), time.perf_counter()
    reply = await rig.client.submit(
        rig.session, say(f"FLOOD {lines}"), until=Stage.DONE, wait_ms=120_000
    )
    assert reply.stage is Stage.DONE, reply
    took = time.perf_counter() - start
    gateway = (cpu_s(rig.gateway.pid) - before) / lines * 1e6
    kept = (cpu_s(keeper) - before_keeper) / lines * 1e6
    for one in attached:
        await one.close()
    return gateway, kept, lines / took


async def acks(rig: Rig, count: int) -> list[float]:
    """From submit to the reply that says written: validated, committed, synced, written."""
    times = []
    for number in range(count):
        command, request = say("FLOOD 1"), f"ack-{number}"
        start = time.perf_counter()
        await rig.client.submit(rig.session, command, request=request, until=Stage.WRITTEN)
        times.append((time.perf_counter() - start) * 1e6)
        await rig.client.submit(
            rig.session, command, request=request, until=Stage.DONE, wait_ms=20_000
        )
    return times


def spread(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 3),
        "best": round(min(values), 3),
        "worst": round(max(values), 3),
    }


async def measure(lines: int, rounds: int) -> dict[str, object]:
    async with Rig() as rig:
        await rig.client.submit(rig.session, say("hi"), until=Stage.DONE, wait_ms=20_000)
        idle_keeper, idle_gateway = rss_mib(rig.keeper), rss_mib(rig.gateway.pid)
        anchors, gateways, keepers, rates, watched = [], [], [], [], []
        for _ in range(rounds):
            anchors.append(anchor_json_us(lines // 4))
            gateway, keeper, rate = await burst(rig, lines, 0)
            gateways.append(gateway)
            keepers.append(keeper)
            rates.append(rate)
            watched.append((await burst(rig, lines, 1))[0])
        syncs = [anchor_sync_us(200) for _ in range(3)]
        times = await acks(rig, 200)
        return {
            "lines per burst": lines,
            "json.loads of the same line, CPU us (anchor)": spread(anchors),
            "gateway CPU us per delta line, nobody attached": spread(gateways),
            "gateway CPU us per delta line, one client": spread(watched),
            "gateway against json.loads": round(
                statistics.median(gateways) / statistics.median(anchors), 2
            ),
            "keeper CPU us per delta line": spread(keepers),
            "lines per second": spread(rates),
            "write + fdatasync, us (anchor)": spread(syncs),
            "submit to written, us": {
                "p50": round(statistics.median(times)),
                "p99": round(sorted(times)[int(len(times) * 0.99)]),
            },
            "keeper RSS MiB, idle and after": [
                round(idle_keeper, 1),
                round(rss_mib(rig.keeper), 1),
            ],
            "gateway RSS MiB, idle and after": [
                round(idle_gateway, 1),
                round(rss_mib(rig.gateway.pid), 1),
            ],
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(measure(options.lines, options.rounds))
    found["machine"] = (
        f"Python {platform.python_version()}, msgspec {msgspec.__version__}, "
        f"SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores"
    )
    if options.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for name, value in found.items():
        sys.stdout.write(f"{name:<50} {json.dumps(value)}\n")


if __name__ == "__main__":
    main()
