from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import pytest
from msgspec import Raw

from flybridge.cli.rendering.closings import closing
from flybridge.cli.rendering.render import Renderer
from flybridge.cli.rendering.render import plain as plain_content
from flybridge.client.items import EventItem, PreviewItem
from flybridge.model import events as ev
from flybridge.model.content import Image, Text
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, TurnId
from tests.harness.screen_model import Sheet

ITEM, TURN, PROMPT = ItemId("i1"), TurnId("trn_1"), PromptId("p1")
LIFE = IncarnationId("inc_1")


Told: TypeAlias = ev.Event | PreviewItem


def told(events: Sequence[Told], *, lines: int = 5, own: str = "") -> str:
    paper = Sheet()
    renderer = Renderer(paper, lines=lines, own={own})
    for seq, event in enumerate(events, 1):
        if isinstance(event, PreviewItem):
            renderer.preview(event)
        else:
            raw = msgspec.json.encode(event)
            renderer.event(EventItem(seq, seq * 1000, event, raw))
    paper.fresh()
    return paper.text.rstrip("\n")


def accepted(key: str, text: str = "hello") -> ev.InputAccepted:
    return ev.InputAccepted(
        key=InputKey(key), kind="message", by="uid:1", fingerprint="", content=(Text(text),)
    )


def started(item: str, command: str, parent: str = "") -> ev.ToolStarted:
    raw = Raw(msgspec.json.encode({"command": command}))
    return ev.ToolStarted(item=ItemId(item), name="Bash", input=raw, parent=ItemId(parent))


def test_a_turn_reads_like_a_conversation() -> None:
    text = told(
        [
            accepted("uid:1:r1"),
            ev.TurnStarted(turn=TURN),
            ev.ItemStarted(item=ItemId("t"), kind="thinking"),
            PreviewItem("t", 0, 1, "hm"),
            ev.ThinkingDone(item=ItemId("t"), text="hmm"),
            ev.ItemStarted(item=ITEM, kind="text"),
            PreviewItem("i1", 0, 1, "Hel"),
            ev.TextDone(item=ITEM, text="Hello"),
            started("b", "ls"),
            ev.ToolResult(item=ItemId("b"), text="a\nb"),
            ev.TurnEnded(turn=TURN, cost_usd=0.01234),
        ],
        own="r1",
    )
    assert text == ("> hello\n\n∴ hmm\n\n  Hello\n\n● Bash ls\n  ⎿ a\n    b\n─ 9.0 s · $0.0123")


def test_input_of_another_client_is_said_so() -> None:
    assert told([accepted("uid:1:r2", "stop")], own="r1") == "> you (other client): stop"


def test_what_was_said_before_the_session_is_yours() -> None:
    text = told(
        [
            ev.History(phase="started", conversation="c1"),
            msgspec.structs.replace(accepted("past:u1"), by="past"),
            ev.History(phase="done", conversation="c1"),
        ]
    )
    assert text == "─ said before this session:\n\n> hello\n\n─ from here on in this session"


def test_a_long_result_is_folded() -> None:
    text = told([started("b", "x"), ev.ToolResult(item=ItemId("b"), text="1\n2\n3\n4")], lines=2)
    assert text.endswith("  ⎿ 1\n    2\n    … 2 more lines")


def test_results_of_parallel_calls_say_whose_they_are() -> None:
    text = told(
        [
            started("a", "date"),
            started("b", "pwd"),
            ev.ToolResult(item=ItemId("a"), text="now"),
            ev.ToolResult(item=ItemId("b"), text="", status="error"),
        ]
    )
    assert text == (
        "● Bash date\n● Bash pwd\n● Bash answered: date\n  ⎿ now\n"
        "● Bash answered: pwd\n  ⎿ (no output)"
    )


def test_an_error_that_ends_the_turn_is_said_once() -> None:
    ended = ev.TurnEnded(turn=TURN, reason="error", message="busy")
    assert told([ev.Error(code="overloaded", text="busy"), ended]) == "✗ busy (overloaded)"
    other = ev.TurnEnded(turn=TURN, reason="error", message="worse")
    assert told([ev.Error(code="overloaded", text="busy"), other]).endswith("✗ worse")


def test_the_end_of_a_turn_says_what_it_cost_and_how_full_the_context_is() -> None:
    gauges = {"context": Raw(b'{"tokens":500,"window":2000}')}
    ended = ev.TurnEnded(turn=TURN, cost_usd=0.5, gauges=gauges)
    assert told([ev.TurnStarted(turn=TURN), ended]) == "─ 1.0 s · $0.5000 · context 25%"


def test_a_subagent_is_told_further_right() -> None:
    text = told(
        [
            started("a", "look", parent="task"),
            ev.ToolResult(item=ItemId("a"), text="1\n2\n3", parent=ItemId("task")),
            ev.ItemStarted(item=ITEM, kind="text", parent=ItemId("task")),
            PreviewItem("i1", 0, 1, "deep"),
            ev.TextDone(item=ITEM, text="deep thought", parent=ItemId("task")),
        ]
    )
    assert text == "  ● Bash look\n    ⎿ 1\n      … 2 more lines\n\n    deep thought"


