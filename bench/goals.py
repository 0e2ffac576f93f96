"""What is measured, what it should be, and what counts as missed.

A shared machine is noisy: a goal is missed only when the median of the rounds *and* the best
round miss it. Ratios are taken within a round. Rows without a goal are there to be compared.
"""

from __future__ import annotations

import statistics
from typing import Literal

import msgspec

Verdict = Literal["met", "close", "missed", ""]
Rounds = list[float]


class Row(msgspec.Struct, frozen=True):
    """A figure by its name: what it is, in which unit, from which case, and its goal."""

    figure: str
    what: str
    unit: str
    case: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def goal(self) -> str:
        if self.at_least is not None:
            return f">= {short(self.at_least)}"
        return f"<= {short(self.at_most)}" if self.at_most is not None else ""

    @property
    def more_is_better(self) -> bool:
        if self.goal:
            return self.at_least is not None
        return self.figure.endswith(("rate", "ratio"))

    def best(self, rounds: Rounds) -> float:
        return max(rounds) if self.more_is_better else min(rounds)

    def meets(self, value: float) -> bool:
        over = self.at_least is None or value >= self.at_least
        return over and (self.at_most is None or value <= self.at_most)

    def verdict(self, rounds: Rounds) -> Verdict:
        """``close``: the median misses it, the best round does not."""
        if not self.goal:
            return ""
        if self.meets(statistics.median(rounds)):
            return "met"
        return "close" if self.meets(self.best(rounds)) else "missed"


def short(value: float | None) -> str:
    """A number as people read it."""
    if value is None:
        return ""
    if abs(value) >= 10_000:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


ROWS = (
    Row("delta_rate", "lines of text, one client", "lines/s", "deltas", at_least=150_000),
    Row("delta_us", "CPU of the gateway for a line of text", "µs", "deltas", at_most=2.5),
    Row("delta_keeper_us", "CPU of its keeper for it", "µs", "deltas"),
    Row("json_us", "json.loads of the same line", "µs", "deltas"),
    Row("node_rate", "Node ws without a log, the same lines", "lines/s", "deltas"),
    Row("node_ratio", "rate against Node ws", "x", "deltas", at_least=2),
    Row("node_cpu_ratio", "CPU of Node ws against ours", "x", "deltas"),
    Row("sdk_cpu_ratio", "CPU of claude-agent-sdk, which only reads", "x", "deltas"),
    Row("mixed_rate", "real answers with tools", "lines/s", "mixed"),
    Row("mixed_us", "CPU of the gateway for a line of them", "µs", "mixed"),
    Row("mixed_node_ratio", "rate against Node ws", "x", "mixed"),
    Row("durable_rate", "lines that all become events", "lines/s", "durable"),
    Row("durable_us", "CPU of the gateway for such a line", "µs", "durable", at_most=8),
    Row("durable_keeper_us", "CPU of its keeper for it", "µs", "durable"),
    Row("replay_rate", "a log made in bursts, replayed", "events/s", "durable", at_least=500_000),
    Row("replay_rows_rate", "a log made line by line, replayed", "events/s", "rows"),
    Row("p50_us", "latency at 500 lines/s, p50", "µs", "paced", at_most=200),
    Row("p99_us", "latency at 500 lines/s, p99", "µs", "paced"),
    Row("node_p50_us", "Node ws, p50", "µs", "paced"),
    Row("node_p99_us", "Node ws, p99", "µs", "paced"),
    Row("p99_node_ratio", "our p99 in units of Node's", "x", "paced", at_most=1),
    Row("crowd_p50_us", "100 clients at 100 lines/s, p50", "µs", "crowd", at_most=2_000),
    Row("crowd_p99_us", "100 clients at 100 lines/s, p99", "µs", "crowd"),
    Row("crowd_node_p50_us", "Node ws, p50", "µs", "crowd"),
    Row("accepted_p50_us", "a message, until recorded, p50", "µs", "acks"),
    Row("written_p50_us", "... until on disk and written, p50", "µs", "acks", at_most=500),
    Row("written_p99_us", "... until on disk and written, p99", "µs", "acks"),
    Row("sync_us", "write + fdatasync alone, as seldom", "µs", "acks"),
    Row("written_own_us", "what is left of the p50 without it", "µs", "acks"),
    Row("idle_mib", "memory of an idle gateway", "MiB", "start", at_most=45),
    Row("client_kib", "memory of an idle client", "KiB", "idle", at_most=8),
    Row("first_byte_ms", "from serve to the first byte", "ms", "start", at_most=300),
    Row("never_mib", "memory of a client that never reads", "MiB", "never", at_most=1),
    Row("never_rate_ratio", "rate of the others beside it", "x", "never", at_least=0.95),
    Row("big_10_ms", "a line of 10 MB, until its event", "ms", "big"),
    Row("big_10_neighbour_max_ms", "longest wait of another session", "ms", "big"),
    Row("big_30_ms", "a line of 30 MB, until its event", "ms", "big"),
    Row("big_30_neighbour_max_ms", "longest wait of another session", "ms", "big"),
)
