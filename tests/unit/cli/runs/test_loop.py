"""A run over its pipes, end to end: real gateway, real keeper, real script."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

import flybridge.testing.recorder
from tests.harness.agent_programs import steps
from tests.harness.run_script import Script, finished, marker
from tests.harness.terminal_home import Home

ASK = {"tool": "Bash", "input": {"command": "echo hi"}, "ask": True, "result": "hi"}
COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


def asking(*questions: object) -> dict[str, object]:
    return {"tool": "AskUserQuestion", "input": {"questions": list(questions)}, "ask": True}


@pytest.mark.sample
@pytest.mark.conforms("S4-3.1", "S4-6.17", "S4-2.1", "S4-exit")
def test_a_run_starts_works_and_completes(home: Home) -> None:
    script = finished(home, prompt=steps({"say": "Well done."}), run="run_mine")
    assert script.types == ["run.started", "run.progress", "run.completed"]
    assert {frame["run_id"] for frame in script.frames} == {"run_mine"}
    assert script.frames[0]["payload"]["provider"] == "recorder"
    assert script.frames[0]["payload"]["config"]["cwd"] == str(home.work)
    assert script.frames[-1]["payload"]["summary"] == "Well done."
    assert len(set(script.ids)) == 3
    assert script.process.returncode == 0


def test_a_run_that_was_started_cannot_be_started_again(home: Home) -> None:
    finished(home, prompt="once", run="run_once")
    script = finished(home, prompt="twice", run="run_once")
    assert script.types == ["run.failed"]
    assert script.frames[0]["payload"]["code"] == "protocol_error"
    assert script.process.returncode == 1


@pytest.mark.conforms("S4-3.7", "S4-6.18")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"v":"99","type":"run.start","payload":{"prompt":"x"}}\n', "unsupported_version"),
        (b'{"v":"1","type":"run.cancel","payload":{}}\n', "protocol_error"),
        (b"what?\n", "protocol_error"),
        (b"", "protocol_error"),
    ],
)
def test_the_first_frame_must_be_a_start_of_this_version(
    home: Home, line: bytes, code: str
) -> None:
    script = Script(home)
    script.write(line)
    script.close_input()
    assert script.end()[0] == 1
    assert [frame["payload"]["code"] for frame in script.frames] == [code]


@pytest.mark.conforms("S4-6.23", "S4-exit")
def test_an_agent_that_is_not_there_fails_the_run(home: Home) -> None:
    script = finished(home, prompt="x", agent="nobody")
    assert script.terminal[0]["payload"]["code"] == "no_agent"
    assert script.process.returncode == 1


@pytest.mark.conforms("S4-6.23")
def test_an_agent_that_dies_fails_the_run(home: Home) -> None:
    script = finished(home, prompt=steps({"say": "oh"}, {"die": 3}))
    assert script.types[-1] == "run.failed"
    assert script.terminal[0]["payload"]["code"] == "agent_error"
    assert "status 3" in script.terminal[0]["payload"]["message"]
    assert len(script.terminal) == 1


@pytest.mark.conforms("S4-3.3", "S4-3.4", "S4-6.20")
def test_questions_of_the_agent_are_asked_and_answered(home: Home) -> None:
    crew = {**COLOUR, "question": "Who?", "multiSelect": True}
    script = Script(home)
    script.start(steps(asking(COLOUR, crew), {"say": "thanks"}))
    one = script.wait_for("run.question")
    two = script.wait_for("run.question")
    assert one["payload"]["kind"] == "select"
    assert one["payload"]["options"][0] == {"label": "Red", "description": "warm"}
    assert "several" in two["payload"]["validation"]
    script.answer(one, "Green")
    again = script.wait_for("run.question")
    assert again["payload"]["question_id"] == one["payload"]["question_id"]
    assert again["payload"]["validation"] == "choose one of the options: Red, Blue"
    script.answer(one, "Blue")
    script.answer(two, ["Red", "Blue"])
    script.answer(one, "Red")
    script.say("run.tango", {})
    script.write(b"{bad\n\n")
    status, said = script.end()
    assert status == 0
    assert script.types[-1] == "run.completed"
    assert said.count("flybridge:") <= 3


@pytest.mark.sample
def test_a_permission_is_a_question_too(home: Home) -> None:
    for value, ran in (("allow", True), ("no", False)):
        script = Script(home)
        script.start(steps(ASK, {"say": "done"}))
        question = script.wait_for("run.question")
        assert question["payload"]["kind"] == "confirm"
        assert "command: echo hi" in question["payload"]["text"]
        script.answer(question, value)
        assert script.end()[0] == 0
        assert ("hi" in script.texts("tool_result")) is ran


@pytest.mark.conforms("S4-6.20")
def test_questions_in_the_text_are_taken_out_of_it_and_answered_by_the_next_input(
    home: Home,
) -> None:
    text = f"Tell me.\n{marker({'question': 'Name?', 'freeText': True}, COLOUR)}"
    script = Script(home)
    script.start(steps({"say": text}))
    name, colour = script.wait_for("run.question"), script.wait_for("run.question")
    assert (name["payload"]["kind"], colour["payload"]["kind"]) == ("text", "select")
    assert script.texts() == ["Tell me."]
    script.answer(colour, "Red")
    script.answer(name, "Ada")
    assert script.end()[0] == 0
    assert script.texts()[-1] == "ok: Name?\nAda\n\nWhich colour?\nRed"
    assert script.types[-1] == "run.completed"


def test_a_question_nobody_answers_takes_its_default_or_fails_in_time(home: Home) -> None:
    ask = {"question": "Name?", "freeText": True, "timeoutS": 0.2}
    script = Script(home)
    script.start(steps({"say": marker({**ask, "default": "Bob"})}))
    script.end()
    assert script.texts()[-1] == "ok: Bob"
    script = Script(home)
    script.start(steps({"say": marker(ask)}))
    script.end()
    assert script.terminal[0]["payload"]["code"] == "timeout"


def test_without_input_an_open_question_fails_and_an_optional_one_does_not(home: Home) -> None:
    script = finished(home, prompt=steps({"say": marker({"question": "Name?"})}))
    assert script.terminal[0]["payload"]["code"] == "protocol_error"
    script = finished(home, prompt=steps({"say": marker({"question": "N?", "required": False})}))
    assert script.texts()[-1] == "ok: (no answer)"
    assert script.types[-1] == "run.completed"


@pytest.mark.conforms("S4-3.5", "S4-6.21", "S4-exit")
def test_a_cancelled_run_ends_once_and_well(home: Home) -> None:
    script = Script(home)
    script.start(steps({"say": "working"}, {"stall": 60}))
    script.wait_for("run.progress")
    script.say("run.cancel", {"reason": "enough"})
    script.say("run.cancel", {"reason": "more than enough"})
    assert script.end()[0] == 0
    assert [one["payload"] for one in script.terminal] == [{"reason": "enough"}]
    assert script.types[-1] == "run.cancelled"


def test_a_run_is_cancelled_before_anything_came_of_it(home: Home) -> None:
    script = Script(home)
    script.start(steps({"stall": 60}))
    script.say("run.cancel", {})
    assert script.end()[0] == 0
    assert script.types == ["run.started", "run.cancelled"]


def test_a_signal_cancels_and_a_timeout_fails(home: Home) -> None:
    script = Script(home)
    script.start(steps({"say": "working"}, {"stall": 60}))
    script.wait_for("run.progress")
    script.kill(signal.SIGTERM)
    assert script.end()[0] == 0
    assert script.terminal[0]["payload"] == {"reason": "SIGTERM"}
    script = finished(home, prompt=steps({"stall": 60}), timeout_s=0.5)
    assert script.terminal[0]["payload"]["code"] == "timeout"
    assert script.process.returncode == 1


def test_nobody_reads_any_more_and_the_agent_is_ended(home: Home) -> None:
    prompt = steps({"say": "a"}, {"wait_file": str(home.base / "go")}, {"say": "b"}, {"stall": 60})
    frame = {"v": "1", "type": "run.start", "payload": {"prompt": prompt}}
    with subprocess.Popen(
        home.argv("adhoc", "--output", "json", "--agent", "recorder"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=home.env,
        cwd=home.work,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(frame).encode() + b"\n")
        process.stdin.flush()
        assert b"run.started" in process.stdout.readline()
        process.stdout.close()
        (home.base / "go").touch()
        assert process.wait(30) == 1
    (row,) = json.loads(home.run("runs", "--json").stdout)
    assert row["status"] == "cancelled"


@pytest.mark.conforms("S4-6.22", "S4-told again")
def test_a_killed_script_comes_back_and_is_told_the_same(home: Home) -> None:
    text = marker({"question": "Name?", "freeText": True})
    script = Script(home)
    script.start(steps({"say": "one"}, {"say": "two"}, {"say": text}))
    script.wait_for("run.question")
    script.kill()
    script.end()
    again = Script(home, "--attach", script.run, "--after", script.ids[1])
    question = again.wait_for("run.question")
    assert again.ids == script.ids[2:]
    again.answer(question, "Ada")
    assert again.end()[0] == 0
    assert again.types[-1] == "run.completed"
    last = finished(home, "--attach", script.run)
    assert last.ids == script.ids[:2] + again.ids
    assert last.frames[2:] == again.frames
    assert last.process.returncode == 0


def test_a_run_without_its_prompt_cannot_go_on(home: Home) -> None:
    script = finished(home, "--attach", "run_unknown")
    assert script.types == ["run.failed"]
    assert script.process.returncode == 1


def test_what_the_agent_makes_is_an_artifact(home: Home) -> None:
    script = Script(home)
    script.start("write note.txt", agent="demo", model="flybridge-demo-fast")
    script.answer(script.wait_for("run.question"), "allow")
    made = script.wait_for("run.artifact")["payload"]
    script.end()
    assert (made["name"], made["kind"]) == ("note.txt", "file")
    assert made["content"] == (home.work / "note.txt").read_text()
    assert script.terminal[0]["payload"]["artifacts"] == ["note.txt"]


def test_growing_text_and_thoughts_come_when_they_are_asked_for(home: Home) -> None:
    go = home.base / "go"
    prompt = steps({"think": "hm"}, {"say": "one two three", "deltas": 3, "hold": str(go)})
    script = Script(home)
    script.start(prompt, stream=True, thinking=True)
    while "".join(script.texts("text_delta")) != "one two three":
        script.wait_for("run.progress")
    go.touch()
    script.end()
    assert script.texts("thinking") == ["hm"]
    replayed = finished(home, "--attach", script.run)
    deltas = [f["id"] for f in script.frames if f["payload"].get("kind") == "text_delta"]
    assert replayed.ids == [one for one in script.ids if one not in deltas]
    quiet = finished(home, prompt=prompt)
    assert not quiet.texts("text_delta") + quiet.texts("thinking")


SLOW = """\
#!/bin/sh
# An agent that says nothing before it may; asked for its version, too, if it is {shy}.
case "$*" in *--version*) test {shy} = shy || exec {recorder} --version;; esac
while ! test -e {go}; do sleep 0.05; done
echo "$*" >> {spoke}
exec {recorder} "$@"
"""


@pytest.mark.conforms("S4-started")
@pytest.mark.parametrize("shy", ["shy", "open"])
def test_the_start_does_not_wait_for_a_word_of_the_agent(home: Home, shy: str) -> None:
    go, spoke, program = home.base / "go", home.base / "spoke", home.base / "slow"
    recorder = f"{sys.executable} -I {flybridge.testing.recorder.__file__} --record {home.record}"
    program.write_text(SLOW.format(shy=shy, recorder=recorder, go=go, spoke=spoke))
    program.chmod(0o700)
    config = home.base / "config" / "flybridge" / "config.yaml"
    config.write_text(f"agents:\n  slow:\n    kind: claude\n    program: [{program}]\n")
    script = Script(home)
    script.start(steps({"say": "at last"}), agent="slow")
    assert script.wait_for("run.started")["payload"]["provider"] == "slow"
    assert not spoke.exists()  # nor could it: it may only speak from here on
    go.touch()
    assert script.end()[0] == 0
    assert script.texts() == ["at last"]
    assert script.types.count("run.started") == 1
    assert spoke.exists()


def test_a_gateway_that_is_stopped_and_started_again_is_not_the_end(home: Home) -> None:
    go = home.base / "go"
    script = Script(home)
    script.start(steps({"say": "one"}, {"wait_file": str(go)}, {"say": "two"}))
    script.wait_for("run.progress")
    assert home.run("stop").returncode == 0
    go.touch()
    assert script.end()[0] == 0
    assert script.texts() == ["one", "two"]
    assert script.types[-1] == "run.completed"