def test_what_a_subagent_does_has_its_name() -> None:
    start = Raw(b'{"subagent_type":"Explore","description":"Look"}')
    task = ItemId("task")
    text = told(
        [
            ev.ToolStarted(item=task, name="Agent", input=start),
            started("a", "ls", parent="task"),
            ev.ToolResult(item=ItemId("a"), text="x", parent=task),
            ev.TextDone(item=ITEM, text="found it", parent=task),
            ev.ToolResult(item=task, text="found it"),
            ev.TextDone(item=ItemId("late"), text="more", parent=task),
        ]
    )
    assert text == (
        "● Agent Look\n  ● Look: Bash ls\n    ⎿ x\n\n    Look: found it\n\n"
        "● Agent answered: Look\n  ⎿ found it\n\n    Look: more"
    )


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (ev.Notice(text="n"), "· n"),
        (ev.Notice(text="n", level="warning"), "! n"),
        (ev.Error(code="overloaded", text="busy"), "✗ busy (overloaded)"),
        (ev.Gap(reason="r"), "✗ some output of the agent is lost here: r"),
        (ev.AlarmRaised(code="c", text="It ran.", advice="Stop it."), "✗ ALARM: It ran. Stop it."),
        (ev.Unrecognised(source="claude", text="{}"), "· unrecognised, from claude: {}"),
        (ev.Retry(attempt=2, reason="r"), "· trying again (2): r"),
        (ev.RateLimit(status="rejected"), "! rate limit reached"),
        (ev.RateLimit(status="allowed"), ""),
        (ev.ContextCompacted(), "─ the context was compacted"),
        (ev.ContextCompacted(phase="started"), "· compacting the context …"),
        (ev.ModeChanged(mode="plan"), "· mode: plan"),
        (ev.ModelChanged(model="m"), "· model: m"),
        (ev.SessionOpened(agent="demo", cwd="/x"), "· demo · /x"),
        (ev.SessionChanged(title="t"), "· title: t"),
        (ev.SessionChanged(archived=True), "· archived"),
        (ev.SessionClosed(), "· the session was closed; it takes no more input"),
        (ev.AgentConnected(incarnation=LIFE), ""),
        (
            ev.AgentConnected(incarnation=LIFE, adopted=True),
            "· another gateway took the agent over",
        ),
        (ev.AgentExited(incarnation=LIFE, why="exit", asked=True), "· the agent was ended"),
        (ev.AgentStarted(incarnation=LIFE), ""),
        (ev.Plan(text="first\nthen"), "· plan:\n  first\n  then"),
        (ev.Tasks(tasks=Raw(b'[{"content":"a"}]')), "· [ ] a · 0 of 1 done"),
        (ev.TurnEnded(turn=TURN, reason="interrupted"), "─ interrupted"),
        (ev.TurnEnded(turn=TURN, reason="error", message="bad"), "✗ bad"),
        (ev.PermissionAuto(tool="Bash", decision="deny"), "· Bash denied without asking"),
        (
            ev.Diff(item=ITEM, path="a.py", patch=Raw(b'[{"lines":["-x","+y"]}]')),
            "    a.py +1 -1\n    - x\n    + y",
        ),
    ],
)
def test_every_kind_of_event_has_its_words(event: ev.Event, shown: str) -> None:
    assert told([event]) == shown


def test_an_agent_that_ended_by_itself_says_why_and_what_to_do() -> None:
    gone = ev.AgentExited(incarnation=LIFE, why="exit", status=3, stderr_tail="Traceback\nboom")
    assert told([gone]) == (
        "✗ the agent ended by itself (status 3); your next message starts it again\n"
        "  Traceback\n  boom"
    )


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        ("done", ""),
        ("observed", ""),
        ("not_delivered", "send it again"),
        ("lost", "send it again"),
        ("unknown", "look before repeating"),
    ],
)
def test_a_message_that_was_not_delivered_is_said_so(outcome: str, shown: str) -> None:
    end = msgspec.convert({"key": "uid:1:r1", "outcome": outcome}, ev.InputOutcome, strict=False)
    text = told([accepted("uid:1:r1"), end]).partition("hello")[2]
    assert shown in text
    assert bool(text.strip()) == bool(shown)


def test_a_refused_setting_is_said_so() -> None:
    end = ev.InputOutcome(key=InputKey("uid:1:s"), outcome="refused", reason="no such model")
    assert told([end]) == "✗ refused by the agent: no such model"


def test_prompts_of_the_past_are_told_by_how_they_ended() -> None:
    asked = ev.PermissionRequested(prompt=PROMPT, tool="Bash", input=Raw(b"{}"), digest="")
    denied = ev.PermissionClosed(prompt=PROMPT, how="denied", message="not now")
    assert told([asked, denied]) == "· Bash: denied: not now"
    assert told([asked, ev.PermissionClosed(prompt=PROMPT, how="allowed")]) == ""
    question = ev.QuestionRequested(prompt=PROMPT, questions=Raw(b"[]"), digest="")
    answered = ev.QuestionClosed(prompt=PROMPT, how="answered", answers={"q": ("a", "b")})
    assert told([question, answered]) == "· a question: answered: a, b"
    assert closing(ev.PermissionClosed(prompt=PROMPT, how="orphaned")) == "the agent is gone"


