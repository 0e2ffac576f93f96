"""The command line of a run: modes, misuse, and runs that go on without their script."""

from __future__ import annotations

import json

import pytest

from tests.cli.at_terminal import Home
from tests.cli.run_script import Script, finished, steps


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
    for prompt, code in (({"die": 3}, "agent_error"), ({"tool": "Bash", "ask": True}, "protocol")):
        done = home.run("adhoc", "--agent", "recorder", steps(prompt))
        assert done.returncode == 1
        assert code in done.stderr
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


def test_a_frame_of_another_run_is_no_place_to_go_on(home: Home) -> None:
    script = finished(home, prompt="hi")
    wrong = finished(home, "--attach", script.run, "--after", "msg_123")
    assert wrong.terminal[0]["payload"]["code"] == "protocol_error"
