"""What was accepted as done is done, even if the gateway died before it had done it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.crash.evidence import Client, GatewayGoneError, Json, send_input
from tests.crash.operations import warm
from tests.crash.rig import Rig
from tests.crash.tracer import Point, Tracer

GONE_S = 5.0
AFTER_THE_COMMIT = Point("loop", "sendto", 1)  # the first thing that leaves a gateway


def die_right_after(rig: Rig, client: Client, session: str, command: Json) -> Client:
    """Have the gateway commit a command and nothing more; then repeat it at the next one."""
    with (
        pytest.raises(GatewayGoneError),
        Tracer(rig.pid, to=Path("/dev/null"), at=AFTER_THE_COMMIT),
    ):
        client.carry_out(session, "end", command)
    rig.kill_gateway()
    client.close()
    client = rig.start()
    reply = client.carry_out(session, "end", command)
    assert reply.stage == "done", reply
    return client


def agent_ends(rig: Rig, session: str) -> bool:
    deadline = time.monotonic() + GONE_S
    while rig.lives(session):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_gateway_that_lets_clients_in_can_be_stopped_cleanly(rig: Rig) -> None:
    for _ in range(5):
        rig.launch()
        rig.connect()
        rig.stop_gateway()


@pytest.mark.strace
def test_a_session_that_was_closed_loses_its_agent(rig: Rig) -> None:
    client = rig.start()
    session = rig.open(client, "one")
    warm(client, session, "w")
    client = die_right_after(rig, client, session, {"type": "close"})
    assert agent_ends(rig, session)
    assert rig.finish(client).broken == []


@pytest.mark.strace
def test_a_session_that_was_deleted_is_gone(rig: Rig) -> None:
    client = rig.start()
    session = rig.open(client, "one")
    warm(client, session, "w")
    with (
        pytest.raises(GatewayGoneError),
        Tracer(rig.pid, to=Path("/dev/null"), at=AFTER_THE_COMMIT),
    ):
        client.carry_out(session, "end", {"type": "delete"})
    rig.kill_gateway()
    rig.followed.clear()
    client = rig.start()
    assert agent_ends(rig, session)
    deadline = time.monotonic() + GONE_S
    while client.ask("list", {})["sessions"]:
        assert time.monotonic() < deadline, "it is still listed"
        client.read(0.02)


@pytest.mark.strace
def test_an_agent_that_was_killed_by_a_hard_interrupt_is_dead(rig: Rig) -> None:
    client = rig.start()
    session = rig.open(client, "one")
    warm(client, session, "w")
    client.submit(session, "t", send_input("t", {"say": "busy"}, {"stall": 50}))
    client.until(lambda: client.transcripts[session].text.endswith("busy"))
    client.until(lambda: client.views[session]["turns"] == 2)
    for life in rig.lives(session):
        rig.evidence.hurt[life.incarnation] = "hard interrupt"
    client = die_right_after(rig, client, session, {"type": "interrupt", "hard": True})
    assert agent_ends(rig, session)
    assert rig.finish(client).broken == []
