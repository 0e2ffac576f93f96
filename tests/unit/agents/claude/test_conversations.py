from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.agents.claude.conversations import MAX_READ_BYTES, ClaudeConversations
from flybridge.client.gateway import Client
from flybridge.errors import BusyError, SessionNotFoundError
from flybridge.model import events as ev
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId
from flybridge.testing import recorder
from tests.harness.agent_programs import agent, recorder_program
from tests.harness.claude_transcripts import SESSION, Writer, talk
from tests.harness.gateway_process import GatewayProcess

NOBODY = SessionId("")


def put(home: Path, lines: list[bytes], *, cwd: str = "/home/ada/boat") -> Path:
    folder = cwd.replace("/", "-")
    path = home / ".claude" / "projects" / folder / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


@pytest.fixture
def records(tmp_path: Path) -> ClaudeConversations:
    """One agent at home here, and one somewhere else."""
    agents = {
        "claude": {"HOME": str(tmp_path)},
        "other": {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "other")},
    }
    return ClaudeConversations(agents, keepers=Path("/k"), locks=tmp_path / "locks")


def test_a_conversation_is_read_where_its_agent_keeps_it(
    records: ClaudeConversations, tmp_path: Path
) -> None:
    path = put(tmp_path, talk().lines)
    past = records.past("claude", SESSION)
    assert past is not None
    began = past.events[0][1]
    assert isinstance(began, ev.History)
    assert (began.source, began.turns) == (str(path), 2)
    assert past.cwd == "/home/ada/boat"
    with pytest.raises(SessionNotFoundError):
        records.past("other", SESSION)


def test_an_agent_that_keeps_no_transcripts_has_no_past(records: ClaudeConversations) -> None:
    assert records.past("demo", SESSION) is None
    assert records.other_writer("demo", SESSION, NOBODY) == ""
    records.claim("demo", SESSION, NOBODY)()


def test_of_a_huge_transcript_only_the_end_is_read(
    records: ClaudeConversations, tmp_path: Path
) -> None:
    path = put(tmp_path, [])
    with path.open("r+b") as file:
        file.truncate(MAX_READ_BYTES)  # a hole: takes no room
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"\n".join(talk().lines) + b"\n")
    past = records.past("claude", SESSION)
    assert past is not None
    notices = [event.text for _, event in past.events if isinstance(event, ev.Notice)]
    assert notices == [f"not shown here: the first 34 MB; all of it is in {path}"]
    assert len([event for _, event in past.events if isinstance(event, ev.TurnStarted)]) == 2


def test_lines_of_no_known_kind_are_passed_over(
    records: ClaudeConversations, tmp_path: Path
) -> None:
    odd = [b'{"type":"of-next-year","uuid":"x"}', b"\xff\xfe", b"{}", b"[1]", b'{"type":7}']
    put(tmp_path, [*odd, *talk().lines, *odd])
    past = records.past("claude", SESSION)
    assert past is not None
    said = [event.text for _, event in past.events if isinstance(event, ev.TextDone)]
    assert said == ["I look.", "One file.", "Ahoy."]


@pytest.fixture
def foreigner(tmp_path: Path) -> Iterator[int]:
    """A program that goes on with the conversation, as far as its arguments tell."""
    argv = [sys.executable, "-c", "print(1, flush=True); input()", "--resume", SESSION]
    marks = {"FLYBRIDGE_SESSION": "ses_x", "FLYBRIDGE_KEEPERS": "/k"}
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **marks}
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process.pid
    process.communicate(b"\n", timeout=20)


@pytest.mark.needs("linux")
def test_who_goes_on_with_it_keeps_others_out_but_not_itself(
    records: ClaudeConversations, foreigner: int, tmp_path: Path
) -> None:
    said = records.other_writer("claude", SESSION, NOBODY)
    assert said == f"process {foreigner} has this conversation open"
    with pytest.raises(BusyError, match=f"process {foreigner} has"):
        records.claim("claude", SESSION, SessionId("ses_y"))
    release = records.claim("claude", SESSION, SessionId("ses_x"))
    with pytest.raises(BusyError, match="another gateway"):
        records.claim("claude", SESSION, SessionId("ses_x"))
    release()
    records.claim("claude", SESSION, SessionId("ses_x"))()
    home = {"claude": {"HOME": str(tmp_path)}}
    elsewhere = ClaudeConversations(home, keepers=tmp_path, locks=tmp_path / "locks")
    with pytest.raises(BusyError, match=f"process {foreigner} has"):
        elsewhere.claim("claude", SESSION, SessionId("ses_x"))


