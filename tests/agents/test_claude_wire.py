"""The program itself, with nothing of ours in between: what we rely on in how it reads and ends.

Each of these says why the encoder, the driver or the keeper does as it does.
"""

from __future__ import annotations

import json
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.agents.claude.driver.arguments import ARGUMENTS
from flybridge.probes.messages_api import MessagesApi
from tests.agents.rig import VERSIONS, RealClaude
from tests.agents.talk import scripted
from tests.harness.line_process import LineProcess

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


class Bare(LineProcess):
    """A CLI on its pipes."""

    def __init__(self, claude: RealClaude, *words: str, without: str = "") -> None:
        arguments = [one for one in ARGUMENTS if one != without]
        super().__init__([*claude.argv, *arguments, *words], cwd=claude.cwd, env=claude.env)

    def say(self, text: str, *answers: object, name: str = "") -> None:
        message = {"role": "user", "content": scripted(text, *answers)}
        self.send({"type": "user", "message": message, "uuid": name or str(uuid.uuid4())})

    def ask(self, name: str, **request: object) -> None:
        self.send({"type": "control_request", "request_id": name, "request": request})

    def nth(self, kind: str, n: int = 1) -> dict[str, Any]:
        """Read on to the n-th message of a kind."""
        while len(self.of(kind)) < n:
            self.next()
        return self.of(kind)[n - 1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.messages if one["type"] == kind]

    def end(self, *, close: bool = True) -> int:
        """Read to the end; how the process ended."""
        if close:
            self.close_input()
        self.rest()
        return self.exit_code()


@pytest.fixture(scope="module", params=VERSIONS)
def claude(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealClaude]:
    base = tmp_path_factory.mktemp("w")
    api = MessagesApi(unix=str(base / "api.sock")).start()
    claude = RealClaude(request.param, base, api, base / "api.sock")
    yield claude
    api.close()


@pytest.mark.conforms("stream-json §2a", "rule 9")
def test_a_message_sent_twice_is_run_once_and_so_after_a_resume(claude: RealClaude) -> None:
    name, conversation = str(uuid.uuid4()), str(uuid.uuid4())
    with Bare(claude, "--session-id", conversation) as cli:
        cli.say("wire-twice", {"say": "once"}, name=name)
        cli.nth("result")
        cli.say("wire-twice", {"say": "once"}, name=name)
        cli.say("wire-twice-next", {"say": "next"})
        cli.nth("result", 2)
        assert cli.end() == 0
        assert [one["result"] for one in cli.of("result")] == ["once", "next"]
    with Bare(claude, "--resume", conversation) as cli:
        cli.say("wire-twice", {"say": "once"}, name=name)
        cli.say("wire-twice-later", {"say": "later"})
        cli.nth("result")
        assert cli.end() == 0
        assert [one["result"] for one in cli.of("result")] == ["later"]
    assert claude.api.count("wire-twice\n") == 1


@pytest.mark.parametrize("line", [b"{", b"null", b'{"type":"user"}'])
@pytest.mark.conforms("stream-json §10c", "rule 5")
def test_one_bad_line_ends_the_process(claude: RealClaude, line: bytes) -> None:
    with Bare(claude) as cli:
        cli.ask("first", subtype="initialize")
        cli.nth("control_response")
        cli.write(line + b"\n")
        assert cli.end(close=False) == 1


@pytest.mark.parametrize("claude", ["2.1.38"], indirect=True)
@pytest.mark.parametrize("line", [b"", b'{"type":"from_the_future"}'])
@pytest.mark.conforms("rule 5")
def test_an_old_one_ends_at_a_blank_line_and_at_an_unknown_type(
    claude: RealClaude, line: bytes
) -> None:
    with Bare(claude) as cli:
        cli.ask("first", subtype="initialize")
        cli.nth("control_response")
        cli.write(line + b"\n")
        assert cli.end(close=False) == 1


