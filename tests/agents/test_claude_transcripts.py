"""What the doctor says of a broken transcript, and its repair, tried on the real programs."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flybridge.agents.claude.history import ClaudeHistory
from flybridge.agents.claude.transcripts.conversation import read
from flybridge.agents.claude.transcripts.doctor import diagnose, repair
from flybridge.agents.history import worst
from flybridge.probes.messages_api import MessagesApi
from tests.agents.rig import VERSIONS, RealClaude
from tests.agents.talk import scripted

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]
ARGUMENTS = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
SAID = ["first answer", "second answer", "third answer"]


class Lab:
    """One version of the CLI, used without Flybridge; and one conversation it had."""

    def __init__(self, version: str, base: Path) -> None:
        socket = base / "api.sock"
        self.version = version
        self.api = MessagesApi(unix=str(socket)).start()
        self.claude = RealClaude(version, base, self.api, socket)
        self.past = ClaudeHistory.of(self.claude.env)
        self.session = str(uuid.uuid4())
        for at, said in enumerate(SAID):  # one at a time: those that wait are said as one
            option = "--resume" if at else "--session-id"
            assert self.run(option, self.session, scripted(f"prompt {at}", {"say": said}))
        self.transcript = self.past.find(self.session)
        self.lines = list(self.past.read(self.transcript).lines)

    def run(self, option: str, session: str, prompt: str) -> bool:
        """Have this said; whether it went well."""
        said = {"type": "user", "message": {"role": "user", "content": prompt}}
        done = subprocess.run(
            [*self.claude.argv, *ARGUMENTS, option, session],
            input=json.dumps(said) + "\n",
            cwd=self.claude.cwd,
            env=self.claude.env,
            capture_output=True,
            text=True,
            timeout=50,
        )
        results = [json.loads(line) for line in done.stdout.splitlines()]
        return [one["subtype"] for one in results if one["type"] == "result"][-1:] == ["success"]

    def remembered(self, lines: list[bytes]) -> list[str] | None:
        """What the agent knows of the conversation when it resumes these lines; None: it fails."""
        session = str(uuid.uuid4())
        data = b"".join(line + b"\n" for line in lines).replace(
            self.session.encode(), session.encode()
        )
        self.past.path(self.transcript).with_name(f"{session}.jsonl").write_bytes(data)
        if not self.run("--resume", session, f"go on {session}"):
            return None
        asked = [one for one in self.api.turns if f"go on {session}" in one.given()[-1]]
        return [said for said in asked[-1].said() if said in SAID]


@pytest.fixture(scope="module", params=VERSIONS)
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = Lab(request.param, tmp_path_factory.mktemp("l"))
    yield lab
    lab.api.close()


def place(lines: list[bytes], said: str) -> int:
    """The line in which the agent says this."""
    found = (json.loads(line) for line in lines)
    return next(
        at
        for at, line in enumerate(found)
        if line["type"] == "assistant" and said in json.dumps(line["message"]["content"])
    )


def missing_parent(lines: list[bytes]) -> list[bytes]:
    at = place(lines, SAID[1])
    return [*lines[:at], *lines[at + 1 :]]


def no_message(lines: list[bytes]) -> list[bytes]:
    at = place(lines, SAID[1])
    line = json.loads(lines[at])
    del line["message"]
    return [*lines[:at], json.dumps(line).encode(), *lines[at + 1 :]]


def glued_lines(lines: list[bytes]) -> list[bytes]:
    at = place(lines, SAID[1])
    return [*lines[:at], lines[at] + lines[at + 1], *lines[at + 2 :]]


@pytest.mark.conforms("stream-json §7f", "rule 28")
def test_a_conversation_of_the_real_program_is_found_and_read(lab: Lab) -> None:
    found = read(lab.lines)
    assert [one.text for one in found.pieces if one.kind == "text"] == SAID
    assert found.about.version == lab.version
    assert found.about.cwd == str(lab.claude.cwd)
    assert diagnose(lab.lines, folder=lab.transcript.folder) == []
    assert lab.remembered(lab.lines) == SAID


def test_a_line_that_is_gone_costs_no_more_than_itself_after_repair(lab: Lab) -> None:
    examine(lab, missing_parent, [SAID[0], SAID[2]])


def test_a_line_without_message_costs_no_more_than_itself_after_repair(lab: Lab) -> None:
    examine(lab, no_message, [SAID[0], SAID[2]])


def test_lines_that_grew_together_cost_nothing_after_repair(lab: Lab) -> None:
    examine(lab, glued_lines, SAID)


def test_a_prompt_without_answer_stays_and_the_agent_is_told_that_none_was_wanted(
    lab: Lab,
) -> None:
    cut = lab.lines[: place(lab.lines, SAID[2])]
    findings = diagnose(cut, folder=lab.transcript.folder)
    assert [one.code for one in findings] == ["no_answer"]
    assert lab.remembered(cut) == SAID[:2]
    asked = lab.api.turns[-1]
    assert any(given.startswith("prompt 2") for given in asked.given())
    assert asked.said()[-1] == "No response requested."


def examine(lab: Lab, break_it: Callable[[list[bytes]], list[bytes]], kept: list[str]) -> None:
    """The program does what the doctor says it would; and what it should after the repair."""
    broken = break_it(lab.lines)
    findings = diagnose(broken, folder=lab.transcript.folder)
    assert break_it.__name__ in [one.code for one in findings]
    remembered = lab.remembered(broken)
    if remembered is None:
        assert worst(findings, lab.version) == "stops"
    elif remembered == kept:
        assert worst(findings, lab.version) == "harmless"
    else:
        assert worst(findings, lab.version) == "forgets"
    assert lab.remembered(list(repair(broken).lines)) == kept
