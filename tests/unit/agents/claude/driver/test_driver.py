from __future__ import annotations

import json

import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.model import commands as c
from flybridge.model.capabilities import OpenSpec
from flybridge.model.content import Image, Text
from flybridge.model.deliveries import Answer
from flybridge.model.events import ContextCompacted, PermissionAuto, Unrecognised
from flybridge.model.facts import InputEchoed, InputRejected, ToolReturned
from flybridge.model.ids import IncarnationId, InputKey, ItemId, SessionId
from flybridge.testing.drivers import INCARNATION, NOW_MS, SESSION
from flybridge.wire.lines import CutLine
from tests.harness.claude_cli import (
    assistant,
    hear,
    kinds,
    line,
    message_start,
    only,
    refused,
    say,
    text_start,
    tool_result,
    tool_use,
    user,
)
from tests.harness.claude_recordings import attached

# ---- inputs --------------------------------------------------------------------------------------


def test_an_input_is_a_prompt_with_a_uuid_made_of_its_key() -> None:
    driver = attached()
    written = say(driver, "hi", "test:1")
    assert written["message"] == {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    assert (written["session_id"], written["parent_tool_use_id"]) == ("", None)
    assert say(attached(), "hi", "test:1")["uuid"] == written["uuid"]
    assert say(driver, "hi", "test:2")["uuid"] != written["uuid"]


def test_the_same_key_of_another_session_is_another_uuid() -> None:
    driver = attached()
    spec = OpenSpec(agent="claude", cwd="/project")
    driver.attach(SessionId("ses_other"), INCARNATION, spec, b"")
    assert say(driver)["uuid"] != say(attached())["uuid"]


def test_an_input_is_not_sent_again_after_a_restart() -> None:
    driver = attached()
    driver.send(SESSION, c.SendInput(content=(Text("hi"),)), InputKey("k"), NOW_MS)
    (written,) = driver.take().lines
    assert (written.key, written.on_restart) == ("k", "drop")


def test_an_echo_proves_that_the_agent_has_the_input_once() -> None:
    driver = attached()
    uuid = say(driver, key="k")["uuid"]
    echo = user("hi", isReplay=True, uuid=uuid)
    assert hear(driver, echo) == [InputEchoed(key=InputKey("k"))]
    assert hear(driver, echo) == []


def test_a_start_of_its_work_proves_it_too_inside_the_turn() -> None:
    driver = attached()
    uuid = say(driver, key="k")["uuid"]
    started = line(type="command_lifecycle", command_uuid=uuid, state="started")
    assert kinds(hear(driver, started)) == ["TurnBegan", "InputEchoed"]


@pytest.mark.parametrize("state", ["cancelled", "discarded", "refused"])
def test_an_input_the_agent_drops_is_rejected(state: str) -> None:
    driver = attached()
    uuid = say(driver, key="k")["uuid"]
    dropped = line(type="command_lifecycle", command_uuid=uuid, state=state)
    assert hear(driver, dropped) == [InputRejected(key=InputKey("k"), reason=state)]
    assert hear(driver, dropped) == []


def test_an_echo_survives_a_restart() -> None:
    driver = attached()
    uuid = say(driver, key="k")["uuid"]
    again = attached(memo=driver.memo(SESSION))
    assert kinds(hear(again, user("hi", isReplay=True, uuid=uuid))) == ["InputEchoed"]


@pytest.mark.parametrize(
    "command",
    [
        c.SetEffort(effort="enormous"),
        c.SetThinking(tokens=10**12),
        c.SetMode(mode="bogus"),
        c.SetMode(mode="bypassPermissions"),
        c.Rename(title="t"),
        c.Close(),
        c.SendInput(content=(Image(media_type="image/png", blob="b"),)),
        c.SendInput(content=(Text("\ud83d"),)),
    ],
)
def test_what_it_cannot_do_is_refused_and_not_ignored(command: c.Command) -> None:
    (fact,) = refused(attached(), command, "k")
    assert isinstance(fact, InputRejected)
    assert fact.key == "k"
    assert fact.reason


# ---- everything else -----------------------------------------------------------------------------


def test_a_request_nobody_knows_is_answered_at_once() -> None:
    driver = attached()
    request = line(type="control_request", request_id="r", request={"subtype": "hologram"})
    driver.receive([request], NOW_MS)
    output = driver.take()
    assert [type(what) for _, what in output.out] == [Unrecognised]
    (written,) = output.lines
    assert json.loads(written.data)["response"] == {
        "subtype": "error",
        "request_id": "r",
        "error": "not supported: hologram",
    }
    assert (written.key, written.on_restart) == (None, "send")
    echo = line(type="control_response", response={"subtype": "error", "request_id": "r"})
    assert hear(driver, echo) == []


def test_a_dialog_nobody_declared_is_left_to_others() -> None:
    driver = attached()
    body = {"subtype": "request_user_dialog"}
    driver.receive([line(type="control_request", request_id="r", request=body)], NOW_MS)
    output = driver.take()
    assert output.lines == []
    assert len(output.out) == 1


def test_a_command_the_agent_decided_itself_is_told() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t1")))
    denied = line(type="system", subtype="permission_denied", tool_name="Bash", tool_use_id="t1")
    assert hear(driver, denied) == [PermissionAuto(tool="Bash", decision="deny", item=ItemId("t1"))]
    returned = only(hear(driver, tool_result("t1", is_error=True)), ToolReturned)
    assert returned.status == "denied"


def test_compaction_has_a_beginning_and_an_end() -> None:
    driver = attached()
    compacting = line(type="system", subtype="status", status="compacting")
    done = line(type="system", subtype="compact_boundary", compact_metadata={"pre_tokens": 22})
    failed = line(type="system", subtype="status", status=None, compact_error="too short")
    phases = [
        one.phase
        for one in hear(driver, compacting, done, failed)
        if isinstance(one, ContextCompacted)
    ]
    assert phases == ["started", "done", "failed"]


def test_a_cut_line_is_kept_as_its_head() -> None:
    (fact,) = hear(attached(), CutLine(b'{"type":"keep_alive"}'))
    assert isinstance(fact, Unrecognised)


def test_a_query_it_does_not_know_is_refused() -> None:
    driver = attached()
    driver.query(SESSION, "ref", "raw:weather", Raw(b"{}"), NOW_MS)
    assert [what for _, what in driver.take().out] == [Answer("ref", error="not_supported")]


def test_it_waits_for_no_time_unless_something_was_asked() -> None:
    driver = attached()
    driver.tick(NOW_MS)
    assert driver.take().out == []
    assert driver.deadline_ms is None


@pytest.mark.parametrize(
    ("incarnation", "item"),
    [("inc_ab12", "itm_ab12_1"), ("inc_" + "x" * 40, None), ("inc_a/b", None)],
)
def test_items_are_named_after_the_life_they_belong_to(incarnation: str, item: str | None) -> None:
    driver: ClaudeDriver = attached()
    spec = OpenSpec(agent="claude", cwd="/project")
    driver.attach(SESSION, IncarnationId(incarnation), spec, b"")
    opened = hear(driver, message_start(), text_start())[1]
    name = getattr(opened, "item", "")
    assert name == item if item else len(name) == len("itm_") + 12 + len("_1")