@pytest.mark.conforms("rule 7")
def test_an_unknown_request_is_refused_or_never_answered(claude: RealClaude) -> None:
    with Bare(claude) as cli:
        cli.ask("first", subtype="initialize")
        cli.ask("odd", subtype="from_the_future")
        cli.say("wire-unknown", {"say": "on"})
        cli.nth("result")
        cli.end()
        answers = {
            one["response"]["request_id"]: one["response"] for one in cli.of("control_response")
        }
        assert answers["first"]["subtype"] == "success"
        if claude.version == "2.1.38":
            assert "odd" not in answers
        else:
            assert answers["odd"]["subtype"] == "error"


@pytest.mark.conforms("stream-json §2c", "rule 7")
def test_an_old_one_answers_a_change_of_mode_twice_and_takes_any_word(
    claude: RealClaude,
) -> None:
    old = claude.version == "2.1.38"
    with Bare(claude) as cli:
        cli.ask("first", subtype="initialize")
        cli.ask("mode", subtype="set_permission_mode", mode="acceptEdits")
        cli.ask("bogus", subtype="set_permission_mode", mode="bogus")
        cli.say("wire-mode", {"say": "on"})
        cli.nth("result")
        cli.end()
        answers = [one["response"] for one in cli.of("control_response")]
        names = [one["request_id"] for one in answers]
        assert names.count("mode") == (2 if old else 1)
        bogus = next(one for one in answers if one["request_id"] == "bogus")
        assert bogus["subtype"] == ("success" if old else "error")


@pytest.mark.conforms("stream-json §1", "PN-14")
def test_the_mode_for_teams_is_the_default_or_the_end(claude: RealClaude) -> None:
    with Bare(claude, "--permission-mode", "delegate") as cli:
        if claude.version == "2.1.38":
            cli.say("wire-delegate", {"say": "on"})
            cli.nth("result")
            assert cli.of("system")[0]["permissionMode"] == "default"
        else:
            assert cli.end() == 1
            assert cli.messages == []


@pytest.mark.conforms("stream-json §10c", "rule 23")
def test_the_end_of_input_waits_for_the_turn(claude: RealClaude, tmp_path: Path) -> None:
    with Bare(claude) as cli:
        cli.say("wire-eof", {"say": "slow words", "deltas": 5, "pause_s": 0.2})
        cli.nth("system")
        assert cli.end() == 0
        assert cli.of("result")[-1]["result"] == "slow words"


@pytest.mark.conforms("stream-json §10c")
def test_how_a_process_ends_says_its_status(claude: RealClaude) -> None:
    with Bare(claude) as cli:
        cli.say("wire-good", {"say": "well"})
        cli.nth("result")
        assert cli.end() == 0
    with Bare(claude) as cli:
        cli.say("wire-bad", {"status": 400, "message": "no"})
        cli.nth("result")
        assert cli.end() == 1
    with Bare(claude) as cli:
        cli.say("wire-term", {"say": "well"})
        cli.nth("result")
        cli.kill(signal.SIGTERM)
        assert cli.end(close=False) == 143


@pytest.mark.conforms("stream-json §3")
def test_a_result_does_not_begin_with_its_type_in_newer_versions(claude: RealClaude) -> None:
    with Bare(claude) as cli:
        cli.say("wire-order", {"say": "on"})
        first = next(iter(cli.nth("result")))
        assert (first == "type") is (claude.version == "2.1.38")


@pytest.mark.parametrize("without", ["", "--include-partial-messages"])
@pytest.mark.conforms("stream-json §3b", "stream-json §4")
def test_each_block_has_its_own_message_and_comes_before_its_end(
    claude: RealClaude, without: str
) -> None:
    with Bare(claude, without=without) as cli:
        cli.say("wire-blocks", [{"say": "one"}, {"say": "two"}])
        cli.nth("result")
        said = cli.of("assistant")
        assert [len(one["message"]["content"]) for one in said] == [1, 1]
        assert len({one["message"]["id"] for one in said}) == 1
        order = [
            one["type"] if one["type"] == "assistant" else one["event"]["type"]
            for one in cli.messages
            if one["type"] in ("assistant", "stream_event")
        ]
        shown = [one for one in order if one in ("assistant", "content_block_stop")]
        each = ["assistant"] if without else ["assistant", "content_block_stop"]
        assert shown == each * 2


