from __future__ import annotations

import typing

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.errors import RefusedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, TurnId
from flybridge.model.limits import UsageLimit
from flybridge.session.evolve import _CHANGES, _NOTHING, evolve
from flybridge.session.state import decode_state, encode_state
from tests.harness.session_sim import Sim, ask, encoded, say

ITEMS = [ItemId("a"), ItemId("b")]
PROMPTS = [PromptId("p"), PromptId("q")]
DIGEST = ask(Sim().up()).digest


def test_every_event_is_folded_or_known_to_change_nothing() -> None:
    events = set(typing.get_args(e.Event))
    assert set(_CHANGES) | _NOTHING == events
    assert not set(_CHANGES) & _NOTHING


def waits(sim: Sim) -> tuple[str, int]:
    return sim.state.waiting_for, sim.state.waiting_until_ms


def test_waiting_for_the_clock_ends_when_something_moves() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan(), e.Retry(attempt=2, at_ms=9000))
    assert waits(sim) == ("retry", 9000)
    sim.fact(f.ItemOpened(item=ItemId("i"), kind="text"))
    assert waits(sim) == ("", 0)
    sim.fact(e.RateLimit(status="rejected", resets_ms=7000))
    assert waits(sim) == ("rate_limit", 7000)
    sim.fact(e.Error(code="other", text=""))
    assert waits(sim) == ("rate_limit", 7000)
    sim.fact(e.Error(code="wedged", text=""))
    assert waits(sim)[0] == "wedged"
    sim.fact(e.RateLimit(status="allowed"), f.TurnOver())
    assert waits(sim) == ("", 0)


def test_a_typed_limit_that_is_reached_is_waited_for_whatever_the_agent_calls_it() -> None:
    sim = Sim().up()
    near = UsageLimit(scope="five_hour", status="warning")
    sim.fact(e.RateLimit(status="429", resets_ms=7000, limits=(near,)))
    assert waits(sim) == ("", 0)
    reached = UsageLimit(scope="five_hour", status="reached", resets_ms=7000)
    sim.fact(e.RateLimit(status="429", resets_ms=7000, limits=(reached,)))
    assert waits(sim) == ("rate_limit", 7000)


def test_compaction_is_waited_for_from_start_to_end() -> None:
    sim = Sim().up()
    sim.fact(e.ContextCompacted(phase="started"))
    assert waits(sim)[0] == "compaction"
    sim.fact(e.ContextCompacted(phase="done"))
    assert waits(sim)[0] == ""


def test_what_the_agent_says_of_itself_is_kept_until_it_says_otherwise() -> None:
    sim = Sim().up()
    sim.fact(e.AgentReady(model="m", mode="plan", agent_session="s", version="1"))
    sim.fact(e.AgentReady())
    state = sim.state
    assert (state.model, state.mode, state.agent_session, state.version) == ("m", "plan", "s", "1")
    sim.fact(e.ModelChanged(model="n"), e.ModeChanged(mode="default"))
    assert (state.model, state.mode) == ("n", "default")


def test_totals_add_up() -> None:
    sim = Sim().up()
    for cost in (0.5, 0.25):
        sim.fact(f.TurnBegan(), f.TurnOver(cost_usd=cost, gauges={"x": msgspec.Raw(b"1")}))
    assert (sim.state.cost_usd, sim.state.turns) == (0.75, 2)
    assert sim.state.gauges == {"x": msgspec.Raw(b"1")}


def test_a_session_changes_only_what_was_named() -> None:
    sim = Sim().up()
    sim.do(c.Archive())
    assert (sim.state.title, sim.state.archived) == ("t", True)
    sim.do(c.Rename(title="new"))
    assert (sim.state.title, sim.state.archived) == ("new", True)


