"""A disk that is full, read-only or failing, at every write of one turn of a real gateway.

strace lets the n-th write of the loop's thread, and every one after it, fail, as a disk does
that is full; taking strace away is the space coming back.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest

from flybridge.testing import recorder
from tests.crash.checker import GUARDED
from tests.crash.evidence import Client, answer, interrupt, send_input
from tests.crash.operations import warm
from tests.crash.rig import Rig
from tests.harness.waiting import wait_until

ATTACH_S = 10.0
REFUSED = ("storage_full", "storage_failed", "in_progress", "not_delivered", "keeper")


class IllDisk:
    """While it lasts, a call of the gateway fails from the ``nth`` time on."""

    def __init__(self, rig: Rig, call: str, error: str, nth: int = 1) -> None:
        self._trace = rig.base / "trace"
        threads = [one.name for one in Path(f"/proc/{rig.pid}/task").iterdir()]
        inject = f"inject={call}:error={error}:when={nth}+"
        argv = ["strace", "-o", str(self._trace), "-e", f"trace={call}", "-e", inject]
        self._argv = [*argv, *(f"--attach={thread}" for thread in threads)]
        self._attached = len(threads)
        self.hits = 0

    def __enter__(self) -> IllDisk:
        self._strace = subprocess.Popen(self._argv, stderr=subprocess.PIPE)
        assert self._strace.stderr is not None
        for _ in range(self._attached):
            assert b"attached" in self._strace.stderr.readline()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._strace.terminate()
        self._strace.communicate(timeout=ATTACH_S)
        self.hits = self._trace.read_text(errors="replace").count("INJECTED")


@pytest.fixture
def rig() -> Iterator[Rig]:
    base = Path(tempfile.mkdtemp(prefix="fbd-", dir="/tmp"))
    rig = Rig(base)
    try:
        yield rig
    finally:
        rig.close()
        shutil.rmtree(base, ignore_errors=True)


def persist(client: Client, session: str, request: str, command: dict[str, object]) -> None:
    """Ask until it is done, as a client does whose disk comes back."""
    deadline = time.monotonic() + 20
    while (reply := client.carry_out(session, request, command, until="written")).error:
        assert reply.error in REFUSED, reply
        assert time.monotonic() < deadline
        time.sleep(0.02)


def play(client: Client, session: str, name: str) -> None:
    """One turn with a permission in it, to its end, whatever was refused before."""
    tool = {"tool": GUARDED, "ask": True, "input": {"command": name}}
    command = send_input(f"{name}i", {"say": f"look at {name}", "deltas": 3}, tool)
    persist(client, session, f"{name}i", command)
    prompts = client.transcripts[session].prompts
    client.until(lambda: prompts or client.views[session]["status"] == "idle")
    for prompt in list(prompts.values()):  # none: the first try got that far
        persist(client, session, f"{name}a", answer(prompt.id, prompt.digest))
    client.until_status(session, "idle")


def briefly(client: Client, session: str, request: str, command: dict[str, object]) -> None:
    """Ask once, and do not wait for a disk that may be ill for long."""
    sent = client.submit(session, request, command, wait_ms=150)
    have = len(sent.replies)
    client.until(lambda: len(sent.replies) > have)


def try_to_play(client: Client, session: str, name: str) -> None:
    """The same turn on an ill disk: as far as it gets in a short while."""
    tool = {"tool": GUARDED, "ask": True, "input": {"command": name}}
    command = send_input(f"{name}i", {"say": f"look at {name}", "deltas": 3}, tool)
    briefly(client, session, f"{name}i", command)
    prompts = client.transcripts[session].prompts
    deadline = time.monotonic() + 0.2
    while not prompts and time.monotonic() < deadline:
        client.read(0.02)
    for prompt in list(prompts.values()):
        briefly(client, session, f"{name}a", answer(prompt.id, prompt.digest))


@pytest.mark.strace
@pytest.mark.parametrize(
    ("call", "error", "step"),
    [
        ("pwrite64", "ENOSPC", 1),
        ("pwrite64", "EROFS", 9),  # the same path as the one above: a sample will do
        ("pwrite64", "EIO", 9),
        ("fdatasync", "EIO", 1),
    ],
)
def test_nothing_is_lost_or_doubled_wherever_the_disk_begins_to_refuse(
    rig: Rig, call: str, error: str, step: int
) -> None:
    client = rig.start()
    session = rig.open(client, "disk")
    warm(client, session, "first")
    tried = 0
    for nth in range(1, 200, step):
        ill = IllDisk(rig, call, error, nth)
        with ill:
            try_to_play(client, session, f"n{nth}")
        play(client, session, f"n{nth}")
        if not ill.hits:
            break
        tried += 1
    verdict = rig.finish(client)
    assert verdict.broken == []
    assert tried >= (2 if call == "fdatasync" else 5)


@pytest.mark.strace
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_runaway_agent_can_be_stopped_with_a_full_disk(rig: Rig, error: str) -> None:
    client = rig.start()
    session = rig.open(client, "disk")
    warm(client, session, "first")
    tool = {"tool": GUARDED, "ask": True, "input": {"command": "x"}}
    client.carry_out(session, "m1", send_input("m1", tool, {"stall": 50}), until="written")
    prompts = client.transcripts[session].prompts
    client.until(lambda: prompts)
    prompt = next(iter(prompts.values()))
    with IllDisk(rig, "pwrite64", error):
        refused = client.carry_out(session, "m2", send_input("m2"), until="written")
        assert refused.error in ("storage_full", "storage_failed")
        denied = client.carry_out(session, "d1", answer(prompt.id, prompt.digest, "deny"))
        assert denied.error in ("storage_full", "storage_failed"), denied
        stopped = client.carry_out(session, "x1", interrupt())
        assert "not recorded" in denied.message
        assert "not recorded" in stopped.message
        record = str(rig.record)
        wait_until(lambda: any(b"interrupt" in line for line in recorder.lines(record)))
    client.until_status(session, "idle")
    persist(client, session, "m2", send_input("m2"))
    client.until_status(session, "idle")
    assert recorder.ran(record) == []
    rig.settle(client)
    client.close()
    rig.stop_gateway()
