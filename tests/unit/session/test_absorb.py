from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId
from flybridge.session.absorb import digest_of
from flybridge.session.effects import Send
from flybridge.session.ledger import fate
from tests.harness.session_sim import Sim, ask, encoded, say, turn

RAW = msgspec.Raw(b"{}")


def outcomes(sim: Sim) -> dict[InputKey, str]:
    return {one.key: one.outcome for one in sim.log if isinstance(one, e.InputOutcome)}


def dead(sim: Sim, why: str = "exit", **fates: f.Fate) -> None:
    found = {InputKey(f"me:{name}"): fate for name, fate in fates.items()}
    sim.fact(
        f.LinkEnded(incarnation=sim.state.incarnation, why=why, fates=found)  # type: ignore[arg-type]
    )


def test_a_message_goes_from_accepted_to_done() -> None:
    sim = Sim().up()
    key = sim.do(say())
    sim.fact(f.Wrote(key=key), f.TurnBegan(), f.InputEchoed(key=key), f.TurnOver())
    assert sim.tags()[-7:] == [
        "input.accepted",
        "input.dispatched",
        "input.written",
        "turn.started",
        "input.consumed",
        "turn.ended",
        "input.outcome",
    ]
    assert outcomes(sim) == {key: "done"}


def test_an_echo_that_overtakes_the_keepers_report_proves_the_writing() -> None:
    sim = Sim().up()
    key = sim.do(say())
    sim.fact(f.InputEchoed(key=key), f.Wrote(key=key), f.InputEchoed(key=key))
    assert sim.tags()[-2:] == ["input.written", "input.consumed"]


def test_an_echo_before_the_turn_belongs_to_the_turn_that_follows() -> None:
    sim = Sim().up()
    key = sim.do(say())
    sim.fact(f.InputEchoed(key=key), f.TurnBegan(), f.TurnOver())
    assert outcomes(sim) == {key: "done"}


def test_a_message_nobody_has_read_yet_outlives_the_turn() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    key = sim.do(say())
    sim.fact(f.Wrote(key=key), f.TurnOver())
    assert sim.state.inputs[key].stage == "written"


def test_facts_about_unknown_inputs_change_nothing() -> None:
    sim = Sim().up()
    before = len(sim.log)
    nobody = InputKey("nobody")
    sim.fact(
        f.Wrote(key=nobody),
        f.InputEchoed(key=nobody),
        f.InputConfirmed(key=nobody),
        f.InputRejected(key=nobody),
        f.NotSent(keys=(nobody,)),
    )
    assert len(sim.log) == before


def test_a_held_input_cannot_be_echoed_or_confirmed() -> None:
    sim = Sim().opened()
    key = sim.do(say())
    before = len(sim.log)
    sim.fact(f.InputEchoed(key=key), f.InputConfirmed(key=key))
    assert len(sim.log) == before


def test_a_setting_is_done_when_the_agent_confirms_it() -> None:
    sim = Sim().up()
    key = sim.do(c.SetModel(model="m"))
    sim.fact(f.InputConfirmed(key=key))
    assert sim.tags()[-3:] == ["input.written", "input.consumed", "input.outcome"]
    interrupt_after_echo = Sim().up()
    interrupt_after_echo.fact(f.TurnBegan())
    key = interrupt_after_echo.do(c.Interrupt())
    interrupt_after_echo.fact(f.InputEchoed(key=key), f.InputConfirmed(key=key))
    assert outcomes(interrupt_after_echo) == {key: "done"}


def test_what_the_agent_rejects_is_refused() -> None:
    sim = Sim().up()
    key = sim.do(c.SetModel(model="m"))
    sim.fact(f.InputRejected(key=key, reason="no such model"))
    assert sim.tags()[-2:] == ["input.refused", "input.outcome"]
    assert outcomes(sim) == {key: "refused"}


