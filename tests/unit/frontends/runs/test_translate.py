"""A log as frames: the first end wins, and the same log gives the same frames."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.frontends.runs.translate import PROMPT, RunLog, labels_of, started, status_of
from flybridge.frontends.runs.wire import messages as w
from flybridge.model import events as e
from flybridge.model.capabilities import Options
from flybridge.model.content import Text
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, TurnId
from flybridge.model.kinds import ItemKind
from flybridge.model.options import AgentOptions

KEY = InputKey(f"uid:0:{PROMPT}")
INC = IncarnationId("inc_1")
MARKER = '<!--QUESTION:{"questions":[{"question":"Name?"}]}-->'


def opened(**config: Any) -> e.SessionOpened:
    labels = labels_of("run_1", "n", w.RunConfig(**config))
    return e.SessionOpened(agent="demo", cwd="/w", labels=labels, options=Options(max_turns=2))


def accepted(key: InputKey = KEY) -> e.InputAccepted:
    return e.InputAccepted(
        key=key, kind="message", by="uid:0", fingerprint="f", content=(Text("go"),)
    )


def growing(item: str, kind: ItemKind = "text", parent: str = "") -> e.Event:
    return e.ItemStarted(item=ItemId(item), kind=kind, parent=ItemId(parent))


def text(said: str, **more: Any) -> e.TextDone:
    return e.TextDone(item=ItemId("itm_1"), text=said, **more)


def ended(reason: Any = "done", **more: Any) -> e.TurnEnded:
    return e.TurnEnded(turn=TurnId("trn_1"), reason=reason, **more)


def outcome(outcome: Any = "done", reason: str = "", key: InputKey = KEY) -> e.InputOutcome:
    return e.InputOutcome(key=key, outcome=outcome, reason=reason)


def exited(**more: Any) -> e.AgentExited:
    return e.AgentExited(incarnation=INC, why="exit", status=9, **more)


def told(*events: e.Event) -> list[w.Outbound]:
    log = RunLog("run_1")
    frames = [log.apply(seq, 1000 + seq, one) for seq, one in enumerate(events, start=1)]
    return [frame.payload for one in frames for frame in one]


def end(*events: e.Event) -> w.Outbound:
    return told(opened(), accepted(), *events)[-1]


@pytest.mark.conforms("S4-3.2")
def test_a_run_from_its_log() -> None:
    usage = Raw(b'{"input_tokens": 5, "output_tokens": 7, "else": "x"}')
    frames = told(
        opened(timeout_s=3.5, stream=True),
        accepted(),
        text("Hello."),
        e.ToolStarted(item=ItemId("itm_2"), name="Bash", input=Raw(b'{"command":"ls"}')),
        e.ToolResult(item=ItemId("itm_2"), text="a.txt"),
        e.Plan(text="1. look"),
        ended(cost_usd=0.5, usage=usage),
        outcome(),
        text("never told"),
    )
    config = w.RunConfig(agent="demo", cwd="/w", max_turns=2, timeout_s=3.5, stream=True)
    assert frames == [
        w.Started(provider="demo", config=config),
        w.Progress(kind="text", content="Hello."),
        w.Progress(kind="tool_use", tool="Bash", content='{"command":"ls"}'),
        w.Progress(kind="tool_result", tool="Bash", content="a.txt"),
        w.Artifact(name="plan-1", kind="plan", content="1. look"),
        w.Completed(
            summary="Hello.",
            artifacts=("plan-1",),
            usage=w.Usage(cost_usd=0.5, input_tokens=5, output_tokens=7),
        ),
    ]


@pytest.mark.conforms("S4-3.6", "S4-6.22")
@pytest.mark.parametrize(
    ("events", "kind", "words"),
    [
        ([ended("error", message="no key"), outcome()], w.Failed, "no key"),
        ([ended("limit"), outcome()], w.Failed, "limit"),
        ([ended("interrupted"), outcome()], w.Cancelled, "interrupted"),
        ([outcome("refused", "too long")], w.Failed, "too long"),
        ([outcome("unknown")], w.Failed, "unknown"),
        ([outcome("cancelled", "taken back")], w.Cancelled, "taken back"),
        ([ended("agent_exited"), outcome("observed", "exit"), exited()], w.Failed, "status 9"),
        ([outcome("not_delivered", "exit"), exited(asked=True)], w.Cancelled, "was ended"),
        ([outcome("lost", "exit"), exited(stderr_tail="a\nboom\n")], w.Failed, "boom"),
        (
            [outcome("cancelled", "the session was closed"), e.SessionClosed()],
            w.Cancelled,
            "closed",
        ),
        ([e.SessionClosed(reason="run.failed timeout: late")], w.Failed, "late"),
        ([e.SessionClosed(reason="run.cancelled: x"), ended(), outcome()], w.Cancelled, "x"),
        ([ended(), outcome(), e.SessionClosed(reason="run.cancelled: x")], w.Completed, ""),
        ([outcome()], w.Completed, ""),
    ],
)
def test_the_first_end_in_the_log_is_the_end(events: list[e.Event], kind: type, words: str) -> None:
    last = end(*events)
    assert isinstance(last, kind)
    assert words in str(last)
    assert sum(isinstance(one, w.Terminal) for one in told(opened(), accepted(), *events)) == 1


def test_inputs_of_others_do_not_end_a_run() -> None:
    other = InputKey("uid:0:chat-1")
    assert isinstance(end(accepted(other), outcome(key=other)), w.Started)


def test_a_prompt_that_never_left_may_be_said_again() -> None:
    log = RunLog("run_1")
    events: list[e.Event] = [opened(), accepted(), outcome("not_delivered")]
    for seq, event in enumerate(events, start=1):
        log.apply(seq, 0, event)
    assert log.undelivered is not None
    assert (log.undelivered.request, log.undelivered.content) == (PROMPT, (Text("go"),))
    log.apply(4, 0, accepted())
    assert log.undelivered is None
    assert isinstance(log.apply(5, 0, outcome())[0].payload, w.Completed)


def test_a_question_in_the_text_keeps_the_run_open_until_somebody_says_something() -> None:
    log = RunLog("run_1")
    key = InputKey("uid:0:anything")
    first: list[e.Event] = [opened(), accepted(), text(f"Hi{MARKER}"), ended(), outcome()]
    frames = [frame for n, one in enumerate(first, 1) for frame in log.apply(n, 0, one)]
    assert [type(one.payload) for one in frames] == [w.Started, w.Progress, w.Question]
    assert log.idle
    assert list(log.open) == ["q_3.1"]
    log.apply(6, 0, accepted(key))
    assert not log.open
    (last,) = log.apply(7, 0, outcome(key=key))
    assert isinstance(last.payload, w.Completed)


def test_prompts_open_and_close() -> None:
    log = RunLog("run_1")
    log.apply(1, 0, opened())
    raw = Raw(b'{"command":"ls"}')
    asked = e.PermissionRequested(prompt=PromptId("prm_1"), tool="Bash", input=raw, digest="d")
    questions = e.QuestionRequested(
        prompt=PromptId("prm_2"), questions=Raw(json.dumps([{"question": "A"}]).encode()), digest=""
    )
    log.apply(2, 0, asked)
    log.apply(3, 0, questions)
    assert list(log.open) == ["prm_1", "prm_2.1"]
    log.apply(4, 0, e.PermissionClosed(prompt=PromptId("prm_1"), how="allowed"))
    log.apply(5, 0, e.QuestionClosed(prompt=PromptId("prm_2"), how="cancelled"))
    assert not log.open


def test_what_was_before_and_what_helpers_say_is_not_told() -> None:
    past: list[e.Event] = [e.History(phase="started"), text("old"), e.History(phase="done")]
    helper = text("inside", parent=ItemId("itm_9"))
    thought = e.ThinkingDone(item=ItemId("itm_1"), text="hm")
    assert len(told(opened(), *past, helper, thought, text("  "))) == 1
    assert told(opened(thinking=True), thought)[1] == w.Progress(kind="thinking", content="hm")


def test_what_is_worth_a_status() -> None:
    events: list[e.Event] = [
        e.Retry(attempt=1, reason="overloaded"),
        e.RateLimit(status="rejected"),
        e.ContextCompacted(),
        e.Notice(text="n"),
        e.Error(code="c", text="t"),
        e.Gap(reason="g"),
        e.AlarmRaised(code="c", text="t"),
        e.ConversationLost(),
    ]
    assert all(status_of(one) for one in events)
    assert status_of(ended()) == ""
    assert started(opened()).config.timeout_s is None


def test_options_of_the_agent_are_not_told() -> None:
    """They can hold secrets, also the owner's, and frames end up in the logs of CI jobs."""
    secret = '{"mcpServers":{"a":{"url":"https://a.example","headers":{"X-Key":"t0ken"}}}}'
    options: AgentOptions = {"max_turns": 3, "mcp_config": (secret,), "fast": True}
    event = e.SessionOpened(agent="demo", cwd="/w", agent_options=options)
    assert started(event).config == w.RunConfig(agent="demo", cwd="/w", max_turns=3)


kinds = st.sampled_from(
    [
        accepted(),
        text("a"),
        text(MARKER),
        ended(),
        ended("agent_exited"),
        outcome(),
        outcome("unknown", "exit"),
        exited(),
        e.SessionClosed(reason="run.cancelled"),
        e.Notice(text="n"),
    ]
)


@pytest.mark.conforms("S4-6.22")
@given(st.lists(kinds, max_size=12), st.integers(0, 12))
def test_any_log_has_at_most_one_end_and_nothing_after_it(log: list[e.Event], cut: int) -> None:
    frames = told(opened(), *log)
    ends = [n for n, one in enumerate(frames) if isinstance(one, w.Terminal)]
    assert ends in ([], [len(frames) - 1])
    assert told(opened(), *log[:cut]) == frames[: len(told(opened(), *log[:cut]))]
