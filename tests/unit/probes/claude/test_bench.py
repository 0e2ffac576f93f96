from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from flybridge.model.events import AgentReady
from flybridge.probes.claude.bench import ANCHOR, Bench, bash, waiting
from flybridge.probes.claude.world import World
from tests.harness import small
from tests.harness.waiting import WAIT_S


@pytest.fixture
def bench() -> Iterator[Bench]:
    with World(small.program(), path=os.environ["PATH"]) as world:
        bench = Bench(world)
        bench.begin(time.monotonic() + WAIT_S)
        yield bench
        bench.drop()


def test_probes_share_a_life_until_it_is_dropped(bench: Bench) -> None:
    first = bench.talk
    assert bench.talk is first
    bench.drop()
    assert bench.talk is not first


def test_its_version_is_known_from_the_start(bench: Bench) -> None:
    assert bench.capabilities.version == "2.1.325"


def test_a_past_is_made_once_and_ended(bench: Bench) -> None:
    past = bench.past()
    assert bench.past() is past
    assert past.status == 0
    assert bench.api.count(past.prompt) == 1
    talk = bench.open(agent_session=past.agent_session, resume=True)
    talk.get(AgentReady)
    talk.turn("and on", {"say": "Yes."})
    assert ANCHOR in bench.api.turns[-1].said()


def test_no_two_files_have_one_name(bench: Bench) -> None:
    names = [bench.file("a"), bench.file("a"), bench.outside("a")]
    assert len(set(names)) == 3
    assert names[0].parent == bench.world.cwd
    assert names[2].parent == bench.world.base


def test_results_are_those_of_one_prompt(bench: Bench) -> None:
    assert bench.results("never said") == []


def test_a_waiting_tool_marks_and_waits(bench: Bench) -> None:
    given = waiting(bench.file("mark"), bench.outside("go"))
    assert given["tool"] == bash("")["tool"] == "Bash"
    assert "while" in str(given["input"])
