"""The session behind a run: what it is opened with, who began it, and that no secret stays."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from flybridge.cli.runs.session import KEY_ENV, code_of, key_in, new_key, new_run_id, resolved
from flybridge.errors import (
    AgentNotFoundError,
    AgentStartError,
    InvalidRequestError,
    StorageFullError,
)
from flybridge.frontends.runs.wire.messages import RunConfig
from tests.harness.agent_programs import steps
from tests.harness.random_runs import Story
from tests.harness.run_script import Script, finished, marker
from tests.harness.terminal_home import Home
from tests.harness.waiting import wait_until

ASK = {"tool": "Bash", "input": {"command": "echo hi"}, "ask": True, "result": "hi"}
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


def test_a_key_is_read_from_a_file_that_holds_one(tmp_path: Path) -> None:
    file, key = tmp_path / "key", new_key()
    file.write_text(f" {key}\n")
    assert key_in(file) == key
    for bad in ("", " \n", "x" * 500, "schlüssel"):
        file.write_text(bad)
        with pytest.raises(InvalidRequestError):
            key_in(file)


@pytest.mark.conforms("S4-6.3")
def test_run_ids_are_unique() -> None:
    made = {new_run_id() for _ in range(100)}
    assert len(made) == 100
    assert all(one.startswith("run_") and len(one) >= 20 for one in made)


@pytest.mark.conforms("S4-6.22", "S4-told again")
@pytest.mark.parametrize(
    "seeds", [range(0, 10), range(10, 20), range(20, 30), range(30, 40)], ids=str
)
def test_whatever_happens_a_run_ends_once_and_is_told_the_same(home: Home, seeds: range) -> None:
    broken = [(seed, one) for seed in seeds for one in Story(home, seed).play()]
    assert broken == []


@pytest.mark.conforms("S4-secrets")
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


@pytest.mark.conforms("S4-secrets")
def test_a_secret_is_hidden_by_the_next_gateway_too(home: Home) -> None:
    go = home.base / "go"
    asked = marker({"question": "Key?", "kind": "secret"})
    again = steps({"wait_file": str(go)}, {"say": f"I know {CANARY} still", "deltas": 3})
    script = Script(home)
    script.start(steps({"say": asked}))
    script.answer(question := script.wait_for("run.question"), "abc")
    shorter = script.wait_for("run.question")
    assert shorter["payload"]["question_id"] == question["payload"]["question_id"]
    assert "4 characters" in shorter["payload"]["validation"]
    script.answer(question, f"{CANARY}\n{again}")
    wait_until(lambda: "executed" in home.record.read_text().split("Key?")[-1], "the agent has it")
    next_gateway(home)
    go.touch()
    script.end()
    assert script.texts()[-1] == "I know [secret] still"
    assert script.texts("status") == []
    files = [one for one in home.state.rglob("*") if one.is_file()]
    assert [one.name for one in files if b"kanarienvogel" in one.read_bytes()] == []


def next_gateway(home: Home) -> None:
    """The gateway is killed, and the script that drives a run has started the next one."""
    killed = home.gateway_pid()
    os.kill(killed, signal.SIGKILL)

    def is_there() -> bool:
        status = home.run("gateway", "status", "--json")
        return status.returncode == 0 and json.loads(status.stdout)["pid"] != killed

    wait_until(is_there, "the next gateway")


def asking(home: Home) -> Script:
    """A run whose script died while a permission was asked for."""
    script = Script(home)
    script.start(steps(ASK, {"say": "done"}))
    script.wait_for("run.question")
    script.kill()
    script.end()
    return script


def key_of(script: Script) -> str:
    return str(script.frames[0]["payload"]["attach_key"])


@pytest.mark.conforms("S4-key")
def test_a_script_that_comes_back_with_the_key_may_allow(home: Home) -> None:
    first = asking(home)
    assert len(key_of(first)) >= 43
    again = Script(home, "--attach", first.run, env={KEY_ENV: key_of(first)})
    again.answer(again.wait_for("run.question"), "allow")
    assert again.end() == (0, "")
    assert again.texts("tool_result") == ["hi"]
    assert "attach_key" not in again.frames[0]["payload"]
    assert again.ids[: len(first.ids)] == first.ids


@pytest.mark.conforms("S4-key")
def test_without_the_key_it_may_only_watch(home: Home) -> None:
    first = asking(home)
    watching = Script(home, "--attach", first.run)
    question = watching.wait_for("run.question")
    watching.answer(question, "allow")
    refused = watching.wait_for("run.progress")
    assert "tried to answer permission" in refused["payload"]["content"]
    wrong = finished(home, "--attach", first.run, env={KEY_ENV: "x" * 43})
    assert wrong.types[-1] == "run.failed"
    assert "not the key" in wrong.terminal[0]["payload"]["message"]
    kept = home.base / "kept"
    kept.write_text(f"{key_of(first)}\n")
    again = Script(home, "--attach", first.run, "--key-file", str(kept))
    again.answer(again.wait_for("run.question"), "deny")
    assert again.end()[0] == 0
    assert watching.end()[0] == 0
    assert watching.frames[-1] == again.frames[-1]
    missing = home.run("adhoc", "--attach", first.run, "--key-file", str(home.base / "none"))
    assert missing.returncode == 1
    assert "Traceback" not in missing.stderr


def test_a_key_is_good_at_the_next_gateway_too(home: Home) -> None:
    first = asking(home)
    again = Script(home, "--attach", first.run, env={KEY_ENV: key_of(first)})
    question = again.wait_for("run.question")
    next_gateway(home)
    again.answer(question, "allow")
    assert again.end()[0] == 0
    assert again.texts("tool_result") == ["hi"]


def test_a_key_is_in_no_file_and_in_no_other_telling(home: Home) -> None:
    first = asking(home)
    key = key_of(first)
    again = Script(home, "--attach", first.run, env={KEY_ENV: key})
    again.answer(again.wait_for("run.question"), "allow")
    again.end()
    shown = home.run("sessions", "show", home.session(), "--json").stdout
    shown += home.run("sessions", "list", "--json").stdout + home.run("runs", "--json").stdout
    assert key not in shown + b"".join(again.raw).decode()
    files = [one for one in home.base.rglob("*") if one.is_file()]
    assert any(one.name.startswith("journal.db") for one in files)
    assert [one for one in files if key.encode() in one.read_bytes()] == []


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


@pytest.mark.conforms("S4-frames")
@pytest.mark.parametrize("seed", range(4))
def test_random_lines_of_a_script_never_break_the_output(home: Home, seed: int) -> None:
    chance = random.Random(seed)
    go = home.base / "go"
    script = Script(home)
    script.start(steps({"say": "one"}, {"wait_file": str(go)}, {"say": "two"}))
    script.wait_for("run.progress")
    frame = {"v": "1", "id": "x", "type": "run.input", "payload": {"question_id": "q", "value": 1}}
    for _ in range(50):
        line = bytearray(json.dumps(frame).encode())
        for _ in range(chance.randint(0, 6)):
            line[chance.randrange(len(line))] = chance.randrange(256)
        script.write(bytes(line).replace(b"\n", b"") + b"\n")
        script.write(chance.choice([b"\n", b"[]\n", b"\xff\xfe\n", b"null\n", b"[" * 5000 + b"\n"]))
    go.touch()
    status, said = script.end()
    assert (status, script.types[-1]) == (0, "run.completed")
    assert script.texts() == ["one", "two"]
    assert "Traceback" not in said
    assert len(set(script.ids)) == len(script.ids)


@pytest.mark.conforms("S4-frames")
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
