from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.auth.gate import Head, Refused
from flybridge.gateway.agent_socket import MAX_STRANGERS, read_knock
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.ids import TurnId
from flybridge.runtime.links.tickets import ticket_of
from flybridge.runtime.services import Limits
from flybridge.store.memory import MemoryJournal
from flybridge.testing.faulty import Fault, FaultyJournal
from flybridge.testing.recorder import executed, ran
from tests.harness.agent_programs import steps
from tests.harness.dial_in_harness import SOCKET, DialHouse
from tests.harness.waiting import WAIT_S, until

pytestmark = pytest.mark.needs("linux")


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[DialHouse]:
    house = DialHouse(short_tmp)
    yield house
    await house.end()


# ---- talking -------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [[], ["--binary"], ["--torn"], ["--torn", "--binary"]])
@pytest.mark.conforms("S3-A1")
async def test_it_is_lines_in_whatever_frames(short_tmp: Path, flags: list[str]) -> None:
    house = DialHouse(short_tmp, flags=flags)
    live = await house.dial()
    reply = await house.say(live, steps({"say": "hällo", "deltas": 3}), "r1")
    assert reply.error == ""
    assert [one.text for one in house.client.of(e.TextDone)] == ["hällo"]
    assert house.client.of(e.Gap) == []
    assert house.client.of(e.Unrecognised) == []
    await house.end()


