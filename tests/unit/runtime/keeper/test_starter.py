"""The starter of keepers, seen from the gateway: found, started, reused, reported."""

from __future__ import annotations

import os
import signal
import socket
import stat

import pytest

from flybridge.errors import KeeperError
from flybridge.runtime.keeper import starter as starter_module
from flybridge.runtime.keeper import starter_program
from flybridge.runtime.keeper.keeper_program import descendants, process
from flybridge.runtime.keeper.process import alive, ancestors, start_time
from flybridge.runtime.keeper.starter import StarterAlarm
from tests.harness.keeper_bench import py, sh
from tests.harness.keeper_starters import ESCAPE, Starters, of_process
from tests.harness.waiting import until

CAT = ["/bin/cat"]


async def test_a06_a_keeper_is_a_child_of_the_starter_and_not_of_the_gateway(
    starters: Starters,
) -> None:
    gateway = starters.gateway()
    assert not await gateway.starter.find()
    spec, started = await starters.start(gateway, CAT)
    keeper = process(started.pid)
    assert keeper is not None
    assert (keeper.parent, keeper.start) == (gateway.starter.pid, started.start)
    link, heard = await starters.keepers.link(spec)
    link.send_input(1, b"works\n")
    await heard.until(lambda: heard.output == b"works\n")


async def test_a06_one_starter_serves_all_keepers_and_the_next_gateway(starters: Starters) -> None:
    first = starters.gateway()
    _, one = await starters.start(first, CAT)
    _, two = await starters.start(first, CAT)
    pid = first.starter.pid
    await first.starter.close()
    second = starters.gateway()
    assert await second.starter.find()
    _, three = await starters.start(second, CAT)
    assert second.starter.pid == pid
    assert {ancestors(one.pid)[0], ancestors(two.pid)[0], ancestors(three.pid)[0]} == {pid}
    assert (first.alarms, second.alarms) == ([], [])


async def test_a06_what_escaped_from_a_killed_keeper_is_killed(starters: Starters) -> None:
    gateway = starters.gateway()
    _, other = await starters.start(gateway, CAT)
    _, started = await starters.start(gateway, py(ESCAPE))
    escaped = starters.folder / "escaped"
    await until(escaped.exists)
    stray = int(escaped.read_text())
    start = start_time(stray)
    assert start is not None
    assert started.pid in ancestors(stray)
    (starters.folder / "go").touch()
    await until(lambda: not alive(stray, start), "the stray is dead")
    await until(lambda: gateway.alarms)
    assert gateway.alarms == [
        StarterAlarm(code="keeper_killed", pid=started.pid, start=started.start, signal=9)
    ]
    assert alive(other.pid, other.start)
    assert alive(other.agent_pid, start_time(other.agent_pid) or "")


async def test_a06_strays_that_fork_all_the_time_are_killed(starters: Starters) -> None:
    gateway = starters.gateway()
    runner = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n"
        "  os.setsid()\n"
        "  end = time.monotonic() + 60\n"
        "  while time.monotonic() < end:\n"
        "    if os.fork(): os._exit(0)\n"  # the child goes on in its place
        "    os.write(1, b'.')\n"
        "    time.sleep(0.002)\n"
        "signal.pause()\n"
    )
    spec, started = await starters.start(gateway, py(runner))
    _, heard = await starters.keepers.link(spec)
    await heard.until(lambda: len(heard.output) > 5)
    os.kill(started.pid, signal.SIGKILL)
    pid = gateway.starter.pid
    await until(lambda: below(pid) == [], "nothing is left below the starter")


def below(pid: int) -> list[int]:
    found = [one for one in descendants(pid) if not one.dead]
    return [one.pid for one in found]


async def test_a06_a_killed_starter_is_reported_and_replaced_while_sessions_go_on(
    starters: Starters,
) -> None:
    gateway = starters.gateway()
    spec, old = await starters.start(gateway, CAT)
    link, heard = await starters.keepers.link(spec)
    pid = gateway.starter.pid
    start = start_time(pid) or ""
    os.kill(pid, signal.SIGKILL)
    await until(lambda: gateway.alarms)
    assert gateway.alarms == [StarterAlarm(code="starter_killed", pid=pid, start=start)]
    link.send_input(1, b"goes on\n")
    await heard.until(lambda: heard.output == b"goes on\n")
    _, new = await starters.start(gateway, CAT)
    assert gateway.starter.pid not in (0, pid)
    assert ancestors(new.pid)[0] == gateway.starter.pid
    assert alive(old.pid, old.start)
    assert len(gateway.alarms) == 1