@pytest.mark.conforms("stream-json §16")
def test_each_result_has_its_own_message(claude: RealClaude) -> None:
    for name in ("one", "two"):
        (claude.cwd / name).write_text(name)
    reads = [{"tool": "Read", "input": {"file_path": str(claude.cwd / x)}} for x in ("one", "two")]
    with Bare(claude) as cli:
        cli.say("wire-results", reads, {"say": "read"})
        cli.nth("result")
        contents = [one["message"]["content"] for one in cli.of("user")]
        results = [
            one for one in contents if isinstance(one, list) and one[0]["type"] == "tool_result"
        ]
        assert [len(one) for one in results] == [1, 1]


@pytest.mark.conforms("stream-json §15", "PN-8")
def test_only_two_kinds_of_messages_say_whose_they_are(claude: RealClaude) -> None:
    (claude.cwd / "below").write_text("below")
    read = {"tool": "Read", "input": {"file_path": str(claude.cwd / "below")}}
    given = {
        "description": "look",
        "prompt": scripted("wire-below", read, {"say": "Below."}),
        "subagent_type": "general-purpose",
    }
    old = claude.version == "2.1.38"
    call = {"tool": "Task" if old else "Agent", "input": given}
    with Bare(claude) as cli:
        cli.say("wire-above", call, {"say": "Sent."}, {"say": "Back."})
        cli.nth("result", 1 if old else 2)
        kinds = {one["type"] for one in cli.messages if one.get("parent_tool_use_id")}
        assert kinds == {"assistant", "user"}


@pytest.mark.conforms("stream-json §17", "PN-13")
def test_a_compaction_is_told_without_another_beginning(claude: RealClaude) -> None:
    with Bare(claude) as cli:
        cli.say("wire-compact", {"say": "one"})
        cli.nth("result")
        cli.say("/compact")
        cli.nth("result", 2)
        subtypes = [one.get("subtype") for one in cli.messages]
        after = subtypes[subtypes.index("compact_boundary") :]
        assert "init" not in after
        assert "<local-command-stdout>" in json.dumps(cli.of("user"))


@pytest.mark.conforms("rule 25")
def test_an_id_that_is_in_use_cannot_be_taken(claude: RealClaude) -> None:
    conversation = str(uuid.uuid4())
    with Bare(claude, "--session-id", conversation) as cli:
        cli.say("wire-in-use", {"say": "mine"})
        cli.nth("result")
        assert cli.end() == 0
    with Bare(claude, "--session-id", conversation) as cli:
        assert cli.end() == 1
        assert cli.messages == []


@pytest.mark.conforms("stream-json §6", "PN-13", "PN-20")
def test_what_a_command_prints_comes_without_echoes_too(claude: RealClaude) -> None:
    with Bare(claude, without="--replay-user-messages") as cli:
        cli.say("wire-no-echo", {"say": "one"})
        cli.nth("result")
        assert [one for one in cli.of("user") if one.get("isReplay")] == []
        cli.say("/context")
        cli.nth("result", 2)
        kind = "user" if claude.version == "2.1.38" else "assistant"
        printed = json.dumps([one["message"]["content"] for one in cli.of(kind)])
        assert "## Context Usage" in printed
        assert ("<local-command-stdout>" in printed) is (kind == "user")


@pytest.mark.parametrize("claude", ["2.1.325"], indirect=True)
def test_the_other_transport_is_closed_in_newer_versions(claude: RealClaude) -> None:
    with Bare(claude, "--sdk-url", "ws://127.0.0.1:9/") as cli:
        assert cli.end() == 1
        assert cli.messages == []