async def test_a_permission_is_asked_for_and_given(house: DialHouse) -> None:
    live = await house.dial()
    await house.say(live, steps({"tool": "Bash", "ask": True}), "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    await house.submit(live.session, answer, "r2")
    await house.saw(e.TurnEnded)
    assert len(ran(house.record)) == 1


async def test_garbage_is_kept_and_shown(house: DialHouse) -> None:
    live = await house.dial()
    await house.say(live, steps({"junk_hex": "00ff800a"}, {"junk": "no JSON\n"}), "r1")
    assert len(house.client.of(e.Unrecognised)) == 2


# ---- a connection is lost ------------------------------------------------------------------------


async def test_nothing_was_lost_when_nothing_was_said(house: DialHouse) -> None:
    live = await house.dial()
    await house.say(live, "first", "r1")
    await house.hear_out(live)
    await house.drop()
    reply = await house.say(live, "second", "r2")
    assert reply.error == ""
    assert len(executed(house.record)) == 2
    assert house.client.of(e.Gap) == []
    assert house.client.of(e.AgentExited) == []


@pytest.mark.conforms("S3-A4", "S3-A5")
async def test_what_was_said_to_nobody_is_a_gap(house: DialHouse, tmp_path: Path) -> None:
    first, then = tmp_path / "first", tmp_path / "then"
    live = await house.dial()
    script = steps(
        {"wait_file": str(first)}, {"say": "lost"}, {"tool": "Bash"}, {"wait_file": str(then)},
        {"say": "kept"},
    )  # fmt: skip
    await house.say(live, script, "r1", Stage.WRITTEN)
    await house.saw(e.TurnStarted)
    link = house.link(live)

    async def speak_to_nobody() -> None:
        first.touch()
        await until(lambda: ran(house.record))

    await house.drop_for(speak_to_nobody)
    assert (await house.saw(e.Gap)).reason == "socket"
    await house.submit(live.session, c.SetMode(mode="plan"), "r2", Stage.DONE)  # it listens
    then.touch()
    await house.saw(e.TurnEnded)
    assert [one.text for one in house.client.of(e.TextDone)] == ["kept"]
    assert house.link(live) is link
    assert len(executed(house.record)) == 1
    assert house.client.of(e.AgentExited) == []


async def test_an_answer_waits_until_the_agent_is_back(house: DialHouse) -> None:
    live = await house.dial()
    await house.say(live, steps({"tool": "Bash", "ask": True}), "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)

    async def answer_nobody() -> None:
        answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
        await house.submit(live.session, answer, "r2", Stage.ACCEPTED)

    await house.drop_for(answer_nobody)
    await house.saw(e.TurnEnded)  # the answer was sent when the agent was back
    assert [one.status for one in house.client.of(e.ToolResult)] == ["ok"]
    assert len(ran(house.record)) == 1


async def test_half_a_line_does_not_spoil_the_next_one(house: DialHouse, tmp_path: Path) -> None:
    live = await house.dial()
    script = steps({"torn": '{"type":"assist', "wait_file": str(tmp_path / "go")})
    await house.say(live, script, "r1", Stage.WRITTEN)
    await house.saw(e.TurnStarted)
    await house.drop()
    await until(lambda: house.door.agents)
    (tmp_path / "go").touch()
    await house.say(live, "after", "r2")
    assert "ok: after" in [one.text for one in house.client.of(e.TextDone)]


@pytest.mark.parametrize("first", range(3, 9))
async def test_a_disk_that_refuses_once_costs_nothing(short_tmp: Path, first: int) -> None:
    journal = FaultyJournal(MemoryJournal(), commit=Fault(first=first, last=first))
    house = DialHouse(short_tmp, journal)
    live = await house.dial()
    text = "".join(f"word {n} " for n in range(50))
    command = c.SendInput(content=(Text(steps({"say": text, "deltas": 20})),))
    for _ in range(20):  # what was refused is asked for again, under the same name
        reply = await house.submit(live.session, command, "r1", Stage.DONE)
        if not reply.error:
            break
        await until(lambda: live.down is None)
    await house.saw(e.TurnEnded)
    assert [one.text for one in house.client.of(e.TextDone)] == [text]
    assert len(executed(house.record)) == 1
    assert house.client.of(e.Gap) == []
    await house.end()


# ---- a gateway is lost ---------------------------------------------------------------------------


async def test_the_next_gateway_gets_the_agent_back(short_tmp: Path) -> None:
    house = DialHouse(short_tmp)
    live = await house.dial()
    await house.say(live, "before", "r1")
    await house.hear_out(live)
    port = house.dial_ins.port
    await house.die()
    later = house.next(house.journal)
    await later.sessions.recover()
    await until(lambda: later.door.agents)
    assert later.dial_ins.port == port
    again = later.sessions.get(live.session)
    await later.attach(live.session)
    await later.say(again, "after", "r2")
    assert [one.adopted for one in later.client.of(e.AgentConnected)] == [False, True]
    assert later.client.of(e.Gap) == []  # nothing was said meanwhile
    assert len(executed(house.record)) == 2
    await later.end()


async def test_a_message_in_doubt_is_sent_again_and_runs_once(short_tmp: Path) -> None:
    house = DialHouse(short_tmp)
    live = await house.dial()
    await house.say(live, "before", "r1")
    await house.hear_out(live)
    await house.drop()
    await house.say(live, "in doubt", "r2", Stage.ACCEPTED)
    await house.die()
    later = house.next(house.journal)
    await later.sessions.recover()
    await later.attach(live.session)
    await until(lambda: len(executed(house.record)) == 2)
    await until(lambda: len(later.client.of(e.TurnEnded)) == 2)
    outcomes = [one.outcome for one in later.client.of(e.InputOutcome)]
    assert outcomes == ["done", "done"]
    await later.end()


# ---- the process is the agent --------------------------------------------------------------------


async def test_the_end_of_the_process_is_the_end_and_a_message_starts_the_next(
    house: DialHouse,
) -> None:
    live = await house.dial()
    await house.say(live, steps({"say": "last words"}, {"die": 7}), "r1", Stage.WRITTEN)
    assert (await house.saw(e.AgentExited)).status == 7
    assert [one.text for one in house.client.of(e.TextDone)] == ["last words"]
    assert house.dial_ins.holders() == []
    await house.say(live, "again", "r2")
    assert len(house.client.of(e.AgentStarted)) == 2
    assert "ok: again" in [one.text for one in house.client.of(e.TextDone)]


async def test_an_agent_that_is_stopped_is_asked_to_go(house: DialHouse) -> None:
    live = await house.dial()
    await house.sessions.stop_agent(live.session)
    ended = await house.saw(e.AgentExited)
    assert (ended.status, ended.asked) == (143, True)


async def test_one_that_never_connects_is_given_up(short_tmp: Path) -> None:
    house = DialHouse(short_tmp, dial_in_s=0.1)
    await house.open(agent="mute", options=SOCKET)
    assert (await house.saw(e.Error)).code == "never_connected"
    assert (await house.saw(e.AgentExited)).status == -15
    await house.end()


async def test_an_interrupt_reaches_it(house: DialHouse, tmp_path: Path) -> None:
    live = await house.dial()
    script = steps({"wait_file": str(tmp_path / "never")})
    await house.say(live, script, "r1", Stage.WRITTEN)
    turn = (await house.saw(e.TurnStarted)).turn
    await house.submit(live.session, c.Interrupt(turn=TurnId(turn)), "r2")
    assert (await house.saw(e.TurnEnded)).reason == "interrupted"


async def test_an_endless_line_ends_the_agent(short_tmp: Path) -> None:
    house = DialHouse(short_tmp, limits=Limits(line_bytes=64 * 1024))
    live = await house.dial()
    await house.say(live, steps({"big_line": 200_000}), "r1", Stage.WRITTEN)
    await house.saw(e.AgentExited)
    assert [one.code for one in house.client.of(e.Error)] == ["line_too_long"]
    await house.end()


async def test_a_frame_that_is_too_long_costs_the_connection_and_nothing_else(
    short_tmp: Path,
) -> None:
    house = DialHouse(short_tmp, max_frame=64 * 1024)
    live = await house.dial()
    await house.say(live, steps({"big_line": 200_000}), "r1", Stage.WRITTEN)
    await house.saw(e.Gap)
    await house.say(live, "on we go", "r2")
    assert house.client.of(e.AgentExited) == []
    await house.end()


# ---- who may come in -----------------------------------------------------------------------------


async def knock(house: DialHouse, target: str, *more: str) -> int:
    """Ask for an upgrade; the status of the answer, 0 where there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", house.dial_ins.port)
    host = () if any(one.startswith("Host:") for one in more) else (f"Host: {_host(house)}",)
    lines = (
        f"GET {target} HTTP/1.1", *host, "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==", *more,
    )  # fmt: skip
    writer.write("\r\n".join((*lines, "", "")).encode())
    head = await reader.readline()
    writer.close()
    return int(head.split()[1]) if head else 0


def _host(house: DialHouse) -> str:
    return f"127.0.0.1:{house.dial_ins.port}"


@pytest.mark.conforms("S3-A3", "S3-A8")
async def test_only_the_right_process_comes_in_with_the_right_ticket(house: DialHouse) -> None:
    live = await house.dial()
    row = live.memory.incarnation
    assert row is not None
    place, ticket = live.session, ticket_of(row)
    wrong = ticket[:-1] + ("0" if ticket[-1] != "0" else "1")
    path = f"/ws/cli/{place}"
    assert await knock(house, f"{path}?ticket={ticket}") == 403  # we are not that process
    assert await knock(house, path, f"Authorization: Bearer {ticket}") == 403
    assert await knock(house, f"{path}?ticket={wrong}") == 401
    assert await knock(house, f"{path}?ticket={ticket}&ticket={ticket}") == 401
    assert await knock(house, f"/ws/cli/0?ticket={ticket}") == 401
    assert await knock(house, path) == 401
    assert await knock(house, f"/ws/cli/16?ticket={ticket}") == 400
    assert await knock(house, f"/ws/cli/-1?ticket={ticket}") == 400
    assert await knock(house, f"/ws/cli/one?ticket={ticket}") == 400
    assert await knock(house, f"/api/v1/ws?ticket={ticket}") == 404
    assert await knock(house, f"{path}?ticket={ticket}", "Origin: http://evil.example") == 403
    assert await knock(house, f"{path}?ticket={ticket}", "Host: evil.example") == 421
    assert {one.code for one in house.notes} == {
        "wrong_process", "bad_ticket", "bad_slot", "not_found", "wrong_origin", "wrong_host",
    }  # fmt: skip
    assert {one.door for one in house.notes} == {"agent_socket"}
    await house.say(live, "still here", "r1")


async def test_the_ticket_of_a_life_that_is_over_is_good_for_nothing(house: DialHouse) -> None:
    live = await house.dial()
    row = live.memory.incarnation
    assert row is not None
    await house.sessions.stop_agent(live.session)
    await house.saw(e.AgentExited)
    assert await knock(house, f"/ws/cli/{live.session}?ticket={ticket_of(row)}") == 401


@pytest.mark.parametrize(
    "words", [b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 9000, b"A" * 20_000]
)
async def test_what_is_no_upgrade_is_not_let_in(house: DialHouse, words: bytes) -> None:
    await house.dial_ins.open()
    reader, writer = await asyncio.open_connection("127.0.0.1", house.dial_ins.port)
    writer.write(words)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), WAIT_S)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    writer.close()
    await until(lambda: not house.door.strangers)


async def test_strangers_are_few_and_have_little_time(short_tmp: Path) -> None:
    house = DialHouse(short_tmp, head_s=0.3)
    await house.dial_ins.open()
    ends = [
        await asyncio.open_connection("127.0.0.1", house.dial_ins.port)
        for _ in range(MAX_STRANGERS + 5)
    ]
    await until(lambda: len(house.door.strangers) == MAX_STRANGERS)
    await until(lambda: not house.door.strangers)
    for _, writer in ends:
        writer.close()
    await house.end()


async def test_a_port_that_is_taken_is_not_waited_for(short_tmp: Path) -> None:
    taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    file = short_tmp / "agent-port"
    file.write_bytes(b"%d" % port)
    file.chmod(0o600)
    house = DialHouse(short_tmp)
    await house.dial_ins.open()
    assert house.dial_ins.port not in (0, port)
    assert int(file.read_bytes()) == house.dial_ins.port
    await house.end()
    taken.close()


@pytest.mark.parametrize(("kept", "mode"), [(b"70000", 0o600), (b"no", 0o600), (b"80", 0o644)])
async def test_a_port_that_makes_no_sense_is_forgotten(
    short_tmp: Path, kept: bytes, mode: int
) -> None:
    file = short_tmp / "agent-port"
    file.write_bytes(kept)
    file.chmod(mode)
    house = DialHouse(short_tmp)
    await house.dial_ins.open()
    assert house.dial_ins.port > 1024
    await house.end()


def test_a_ticket_comes_in_the_address_or_as_a_token() -> None:
    def head(target: str, *headers: tuple[bytes, bytes]) -> Head:
        return Head(method="GET", target=target, headers=headers, upgrade=True)

    found = read_knock(head("/ws/cli/3?ticket=t", (b"x-last-request-id", b"id")))
    assert not isinstance(found, Refused)
    assert (found.place, found.ticket, found.last) == ("3", "t", "id")
    found = read_knock(head("/ws/cli/0", (b"authorization", b"Bearer t")))
    assert not isinstance(found, Refused)
    assert found.ticket == "t"
    refused = read_knock(head("/ws/cli/0?" + "&".join("ticket=t" for _ in range(20))))
    assert not isinstance(refused, Refused)
    assert refused.ticket == ""


async def test_a_version_that_connects_only_to_its_maker_is_refused_by_name(
    house: DialHouse,
) -> None:
    reply = await house.ask("open", agent="new", cwd=str(house.folder), request="x", options=SOCKET)
    assert reply.error == "transport_refused"
    assert "2.1.325" in reply.message


# ---- started by hand -----------------------------------------------------------------------------


async def test_one_that_a_person_started_is_talked_to_and_its_end_is_heard_of(
    house: DialHouse,
) -> None:
    live, agent = await house.by_hand()
    await house.say(live, "hello", "r1")
    assert [one.text for one in house.client.of(e.TextDone)] == ["ok: hello"]
    assert agent.pid in [pid for pid, _ in house.sessions.keepers()]  # what it starts is an agent's
    row = live.memory.incarnation
    assert row is not None
    assert await knock(house, f"/ws/cli/{live.session}?ticket={ticket_of(row)}") == 403
    agent.kill()
    await asyncio.to_thread(agent.wait, 10)
    assert (await house.saw(e.AgentExited)).why == "exit"
    await house.say(live, "and again", "r2")  # from here on it is started by us
    assert [one.resumed for one in house.client.of(e.AgentStarted)] == [False, True]
    assert live.memory.incarnation is not None
    assert live.memory.incarnation.transport == "socket"


async def test_the_next_gateway_knows_it_and_can_end_it(short_tmp: Path) -> None:
    house = DialHouse(short_tmp)
    live, agent = await house.by_hand()
    await house.say(live, "before", "r1")
    await house.hear_out(live)
    await house.die()
    later = house.next(house.journal)
    await later.sessions.recover()
    await until(lambda: later.door.agents)
    await later.attach(live.session)
    await later.say(later.sessions.get(live.session), "after", "r2")
    assert agent.pid in [pid for pid, _ in later.sessions.keepers()]
    await later.sessions.stop_agent(live.session)
    assert await asyncio.to_thread(agent.wait, 10) == 143
    await later.saw(e.AgentExited)
    await later.end()