def test_an_answer_is_done_when_it_was_read_or_the_turn_is_over() -> None:
    for last in ("echo", "turn"):
        sim = Sim().up()
        sim.fact(f.TurnBegan())
        asked = ask(sim)
        key = sim.do(c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="deny"))
        sim.fact(f.Wrote(key=key))
        sim.fact(f.InputEchoed(key=key) if last == "echo" else f.TurnOver())
        assert outcomes(sim) == {key: "done"}


def test_what_never_left_is_not_delivered() -> None:
    sim = Sim().opened()
    key = sim.do(say())
    sim.fact(f.NotSent(keys=(key,)))
    assert outcomes(sim) == {key: "not_delivered"}


def test_turns_are_numbered_and_end_once() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan(), f.TurnBegan(), f.TurnOver(), f.TurnOver(), f.TurnBegan())
    started = [one.turn for one in sim.log if isinstance(one, e.TurnStarted)]
    assert started == ["trn_1", "trn_2"]
    assert sum(isinstance(one, e.TurnEnded) for one in sim.log) == 1
    assert any(isinstance(one, e.Notice) for one in sim.log)


def test_streamed_text_stands_in_where_the_agent_sends_no_whole() -> None:
    sim = Sim().up()
    sim.fact(f.ItemOpened(item=ItemId("i"), kind="text"))
    sim.stream("i", 0, 2, "so far")
    sim.fact(f.ItemClosed(item=ItemId("i"), status="partial"))
    assert sim.log[-1] == e.TextDone(item=ItemId("i"), text="so far", status="partial")


def test_the_agents_own_text_replaces_what_was_streamed() -> None:
    sim = Sim().up()
    sim.fact(f.ItemOpened(item=ItemId("i"), kind="thinking"))
    sim.stream("i", 0, 1, "x")
    sim.fact(f.ItemClosed(item=ItemId("i"), text="whole", redacted=True))
    assert sim.log[-1] == e.ThinkingDone(item=ItemId("i"), text="whole", redacted=True)


def test_items_open_and_close_once() -> None:
    sim = Sim().up()
    item = ItemId("i")
    sim.fact(f.ItemOpened(item=item, kind="text"), f.ItemOpened(item=item, kind="text"))
    sim.fact(f.ItemClosed(item=item), f.ItemClosed(item=item))
    assert sim.tags()[-2:] == ["item.started", "text.done"]


def test_a_tool_runs_from_its_call_to_its_result() -> None:
    sim = Sim().up()
    tool = ItemId("tool_1")
    sim.fact(f.ItemOpened(item=tool, kind="tool", name="Bash"))
    sim.fact(f.ToolCalled(item=tool, name="Bash", input=RAW))
    sim.fact(f.ToolCalled(item=tool, name="Bash", input=RAW))
    sim.fact(f.ToolReturned(item=tool, text="ok"))
    assert sim.tags()[-3:] == ["item.started", "tool.started", "tool.result"]


def test_a_call_that_was_not_streamed_opens_its_item_itself() -> None:
    sim = Sim().up()
    sim.fact(f.ToolCalled(item=ItemId("t"), name="Bash"))
    assert sim.tags()[-2:] == ["item.started", "tool.started"]


def test_a_result_nobody_asked_for_is_kept() -> None:
    sim = Sim().up()
    sim.fact(f.ToolReturned(item=ItemId("ghost"), text="boo"))
    assert sim.tags()[-2:] == ["item.started", "tool.result"]
    before = len(sim.log)
    sim.fact(f.ToolReturned(item=ItemId("ghost"), status="partial"))
    assert len(sim.log) == before


def test_a_prompt_is_bound_to_its_tool_and_whole_input() -> None:
    sim = Sim().up()
    asked = ask(sim)
    assert asked.digest == digest_of("Bash", b'{"command":"ls"}')
    assert asked.digest != digest_of("Bash", b'{"command":"ls "}')


