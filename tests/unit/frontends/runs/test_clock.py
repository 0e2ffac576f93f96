"""The time of a run holds while nobody drives it: real gateway, real keeper, no script."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.errors import StorageError
from flybridge.frontends.runs.clock import RunClock
from flybridge.frontends.runs.translate import PROMPT, RUN, TIMEOUT
from flybridge.model.commands import Delete
from flybridge.store.memory import MemoryBlobs
from tests.harness.agent_programs import steps
from tests.harness.run_script import Script, finished, marker
from tests.harness.runtime_harness import House
from tests.harness.terminal_home import Home, home_in
from tests.harness.waiting import until, wait_until

NAME = {"question": "Name?", "freeText": True, "timeoutS": 0.3}


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as base, home_in(Path(base)) as home:
        yield home


def row_of(home: Home, script: Script) -> dict[str, Any]:
    rows = json.loads(home.run("runs", "--json").stdout)
    (row,) = [one for one in rows if one["run"] == script.run]
    return dict(row)


def left(home: Home, text: str, **config: Any) -> Script:
    """A run whose script died as soon as it had begun."""
    script = Script(home)
    script.start(text, **config)
    script.wait_for("run.started")
    script.wait_for("run.progress")
    script.kill()
    script.end()
    return script


def ended(home: Home, script: Script, how: str) -> Script:
    """Wait until the run has ended by itself, and then have it told."""
    wait_until(lambda: row_of(home, script)["status"] == how, how)
    again = finished(home, "--attach", script.run)
    assert len(again.terminal) == 1
    return again


def events(home: Home, script: Script) -> list[dict[str, Any]]:
    return [one["event"] for one in home.events(row_of(home, script)["session"])]


@pytest.mark.conforms("S4-time")
def test_a_run_that_nobody_drives_is_out_of_time_all_the_same(home: Home) -> None:
    script = left(home, steps({"say": "working"}, {"stall": 60}), timeout_s=1.5)
    again = ended(home, script, "failed")
    assert again.terminal[0]["payload"]["code"] == "timeout"
    assert again.process.returncode == 1
    closed = [one for one in events(home, script) if one["type"] == "session.closed"]
    assert [one["reason"] for one in closed] == ["run.failed timeout: Timed out after 1.5 s."]
    wait_until(lambda: events(home, script)[-1]["type"] == "agent.exited", "the end of the agent")


@pytest.mark.conforms("S4-time")
def test_a_question_that_nobody_hears_takes_its_default(home: Home) -> None:
    asked = marker({**NAME, "default": "Bob"})
    script = left(home, steps({"say": f"tell me {asked}"}))
    again = ended(home, script, "completed")
    assert again.texts()[-1] == "ok: Bob"
    assert again.types.count("run.question") == 1
    given = [one for one in events(home, script) if one["type"] == "input.accepted"]
    assert [one["kind"] for one in given] == ["message", "message"]


def test_a_question_that_must_be_answered_fails_a_run_that_nobody_drives(home: Home) -> None:
    again = ended(home, left(home, steps({"say": f"tell me {marker(NAME)}"})), "failed")
    assert again.terminal[0]["payload"]["code"] == "timeout"
    assert "Name?" in again.terminal[0]["payload"]["message"]


async def test_a_run_that_cannot_be_followed_does_not_stop_its_session(short_tmp: Path) -> None:
    house = House(short_tmp)
    broken = BrokenBlobs()
    clock = RunClock(house.desk, house.services.hub, broken, house.services.now_ms)
    house.sessions.on_live = clock.begin
    live = await house.open(labels={RUN: "run_1"})
    other = await house.open(request="other")
    assert clock.followed == 1
    assert house.services.hub.followers(live.session) == 1  # the test's own client
    long = steps({"say": "long " * 20_000})
    assert (await house.say(live, long, PROMPT)).error == ""
    assert broken.asked
    assert clock.followed == 0
    assert (await house.say(live, "and on", "r2")).error == ""
    assert other.down is None
    await clock.close()
    await house.end()


async def test_a_session_that_is_deleted_is_followed_no_more(short_tmp: Path) -> None:
    house = House(short_tmp)
    clock = RunClock(house.desk, house.services.hub, house.services.blobs, house.services.now_ms)
    house.sessions.on_live = clock.begin
    live = await house.open(labels={RUN: "run_1", TIMEOUT: "3600.0"})
    await house.say(live, "hello", "not the prompt")
    assert clock.followed == 1
    await house.submit(live.session, Delete(), "d")
    await until(lambda: clock.followed == 0)
    await clock.close()
    await house.end()


class BrokenBlobs(MemoryBlobs):
    """A disk that answers nothing."""

    asked = False

    def size(self, digest: str) -> int | None:
        self.asked = True
        raise StorageError("broken")


def test_the_next_gateway_goes_on_with_the_time_that_is_left(home: Home) -> None:
    script = left(home, steps({"say": "working"}, {"stall": 60}), timeout_s=3)
    assert home.run("gateway", "stop").returncode == 0
    assert ended(home, script, "failed").terminal[0]["payload"]["code"] == "timeout"


def test_a_run_that_ended_in_time_is_not_ended_again(home: Home) -> None:
    script = left(home, steps({"say": "done"}), timeout_s=5.0)
    assert ended(home, script, "completed").types[-1] == "run.completed"
    other = finished(home, prompt=steps({"stall": 60}), timeout_s=6.0)
    assert other.terminal[0]["payload"]["code"] == "timeout"  # so much time has passed
    assert "session.closed" not in [one["type"] for one in events(home, script)]
