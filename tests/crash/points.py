"""Kills a gateway at every point of an operation, and repeats the operation after each."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeAlias

from tests.crash.evidence import GatewayGoneError, Json
from tests.crash.operations import Operation, Request, warm
from tests.crash.rig import Rig
from tests.crash.tracer import Point, Tracer, points_between

RIGS = 2  # at a time: one for each core


class Killed(Protocol):
    """Something that is done again after its gateway was killed in the middle of it."""

    rig: Rig
    hit: int
    missed: int

    def find_points(self) -> list[Point]: ...
    def kill_at(self, point: Point) -> None: ...
    def finish(self) -> list[str]: ...


Maker: TypeAlias = Callable[[Path], Killed]


class Target:
    """A rig and one session on it, killed at one point after the other."""

    def __init__(self, base: Path, operation: Operation, *, keeper_too: bool) -> None:
        self.rig = Rig(base, apart=True)
        self.hit = self.missed = 0
        self._operation = operation
        self._keeper_too = keeper_too
        self._turns = 0
        self._client = self.rig.start()
        self._session = self.rig.open(self._client, "target")

    def find_points(self) -> list[Point]:
        """Where the operation can be killed, as seen in a run of it."""
        request, command = self._prepare("dry")
        trace = self.rig.base / "trace"
        with Tracer(self.rig.pid, to=trace):
            sent = self._client.submit(self._session, request, command, until="done")
            self._client.until(lambda: sent.replies)
        self._repeat(request, command)
        return points_between(trace, self.rig.pid, f'\\"request\\": \\"{request}\\"', '\\"reply\\"')

    def kill_at(self, point: Point) -> None:
        """Die there, start again, repeat the request."""
        name = f"p{self._turns}"
        self._turns += 1
        request, command = self._prepare(name)
        try:
            with Tracer(self.rig.pid, to=Path("/dev/null"), at=point):
                sent = self._client.submit(self._session, request, command, until="done")
                self._client.until(lambda: sent.replies)
        except GatewayGoneError:
            self.hit += 1
        else:  # it needed fewer calls this time: then right after its reply
            self.missed += 1
        self._client = self.rig.kill_and_start(self._client, self._session, self._keeper_too)
        self._repeat(request, command)

    def _prepare(self, name: str) -> Request:
        warm(self._client, self._session, name)
        return self._operation.prepare(self._client, self._session, name)

    def _repeat(self, request: str, command: Json) -> None:
        reply = self._client.carry_out(self._session, request, command)
        if not self._keeper_too:
            assert reply.stage == "done", f"{request}: {reply}"
        self.rig.settle(self._client)

    def finish(self) -> list[str]:
        return self.rig.finish(self._client).broken


class Opening:
    """Sessions that are opened while the gateway dies; each is opened again by the next one."""

    def __init__(self, base: Path) -> None:
        self.rig = Rig(base, apart=True)
        self.hit = self.missed = 0
        self._client = self.rig.start()
        warm(self._client, self.rig.open(self._client, "first"), "first")

    def find_points(self) -> list[Point]:
        trace = self.rig.base / "trace"
        with Tracer(self.rig.pid, to=trace):
            session = self.rig.open(self._client, "dry")
            self._client.until_status(session, "idle")
        found = points_between(trace, self.rig.pid, '\\"request\\": \\"dry\\"', "agent.connected")
        return [point for point in found if point.role == "loop"]  # the rest are the keeper's own

    def kill_at(self, point: Point) -> None:
        """Die there, start again, open it again: it is one session, and it works."""
        name = f"o{self.hit + self.missed}"
        session = ""
        try:
            with Tracer(self.rig.pid, to=Path("/dev/null"), at=point):
                session = self.rig.open(self._client, name)
                self._client.until_status(session, "idle")
        except GatewayGoneError:
            self.hit += 1
        else:
            self.missed += 1
        self.rig.kill_gateway()
        self._client.close()
        self._client = self.rig.start()
        again = self._client.open(name, self.rig.work)
        assert session in ("", again), "opened twice"
        if not session:
            self.rig.followed[again] = self._client.follow(again)
        warm(self._client, again, name)
        self._client.carry_out(again, f"{name}c", {"type": "close"})

    def finish(self) -> list[str]:
        return self.rig.finish(self._client).broken


def share_of(make: Maker, part: tuple[int, int], share: int) -> Counter[str]:
    """Kill at the points that fall to this rig; counts those hit and missed."""
    one = make(Path(tempfile.mkdtemp(prefix="r")))
    try:
        points = one.find_points()
        for point in points[part[0] :: part[1]][share::RIGS]:
            one.kill_at(point)
        broken = one.finish()
        assert not broken, "\n".join(broken)
    finally:
        one.rig.close()
    one.rig.remove()
    return Counter(hit=one.hit, missed=one.missed)


def kill_everywhere(make: Maker, part: tuple[int, int] = (0, 1)) -> Counter[str]:
    """Every point, or those of a part (which, of how many) of them.

    Raises:
        AssertionError: a promise was broken.
    """
    with ThreadPoolExecutor(RIGS) as pool:
        shares = [pool.submit(share_of, make, part, share) for share in range(RIGS)]
        counted = sum((share.result() for share in shares), Counter[str]())
    assert counted["hit"] > counted["missed"], f"{counted}: the trace is of another operation"
    return counted


def doing(operation: Operation, *, keeper_too: bool) -> Maker:
    """The operation on an agent that runs; perhaps its keeper dies right after the gateway."""
    return lambda base: Target(base, operation, keeper_too=keeper_too)