def test_prompts_cannot_be_replaced_under_the_same_name() -> None:
    sim = Sim().up()
    asked = ask(sim)
    sim.fact(f.PermissionAsked(prompt=asked.prompt, tool="Bash", input=RAW))
    sim.fact(f.QuestionAsked(prompt=asked.prompt, questions=RAW))
    assert sim.tags()[-2:] == ["notice", "notice"]
    assert sim.state.prompts[asked.prompt].digest == asked.digest


def test_a_withdrawn_prompt_is_closed_once() -> None:
    sim = Sim().up()
    asked = ask(sim)
    sim.fact(f.QuestionAsked(prompt=PromptId("q"), questions=RAW))
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.PromptWithdrawn(prompt=asked.prompt))
    sim.fact(f.PromptWithdrawn(prompt=PromptId("q")))
    assert sim.tags()[-2:] == ["permission.closed", "question.closed"]


def test_the_death_of_an_agent_closes_everything() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan(), f.ItemOpened(item=ItemId("i"), kind="text"))
    sim.stream("i", 0, 3, "half")
    sim.fact(f.ToolCalled(item=ItemId("t"), name="Bash"))
    ask(sim)
    sim.fact(f.QuestionAsked(prompt=PromptId("q"), questions=RAW))
    sim.do(say(), request="late")
    before = len(sim.log)
    dead(sim, late="not_taken")
    assert sim.tags(before) == [
        "text.done",
        "tool.result",
        "permission.closed",
        "question.closed",
        "turn.ended",
        "input.outcome",
        "agent.exited",
    ]
    assert sim.log[before] == e.TextDone(item=ItemId("i"), text="half", status="partial")
    state = sim.state
    assert (state.items, state.prompts, state.inputs, state.turn) == ({}, {}, {}, "")


@pytest.mark.parametrize(
    ("stage", "fate", "outcome"),
    [
        ("dispatching", "not_taken", "not_delivered"),
        ("dispatching", "unread", "not_delivered"),
        ("dispatching", "read", "unknown"),
        ("written", "unread", "lost"),
        ("written", "read", "unknown"),
        ("written", "unknown", "unknown"),
        ("observed", "read", "observed"),
    ],
)
def test_the_outcome_of_an_input_follows_the_evidence(
    stage: str, fate: f.Fate, outcome: str
) -> None:
    sim = Sim().up()
    key = sim.do(say(), request="one")
    if stage in ("written", "observed"):
        sim.fact(f.Wrote(key=key))
    if stage == "observed":
        sim.fact(f.InputEchoed(key=key))
    dead(sim, one=fate)
    assert outcomes(sim) == {key: outcome}


def test_an_input_without_evidence_is_unknown_and_a_held_one_never_left() -> None:
    sim = Sim().up()
    sent = sim.do(say())
    sim.fact(f.TurnBegan())
    held = sim.do(say(mode="queue"))
    dead(sim, why="keeper_died")
    assert outcomes(sim) == {sent: "unknown", held: "not_delivered"}
    assert any(isinstance(one, e.Gap) for one in sim.log)


def test_what_the_agent_reports_as_it_is_becomes_an_event_as_it_is() -> None:
    sim = Sim().up()
    reports: list[f.Fact] = [
        e.AgentReady(model="m"),
        e.ConversationLost(reason="gone"),
        e.PermissionAuto(tool="Read", decision="allow"),
        e.ContextCompacted(),
        e.Diff(item=ItemId("i"), path="a", patch=RAW),
        e.Plan(text="p"),
        e.Tasks(tasks=RAW),
        e.ModeChanged(mode="plan"),
        e.ModelChanged(model="x"),
        e.Retry(attempt=1),
        e.RateLimit(status="allowed"),
        e.Notice(text="n"),
        e.Error(code="c", text="t"),
        e.Gap(reason="r"),
        e.Unrecognised(source="claude", text="?"),
    ]
    sim.fact(*reports)
    assert sim.log[-len(reports) :] == reports


