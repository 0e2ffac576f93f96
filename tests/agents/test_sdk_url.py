"""Claude Code that connects to us (``--sdk-url``) instead of using its pipes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.convert.words import to_blocks
from flybridge.agents.claude.driver.names import message_of
from flybridge.agents.claude.wire import encode
from flybridge.errors import FlybridgeError
from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from flybridge.model.commands import Interrupt, SetMode
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.ids import TurnId
from flybridge.probes.messages_api import MessagesApi
from flybridge.runtime.lifecycle.agents import AgentShelf
from tests.agents import rig
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, results, scripted, waiting
from tests.harness.dial_in_harness import DialHouse
from tests.harness.waiting import until

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]
SOCKET = Options(transport="socket")
BY_HAND = Options(transport="by_hand")


class OpenBridge(Bridge):
    """Its agents see the machine's own loopback: in a network of their own they could not come."""

    def __init__(self, version: str, base: Path) -> None:
        super().__init__(version, base)
        walled = json.dumps(self.claude.argv)
        own = json.dumps(rig.program(version))
        self.configure(self.config.read_text().replace(walled, own))


@pytest.fixture(scope="module", params=["2.1.38"])
def bridge(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    bridge = OpenBridge(request.param, tmp_path_factory.mktemp("s"))
    bridge.start()
    yield bridge
    bridge.close()


@pytest.fixture(params=["2.1.38"])
def own_bridge(request: pytest.FixtureRequest, short_tmp: Path) -> Iterator[Bridge]:
    bridge = OpenBridge(request.param, short_tmp)
    bridge.start()
    yield bridge
    bridge.close()


@pytest.mark.conforms("S3-2", "S3-3", "S3-5", "S3-A6")
async def test_it_connects_introduces_itself_and_talks(bridge: Bridge, tmp_path: Path) -> None:
    text, end = "Hello from the socket.", tmp_path / "end"
    async with await Talk.open(bridge, options=SOCKET) as talk:
        # held open: nobody is owed a preview of what is already whole
        request = await talk.say("sdk-turn", {"say": text, "deltas": 4, "hold": str(end)})
        await talk.streamed(text)
        (item,) = [one.item for one in talk.all(ev.ItemStarted)]
        assert talk.seen[item] == 4  # streamed, piece by piece
        end.touch()
        assert await talk.outcome(request) == "done"
        assert [one.text for one in talk.all(ev.TextDone)] == [text]
        ready = talk.all(ev.AgentReady)
        assert ready[-1].agent_session
        assert ready[-1].model
        assert "context" in talk.gauges
        assert talk.unknown() == []
        assert talk.all(ev.Gap) == []


@pytest.mark.conforms("S3-6")
async def test_a_tool_is_allowed(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "sdk-allowed"
    async with await Talk.open(bridge, options=SOCKET) as talk:
        request = await talk.say("sdk-allow", bash(f"echo x >>{made}"), {"say": "Made."})
        asked = await talk.get(ev.PermissionRequested)
        assert asked.tool == "Bash"
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "ok"
    assert made.read_text() == "x\n"


@pytest.mark.conforms("S3-8")
async def test_always_is_remembered_for_the_session(bridge: Bridge) -> None:
    folder = bridge.repository("sdk-always")
    async with await Talk.open(bridge, cwd=folder, options=SOCKET) as talk:
        write = {"tool": "Write", "input": {"file_path": f"{folder}/one", "content": "1"}}
        request = await talk.say("sdk-always", write, {"say": "One."})
        asked = await talk.get(ev.PermissionRequested)
        assert asked.suggestions
        await talk.decide(asked, "allow", remember=(0,))
        assert await talk.outcome(request) == "done"
        again = {"tool": "Write", "input": {"file_path": f"{folder}/two", "content": "2"}}
        await talk.turn("sdk-always-again", again, {"say": "Two."})
        assert len(talk.all(ev.PermissionRequested)) == 1
    assert (folder / "two").read_text() == "2"


@pytest.mark.conforms("S3-9")
async def test_a_tool_is_denied_with_words(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "sdk-denied"
    async with await Talk.open(bridge, options=SOCKET) as talk:
        request = await talk.say("sdk-deny", bash(f"echo x >>{made}"), {"say": "Not made."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "deny", message="Denied by user via the handheld")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "denied"
    assert not made.exists()
    assert "Denied by user via the handheld" in json.dumps(results(bridge, "sdk-deny"))


@pytest.mark.conforms("S3-10")
async def test_a_turn_is_interrupted(bridge: Bridge, tmp_path: Path) -> None:
    mark, never = tmp_path / "mark", tmp_path / "never"
    async with await Talk.open(bridge, options=SOCKET) as talk:
        await talk.say("sdk-interrupt", waiting(mark, never), {"say": "never"})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.made(mark)
        turn = (await talk.get(ev.TurnStarted)).turn
        await talk.submit(Interrupt(turn=TurnId(turn)))
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        await talk.turn("sdk-interrupt-after", {"say": "Still here."})


async def test_a_setting_is_changed(bridge: Bridge) -> None:
    async with await Talk.open(bridge, options=SOCKET) as talk:
        assert await talk.settle(SetMode(mode="plan")) == "done"
        assert (await talk.get(ev.ModeChanged)).mode == "plan"


@pytest.mark.conforms("S3-11")
async def test_two_sessions_do_not_know_of_each_other(bridge: Bridge) -> None:
    async with (
        await Talk.open(bridge, options=SOCKET) as one,
        await Talk.open(bridge, options=SOCKET) as two,
    ):
        await one.turn("sdk-first", {"say": "I am one."})
        await two.turn("sdk-second", {"say": "I am two."})
        assert [done.text for done in one.all(ev.TextDone)] == ["I am one."]
        assert [done.text for done in two.all(ev.TextDone)] == ["I am two."]


@pytest.mark.conforms("S3-12", "S3-13", "S3-A7")
async def test_a_dead_process_is_the_end_and_the_next_goes_on_with_the_conversation(
    bridge: Bridge,
) -> None:
    async with await Talk.open(bridge, options=SOCKET) as talk:
        await talk.turn("sdk-death", {"say": "Before."})
        await bridge.saved("Before.")
        bridge.kill_agent(talk.session)
        ended = await talk.get(ev.AgentExited)
        assert (ended.why, ended.status, ended.asked) == ("exit", -9, False)
        await talk.turn("sdk-death-after", {"say": "Resumed."})
        assert [one.resumed for one in talk.all(ev.AgentStarted)] == [False, True]
    given = [
        one.given() for one in bridge.api.turns if any("sdk-death-after" in x for x in one.given())
    ]
    assert any("sdk-death\n" in text for text in given[-1])


@pytest.mark.conforms("S3-14")
async def test_an_error_of_the_model_is_told(bridge: Bridge) -> None:
    async with await Talk.open(bridge, options=SOCKET) as talk:
        ended = await talk.turn("sdk-error", {"status": 401, "message": "no such key"})
        assert ended.reason == "error"
        await talk.turn("sdk-error-after", {"say": "Better."})


# ---- the connection is cut -----------------------------------------------------------------------


class RealHouse(DialHouse):
    """A gateway's runtime in this process, whose door a test can slam; its agent is the CLI."""

    def __init__(self, folder: Path, version: str) -> None:
        super().__init__(folder)
        self.api = MessagesApi(unix=str(folder / "api.sock")).start()
        claude = rig.RealClaude(version, folder / "c", self.api, folder / "api.sock")
        agent = ClaudeAgent(name="dialler", program=rig.program(version) or [])
        self.services.shelf = AgentShelf({"dialler": (agent, claude.env)})
        self.cwd = str(claude.cwd)

    async def end(self) -> None:
        await super().end()
        self.api.close()
        assert self.api.complaints == []


@pytest.fixture(params=["2.1.38"])
async def house(request: pytest.FixtureRequest, short_tmp: Path) -> AsyncIterator[RealHouse]:
    house = RealHouse(short_tmp, request.param)
    yield house
    await house.end()


@pytest.mark.conforms("S3-A4", "S3-A5")
async def test_a_cut_between_two_turns_costs_nothing(house: RealHouse) -> None:
    live = await house.dial(cwd=house.cwd)
    assert (await house.say(live, scripted("cut-one", {"say": "One."}), "r1")).error == ""
    await house.drop()
    assert (await house.say(live, scripted("cut-two", {"say": "Two."}), "r2")).error == ""
    assert [one.text for one in house.client.of(ev.TextDone)] == ["One.", "Two."]
    assert house.client.of(ev.Gap) == []
    assert (house.api.count("cut-one"), house.api.count("cut-two")) == (1, 1)


@pytest.mark.conforms("S3-A5")
async def test_an_answer_that_was_being_streamed_is_whole_in_the_end(
    house: RealHouse, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    live = await house.dial(cwd=house.cwd)
    text = "".join(f"wave {n}, " for n in range(100))
    held = {"say": text, "deltas": 20, "hold": str(go), "hold_after": 10}
    await house.say(live, scripted("cut-text", held), "r1", Stage.WRITTEN)
    await until(lambda: house.client.previews)
    await house.drop()
    await until(lambda: house.door.agents)
    go.touch()
    await house.saw(ev.TurnEnded)
    assert [one.text for one in house.client.of(ev.TextDone)] == [text]
    assert house.api.count("cut-text") == 1


@pytest.mark.conforms("S3-A5")
async def test_a_message_that_comes_twice_runs_once(house: RealHouse) -> None:
    """What it all rests on: the CLI drops a message whose id it has had."""
    live = await house.dial(cwd=house.cwd)
    assert (await house.say(live, scripted("twice", {"say": "Once."}), "r1")).error == ""
    (key,) = [one.key for one in house.client.of(ev.InputAccepted)]
    words = to_blocks((Text(scripted("twice", {"say": "Once."})),))
    again = encode.prompt(words, uuid=message_of(live.session, key))
    house.link(live).send_input(0, again + b"\n")
    assert (await house.say(live, scripted("after", {"say": "After."}), "r2")).error == ""
    assert [one.text for one in house.client.of(ev.TextDone)] == ["Once.", "After."]
    assert house.api.count("twice") == 1


# ---- the gateway dies ----------------------------------------------------------------------------


@pytest.mark.conforms("S3-A5")
async def test_it_comes_back_to_the_next_gateway(own_bridge: Bridge) -> None:
    async with await Talk.open(own_bridge, options=SOCKET) as talk:
        await talk.turn("sdk-kill-before", {"say": "Before."})
        pid = own_bridge.agent_of(talk.session)
        own_bridge.kill()
        own_bridge.start()
        request = await talk.say("sdk-kill-after", {"say": "After."})
        assert await talk.outcome(request) == "done"
        assert own_bridge.agent_of(talk.session) == pid
        assert [one.adopted for one in talk.all(ev.AgentConnected)] == [False, True]
        assert talk.all(ev.Gap) == []  # it had said nothing meanwhile
        assert talk.without_outcome() == set()
    assert own_bridge.api.count("sdk-kill-before") == 1
    assert own_bridge.api.count("sdk-kill-after") == 1


@pytest.mark.conforms("S3-A5")
async def test_a_prompt_that_was_asked_to_nobody_is_asked_again(
    own_bridge: Bridge, tmp_path: Path
) -> None:
    go, made = tmp_path / "go", own_bridge.claude.cwd / "made"
    async with await Talk.open(own_bridge, options=SOCKET) as talk:
        held = {"wait_file": str(go), "blocks": [bash(f"echo x >>{made}")]}
        request = await talk.say("sdk-lost-prompt", held, {"say": "Made it."})
        await talk.get(ev.TurnStarted)
        own_bridge.kill()
        go.touch()  # it asks now, and nobody hears it
        own_bridge.start()
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        assert await talk.outcome(request) == "done"
        assert len(talk.all(ev.PermissionRequested)) == 1
    assert made.read_text() == "x\n"
    assert own_bridge.api.count("sdk-lost-prompt") == 1


@pytest.mark.conforms("S3-A5")
async def test_a_tool_whose_end_was_lost_is_wedged_and_stopped(
    own_bridge: Bridge, tmp_path: Path
) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    async with await Talk.open(own_bridge, options=SOCKET) as talk:
        request = await talk.say("sdk-wedged", waiting(mark, go), {"say": "Heard by nobody."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.made(mark)
        own_bridge.kill()
        go.touch()
        await own_bridge.saved("Heard by nobody.")
        own_bridge.start()
        assert (await talk.get(ev.Gap)).reason == "socket"
        assert (await talk.get(ev.Error)).code == "wedged"
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        assert await talk.outcome(request) == "done"
        await talk.turn("sdk-wedged-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
    assert mark.read_text() == "x\n"


async def test_a_tool_that_goes_on_is_left_alone(own_bridge: Bridge, tmp_path: Path) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"

    async with await Talk.open(own_bridge, options=SOCKET) as talk:
        request = await talk.say("sdk-goes-on", waiting(mark, go), {"say": "Done at last."})
        await talk.decide(await talk.get(ev.PermissionRequested), "allow")
        await talk.made(mark)
        own_bridge.kill()
        own_bridge.start()
        await talk.until(lambda: len(talk.all(ev.AgentConnected)) == 2, "another gateway")
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"  # it is back
        go.touch()
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.Gap) == []
        assert talk.all(ev.Error) == []
        assert talk.all(ev.ToolResult)[0].status == "ok"


# ---- started by hand -----------------------------------------------------------------------------


def ask_url(bridge: Bridge) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flybridge", "companion", "url", "3", "--agent", "claude"]
    command += ["--cwd", str(bridge.claude.cwd), "--state", str(bridge.state)]
    env = bridge.env
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=20)


def start_by_hand(bridge: Bridge, url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*(rig.program(bridge.claude.version) or []), "--sdk-url", url],
        env=bridge.claude.env,
        cwd=bridge.claude.cwd,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.conforms("S3-4", "S3-A2")
async def test_one_that_a_person_starts_is_a_session_like_all_others(bridge: Bridge) -> None:
    done = await asyncio.to_thread(ask_url, bridge)
    assert (done.returncode, done.stderr) == (0, "")
    assert "/ws/cli/3?ticket=" in done.stdout
    assert (await asyncio.to_thread(ask_url, bridge)).stdout == done.stdout  # it still waits
    claude = start_by_hand(bridge, done.stdout.strip())
    try:
        client = await bridge.client()
        (session,) = [
            row["session"]
            for row in await client.list()
            if row["labels"].get("companion.slot") == "3"
        ]
        async with Talk(bridge, client, session) as talk:
            await talk.turn("sdk-by-hand", {"say": "Started by hand."})
            assert [one.text for one in talk.all(ev.TextDone)] == ["Started by hand."]
            second = await asyncio.to_thread(ask_url, bridge)
            assert second.returncode == 1
            assert second.stderr.endswith("(busy)\n")
            claude.kill()
            ended = await talk.get(ev.AgentExited)
            assert ended.why == "exit"
    finally:
        claude.kill()
        claude.wait(10)


# ---- versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.1.325"])
@pytest.mark.conforms("S3-A9")
async def test_a_version_that_refuses_is_not_even_started(version: str, short_tmp: Path) -> None:
    bridge = OpenBridge(version, short_tmp)
    bridge.start()
    try:
        for options in (SOCKET, BY_HAND):
            with pytest.raises(FlybridgeError, match=r"2\.1\.325 does not connect to us") as caught:
                await Talk.open(bridge, options=options)
            assert caught.value.code == "transport_refused"
    finally:
        bridge.close()


@pytest.mark.parametrize("version", ["2.1.325"])
@pytest.mark.conforms("S3-A9")
def test_a_new_version_refuses_by_itself(version: str, tmp_path: Path) -> None:
    """Why there is nothing to be offered: what it says when it is tried all the same."""
    argv = [*(rig.program(version) or []), "--sdk-url", "ws://127.0.0.1:9/ws/cli/0"]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "IS_SANDBOX": "1"}
    done = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert done.returncode == 1
    assert "--sdk-url rejected" in done.stderr
