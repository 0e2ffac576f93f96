"""The session behind a run: what it is opened with, who began it, and that no secret stays."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from flybridge.cli.adhoc_session import code_of, new_run_id, resolved
from flybridge.errors import (
    AgentNotFoundError,
    AgentStartError,
    InvalidRequestError,
    StorageFullError,
)
from flybridge.wire.runs.messages import RunConfig
from tests.cli.at_terminal import Home
from tests.cli.random_runs import Story
from tests.cli.run_script import Script, finished, marker, steps

CANARY = 'kanarienvogel-"7"-ü'


def test_a_frame_says_more_than_a_flag_and_a_flag_more_than_a_file(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "FLYBRIDGE_DEFAULT_AGENT": "demo"}
    flags = RunConfig(model="flag", max_turns=3, cwd=str(tmp_path))
    found = resolved(RunConfig(model="frame"), flags, env)
    assert found == RunConfig(agent="demo", model="frame", max_turns=3, cwd=str(tmp_path))
    with pytest.raises(InvalidRequestError, match="no such directory"):
        resolved(RunConfig(cwd="/nowhere/at/all"), flags, env)


def test_failures_have_their_codes() -> None:
    assert code_of(AgentNotFoundError("x")) == "no_agent"
    assert code_of(AgentStartError("x", reason="y")) == "agent_error"
    assert code_of(InvalidRequestError("x")) == "protocol_error"
    assert code_of(StorageFullError("x")) == "internal_error"
    assert code_of(RuntimeError("x")) == "internal_error"


@pytest.mark.conforms("S4-6.3")
def test_run_ids_are_unique() -> None:
    made = {new_run_id() for _ in range(100)}
    assert len(made) == 100
    assert all(one.startswith("run_") and len(one) >= 20 for one in made)


@pytest.mark.conforms("S4-6.22")
@pytest.mark.parametrize(
    "seeds", [range(0, 10), range(10, 20), range(20, 30), range(30, 40)], ids=str
)
def test_whatever_happens_a_run_ends_once_and_is_told_the_same(home: Home, seeds: range) -> None:
    broken = [(seed, one) for seed in seeds for one in Story(home, seed).play()]
    assert broken == []


def test_a_secret_is_in_no_file_and_no_stream_of_ours(home: Home) -> None:
    asked = marker({"question": "Key?", "kind": "secret"})
    tool = {"tool": "Bash", "input": {"command": f"login {CANARY}"}, "ask": True}
    again = steps(tool, {"say": f"I know {CANARY} now", "deltas": 5}, {"stderr": CANARY})
    script = Script(home)
    script.start(steps({"say": asked}))
    question = script.wait_for("run.question")
    assert question["payload"]["kind"] == "secret"
    script.answer(question, f"{CANARY}\n{again}")
    script.answer(script.wait_for("run.question"), "allow")
    _, said = script.end()
    assert script.types[-1] == "run.completed"
    assert script.texts()[-1] == "I know [secret] now"
    replayed = finished(home, "--attach", script.run)
    shown = home.run("sessions", "list", "--json").stdout + home.run("runs").stdout
    streams = [*script.raw, *replayed.raw, said.encode(), shown.encode()]
    spelled = [CANARY.encode(), b"kanarienvogel"]
    files = [one for one in home.state.rglob("*") if one.is_file()]
    assert any(one.name.endswith((".db", ".sqlite", ".sqlite3")) for one in files), files
    found = [one.name for one in files if any(word in one.read_bytes() for word in spelled)]
    assert found == []
    assert [one for one in streams if any(word in one for word in spelled)] == []


def test_noise_of_the_agent_never_reaches_the_output(home: Home) -> None:
    noise = "Traceback (most recent call last):\n  boom\n\x1b[31mred\x1b[0m"
    script = finished(
        home,
        prompt=steps(
            {"junk": noise},
            {"stderr": noise},
            {"junk_hex": "00ff0a7b22"},
            {"junk": '{"type":"run.completed"}'},
            {"say": "fine"},
        ),
    )
    assert script.types[0] == "run.started"
    assert script.types[-1] == "run.completed"
    assert len(script.terminal) == 1
    assert all(frame["v"] == "1" for frame in script.frames)


@pytest.mark.parametrize("seed", range(4))
def test_random_noise_of_the_agent_never_reaches_the_output(home: Home, seed: int) -> None:
    chance = random.Random(seed)
    words = [b"Traceback", b'{"v":"1","type":"run.failed"}', b"\n", b"\x1b[2J", b"\r", b"{", b'"']
    noise = [
        b"".join(chance.choice(words) + chance.randbytes(3) for _ in range(20)) + b"\n"
        for _ in range(5)
    ]
    junk = [{"junk_hex": one.hex()} for one in noise]
    script = finished(home, prompt=steps(*junk, {"stderr": "loud"}, {"say": "fine"}))
    assert len(script.terminal) == 1
    assert script.frames[-1] == script.terminal[0]
    assert {frame["run_id"] for frame in script.frames} == {script.run}
    assert len(set(script.ids)) == len(script.ids)


def test_a_gateway_that_cannot_run_fails_the_run_in_a_frame(home: Home) -> None:
    home.state.mkdir(mode=0o755)
    os.chmod(home.state, 0o755)  # noqa: PTH101
    script = finished(home, prompt="x")
    assert script.terminal[0]["payload"]["code"] == "internal_error"
    assert script.process.returncode == 1
    home.state.rmdir()


@pytest.mark.needs("full")
def test_a_full_output_ends_the_run(home: Home) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            home.argv("adhoc", "--output", "json", "--agent", "recorder"),
            input=b'{"v":"1","type":"run.start","payload":{"prompt":"x"}}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            env=home.env,
            cwd=home.work,
            start_new_session=True,
            timeout=50,
        )
    assert done.returncode == 1