async def test_a06_a_starter_that_was_killed_without_a_gateway_is_reported_to_the_next(
    starters: Starters,
) -> None:
    first = starters.gateway()
    await starters.start(first, CAT)
    pid, start = first.starter.pid, start_time(first.starter.pid) or ""
    await first.starter.close()
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not alive(pid, start))
    second = starters.gateway()
    assert not await second.starter.find()
    assert second.alarms == [StarterAlarm(code="starter_killed", pid=pid, start=start)]
    third = starters.gateway()
    assert not await third.starter.find()
    assert third.alarms == []


async def test_a06_a_keeper_that_was_killed_without_a_gateway_is_reported_to_the_next(
    starters: Starters,
) -> None:
    first = starters.gateway()
    await starters.start(first, CAT)
    _, killed = await starters.start(first, CAT)
    await first.starter.close()
    os.kill(killed.pid, signal.SIGKILL)
    await until(lambda: start_time(killed.pid) is None, "it is reaped")
    second = starters.gateway()
    assert await second.starter.find()
    assert [(one.code, one.pid, one.signal) for one in second.alarms] == [
        ("keeper_killed", killed.pid, 9)
    ]


async def test_a06_a_keeper_that_the_gateway_ends_itself_is_no_alarm(starters: Starters) -> None:
    gateway = starters.gateway()
    _, ours = await starters.start(gateway, CAT)
    _, theirs = await starters.start(gateway, CAT)
    gateway.starter.expect_end(ours.pid, ours.start)
    for one in (ours, theirs):
        os.kill(one.pid, signal.SIGKILL)
        await until(lambda one=one: start_time(one.pid) is None)  # type: ignore[misc]
    await until(lambda: gateway.alarms)
    assert [one.pid for one in gateway.alarms] == [theirs.pid]


async def test_a06_a_starter_that_nobody_needs_ends_and_leaves_no_file(starters: Starters) -> None:
    gateway = starters.gateway(idle_s=0.05)
    spec, _ = await starters.start(gateway, CAT)
    pid, start = gateway.starter.pid, start_time(gateway.starter.pid) or ""
    link, _ = await starters.keepers.link(spec)
    await gateway.starter.close()
    assert alive(pid, start)  # it has a keeper
    link.end()
    await link.wait_closed()
    await until(lambda: not alive(pid, start), "the starter has ended")
    assert [one.name for one in starters.folder.iterdir()] == []
    assert not await starters.gateway().starter.find()


async def test_a06_the_secret_is_for_this_user_alone_and_in_no_command_line(
    starters: Starters,
) -> None:
    gateway = starters.gateway()
    await starters.start(gateway, CAT)
    key = starters.folder / "starter-1.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE((starters.folder / "starter-1.sock").stat().st_mode) == 0o600
    secret = key.read_text().split('"secret":"')[1].split('"')[0].encode()
    assert len(secret) == 64
    assert secret.decode() not in of_process(gateway.starter.pid, "cmdline")


async def test_a06_without_a_starter_no_keeper_is_started(
    starters: Starters, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = starters.gateway()
    broken = starters.folder / "broken.py"
    broken.write_text("raise SystemExit('no starter today')\n")
    monkeypatch.setattr(starter_program, "__file__", str(broken))
    with pytest.raises(KeeperError, match="did not start: no starter today"):
        await starters.start(gateway, CAT)


async def test_a06_a_starter_that_hangs_is_named(
    starters: Starters, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = starters.gateway()
    await starters.start(first, CAT)
    pid = first.starter.pid
    await first.starter.close()
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(starter_module, "ANSWER_S", 0.2)
    with pytest.raises(KeeperError, match=f"process {pid}\\) does not answer; end that process"):
        await starters.gateway().starter.find()


async def test_a06_a_program_that_is_no_starter_is_not_trusted_with_keepers(
    starters: Starters,
) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(starters.folder / "starter-1.sock"))
        gateway = starters.gateway()
        _, started = await starters.start(gateway, CAT)  # nobody has a key to it
        assert ancestors(started.pid)[0] == gateway.starter.pid


async def test_an_agent_gets_the_umask_of_the_gateway(starters: Starters) -> None:
    gateway = starters.gateway()
    old = os.umask(0o026)
    try:
        spec, _ = await starters.start(gateway, sh("umask"))
    finally:
        os.umask(old)
    _, heard = await starters.keepers.link(spec)
    await heard.until(lambda: heard.exit)
    assert heard.output == b"0026\n"
