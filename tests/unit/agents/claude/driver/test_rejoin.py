from __future__ import annotations

import json
from typing import Any

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.agents.claude.driver.rejoin import LAST_WORD_MS, QUIET_MS, SILENT_MS, last_id
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import OpenSpec
from flybridge.model.commands import AnswerPermission, Interrupt
from flybridge.model.ids import IncarnationId, InputKey, PromptId, SessionId, TurnId
from flybridge.session.ports import Output, Rejoins

SESSION = SessionId("ses_1")
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}
ASKED = {
    "type": "control_request",
    "request_id": "q1",
    "request": {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "input": {"command": "x"},
        "tool_use_id": "toolu_1",
    },
}


def line(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def told(*pending: Any) -> dict[str, Any]:
    return {
        "subtype": "error",
        "error": "Already initialized",
        "pending_permission_requests": [*pending],
    }


class Cli:
    """A driver in the middle of a turn, and what it said and did."""

    def __init__(self, *, tool: bool = True) -> None:
        agent = ClaudeAgent()
        self.driver = ClaudeDriver(agent.capabilities(b"2.1.38 (Claude Code)"))
        self.driver.attach(
            SESSION,
            IncarnationId("inc_1"),
            OpenSpec(agent="claude", cwd="/", transport="socket"),
            b"",
        )
        self.driver.connected(0)
        self.hear(line(type="system", subtype="init", session_id="s"))
        if tool:
            self.hear(line(type="assistant", message={"id": "m1", "content": [TOOL]}))
        self.take()

    def hear(self, *lines: bytes, now_ms: int = 0) -> None:
        self.driver.receive(list(lines), now_ms)

    def take(self) -> Output:
        return self.driver.take()

    def facts(self, kind: type) -> list[Any]:
        return [one for _, one in self.take().out if isinstance(one, kind)]

    def rejoin(self) -> str:
        """The connection is back; the name of what is asked first."""
        assert self.driver.rejoined("u-9", 1_000)
        (asked,) = self.take().lines
        said = json.loads(asked.data)
        assert said["request"] == {"subtype": "initialize"}
        assert asked.on_restart == "drop"
        return str(said["request_id"])

    def answer(self, name: str, response: dict[str, Any], now_ms: int = 1_100) -> None:
        self.hear(
            line(type="control_response", response={"request_id": name, **response}), now_ms=now_ms
        )


def test_it_is_a_driver_that_can_be_met_again() -> None:
    assert isinstance(Cli().driver, Rejoins)


def test_nothing_was_lost_when_the_last_word_was_heard() -> None:
    cli = Cli()
    cli.hear(line(type="keep_alive", uuid="u-1"), line(type="keep_alive"))
    memo = cli.driver.memo(SESSION)
    assert not cli.driver.rejoined("u-1", 1_000)
    cli.take()
    cli.driver.tick(1_000 + QUIET_MS)
    assert cli.take().lines == []  # the tool works on
    assert cli.driver.rejoined("", 2_000)
    other = Cli()
    spec = OpenSpec(agent="claude", cwd="/", transport="socket")
    other.driver.attach(SESSION, IncarnationId("inc_1"), spec, memo)
    assert not other.driver.rejoined("u-1", 3_000)


def test_the_last_id_is_the_last_messages_own() -> None:
    assert last_id([line(uuid="a"), line(uuid="b"), b"{}"]) == "b"
    assert last_id([b'{"uuid": "c" }']) == "c"
    assert last_id([b'{"uuid":7}', b"no"]) == ""
    assert last_id([]) == ""


def test_a_prompt_that_was_lost_is_asked_now() -> None:
    cli = Cli()
    cli.answer(cli.rejoin(), told(ASKED))
    (asked,) = cli.facts(f.PermissionAsked)
    assert (asked.tool, asked.item) == ("Bash", "toolu_1")


def test_a_prompt_that_is_open_stays_the_same() -> None:
    cli = Cli()
    cli.hear(line(**ASKED))
    cli.take()
    cli.answer(cli.rejoin(), told(ASKED))
    assert cli.take().out == []


def test_a_prompt_that_was_answered_is_not_asked_again() -> None:
    cli = Cli()
    cli.hear(line(**ASKED))
    (asked,) = cli.facts(f.PermissionAsked)
    prompt = PromptId(asked.prompt)
    answer = AnswerPermission(prompt=prompt, digest="", decision="allow")
    cli.driver.send(SESSION, answer, InputKey("k"), 0)
    cli.take()
    cli.answer(cli.rejoin(), told(ASKED))
    assert cli.facts(f.PermissionAsked) == []


def test_a_prompt_that_was_taken_back_is_closed() -> None:
    cli = Cli()
    cli.hear(line(**ASKED))
    cli.take()
    cli.answer(cli.rejoin(), told())
    assert len(cli.facts(f.PromptWithdrawn)) == 1


def test_an_agent_that_tells_nothing_changes_nothing() -> None:
    cli = Cli()
    cli.hear(line(**ASKED))
    cli.take()
    cli.answer(cli.rejoin(), {"subtype": "success", "response": {}})
    assert cli.take().out == []


def test_a_list_that_makes_no_sense_changes_nothing() -> None:
    for odd in ("no", 7, None, [1, "x", {"type": "control_request"}]):
        cli = Cli()
        cli.answer(cli.rejoin(), {"subtype": "error", "pending_permission_requests": odd})
        assert cli.facts(f.PermissionAsked) == []


def test_a_tool_nothing_is_heard_of_is_wedged_and_stopped() -> None:
    cli = Cli()
    cli.answer(cli.rejoin(), told())
    cli.driver.tick(1_001)
    assert cli.driver.deadline_ms == 1_000 + QUIET_MS
    cli.driver.tick(1_000 + QUIET_MS)
    out = cli.take()
    assert [one.code for _, one in out.out if isinstance(one, e.Error)] == ["wedged"]
    assert [json.loads(one.data)["request"]["subtype"] for one in out.lines] == ["interrupt"]


def test_a_tool_that_waits_for_a_person_is_not_wedged() -> None:
    cli = Cli()
    cli.answer(cli.rejoin(), told(ASKED))
    cli.take()
    cli.driver.tick(1_000 + QUIET_MS)
    assert cli.take().lines == []


def test_a_tool_that_is_heard_of_is_not_wedged() -> None:
    cli = Cli()
    cli.answer(cli.rejoin(), told())
    progress = {"tool_use_id": "p", "parent_tool_use_id": "toolu_1", "elapsed_time_seconds": 3}
    cli.hear(line(type="tool_progress", tool_name="Bash", **progress), now_ms=3_000)
    cli.take()
    cli.driver.tick(1_000 + QUIET_MS)
    assert cli.take().lines == []


def test_a_turn_nothing_is_heard_of_is_shown_and_left_alone() -> None:
    cli = Cli(tool=False)
    cli.answer(cli.rejoin(), told())
    cli.driver.tick(1_000 + SILENT_MS)
    out = cli.take()
    assert [one.code for _, one in out.out if isinstance(one, e.Error)] == ["wedged"]
    assert out.lines == []


def test_a_torn_turn_that_says_nothing_when_it_is_stopped_had_ended() -> None:
    cli = Cli(tool=False)
    cli.answer(cli.rejoin(), told())
    cli.driver.send(SESSION, Interrupt(turn=TurnId("t")), InputKey("k"), 2_000)
    (asked,) = cli.take().lines
    cli.answer(json.loads(asked.data)["request_id"], {"subtype": "success"}, now_ms=2_000)
    cli.take()
    cli.driver.tick(2_000 + LAST_WORD_MS)
    (over,) = cli.facts(f.TurnOver)
    assert over.reason == "interrupted"
    cli.driver.tick(10_000)
    assert cli.take().out == []


def test_a_torn_turn_that_ends_by_itself_ends_once() -> None:
    cli = Cli(tool=False)
    cli.answer(cli.rejoin(), told())
    cli.driver.send(SESSION, Interrupt(turn=TurnId("t")), InputKey("k"), 2_000)
    (asked,) = cli.take().lines
    cli.answer(json.loads(asked.data)["request_id"], {"subtype": "success"}, now_ms=2_000)
    cli.hear(line(type="result", subtype="error_during_execution", is_error=False), now_ms=2_001)
    assert len(cli.facts(f.TurnOver)) == 1
    cli.driver.tick(2_000 + LAST_WORD_MS)
    assert cli.take().out == []


def test_a_whole_turn_is_stopped_as_ever() -> None:
    cli = Cli(tool=False)
    cli.driver.send(SESSION, Interrupt(turn=TurnId("t")), InputKey("k"), 2_000)
    (asked,) = cli.take().lines
    cli.answer(json.loads(asked.data)["request_id"], {"subtype": "success"}, now_ms=2_000)
    cli.take()
    cli.driver.tick(2_000 + LAST_WORD_MS)
    assert cli.facts(f.TurnOver) == []
