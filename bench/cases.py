"""The loads: bursts, a clock, long logs, messages to an agent, crowds, and clients that misbehave.

A case takes a running gateway and gives figures by name; a figure of an anchor is measured
beside the one it is compared with, in the same case. What the names mean stands in ``goals``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from bench import anchors
from bench.gateway import Gateway
from bench.processes import cpu_s

Figures: TypeAlias = dict[str, float]
Case: TypeAlias = Callable[[Gateway, "Sizes"], Awaitable[Figures]]
PER_ANSWER = 1000
LINES_OF_MIXED = 116  # of one answer with its tool
ROWS_PER_S = 2_500
WARM = 50  # clients that fill what is made once


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much of everything; ``folder`` is where journals lie."""

    folder: Path | None = None
    rounds: int = 3
    deltas: int = 200_000
    durable: int = 40_000
    mixed: int = 1_000
    rows: int = 5_000
    paced: int = 1_000
    crowd: int = 150
    acks: int = 200
    idle: int = 500
    never: int = 4
    readers: int = 9
    sdk: int = 40_000
    big_mb: tuple[int, ...] = (10, 30)


FULL = Sizes(
    rounds=7,
    deltas=500_000,
    durable=100_000,
    mixed=4_000,
    rows=20_000,
    paced=5_000,
    crowd=1_000,
    acks=2_000,
    idle=1_500,
)


async def start(gateway: Gateway, sizes: Sizes) -> Figures:
    """What it takes to be there: this gateway is fresh."""
    return {"first_byte_ms": gateway.first_byte_ms, "idle_mib": gateway.idle_mib}


# ---- bursts ----------------------------------------------------------------------------------


async def _burst(
    gateway: Gateway, session: str, keeper: int, what: str, lines: int, **clients: int
) -> Figures:
    load = await gateway.load(session, turns=1, last=1, timeout=60, **clients)
    before, kept = gateway.cpu_s(), cpu_s(keeper)
    await gateway.begin(session, what)
    found = await load.result()
    cpu, keeping = gateway.cpu_s() - before, cpu_s(keeper) - kept
    await load.leave()
    return {
        "rate": lines / found["elapsed_s"],
        "us": cpu / lines * 1e6,
        "keeper_us": keeping / lines * 1e6,
        "p50_us": found["p50_us"],
        "p99_us": found["p99_us"],
    }


async def deltas(gateway: Gateway, sizes: Sizes) -> Figures:
    """Pieces of text as fast as they come, and the same lines through the anchors."""
    what = f"deltas {sizes.deltas} {PER_ANSWER}"
    session, keeper = await gateway.open()
    ours = await _burst(gateway, session, keeper, what, sizes.deltas)
    figures = {
        "delta_rate": ours["rate"],
        "delta_us": ours["us"],
        "delta_keeper_us": ours["keeper_us"],
        "json_us": anchors.json_us(gateway.pieces, f"deltas {sizes.deltas // 10} {PER_ANSWER}"),
    }
    figures["delta_json_ratio"] = figures["json_us"] / ours["us"]
    if gateway.pieces.node:
        rate, cpu = await anchors.node_burst(gateway.pieces, what, sizes.deltas)
        figures |= {"node_rate": rate, "node_us": cpu}
        figures |= {"node_ratio": ours["rate"] / rate, "node_cpu_ratio": cpu / ours["us"]}
    if gateway.pieces.sdk:
        cpu = await asyncio.to_thread(
            anchors.sdk_us, gateway.pieces, f"deltas {sizes.sdk} {PER_ANSWER}"
        )
        figures |= {"sdk_us": cpu, "sdk_cpu_ratio": cpu / ours["us"]}
    return figures


async def mixed(gateway: Gateway, sizes: Sizes) -> Figures:
    """Answers as they really are, and the same through Node."""
    what, lines = f"mixed {sizes.mixed}", sizes.mixed * LINES_OF_MIXED
    session, keeper = await gateway.open()
    ours = await _burst(gateway, session, keeper, what, lines)
    figures = {"mixed_rate": ours["rate"], "mixed_us": ours["us"]}
    if gateway.pieces.node:
        rate, cpu = await anchors.node_burst(gateway.pieces, what, lines)
        figures |= {
            "mixed_node_ratio": ours["rate"] / rate,
            "mixed_node_cpu_ratio": cpu / ours["us"],
        }
    return figures


async def durable(gateway: Gateway, sizes: Sizes) -> Figures:
    """Lines that all become events; then the log that they made, read again from its start."""
    session, keeper = await gateway.open()
    ours = await _burst(gateway, session, keeper, f"durable {sizes.durable}", sizes.durable)
    return {
        "durable_rate": ours["rate"],
        "durable_us": ours["us"],
        "durable_keeper_us": ours["keeper_us"],
        "replay_rate": await _replay(gateway, session),
    }


