"""The client as a program uses it, against a scripted gateway and against real processes."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from flybridge.client.gateway import Client, connect
from flybridge.client.items import EventItem
from flybridge.client.transport.unix import UnixAddress
from flybridge.config.state_dir import StateDir
from flybridge.errors import (
    BusyError,
    GatewayError,
    GatewayUnreachableError,
    InvalidRequestError,
    RemoteProtocolError,
)
from flybridge.model.commands import Interrupt, SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.events import Notice, TurnStarted
from flybridge.model.ids import TurnId
from flybridge.model.requests import Submit
from tests.harness import scripted_gateway as scripted
from tests.harness.scripted_gateway import SESSION, Handler, ScriptedGateway
from tests.harness.scripted_url import TOKEN, listening
from tests.harness.waiting import until

HELLO = SendInput(content=(Text("hello"),))


@pytest.fixture
async def client(gateway: ScriptedGateway) -> AsyncIterator[Client]:
    async with await connect(gateway.state, start=False, name="test/2") as client:
        yield client


def noting(asked: list[dict[str, object]], value: object) -> Handler:
    def answer(params: dict[str, object]) -> object:
        asked.append(params)
        return value

    return answer


async def test_connecting_says_who_is_there(gateway: ScriptedGateway, client: Client) -> None:
    assert client.welcome is not None
    assert client.welcome.principal == "uid:1"
    assert gateway.peers[0].adapter.client == "test/2"


async def test_a_session_is_opened_with_what_was_given(
    gateway: ScriptedGateway, client: Client
) -> None:
    asked: list[dict[str, object]] = []
    gateway.asks["open"] = noting(asked, {"session": "ses_new"})
    session = await client.open(agent="demo", cwd=Path("/p"), labels={"a": "b"}, request="r1")
    assert session == "ses_new"
    assert asked == [
        {
            "agent": "demo",
            "cwd": "/p",
            "title": "",
            "model": "",
            "mode": "",
            "labels": {"a": "b"},
            "request": "r1",
            "resume": "",
            "fork": False,
            "continue_latest": False,
            "from_pr": "",
            "options": {},
            "folder": "ask",
            "key_digest": "",
        }
    ]
    await client.open(agent="demo", cwd="/p")
    await client.open(agent="demo", cwd="/p")
    assert len({str(one["request"]) for one in asked}) == 3


async def test_lists_and_states_are_plain_values(gateway: ScriptedGateway, client: Client) -> None:
    gateway.asks["list"] = lambda params: {"sessions": [{"session": "ses_1"}], "more": 1}
    gateway.asks["status"] = lambda params: {"generation": 7}
    gateway.asks["stop"] = lambda params: {}
    assert await client.list() == [{"session": "ses_1"}]
    assert await client.status() == {"generation": 7}
    assert await client.stop_gateway() == {}
    gateway.asks["list"] = lambda params: ["sessions"]
    with pytest.raises(RemoteProtocolError, match="bad reply"):
        await client.list()


async def test_a_page_is_typed(gateway: ScriptedGateway, client: Client) -> None:
    entries = [
        {"seq": 3, "at_ms": 9, "event": {"type": "notice", "text": "of the same batch"}},
        {"seq": 4, "at_ms": 9, "event": {"type": "turn.started", "turn": "trn_1"}},
        {"seq": 5, "at_ms": 9, "event": {"type": "some.day"}},
        {"seq": 6, "at_ms": 9, "event": {"type": "notice", "text": "more than asked for"}},
    ]
    asked: list[dict[str, object]] = []
    gateway.asks["page"] = noting(asked, {"epoch": 2, "head": 8, "events": entries})
    page = await client.page(SESSION, after=3, limit=2)
    assert asked == [{"session": SESSION, "after": 3, "max_bytes": 256 * 1024}]
    assert (page.epoch, page.head) == (2, 8)
    assert page.events == (
        EventItem(
            4, 9, TurnStarted(turn=TurnId("trn_1")), b'{"type":"turn.started","turn":"trn_1"}'
        ),
        EventItem(5, 9, None, b'{"type":"some.day"}'),
    )


async def test_a_command_is_handed_over(gateway: ScriptedGateway, client: Client) -> None:
    reply = await client.submit(SESSION, HELLO, request="r", until=Stage.DONE, wait_ms=5)
    assert (reply.stage, reply.duplicate) == (Stage.DONE, False)
    [heard] = gateway.heard
    assert isinstance(heard, Submit)
    assert (heard.command, heard.request, heard.until, heard.wait_ms) == (HELLO, "r", Stage.DONE, 5)
    again = await client.submit(SESSION, HELLO, request="r")
    assert again.duplicate
    assert again.stage is Stage.WRITTEN


async def test_what_became_of_a_command_is_told_and_not_raised(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.silent.add("submit")
    told = {
        b'"stage":"accepted","value":{"key":"k","outcome":"dispatching"},"error":"in_progress"': (
            Stage.ACCEPTED,
            "in_progress",
        ),
        b'"value":{"key":"k","outcome":"unknown"},"error":"unknown"': (None, "unknown"),
    }
    for ref, (body, (stage, error)) in enumerate(told.items(), 1):
        waiting = asyncio.create_task(client.submit(SESSION, Interrupt()))
        await until(lambda heard=ref: len(gateway.heard) == heard)  # type: ignore[misc]
        gateway.tell(b'{"type":"reply","ref":"%d",%b}' % (ref, body))
        reply = await waiting
        assert (reply.stage, reply.error) == (stage, error)


async def test_the_next_request_after_a_loss_connects_again(
    gateway: ScriptedGateway, client: Client
) -> None:
    await gateway.restart()
    gateway.asks["status"] = lambda params: {}
    await until(lambda: client._connection is not None and client._connection.closed)
    assert await client.status() == {}
    assert client.welcome is not None
    assert client.welcome.generation == 2


async def test_a_request_whose_reply_is_lost_is_not_repeated_by_itself(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.silent.add("submit")
    waiting = asyncio.create_task(client.submit(SESSION, Interrupt()))
    await until(lambda: len(gateway.heard) == 1)
    gateway.hang_up()
    with pytest.raises(GatewayUnreachableError):
        await waiting
    assert len(gateway.heard) == 1


async def test_a_reliable_command_is_repeated_and_still_carried_out_once(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.silent.add("submit")
    waiting = asyncio.create_task(client.submit_reliably(SESSION, HELLO))
    await until(lambda: len(gateway.heard) == 1)
    await gateway.restart()  # it was carried out, but nobody said so
    await until(lambda: len(gateway.heard) == 2)
    gateway.silent.clear()
    gateway.hang_up()
    reply = await waiting
    assert reply.duplicate
    assert len(gateway.carried_out) == 1
    assert len(gateway.logs[SESSION]) == 1


@pytest.mark.parametrize("cut", [0, 60, 120, 140, 150, 160, 170, 180, 190])
async def test_a_reliable_command_survives_a_cut_at_any_moment(
    gateway: ScriptedGateway, cut: int
) -> None:
    gateway.budgets = [cut, cut]
    async with Client(UnixAddress(gateway.state), name="test") as client:
        reply = await client.submit_reliably(SESSION, HELLO, patience_s=20)
    assert reply.stage is Stage.WRITTEN
    assert len(gateway.carried_out) == 1


async def test_a_refusal_ends_a_reliable_command(gateway: ScriptedGateway, client: Client) -> None:
    gateway.refusal = BusyError("full")
    with pytest.raises(BusyError):
        await client.submit_reliably(SESSION, HELLO)
    assert len(gateway.heard) == 1


async def test_reliability_has_a_deadline(gateway: ScriptedGateway, client: Client) -> None:
    gateway.silent.add("submit")
    with pytest.raises(GatewayUnreachableError, match="no reply within"):
        await client.submit_reliably(SESSION, HELLO, patience_s=0.1)
    await gateway.stop()
    with pytest.raises(GatewayUnreachableError):
        await client.submit_reliably(SESSION, HELLO, patience_s=0.1)


async def test_a_closed_client_answers_nothing_and_leaves_nothing(
    gateway: ScriptedGateway,
) -> None:
    before = asyncio.all_tasks()
    client = await connect(gateway.state, start=False)
    async with client.watch(SESSION) as items:
        gateway.publish(Notice(text="x"))
        await anext(items)
    await client.close()
    await client.close()
    with pytest.raises(GatewayError, match="closed"):
        await client.status()
    await until(lambda: asyncio.all_tasks() == before and not gateway.peers)


async def test_a_stage_of_a_newer_gateway_is_none(gateway: ScriptedGateway, client: Client) -> None:
    gateway.silent.add("submit")
    waiting = asyncio.create_task(client.submit(SESSION, Interrupt()))
    await until(lambda: len(gateway.heard) == 1)
    gateway.tell(b'{"type":"reply","ref":"1","stage":"dreamt","value":{"a":1}}')
    reply = await waiting
    assert reply.stage is None
    assert isinstance(reply.value, Raw)


async def test_rows_are_typed(gateway: ScriptedGateway, client: Client) -> None:
    gateway.asks["list"] = lambda params: {"sessions": [{"session": "ses_1", "why": "tool"}]}
    [row] = await client.sessions()
    assert (row.session, row.why, row.prompts) == ("ses_1", "tool", 0)


async def test_a_blob_is_read_to_its_end_or_not_at_all(
    gateway: ScriptedGateway, client: Client
) -> None:
    data = bytes(range(256)) * 10

    def blob(params: dict[str, Any]) -> object:
        part = data[params["start"] : params["start"] + 1000]
        return {"size": len(data), "data": base64.b64encode(part).decode()}

    gateway.asks["blob"] = blob
    assert await client.blob("b") == data
    with pytest.raises(InvalidRequestError, match="longer than 100"):
        await client.blob("b", limit=100)
    gateway.asks["blob"] = lambda params: {"size": 10, "data": ""}  # it became shorter
    assert await client.blob("b") == b""


async def test_an_address_and_a_token_reach_it_over_the_web(gateway: ScriptedGateway) -> None:
    async with listening(gateway) as door:
        async with await connect(door.url, token=TOKEN) as client:
            assert str(client.address) == door.url
        with pytest.raises(GatewayError, match="wants a token"):
            await connect(door.url)


async def test_with_nothing_given_the_environment_says_where(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(gateway) as door:
        monkeypatch.setenv("FLYBRIDGE_STATE", str(gateway.state.path))
        async with await connect(start=False) as client:
            assert str(client.address) == str(gateway.state.socket)
        monkeypatch.setenv("FLYBRIDGE_URL", door.url)
        monkeypatch.setenv("FLYBRIDGE_TOKEN", TOKEN)
        async with await connect() as client:
            assert str(client.address) == door.url
        async with await connect(gateway.state, start=False) as client:
            assert str(client.address) == str(gateway.state.socket)


async def test_an_address_of_another_kind_is_not_taken_for_a_directory() -> None:
    with pytest.raises(GatewayError, match="address looks like"):
        await connect("ftp://127.0.0.1", token=TOKEN)


def test_who_only_uses_the_socket_waits_for_no_web_library() -> None:
    code = (
        "import sys, asyncio, flybridge.client as c\n"
        "try: asyncio.run(c.connect('/nowhere/at/all', start=False))\n"
        "except c.gateway.GatewayError: pass\n"
        "names = ('websockets', 'uvicorn', 'starlette', 'flybridge.client.transport.url')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# ---- real processes ------------------------------------------------------------------------------


def program(state: StateDir) -> list[str]:
    return [sys.executable, scripted.__file__, str(state.path)]


async def gone(pid: int) -> None:
    """Wait until it is no process any more; our own children have to be reaped."""

    def ended() -> bool:
        try:
            return os.waitpid(pid, os.WNOHANG)[0] == pid
        except ChildProcessError:
            return not Path(f"/proc/{pid}").exists()

    await until(ended)


async def test_no_gateway_and_none_to_be_started_is_unreachable(short_tmp: Path) -> None:
    with pytest.raises(GatewayUnreachableError, match="no gateway answers"):
        await connect(short_tmp / "s", start=False)
    assert not (short_tmp / "s").exists()


async def test_inside_an_agent_no_gateway_is_started(
    short_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLYBRIDGE_SESSION", "ses_7")
    with pytest.raises(GatewayUnreachableError, match="inside an agent"):
        await connect(short_tmp / "s")
    assert not (short_tmp / "s").exists()


async def test_clients_that_start_at_once_share_one_gateway(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    clients = await asyncio.gather(*(connect(state, argv=program(state)) for _ in range(3)))
    pids = {(await client.status())["pid"] for client in clients}
    assert len(pids) == 1
    (state.path / "over").touch()
    await clients[0].stop_gateway()
    for client in clients:
        await client.close()
    await gone(pids.pop())


async def test_a_killed_gateway_is_started_again_by_who_watches(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    state.prepare()
    log = state.path / "events.jsonl"
    log.write_bytes(b'{"type":"notice","text":"1"}\n' * 3)
    async with await connect(state, argv=program(state)) as client:
        first = (await client.status())["pid"]
        async with client.watch(SESSION) as items:
            seen = [await anext(items) for _ in range(3)]
            log.write_bytes(b'{"type":"notice","text":"1"}\n' * 5)
            os.kill(first, signal.SIGKILL)
            seen += [await anext(items) for _ in range(2)]
        second = (await client.status())["pid"]
        await client.stop_gateway()
    assert first != second
    assert [item.seq for item in seen if isinstance(item, EventItem)] == [1, 2, 3, 4, 5]
    await gone(first)
    await gone(second)
