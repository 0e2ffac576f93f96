from __future__ import annotations

import msgspec

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Options
from flybridge.session.decide import decide
from flybridge.session.lives import start_spec
from tests.session.sim import CAPABILITIES, Sim, say


def test_a_setting_that_the_agent_took_holds_in_its_next_life() -> None:
    for command, options in (
        (c.SetEffort(effort="low"), Options(effort="low")),
        (c.SetFast(on=True), Options(fast=True)),
    ):
        sim = Sim().up()
        able = msgspec.structs.replace(CAPABILITIES, at_start=frozenset())
        context = msgspec.structs.replace(sim.context("x"), capabilities=able)
        sim._take(decide(sim.state, command, context))
        key = next(iter(sim.state.inputs))
        sim.fact(f.Wrote(key=key), f.InputConfirmed(key=key))
        assert start_spec(sim.state).options == options
        assert sim.tags()[-2:] == ["session.changed", "input.outcome"]


def test_a_setting_that_the_agent_refused_or_never_answered_changes_nothing() -> None:
    for fact, outcome in ((f.InputRejected, "refused"), (f.InputUnanswered, "unknown")):
        sim = Sim().up()
        key = sim.do(c.SetModel(model="m"))
        sim.fact(f.Wrote(key=key), fact(key=key, reason="why"))
        last = sim.log[-1]
        assert isinstance(last, e.InputOutcome)
        assert (last.outcome, last.reason) == (outcome, "why")
        head = len(sim.log)
        sim.fact(fact(key=key))
        assert len(sim.log) == head


def test_a_message_that_was_taken_back_is_cancelled_not_refused() -> None:
    sim = Sim().up()
    key = sim.do(say())
    sim.fact(f.Wrote(key=key), f.InputRejected(key=key, reason="cancelled"))
    assert sim.tags()[-1] == "input.outcome"
    assert "input.refused" not in sim.tags()


def test_what_waited_behind_a_message_that_was_taken_back_leaves() -> None:
    sim = Sim().up()
    first = sim.do(say())
    second = sim.do(say(mode="queue"))
    assert sim.state.held() == [second]
    sim.fact(f.Wrote(key=first), f.InputRejected(key=first, reason="cancelled"))
    assert sim.state.held() == []
    assert sim.state.inputs[second].stage == "dispatching"


def test_a_refusal_in_a_turn_lets_nothing_leave_early() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    first = sim.do(say())
    second = sim.do(say(mode="queue"))
    sim.fact(f.Wrote(key=first), f.InputRejected(key=first, reason="no"))
    assert sim.state.held() == [second]