facts: st.SearchStrategy[f.Fact] = st.one_of(
    st.just(f.TurnBegan()),
    st.just(f.TurnOver(cost_usd=0.1)),
    st.sampled_from(ITEMS).map(lambda item: f.ItemOpened(item=item, kind="text")),
    st.sampled_from(ITEMS).map(lambda item: f.ItemClosed(item=item, text="x")),
    st.sampled_from(ITEMS).map(lambda item: f.ToolCalled(item=item, name="Bash")),
    st.sampled_from(ITEMS).map(lambda item: f.ToolReturned(item=item)),
    st.sampled_from(PROMPTS).map(
        lambda one: f.PermissionAsked(prompt=one, tool="Bash", input=msgspec.Raw(b"{}"))
    ),
    st.sampled_from(PROMPTS).map(lambda one: f.PromptWithdrawn(prompt=one)),
    st.integers(1, 9).map(lambda n: f.Wrote(key=InputKey(f"me:r{n}"))),
    st.integers(1, 9).map(lambda n: f.InputEchoed(key=InputKey(f"me:r{n}"))),
    st.just(f.LinkEnded(incarnation=IncarnationId("inc_1"), why="exit")),
    st.just(f.LinkUp(incarnation=IncarnationId("inc_1"))),
)
commands: st.SearchStrategy[c.Command] = st.one_of(
    st.sampled_from(["auto", "queue", "steer"]).map(lambda mode: say(mode=mode)),
    st.just(c.Interrupt()),
    st.just(c.SetModel(model="m")),
    st.sampled_from(PROMPTS).map(
        lambda one: c.AnswerPermission(prompt=one, digest=DIGEST, decision="allow")
    ),
)


def play(sim: Sim, one: f.Fact | c.Command) -> None:
    try:
        if isinstance(one, typing.get_args(c.Command)):
            sim.do(typing.cast(c.Command, one))
        else:
            sim.fact(typing.cast(f.Fact, one))
    except RefusedError:
        pass


@given(st.lists(st.one_of(facts, commands), max_size=40))
@settings(max_examples=150)
def test_folding_the_log_gives_the_live_state_at_every_prefix(
    script: list[f.Fact | c.Command],
) -> None:
    sim = Sim().up()
    live = [(len(sim.log), encoded(sim.state))]
    for one in script:
        play(sim, one)
        live.append((len(sim.log), encoded(sim.state)))
    for mark, state in live:
        assert encoded(sim.fold(mark)) == state


@given(st.lists(st.one_of(facts, commands), max_size=30), st.integers(0, 60))
def test_a_snapshot_and_the_rest_of_the_log_give_the_same_state(
    script: list[f.Fact | c.Command], at: int
) -> None:
    sim = Sim().up()
    for one in script:
        play(sim, one)
    at = min(at, len(sim.log))
    state = decode_state(encode_state(sim.fold(at)))
    for seq, event in enumerate(sim.log[at:], at + 1):
        evolve(state, event, seq, sim.now)
    assert encoded(state) == encoded(sim.state)


def test_every_change_has_a_tag_that_is_stable_in_form() -> None:
    for kind in typing.get_args(e.Event):
        tag = str(kind.__struct_config__.tag)
        assert tag == tag.lower()


PAST: list[e.Event] = [
    e.History(phase="started", conversation="c", turns=1),
    e.InputAccepted(key=InputKey("past:1"), kind="message", by="past", fingerprint=""),
    e.TurnStarted(turn=TurnId("past_1")),
    e.InputConsumed(key=InputKey("past:1"), turn=TurnId("past_1")),
    e.ItemStarted(item=ItemId("t"), kind="tool"),
    e.ToolStarted(item=ItemId("t"), name="Bash"),
    e.Retry(attempt=1, at_ms=9000),
    e.TurnEnded(turn=TurnId("past_1"), cost_usd=3.0),
    e.History(phase="done", conversation="c"),
]


def test_what_was_before_opens_nothing_and_counts_for_nothing() -> None:
    sim = Sim().up()
    before = encoded(sim.state)
    state = sim.state
    for n in range(len(PAST)):
        state = decode_state(before)
        for seq, event in enumerate(PAST[: n + 1], sim.state.seq + 1):
            evolve(state, event, seq, 5)
        assert (state.turn, state.turns, state.cost_usd, state.spoke) == ("", 0, 0.0, False)
        assert (state.items, state.inputs, state.prompts, state.waiting_for) == ({}, {}, {}, "")
        assert state.past == (n + 1 < len(PAST))
    assert (state.seq, state.at_ms) == (sim.state.seq + len(PAST), 5)
    evolve(state, e.TurnStarted(turn=TurnId("t1")), state.seq + 1, 6)
    assert (state.turn, state.turns, state.spoke) == ("t1", 1, True)
