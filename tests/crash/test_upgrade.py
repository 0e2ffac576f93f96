"""A gateway of an older version is replaced while its agent waits for an answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flybridge.cli.doctor.isolation import check_old_agents
from flybridge.config.state_dir import StateDir
from tests.crash.evidence import Client, send_input
from tests.crash.operations import AnswerPermission
from tests.crash.rig import Rig
from tests.harness.older_keeper import released, with_pipes


@pytest.mark.parametrize("version", [with_pipes, released])
@pytest.mark.parametrize("clean", [True, False])
async def test_a01_an_agent_on_pipes_is_adopted_with_its_open_prompt(
    rig: Rig, version: Callable[[Path], Path], clean: bool
) -> None:
    rig.package = version(rig.base)
    client = rig.start()
    session = rig.open(client, "one")
    request, allow = AnswerPermission().prepare(client, session, "q")
    old = rig.life(session)
    stdin = f"/proc/{old.agent}/fd/0"
    assert os.readlink(stdin).startswith("pipe:")  # noqa: PTH115
    if clean:
        rig.stop_gateway()
    else:
        rig.kill_gateway()
    client.close()

    rig.package = None
    client = rig.start()
    client.until(lambda: client.views.get(session, {}).get("agent_io") == "pipes")
    assert rig.life(session).agent == old.agent
    check = await check_old_agents(StateDir(rig.state))
    assert (check.status, check.data) == ("note", {"sessions": [session]})
    assert "restart these sessions' agents" in check.fix
    reply = client.carry_out(session, request, allow)
    assert reply.stage == "done", reply
    client.until(lambda: client.transcripts[session].ended)
    assert "after" in client.transcripts[session].text

    restarted(rig, client, session)
    check = await check_old_agents(StateDir(rig.state))
    assert (check.status, check.data) == ("ok", {"sessions": []})
    assert rig.finish(client).broken == []


def restarted(rig: Rig, client: Client, session: str) -> None:
    """Restart the session's agent, as the advice says; it is connected by sockets then."""
    client.ask("stop_agent", {"session": session})
    client.until_status(session, "off")
    assert client.views[session]["agent_io"] == ""
    reply = client.carry_out(session, "again", send_input("again", {"say": "again"}))
    assert reply.stage == "done", reply
    client.until(lambda: client.views[session]["agent_io"] == "sockets")
    assert os.readlink(f"/proc/{rig.life(session).agent}/fd/0").startswith("socket:")  # noqa: PTH115