def test_an_adopted_agent_says_so() -> None:
    sim = Sim().up()
    sim.fact(f.LinkUp(incarnation=IncarnationId("inc_1"), adopted=True))
    assert sim.log[-1] == e.AgentConnected(incarnation=IncarnationId("inc_1"), adopted=True)
    turn(sim)


def test_a_prompt_says_which_sub_agent_asks() -> None:
    sim = Sim().up()
    assert ask(sim, agent="explorer").agent == "explorer"
    questions = Raw(b"[]")
    sim.fact(f.QuestionAsked(prompt=PromptId("q"), questions=questions, agent="explorer"))
    last = sim.log[-1]
    assert isinstance(last, e.QuestionRequested)
    assert last.agent == "explorer"


# ---- an agent that has to get ready -----------------------------------------------------------


def connecting() -> Sim:
    """A session whose agent is connected and does not take input yet."""
    sim = Sim().opened()
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation, ready=False))
    return sim


def sent(sim: Sim) -> list[str]:
    return [effect.key for effect in sim.effects if isinstance(effect, Send)]


def test_messages_wait_until_the_agent_is_ready() -> None:
    sim = Sim().opened()
    before = sim.do(say("1"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation, ready=False))
    after = sim.do(say("2"))
    assert sent(sim) == []
    assert sim.state.held() == [before, after]
    sim.fact(f.AcceptsInput())
    assert sent(sim) == [before, after]
    assert sim.tags()[-3:] == ["agent.accepts_input", "input.dispatched", "input.dispatched"]
    last = sim.do(say("3"))
    assert sent(sim) == [before, after, last]
    assert encoded(sim.state) == encoded(sim.fold())


def test_one_that_is_ready_from_the_start_needs_no_event_for_it() -> None:
    sim = Sim().up()
    log = len(sim.log)
    sim.fact(f.AcceptsInput(), f.AcceptsInput())
    assert sim.log[log:] == []
    other = connecting()
    other.fact(f.AcceptsInput(), f.AcceptsInput())
    assert other.tags().count("agent.accepts_input") == 1


def test_ready_before_the_link_is_part_of_it() -> None:
    sim = Sim().opened()
    sim.do(say())
    log = len(sim.log)
    sim.fact(f.AcceptsInput())
    assert sim.log[log:] == []
    assert sent(sim) == []


def test_nothing_but_ready_releases_a_message() -> None:
    sim = connecting()
    first = sim.do(say("1"))
    queued = sim.do(say("2", mode="queue"))
    turn(sim)
    sim.fact(f.InputRejected(key=InputKey("me:none")))
    rejected = sim.do(c.SetModel(model="m"))
    assert sent(sim) == [rejected]  # settings do not wait
    sim.fact(f.InputRejected(key=rejected))
    assert sim.state.held() == [first, queued]
    sim.fact(f.AcceptsInput())
    assert sent(sim) == [rejected, first]


def test_what_waits_for_an_agent_that_dies_unready_was_never_delivered() -> None:
    sim = connecting()
    key = sim.do(say())
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    assert e.InputOutcome(key=key, outcome="not_delivered", reason="exit") in sim.log
    assert sim.state.accepts_input
    sim.do(say("again"), request="r9")
    assert sim.state.phase == "starting"


def test_an_adopted_agent_is_as_ready_as_it_was() -> None:
    sim = connecting()
    key = sim.do(say(mode="queue"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation, adopted=True, ready=False))
    assert sent(sim) == []
    assert sim.log[-1] == e.AgentConnected(
        incarnation=sim.state.incarnation, adopted=True, accepts_input=False
    )
    sim.fact(f.AcceptsInput())
    assert sent(sim) == [key]


def test_an_input_that_its_driver_kept_back_was_never_delivered() -> None:
    sim = Sim().up()
    kept, read = sim.do(say("1")), sim.do(say("2"))
    fates = {kept: fate(0, took=5, read_upto=5), read: fate(2, took=5, read_upto=5)}
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit", fates=fates))
    assert outcomes(sim) == {kept: "not_delivered", read: "unknown"}
