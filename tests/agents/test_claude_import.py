"""Conversations that the real programs had without Flybridge: imported, gone on with, copied."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flybridge.agents.claude.owners import owners_of
from flybridge.errors import BusyError
from flybridge.model import events as ev
from flybridge.runtime.keeper.keeper_program import descendants
from flybridge.runtime.keeper.process import alive
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, scripted
from tests.harness.line_process import LineProcess
from tests.harness.waiting import wait_until

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]
ARGUMENTS = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
NEW = "2.1.325"


def user(prompt: str) -> bytes:
    said = {"type": "user", "message": {"role": "user", "content": prompt}}
    return json.dumps(said).encode() + b"\n"


SAID = ["There is rope.", "You are welcome."]


class Before:
    """A conversation of two turns and a tool, had by the program alone."""

    def __init__(self, bridge: Bridge, cwd: Path, session: str) -> None:
        self.bridge = bridge
        self.cwd = cwd
        self.id = session

    @classmethod
    def have(cls, bridge: Bridge) -> Before:
        """Have one; what is said in it is written down by the program itself."""
        before = cls(bridge, bridge.repository("before"), str(uuid.uuid4()))
        (before.cwd / "cargo").write_text("two crates of rope\n")
        before._say("--session-id", scripted("first", bash("cat cargo"), {"say": SAID[0]}))
        before._say("--resume", scripted("second", {"say": SAID[1]}))
        return before

    def copy(self) -> Before:
        """The same conversation under another name."""
        other = Before(self.bridge, self.cwd, str(uuid.uuid4()))
        data = self.file.read_bytes().replace(self.id.encode(), other.id.encode())
        self.file.with_name(f"{other.id}.jsonl").write_bytes(data)
        return other

    def _say(self, option: str, prompt: str) -> None:
        subprocess.run(
            [*self.bridge.claude.argv, *ARGUMENTS, option, self.id],
            input=user(prompt),
            cwd=self.cwd,
            env=self.bridge.claude.env,
            capture_output=True,
            check=True,
            timeout=50,
        )

    @property
    def file(self) -> Path:
        (found,) = Path(self.bridge.claude.env["CLAUDE_CONFIG_DIR"]).rglob(f"{self.id}.jsonl")
        return found

    def is_told(self, talk: Talk) -> None:
        """What was said and done stands at the beginning of the log, closed."""
        ends = [at for at, one in enumerate(talk.events) if isinstance(one, ev.History)]
        assert len(ends) == 2
        past = talk.events[: ends[1]]
        texts = [one.text for one in past if isinstance(one, ev.TextDone)]
        assert texts == SAID
        prompts = [one for one in past if isinstance(one, ev.InputAccepted)]
        assert [one.content[0].text.partition("\n")[0] for one in prompts] == ["first", "second"]  # type: ignore[union-attr]
        (result,) = [one for one in past if isinstance(one, ev.ToolResult)]
        assert "two crates of rope" in result.text
        began = past[ends[0]]
        assert isinstance(began, ev.History)
        assert (began.conversation, began.source) == (self.id, str(self.file))

    def is_remembered(self, needle: str) -> None:
        """The model was told all of it when it was asked this."""
        asked = [
            one for one in self.bridge.api.turns if any(needle in given for given in one.given())
        ]
        assert [one for one in asked[-1].said() if one in SAID] == SAID
        assert "two crates of rope" in json.dumps(asked[-1].blocks("tool_result"))


@pytest.fixture(scope="module")
def first(bridge: Bridge) -> Before:
    return Before.have(bridge)


@pytest.fixture
def before(first: Before) -> Before:
    return first.copy()


async def test_an_imported_conversation_is_shown_and_gone_on_with(
    bridge: Bridge, before: Before
) -> None:
    client = await bridge.client()
    params = {"agent": "claude", "conversation": before.id}
    done = await client.ask("import", params)
    assert (done["turns"], done["cwd"], done["known"]) == (2, str(before.cwd), False)
    bytes_before = before.file.read_bytes()
    assert (await client.ask("import", params))["known"]
    async with Talk(bridge, client, str(done["session"])) as talk:
        await talk.until(lambda: len(talk.all(ev.History)) == 2)
        before.is_told(talk)
        assert talk.all(ev.AgentStarted) == []
        assert before.file.read_bytes() == bytes_before
        await talk.turn("go on after import", {"say": "Going on."})
        assert [one.resumed for one in talk.all(ev.AgentStarted)] == [True]
        before.is_remembered("go on after import")
        assert talk.unknown() == []
        assert (await client.ask("view", {"session": talk.session}))["turns"] == 1
    assert len(before.file.read_bytes()) > len(bytes_before)


async def test_a_resumed_conversation_is_shown_and_remembered(
    bridge: Bridge, before: Before
) -> None:
    async with await Talk.open(bridge, cwd=before.cwd, resume=before.id) as talk:
        await talk.turn("go on after resume", {"say": "Going on."})
        before.is_told(talk)
        before.is_remembered("go on after resume")
        view = await talk.client.ask("view", {"session": talk.session})
        assert view["turns"] == 1
        with pytest.raises(BusyError, match=f"session {talk.session} has"):
            await talk.client.open(agent="claude", cwd=before.cwd, resume=before.id)
        done = await talk.client.ask("import", {"agent": "claude", "conversation": before.id})
        assert (done["session"], done["known"]) == (talk.session, True)


async def test_a_fork_shows_the_past_and_leaves_the_conversation_alone(
    bridge: Bridge, before: Before
) -> None:
    untouched = before.file.read_bytes()
    async with await Talk.open(bridge, cwd=before.cwd, resume=before.id, fork=True) as talk:
        await talk.turn("go on after fork", {"say": "Going on."})
        before.is_told(talk)
        before.is_remembered("go on after fork")
        assert talk.unknown() == []
    assert before.file.read_bytes() == untouched


# ---- one writer ----------------------------------------------------------------------------------


@contextmanager
def foreign(bridge: Bridge, cwd: Path, *more: str) -> Iterator[LineProcess]:
    """The program alone, running and waiting for somebody to say something."""
    argv = [*bridge.claude.argv, *ARGUMENTS, *more]
    alone = LineProcess(argv, cwd=cwd, env=bridge.claude.env)
    try:
        yield alone
    finally:
        # what leads to the model dies after it, with the same words on its command line
        beside = descendants(alone.process.pid)
        alone.close()
        wait_until(lambda: not any(alive(one.pid, one.start) for one in beside))


def say(alone: LineProcess, prompt: str) -> list[Any]:
    """One turn of it, as lines of JSON."""
    alone.write(user(prompt))
    return alone.until(lambda message: message["type"] == "result")


async def test_what_another_program_has_open_can_only_be_copied(
    bridge: Bridge, before: Before
) -> None:
    with foreign(bridge, before.cwd, "--resume", before.id) as process:
        say(process, scripted("still here", {"say": "Aye."}))
        client = await bridge.client()
        with pytest.raises(BusyError, match="has this conversation open"):
            await client.open(agent="claude", cwd=before.cwd, resume=before.id)
        with pytest.raises(BusyError):
            await client.ask("import", {"agent": "claude", "conversation": before.id})
        await client.close()
        async with await Talk.open(bridge, cwd=before.cwd, resume=before.id, fork=True) as talk:
            await talk.turn("beside it", {"say": "Me too."})
    async with await Talk.open(bridge, cwd=before.cwd, resume=before.id) as talk:
        await talk.turn("after it", {"say": "Now me."})


async def test_an_imported_conversation_is_not_gone_on_with_while_another_program_has_it(
    bridge: Bridge, before: Before
) -> None:
    client = await bridge.client()
    done = await client.ask("import", {"agent": "claude", "conversation": before.id})
    async with Talk(bridge, client, str(done["session"])) as talk:
        with foreign(bridge, before.cwd, "--resume", before.id) as process:
            say(process, scripted("mine", {"say": "Aye."}))
            request = await talk.say("not now", {"say": "Never said."})
            assert await talk.outcome(request) == "not_delivered"
            exited = await talk.get(ev.AgentExited)
            assert "has this conversation open" in exited.stderr_tail
        await talk.turn("and now", {"say": "Now."})
    assert bridge.api.count("not now") == 0


async def test_a_program_is_seen_whose_arguments_tell_nothing(bridge: Bridge) -> None:
    """The newer one says in a list of its own what it has; the older one runs where that is."""
    cwd = bridge.repository("untold")
    said = "has" if bridge.claude.version == NEW else ", a Claude in the same directory, seems"
    with foreign(bridge, cwd) as process:
        conversation = say(process, scripted("who are you", {"say": "Untold."}))[-1]["session_id"]
        await bridge.saved("Untold.")
        client = await bridge.client()
        with pytest.raises(BusyError, match=f"process {process.process.pid} ?{said}"):
            await client.open(agent="claude", cwd=cwd, resume=conversation)
        await client.close()
    async with await Talk.open(bridge, cwd=cwd, resume=conversation) as talk:
        assert [one.text for one in talk.all(ev.TextDone)] in ([], ["Untold."])
        await talk.turn("thank you", {"say": "Told."})


async def test_an_agent_of_another_gateway_is_seen_whose_arguments_tell_nothing(
    bridge: Bridge, before: Before
) -> None:
    async with await Talk.open(bridge, cwd=before.cwd, resume=before.id) as talk:
        await talk.turn("go on beside", {"say": "Going on."})
        config = Path(bridge.claude.env["CLAUDE_CONFIG_DIR"])
        owners = owners_of(config, before.id)
        told = {one.pid: one.told_by for one in owners}[bridge.agent_of(talk.session)]
        assert told == ("list" if bridge.claude.version == NEW else "environment")
        mine = f"FLYBRIDGE_SESSION={talk.session}"
        assert owners_of(config, before.id, but=[mine]) == []