async def rows(gateway: Gateway, sizes: Sizes) -> Figures:
    """A log as it comes to be in a day: hardly ever two events at once."""
    session, _ = await gateway.open()
    await gateway.turn(session, f"durable {sizes.rows} {ROWS_PER_S}")
    return {"replay_rows_rate": await _replay(gateway, session)}


async def _replay(gateway: Gateway, session: str) -> float:
    """Events a second, from a client's first byte on."""
    head = await gateway.last_seq(session)
    load = await gateway.load(session, upto=head, previews=0)
    found = await load.result()
    await load.leave()
    return head / found["elapsed_s"]


# ---- by the clock ----------------------------------------------------------------------------


async def paced(gateway: Gateway, sizes: Sizes) -> Figures:
    """500 lines a second to one client: from the CLI's write to the client's read."""
    what = f"paced {sizes.paced} 500"
    session, keeper = await gateway.open()
    ours = await _burst(gateway, session, keeper, what, sizes.paced)
    figures = {"p50_us": ours["p50_us"], "p99_us": ours["p99_us"], "paced_us": ours["us"]}
    if gateway.pieces.node:
        p50, p99 = await anchors.node_latency(gateway.pieces, what, 1)
        figures |= {"node_p50_us": p50, "node_p99_us": p99}
        figures |= {"p99_node_ratio": ours["p99_us"] / p99}
    return figures


async def crowd(gateway: Gateway, sizes: Sizes) -> Figures:
    """100 lines a second to each of 100 clients."""
    what = f"paced {sizes.crowd} 100"
    session, keeper = await gateway.open()
    ours = await _burst(gateway, session, keeper, what, sizes.crowd, clients=100)
    figures = {"crowd_p50_us": ours["p50_us"], "crowd_p99_us": ours["p99_us"]}
    if gateway.pieces.node:
        p50, p99 = await anchors.node_latency(gateway.pieces, what, 100)
        figures |= {"crowd_node_p50_us": p50, "crowd_node_p99_us": p99}
    return figures


async def acks(gateway: Gateway, sizes: Sizes) -> Figures:
    """From a message's submit to the reply that it is recorded; and that the agent has it."""
    session, _ = await gateway.open()
    figures = {"sync_us": anchors.sync_us(sizes.folder, sizes.acks)}
    for stage in ("accepted", "written"):
        load = await gateway.load(session, last=1, acks=sizes.acks, stage=stage, timeout=60)
        found = await load.result()
        await load.leave()
        figures |= {f"{stage}_p50_us": found["p50_us"], f"{stage}_p99_us": found["p99_us"]}
    figures["written_own_us"] = figures["written_p50_us"] - figures["sync_us"]
    return figures


# ---- clients that only cost ------------------------------------------------------------------


async def idle(gateway: Gateway, sizes: Sizes) -> Figures:
    """Clients that are attached while nothing happens."""
    session, _ = await gateway.open()
    few = await gateway.load(session, last=1, clients=WARM, hold=1)
    before = gateway.rss_kib()
    many = await gateway.load(session, last=1, clients=sizes.idle, hold=1)
    after = gateway.rss_kib()
    await many.leave()
    await few.leave()
    return {"client_kib": (after - before) / sizes.idle}


async def never(gateway: Gateway, sizes: Sizes) -> Figures:
    """Clients that never read, beside some that do; and the same without them."""
    what = f"deltas {sizes.deltas} {PER_ANSWER}"
    session, keeper = await gateway.open()
    await gateway.turn(session, what)
    alone = await _burst(gateway, session, keeper, what, sizes.deltas, clients=sizes.readers)
    before = gateway.rss_kib()
    load = await gateway.load(
        session, turns=1, last=1, timeout=60, clients=sizes.readers, never=sizes.never
    )
    await gateway.begin(session, what)
    found = await load.result()
    after = gateway.rss_kib()
    await load.leave()
    return {
        "never_mib": max(0.0, (after - before) / 1024 / sizes.never),
        "never_rate_ratio": sizes.deltas / found["elapsed_s"] / alone["rate"],
    }


async def big(gateway: Gateway, sizes: Sizes) -> Figures:
    """Lines of megabytes: until their event is there, and what a neighbour notices of it."""
    figures = {}
    session, _ = await gateway.open()
    neighbour, _ = await gateway.open()
    for megabytes in sizes.big_mb:
        beside = await gateway.load(neighbour, turns=1, last=1)
        load = await gateway.load(session, turns=1, last=1, timeout=60)
        await gateway.begin(neighbour, f"paced {300 + 20 * megabytes} 500")
        began = time.perf_counter()
        await gateway.begin(session, f"big {megabytes}")
        await load.result()
        figures[f"big_{megabytes}_ms"] = (time.perf_counter() - began) * 1000
        seen = await beside.result()
        figures[f"big_{megabytes}_neighbour_max_ms"] = seen["max_us"] / 1000
        await load.leave()
        await beside.leave()
    return figures


CASES: dict[str, Case] = {
    one.__name__: one
    for one in (deltas, mixed, durable, rows, paced, crowd, acks, idle, never, big)
}
