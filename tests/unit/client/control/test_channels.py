"""A sender that talks to a real gateway, by its socket and by its URL."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import UNSET

from flybridge.client.control.channels import HttpChannel, Inbox, UnixChannel
from flybridge.client.control.sender import Sender, Target
from flybridge.client.transport.tokens import Token
from flybridge.client.transport.url import UrlAddress
from flybridge.config.state_dir import StateDir
from flybridge.errors import (
    GatewayError,
    GatewayUnreachableError,
    NotAuthenticatedError,
)
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.store.teams import Member, Rule, TeamFile, Teams
from flybridge.testing import recorder
from flybridge.wire.control.messages import StdinProgress
from tests.harness.gateway_process import RealGateway, real_gateway


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[RealGateway]:
    async with real_gateway(short_tmp) as one:
        one.token = one.create_token("sender", frozenset({"control"}))
        members = (
            Member(team="default", name="here", principal=f"uid:{os.geteuid()}"),
            Member(team="default", name="there", principal=f"token:{Token(one.token).id}"),
        )
        rules = (Rule(effect="allow", team="default"),)
        TeamFile(one.state_dir.teams).save(Teams(members=members, rules=rules))
        one.serve()
        yield one


async def opened(gateway: RealGateway, name: str, agent: str = "recorder") -> Target:
    async with await gateway.client() as client:
        session = await client.open(agent=agent, cwd=gateway.work)
        content = (Text("warm"),)
        await client.submit(session, SendInput(content=content), until=Stage.DONE, wait_ms=20_000)
        (row,) = [one for one in await client.list() if one["session"] == session]
    agent_id = f"{agent}:{row['conversation'] or session}"
    return Target(team="default", session_id=session, agent_id=agent_id, sender=name)


def said(gateway: RealGateway) -> list[str]:
    messages = [json.loads(line) for line in recorder.lines(gateway.record)]
    texts = [one["message"]["content"] for one in messages if one["type"] == "user"]
    return [one if isinstance(one, str) else one[0]["text"] for one in texts]


async def test_by_socket_and_by_url_it_is_the_same_protocol(gateway: RealGateway) -> None:
    here = await opened(gateway, "here")
    near = Sender(UnixChannel(gateway.state_dir), shelf=Inbox(gateway.state_dir.inbox))
    far = Sender(HttpChannel(UrlAddress(gateway.address, Token(gateway.token))))
    there = Target(**{**_fields(here), "sender": "there"})
    assert (await near.stdin(here, "near", request_id="r")).result == "ok"
    assert (await far.stdin(there, "far", request_id="r")).result == "ok"
    for one, target in ((near, here), (far, there)):
        again = await one.stdin(target, "near" if one is near else "far", request_id="r")
        assert (again.result, again.duplicate) == ("ok", True)
        assert (await one.capabilities(target)).result == "ok"
    long = "long " * (300 << 10)
    told: list[StdinProgress] = []
    inbox = Inbox(gateway.state_dir.inbox)
    asking = Sender(UnixChannel(gateway.state_dir), shelf=inbox, progress=told.append)
    assert (await asking.stdin(here, long)).result == "ok"
    assert [one.stage for one in told][-3:] == ["verified", "accepted", "written"]
    gateway.kill()
    gateway.start()
    async with await gateway.client():
        pass
    again = await near.stdin(here, "near", request_id="r")
    assert (again.result, again.duplicate) == ("ok", True)
    assert sorted(said(gateway)) == sorted(["warm", "near", "far", long])
    assert list(gateway.state_dir.inbox.iterdir()) == []


@pytest.mark.parametrize("agent", ["recorder", "demo"])
async def test_every_agent_is_steered_alike(gateway: RealGateway, agent: str) -> None:
    target = await opened(gateway, "here", agent)
    sender = Sender(UnixChannel(gateway.state_dir))
    can = (await sender.capabilities(target)).capabilities
    assert can is not UNSET
    assert (can.live, can.steer, can.echo, can.interrupt) == (True, True, True, True)
    first = await sender.stdin(target, "hello", request_id="r")
    assert (first.result, first.detail) == ("ok", "started")
    again = await sender.stdin(target, "hello", request_id="r")
    assert (again.result, again.duplicate, again.detail) == ("ok", True, "started")
    gone = await sender.interrupt(target, turn_id="trn_99")
    assert gone.result == "not_live"
    async with await gateway.client() as client:
        await client.ask("stop_agent", {"session": target.session_id})
    off = await sender.stdin(target, "hello")
    assert off.result == "not_live"


def _fields(target: Target) -> dict[str, str]:
    return {name: getattr(target, name) for name in ("team", "session_id", "agent_id", "sender")}


async def test_a_token_that_was_revoked_is_told_so(gateway: RealGateway) -> None:
    target = Target(team="default", session_id="ses_x", agent_id="a:b", sender="there")
    good = Token(gateway.token)
    wrong = Token(f"fbt_{good.id}.{'x' * 43}")
    with pytest.raises((GatewayError, NotAuthenticatedError)):
        await Sender(HttpChannel(UrlAddress(gateway.address, wrong))).capabilities(target)
    ack = await Sender(HttpChannel(UrlAddress(gateway.address, good))).capabilities(target)
    assert ack.result == "not_found"


async def test_nobody_there_is_a_reason_to_try_again(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    state.prepare()
    with pytest.raises(GatewayUnreachableError):
        await UnixChannel(state).exchange(b"{}")
    nobody = UrlAddress("http://127.0.0.1:9", Token(f"fbt_a.{'x' * 43}"))
    with pytest.raises(GatewayUnreachableError):
        await HttpChannel(nobody).exchange(b"{}")


def test_the_same_content_of_the_same_send_is_the_same_file(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    first, again = inbox.put("../r", b"text"), inbox.put("../r", b"text")
    assert first == again
    assert Path(first.path).read_bytes() == b"text"
    assert Path(first.path).stat().st_mode & 0o777 == 0o600
    assert Path(first.path).parent == tmp_path
    assert inbox.put("../r", b"other").path != first.path
    inbox.remove(first)
    inbox.remove(first)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(GatewayError, match="cannot write"):
        Inbox(tmp_path / "none").put("r", b"text")
