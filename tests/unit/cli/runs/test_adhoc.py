"""The command line of a run: modes, misuse, and runs that go on without their script."""

from __future__ import annotations

import json
import subprocess

import pytest

from flybridge.cli.runs.session import KEY_ENV
from tests.harness.agent_programs import steps
from tests.harness.run_script import Script, finished
from tests.harness.terminal_home import Home


@pytest.mark.sample
@pytest.mark.conforms("S4-4.1", "S4-6.24")
def test_a_run_for_people_prints_what_the_agent_says(home: Home) -> None:
    done = home.run("adhoc", "--agent", "recorder", steps({"say": "Hello."}, {"say": "Bye."}))
    assert (done.returncode, done.stdout) == (0, "Hello.\nBye.\n")
    alias = home.run("run", "--agent", "recorder", "hi")
    assert alias.stdout == "ok: hi\n"


@pytest.mark.conforms("S4-4.4", "S4-4.5", "S4-6.25", "S4-6.27")
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "a prompt is required in cli mode"),
        (("--output", "xml", "x"), "unknown output mode: 'xml' (use 'cli' or 'json')"),
        (("--output", "json", "x"), "run.start"),
        (("--after", "msg_1", "x"), "--after is for --attach"),
        (("--attach", "run_1", "x"), "no prompt"),
        (("--key-file", "/none", "x"), "--key-file is for --attach"),
        (("--nonsense",), "No such option"),
        (("--max-turns", "0", "x"), "max-turns"),
    ],
)
def test_wrong_use_is_told_and_exits_with_1(home: Home, args: tuple[str, ...], words: str) -> None:
    done = home.run("adhoc", *args)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stdout == ""


def test_a_failed_run_says_why_and_exits_with_1(home: Home) -> None:
    ask = {"tool": "Bash", "input": {"command": "ls"}, "ask": True}
    for prompt, words in (
        ({"die": 3}, "The agent crashed (exit status 3). (agent_error)"),
        (ask, "Permission required to run `ls`, and this run is not interactive."),
        (
            {"tool": "Edit", "input": {"file_path": "x"}, "ask": True},
            "Permission required to use Edit, and this run",
        ),
    ):
        done = home.run("adhoc", "--agent", "recorder", steps(prompt))
        assert done.returncode == 1
        assert f"flybridge: {words}" in done.stderr
    assert "no_agent" in home.run("adhoc", "--agent", "nobody", "x").stderr


@pytest.mark.conforms("S4-4.2", "S4-4.3", "S4-5.2", "S4-6.26")
def test_the_flag_says_more_than_the_configuration(home: Home) -> None:
    home.env["FLYBRIDGE_OUTPUT_ADHOC_OUTPUT"] = "json"
    start = {"v": "1", "type": "run.start", "payload": {"prompt": "hi"}}
    as_json = home.run("adhoc", "--agent", "recorder", stdin=json.dumps(start))
    assert json.loads(as_json.stdout.splitlines()[-1])["type"] == "run.completed"
    as_text = home.run("adhoc", "--output", "cli", "--agent", "recorder", "hi")
    assert as_text.stdout == "ok: hi\n"


def test_a_run_goes_on_without_its_script(home: Home) -> None:
    done = home.run("adhoc", "--agent", "recorder", "--detach", steps({"say": "alone"}))
    run = done.stdout.strip()
    assert run.startswith("run_")
    script = finished(home, "--attach", run)
    assert script.types[-1] == "run.completed"
    assert script.texts() == ["alone"]
    again = home.run("adhoc", "--attach", run)
    assert again.stdout == "alone\n"
    script = Script(home, "--detach")
    script.start("hi", run="run_left")
    assert script.end()[0] == 0
    assert script.types == ["run.started"]
    assert finished(home, "--attach", "run_left").types[-1] == "run.completed"


def test_d03_what_a_local_command_prints_is_the_output_of_the_run(home: Home) -> None:
    done = home.run("adhoc", "--agent", "demo", "/cost")
    assert done.returncode == 0, done.stderr
    assert "Total cost:" in done.stdout
    script = finished(home, prompt="/context", agent="demo")
    (text,) = script.texts()
    assert script.terminal[0]["payload"]["summary"] == text


def test_c10_an_error_is_printed_after_the_text_that_it_follows(home: Home) -> None:
    said = [{"say": f"Line {n}."} for n in range(20)]
    with (home.base / "both").open("w+b") as log:
        process = subprocess.run(
            home.argv("adhoc", "--agent", "recorder", steps(*said, {"die": 3})),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=home.env,
            cwd=home.work,
            start_new_session=True,
            timeout=60,
        )
        log.seek(0)
        lines = log.read().decode().splitlines()
    assert process.returncode == 1
    assert lines[:20] == [f"Line {n}." for n in range(20)]
    assert lines[20:] == ["flybridge: The agent crashed (exit status 3). (agent_error)"]


def test_c08_a_failed_attempt_to_attach_is_not_told_as_the_end_of_that_run(home: Home) -> None:
    done = finished(home, prompt="hi")
    assert done.types[-1] == "run.completed"
    none = str(home.base / "none")
    for args, words in (
        (("--after", "msg_nosuch"), "is no frame of the run"),
        (("--key-file", none), f"Key file not found: {none}"),
    ):
        wrong = finished(home, "--attach", done.run, *args)
        assert wrong.process.returncode == 1
        (frame,) = wrong.frames
        assert frame["type"] == "run.failed"
        assert frame["run_id"] != done.run
        assert words in frame["payload"]["message"]
        assert frame["payload"]["code"] == "protocol_error"


def test_c08_a_wrong_key_or_a_used_id_is_not_told_as_the_end_of_that_run(home: Home) -> None:
    done = finished(home, prompt="hi", run="run_used")
    wrong = finished(home, "--attach", "run_used", env={KEY_ENV: "not-the-key"})
    used = finished(home, prompt="again", run="run_used", cwd=str(home.base / "nowhere"))
    for script in (wrong, used):
        (end,) = script.terminal
        assert (end["type"], end["payload"]["code"]) == ("run.failed", "protocol_error")
        assert end["run_id"] != "run_used"
    assert used.types == ["run.failed"]
    assert "run_used was started already" in used.terminal[0]["payload"]["message"]
    assert finished(home, "--attach", "run_used").frames[-1] == done.frames[-1]


def test_c08_a_missing_key_file_is_named(home: Home) -> None:
    done = home.run("adhoc", "--attach", "run_x", "--key-file", str(home.base / "none"))
    assert done.returncode == 1
    assert f"Key file not found: {home.base / 'none'}" in done.stderr
    assert "Errno" not in done.stderr


def test_a_frame_of_another_run_is_no_place_to_go_on(home: Home) -> None:
    script = finished(home, prompt="hi")
    wrong = finished(home, "--attach", script.run, "--after", "msg_123")
    assert wrong.terminal[0]["payload"]["code"] == "protocol_error"
