"""A real gateway with recorder agents, every part of which can be killed at any time."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flybridge.client.transcript import Transcript
from flybridge.runtime.keeper.keeper_program import kill_exactly, process, processes, read_file
from tests.crash.checker import Verdict, judge
from tests.crash.evidence import Client, Evidence, GatewayGoneError
from tests.harness import leftovers
from tests.harness.agent_programs import agent, recorder_program
from tests.harness.gateway_process import GatewayProcess
from tests.harness.waiting import WAIT_S, wait_until

SETTLE_S = 15.0
HELLO_S = 20  # a gateway on a busy machine may stand still for seconds before its HELLO
ORPHANED_S = 7.0  # to end an agent that nobody wants
CONFIG = """\
agents:
{agents}keeper:
  hello_s: {hello_s}
  orphan_s: 30
log_level: warning
"""


class Life(NamedTuple):
    """One living agent: its process, its keeper's, and whose they are."""

    agent: int
    keeper: int
    session: str
    incarnation: str


class Rig:
    """One state directory and everything that runs on it. ``close`` leaves nothing behind.

    ``apart``: each agent has a record of its own, because one that is killed in the middle of
    a long entry would leave half a line in front of the next one's.
    """

    def __init__(
        self, base: Path, *, flags: tuple[str, ...] = ("--no-dedupe",), apart: bool = False
    ) -> None:
        self.base = base
        self.gateway = GatewayProcess(base)
        self.state = self.gateway.state
        self.record = self.gateway.record
        self.work = self.gateway.work
        self.evidence = Evidence()
        self.boot = ""
        self.package: Path | None = None  # another version's, for the gateways that are started
        self.starts = 0
        self.followed: dict[str, Transcript] = {}  # by one client that comes back after every cut
        self._clients: list[Client] = []
        self._keepers: dict[int, str] = {}  # pid → start time, of every keeper ever found
        # a script of its own, so that a test can take the program away
        self.program = base / "agent"
        record = f"{self.record}{'-$$' if apart else ''}"  # exec keeps the shell's pid
        words = " ".join(f'"{word}"' for word in recorder_program(record, *flags))
        self.program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        self.program.chmod(0o755)
        recorder = agent("recorder", [str(self.program)])
        self.gateway.configure(CONFIG.format(agents=recorder, hello_s=HELLO_S))

    # ---- the gateway -------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        return self.gateway.pid

    @property
    def socket(self) -> Path:
        return self.state / "gateway.sock"

    def launch(self, under: Sequence[str] = ()) -> None:
        """Start a gateway, perhaps ``under`` another program, and do not wait for it."""
        self.starts += 1
        self.socket.unlink(missing_ok=True)  # so that nobody takes the old one for the new one
        if self.boot:
            self.gateway.env["FLYBRIDGE_BOOT_ID"] = self.boot
        if self.package is not None:
            self.gateway.env["PYTHONPATH"] = str(self.package)
        else:
            self.gateway.env.pop("PYTHONPATH", None)  # of the older version that ran before
        self.gateway.under = under
        self.gateway.start()

    def start(self) -> Client:
        """Start a gateway; the client goes on with every session where it was cut off."""
        self.launch()
        client = self.connect()
        client.until(lambda: client.welcome)
        for session, transcript in self.followed.items():
            client.follow(session, transcript)
        return client

    def open(self, client: Client, request: str) -> str:
        """A new session, followed from its first event on."""
        session = client.open(request, self.work)
        self.followed[session] = client.follow(session)
        return session

    def connect(self) -> Client:
        """A new client, as soon as the gateway lets one in."""
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                self._clients.append(Client(self.socket, self.evidence))
                return self._clients[-1]
            except GatewayGoneError:
                status, tail = self.gateway.status, self.gateway.tail()
                if status is not None or time.monotonic() > deadline:
                    raise AssertionError(f"the gateway does not start ({status}): {tail}") from None
                time.sleep(0.005)

    def kill_gateway(self) -> None:
        self.gateway.kill()

    def wait_gateway(self, wait_s: float) -> bool:
        """Whether the gateway ended within that time."""
        try:
            self.gateway.wait(wait_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop_gateway(self) -> None:
        """End it cleanly; agents stay with their keepers."""
        assert self.gateway.is_running
        status = self.gateway.stop()
        assert status == 0, f"it ended with {status}: {self.gateway.tail()}"

    def reboot(self, name: str) -> None:
        """Play a power cut: everything dies, and the machine has another boot id."""
        self.kill_gateway()
        for life in self.lives():
            self.evidence.hurt.setdefault(life.incarnation, "reboot")
        self._kill_everything()
        self.boot = name
        self.evidence.reboots += 1

    # ---- agents and keepers ------------------------------------------------------------------

    def lives(self, session: str = "") -> list[Life]:
        """The agents that run now, of one session or of all."""
        found = []
        for one in processes():
            if one.dead or one.group != one.pid:
                continue
            environ = read_file(f"/proc/{one.pid}/environ", 1 << 16)
            if os.fsencode(self.record) not in read_file(f"/proc/{one.pid}/cmdline", 1 << 16):
                continue
            names = dict(part.split(b"=", 1) for part in environ.split(b"\0") if b"=" in part)
            whose = names.get(b"FLYBRIDGE_SESSION", b"").decode()
            life = names.get(b"FLYBRIDGE_INCARNATION", b"").decode()
            keeper = process(one.parent)
            if life and keeper is not None and one.parent != 1:
                self._keepers[one.parent] = keeper.start
                if not session or whose == session:
                    found.append(Life(one.pid, one.parent, whose, life))
        return found

    def life(self, session: str) -> Life:
        """The agent of a session that has one, as soon as it shows."""
        return wait_until(lambda: self.lives(session), f"the agent of {session}")[0]

    def kill_agent(self, life: Life) -> None:
        self.evidence.hurt.setdefault(life.incarnation, "agent")
        leftovers.kill(life.agent)

    def kill_keeper(self, life: Life) -> None:
        self.evidence.hurt.setdefault(life.incarnation, "keeper")
        leftovers.kill(life.keeper)

    def kill_and_start(self, client: Client, session: str, keeper_too: bool) -> Client:
        """Kill the gateway, and with it the keeper of a session; the client of the next one."""
        life = self.life(session)
        self.kill_gateway()
        if keeper_too:
            self.kill_keeper(life)
        client.close()
        return self.start()

    # ---- the end -----------------------------------------------------------------------------

    def settle(
        self, client: Client, wait_s: float = SETTLE_S, *, but: tuple[str, ...] = ()
    ) -> None:
        """Wait until no session has anything open (``but`` what waits for that).

        Raises:
            AssertionError: one still has after ``wait_s``.
        """
        deadline = time.monotonic() + wait_s
        fine = ("nothing", *but)
        while left := [one for one in client.ask("list", {})["sessions"] if one["why"] not in fine]:
            assert time.monotonic() < deadline, f"I3 still open after {wait_s:g} s: {left}"
            client.read(0.02)

    def finish(self, client: Client) -> Verdict:
        """Let everything come to its end, stop cleanly, and judge it all."""
        self.settle(client)
        heads = {one["session"]: one["last_seq"] for one in client.ask("list", {})["sessions"]}
        for session, transcript in self.followed.items():
            client.until(lambda t=transcript, s=session: t.last_seq >= heads[s])  # type: ignore[misc]
            self.evidence.transcripts.append((session, transcript))
        client.close()
        self.stop_gateway()
        self._check_orphans()
        self.close()
        return judge(self.evidence, sorted(self.base.glob("record*")), self.state)

    def close(self) -> None:
        """End every process of this rig.

        Raises:
            AssertionError: something will not go.
        """
        for client in self._clients:
            client.close()
        self.kill_gateway()
        self.lives()
        wait_until(lambda: not self._kill_everything(), f"the end of all below {self.base}")

    def _check_orphans(self) -> None:
        """An agent of a life that has ended is gone as soon as its keeper gives up waiting."""
        deadline = time.monotonic() + HELLO_S + ORPHANED_S
        current = self._recorded("incarnation")
        while left := [one for one in self.lives() if one.incarnation not in current]:
            if time.monotonic() > deadline:
                self.evidence.broken.append(f"I4 agents of ended lives still run: {left}")
                return
            time.sleep(0.02)

    def remove(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    def _kill_everything(self) -> list[int]:
        """Kill keepers first (their agents follow) and what runs on our files; who was there."""
        self._keepers.update(zip(*map(self._recorded, ("keeper_pid", "keeper_start")), strict=True))
        ours = [
            one
            for one in processes()
            if not one.dead
            and (
                self._keepers.get(one.pid) == one.start
                or os.fsencode(self.base) in read_file(f"/proc/{one.pid}/cmdline", 1 << 16)
            )
            and one.pid != os.getpid()
        ]
        for one in ours:
            kill_exactly(one)
        return [one.pid for one in ours]

    def _recorded(self, field: str) -> list[Any]:
        """That field of every life the journal does not hold for ended."""
        path = self.state / "journal.db"
        if not path.exists():
            return []
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            rows = db.execute("SELECT body FROM incarnations WHERE state != 'ended'").fetchall()
        except sqlite3.Error:  # killed before it had made its tables
            return []
        finally:
            db.close()
        return [json.loads(body).get(field) for (body,) in rows]
