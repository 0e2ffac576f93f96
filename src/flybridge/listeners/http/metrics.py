"""Counters for whoever watches the gateway: Prometheus text, written by ourselves."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

MEDIA_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
Kind: TypeAlias = Literal["counter", "gauge", "summary"]
Labels: TypeAlias = Mapping[str, str]
Sample: TypeAlias = tuple[str, Labels, float]  # what is added to the name, labels, value


class Metrics:
    """What is counted here. Routes are counted by their pattern: there are only so many."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, float] = {}
        self._counts: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests[(method, route, status)] += 1
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds
        self._counts[route] += 1

    def refused(self, code: str) -> None:
        """Somebody did not get past the gate."""
        self._refused[code] += 1

    def families(self) -> Iterable[str]:
        yield family(
            "flybridge_http_requests_total",
            "counter",
            "Requests answered, by route and status.",
            (
                ("", {"method": method, "route": route, "status": str(status)}, count)
                for (method, route, status), count in sorted(self._requests.items())
            ),
        )
        yield family(
            "flybridge_http_request_seconds",
            "summary",
            "Time until an answer was complete; streams last as long as they last.",
            (
                sample
                for route in sorted(self._seconds)
                for sample in (
                    ("_sum", {"route": route}, self._seconds[route]),
                    ("_count", {"route": route}, self._counts[route]),
                )
            ),
        )
        yield family(
            "flybridge_gate_refused_total",
            "counter",
            "Requests that did not get past the gate, by reason.",
            (("", {"code": code}, count) for code, count in sorted(self._refused.items())),
        )


def family(name: str, kind: Kind, about: str, samples: Iterable[Sample]) -> str:
    """One metric, with its samples."""
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    for more, labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(one)}"' for key, one in labels.items())
        lines.append(f"{name}{more}{{{inside}}} {value}" if inside else f"{name}{more} {value}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def process_families() -> Iterable[str]:
    """What the process itself takes, under the names everybody uses."""
    times = os.times()
    cpu = times.user + times.system
    yield family("process_cpu_seconds_total", "counter", "CPU time used.", [("", {}, cpu)])
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:  # not Linux
        return
    memory = pages * os.sysconf("SC_PAGE_SIZE")
    about = "Memory in use."
    yield family("process_resident_memory_bytes", "gauge", about, [("", {}, memory)])
    yield family("process_open_fds", "gauge", "Open files.", [("", {}, files)])