# ---- real gateways -------------------------------------------------------------------------------


@pytest.fixture
def two(short_tmp: Path) -> Iterator[tuple[GatewayProcess, GatewayProcess]]:
    """Two gateways, each with a state directory of its own; they share a home."""
    both = started(short_tmp, "a"), started(short_tmp, "b")
    yield both
    for gateway in both:
        gateway.kill_all()


def started(home: Path, name: str) -> GatewayProcess:
    (home / name).mkdir()
    gateway = GatewayProcess(home / name)
    gateway.env |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    claude = agent("claude", recorder_program(gateway.record))
    gateway.configure(f"agents:\n{claude}  demo:\n    kind: demo\n")
    gateway.start()
    return gateway


async def events_of(client: Client, session: str) -> list[ev.Event]:
    page = await client.page(session, limit=1000)
    return [item.event for item in page.events if item.event is not None]


async def say(client: Client, session: str, request: str) -> Any:
    command = SendInput(content=(Text("hi"),))
    return await client.submit(session, command, request=request, until=Stage.DONE, wait_ms=20_000)


@pytest.mark.needs("linux")
async def test_of_two_gateways_only_one_goes_on_with_a_conversation(
    two: tuple[GatewayProcess, GatewayProcess], short_tmp: Path
) -> None:
    put(short_tmp, talk().lines, cwd=str(short_tmp))
    async with await two[0].client() as a, await two[1].client() as b:
        how: dict[str, Any] = {"agent": "claude", "cwd": short_tmp, "resume": SESSION}
        first = await a.open(**how)
        assert (await say(a, first, "r1")).stage is Stage.DONE
        said = [one.text for one in await events_of(a, first) if isinstance(one, ev.TextDone)]
        assert said[:3] == ["I look.", "One file.", "Ahoy."]
        with pytest.raises(BusyError, match="has this conversation open"):
            await b.open(**how)
        fork = await b.open(**how, fork=True)
        assert (await say(b, fork, "r1")).stage is Stage.DONE
        await a.ask("stop_agent", {"session": first})
        second = await b.open(**how)
        assert (await say(b, second, "r2")).stage is Stage.DONE
        late = await say(a, first, "r2")
        assert late.error == "not_delivered"
        exits = [one for one in await events_of(a, first) if isinstance(one, ev.AgentExited)]
        assert "has this conversation open" in exits[-1].stderr_tail
        await b.ask("stop_agent", {"session": second})
        assert (await say(a, first, "r2")).stage is Stage.DONE
        await a.ask("stop_agent", {"session": first})
        await b.ask("stop_agent", {"session": fork})
    assert len(recorder.executed(two[0].record)) == 2
    assert len(recorder.executed(two[1].record)) == 2


@pytest.mark.needs("linux")
async def test_two_gateways_that_start_at_the_same_moment_do_not_both_get_it(
    two: tuple[GatewayProcess, GatewayProcess], short_tmp: Path
) -> None:
    writer = Writer(cwd=str(short_tmp))
    writer.prompt("hello")
    put(short_tmp, writer.lines, cwd=str(short_tmp))
    params = {"agent": "claude", "conversation": SESSION}
    async with await two[0].client() as a, await two[1].client() as b:
        sessions = [str((await one.ask("import", params))["session"]) for one in (a, b)]
        for round_ in range(4):
            replies = await asyncio.gather(
                *(say(one, its, f"r{round_}") for one, its in zip((a, b), sessions, strict=True))
            )
            assert sorted(reply.error for reply in replies) == ["", "not_delivered"]
            for one, its in zip((a, b), sessions, strict=True):
                await one.ask("stop_agent", {"session": its})


async def test_the_demo_is_not_given_the_users_conversations(
    two: tuple[GatewayProcess, GatewayProcess], short_tmp: Path
) -> None:
    put(short_tmp, talk().lines, cwd=str(short_tmp))
    async with await two[0].client() as client:
        session = await client.open(agent="demo", cwd=short_tmp, resume=SESSION)
        kinds = [type(one) for one in await events_of(client, session)]
        assert ev.SessionOpened in kinds
        assert ev.History not in kinds
        await client.ask("stop_agent", {"session": session})