def test_an_event_of_a_newer_gateway_is_shown() -> None:
    paper = Sheet()
    Renderer(paper).event(EventItem(1, 1, None, b'{"type":"new.thing"}'))
    assert "new.thing" in paper.text


def test_attachments_are_named() -> None:
    assert plain_content((Text("a"), Image(media_type="image/png"))) == "a\n[image/png]"


def test_the_tool_is_not_told_apart_from_its_input_by_newlines() -> None:
    assert told([started("a", "x\n● Bash safe")]) == "● Bash x ↵ ● Bash safe"


def test_a_notice_waits_for_the_end_of_the_text_and_an_error_does_not() -> None:
    begun: list[Told] = [ev.ItemStarted(item=ITEM, kind="text"), PreviewItem("i1", 0, 1, "half a ")]
    ended: list[Told] = [
        PreviewItem("i1", 1, 2, "sentence"),
        ev.TextDone(item=ITEM, text="half a sentence"),
    ]
    assert told([*begun, ev.Notice(text="n"), *ended]) == "  half a sentence\n\n· n"
    assert told([*begun, ev.Gap(reason="g"), *ended]).startswith("  half a \n✗ ")
    ended_turn = ev.TurnEnded(turn=TURN)
    assert told([*begun, ev.Notice(text="n"), ended_turn]) == "  half a \n\n· n"


def test_what_we_said_before_is_not_somebody_elses() -> None:
    paper = Sheet()
    renderer = Renderer(paper, us="uid:1", past=True)
    for seq, event in enumerate([accepted("uid:1:r2", "mine"), accepted("x", "theirs")], 1):
        other = msgspec.structs.replace(event, by="token:ci" if seq == 2 else "uid:1")
        renderer.event(EventItem(seq, 0, other, b""))
    renderer.past = False
    renderer.event(EventItem(3, 0, accepted("uid:1:r3", "elsewhere"), b""))
    past = msgspec.structs.replace(accepted("p", "before"), by="past")
    renderer.event(EventItem(4, 0, past, b""))
    paper.fresh()
    assert [line for line in paper.text.split("\n") if line] == [
        "> mine",
        "> token:ci: theirs",
        "> you (other client): elsewhere",
        "> before",
    ]


def test_what_is_queued_is_told_where_it_is_handed_over() -> None:
    waits = msgspec.structs.replace(accepted("uid:1:q", "later"), mode="queue")
    key = InputKey("uid:1:q")
    changed = ev.QueueChanged(key=key, content=(Text("changed"),))
    sent = ev.InputDispatched(key=key, incarnation=LIFE)
    done = ev.TextDone(item=ITEM, text="first")
    assert told([waits, changed, done, sent], own="q") == "  first\n\n> changed"
    gone = ev.InputOutcome(key=key, outcome="cancelled")
    assert told([waits, gone], own="q") == "· not sent any more: later"


def test_a_message_that_an_interrupt_took_back_is_no_error() -> None:
    gone = ev.InputOutcome(key=InputKey("uid:1:r"), outcome="refused", reason="cancelled")
    text = told([accepted("uid:1:r"), gone], own="r")
    assert text.endswith("· taken back before the agent read it: hello")


def test_who_closed_a_prompt_is_told() -> None:
    closed = ev.PermissionClosed(prompt=PROMPT, how="denied", by="token:ci", edited=True)
    assert closing(closed, "by token:ci") == "denied by token:ci, with changes"
    assert told([closed]) == "· a tool: denied by token:ci, with changes"
    gone = ev.PermissionClosed(prompt=PROMPT, how="orphaned")
    assert closing(gone, "by nobody") == "the agent is gone"


def test_a_call_that_somebody_changed_is_told_as_it_was_allowed() -> None:
    asked = ev.PermissionRequested(
        prompt=PROMPT, tool="Bash", input=Raw(b'{"command":"one"}'), digest="", item=ITEM
    )
    closed = ev.PermissionClosed(
        prompt=PROMPT,
        how="allowed",
        by="token:ci",
        edited=True,
        input=Raw(b'{"command":"two"}'),
    )
    text = told([started("i1", "one"), asked, closed, ev.ToolResult(item=ITEM, text="2")])
    assert text == (
        "● Bash one\n· Bash: allowed by token:ci, with changes\n  command: two\n\n"
        "● Bash answered: two\n  ⎿ 2"
    )


def test_a_conversation_from_before_is_set_apart() -> None:
    text = told([ev.History(phase="started"), ev.History(phase="done", left_out=2)])
    assert text == (
        "─ said before this session:\n─ from here on in this session; 2 older turns are not told"
    )
