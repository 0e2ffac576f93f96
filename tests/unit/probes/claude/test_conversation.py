from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model import commands as c
from flybridge.model.capabilities import OpenSpec
from flybridge.model.events import AgentReady
from flybridge.model.facts import TurnOver
from flybridge.probes.claude.bench import Bench
from flybridge.probes.claude.conversation import Conversation, NotSeenError, scripted
from flybridge.probes.claude.fields import Fields
from flybridge.probes.claude.world import World
from tests.harness import small
from tests.harness.waiting import WAIT_S


@pytest.fixture
def talk() -> Iterator[Callable[..., Conversation]]:
    open_: list[Callable[[], None]] = []

    def start(*program: str, deadline_s: float = WAIT_S) -> Conversation:
        world = World(program or small.program(), path=os.environ["PATH"])
        world.__enter__()
        open_.append(world.close)
        spec = OpenSpec(agent="claude", cwd=str(world.cwd))
        capabilities = ClaudeAgent().capabilities(b"2.1.325")
        talk = Conversation(world, spec, capabilities, Fields())
        open_.append(talk.close)
        talk.begin(time.monotonic() + deadline_s)
        return talk

    yield start
    for close in reversed(open_):
        close()


def test_a_script_stands_below_the_words() -> None:
    assert scripted("hello") == "hello"
    assert scripted("hello", {"say": "hi"}) == 'hello\n@@ [{"say": "hi"}]'


def test_a_turn_is_said_and_heard_through_the_driver(talk: Callable[..., Conversation]) -> None:
    one = talk()
    one.get(AgentReady)
    assert one.turn("hello", {"say": "Ahoy."}).reason == "done"
    assert b'"subtype": "init"' in one.init
    assert any(b"Ahoy." in line for line in one.lines)


def test_a_probe_sees_nothing_of_the_one_before(talk: Callable[..., Conversation]) -> None:
    one = talk()
    one.turn("hello", {"say": "Ahoy."})
    one.begin(one.deadline)
    assert one.all(TurnOver) == []
    assert one.lines == []


def test_a_setting_is_answered_or_refused(talk: Callable[..., Conversation]) -> None:
    assert talk().settle(c.SetMode(mode="plan")) == ""
    assert talk(*small.program("refuses-mode")).settle(c.SetMode(mode="plan")) == "no such mode"


def test_what_does_not_come_is_named_when_the_time_is_up(
    talk: Callable[..., Conversation],
) -> None:
    with pytest.raises(NotSeenError, match="TurnOver did not come in time"):
        talk(deadline_s=0.2).get(TurnOver)


def test_what_need_not_come_is_waited_for_only_so_long(talk: Callable[..., Conversation]) -> None:
    one = talk()
    assert not one.is_seen(lambda: False, 0.05)
    assert one.is_seen(lambda: bool(one.all(AgentReady)), WAIT_S)


def test_a_program_that_ends_is_not_waited_for_and_its_last_words_are_told(
    talk: Callable[..., Conversation],
) -> None:
    one = talk(*small.program("does-not-start"))
    with pytest.raises(NotSeenError, match="status 1: error: unknown option"):
        one.get(AgentReady)


def test_a_program_that_does_not_read_is_found_out(talk: Callable[..., Conversation]) -> None:
    one = talk(sys.executable, "-c", "import time; time.sleep(60)")
    with pytest.raises(NotSeenError, match="reading its input"):
        one.write(b"x" * 10_000_000)
    with pytest.raises(NotSeenError, match="does not read its input"):
        one.write(b"x")


def test_a_program_that_is_gone_before_the_first_word_leaves_nothing() -> None:
    """Its process has to be reaped though no conversation with it ever came to be."""
    with World([sys.executable, "-c", ""], path=os.environ["PATH"]) as world:
        bench = Bench(world)
        bench.begin(time.monotonic() + WAIT_S)
        for _ in range(3):
            with pytest.raises(NotSeenError):
                bench.talk.get(AgentReady)
            bench.drop()


def test_a_flood_is_stopped(talk: Callable[..., Conversation]) -> None:
    flood = 'import sys\nwhile True: sys.stdout.write(\'{"type":"keep_alive"}\\n\' * 1000)'
    one = talk(sys.executable, "-c", flood)
    with pytest.raises(NotSeenError, match="does not stop talking"):
        one.get(TurnOver)


def test_its_end_has_a_status(talk: Callable[..., Conversation]) -> None:
    one = talk(*small.program("exits-3"))
    one.get(AgentReady)
    one.end_input()
    assert one.exit_status() == 3


def test_d12_a_prompt_whose_turn_is_over_has_to_end_too(talk: Callable[..., Conversation]) -> None:
    one = talk(*small.program("endless-slash"))
    assert one.turn("hello", {"say": "Ahoy."}).reason == "done"
    with pytest.raises(NotSeenError, match=r"^/cost never ends$"):
        one.turn("/cost")
