from __future__ import annotations

import msgspec

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import StartOptions
from flybridge.model.ids import InputKey
from flybridge.model.legacy_options import start_options
from flybridge.session.decide import decide
from flybridge.session.incarnations import start_spec
from tests.harness.session_sim import CAPABILITIES, Sim, say


def test_a_setting_that_the_agent_took_holds_in_its_next_life() -> None:
    for command, options in (
        (c.SetEffort(effort="low"), StartOptions(effort="low")),
        (c.SetFast(on=True), StartOptions(agent_options={"fast": True})),
    ):
        sim = Sim().up()
        able = msgspec.structs.replace(CAPABILITIES, at_start=frozenset())
        context = msgspec.structs.replace(sim.context("x"), capabilities=able)
        sim._take(decide(sim.state, command, context))
        key = next(iter(sim.state.inputs))
        sim.fact(f.Wrote(key=key), f.InputConfirmed(key=key))
        assert start_options(start_spec(sim.state)) == options
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


# ---- interrupts that name a turn ---------------------------------------------------------------


def interrupting() -> tuple[Sim, InputKey]:
    """A turn that runs, and an interrupt that names it."""
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    return sim, sim.do(c.Interrupt(turn=sim.state.turn))


def ends(sim: Sim, key: InputKey) -> list[tuple[str, str]]:
    found = [one for one in sim.log if isinstance(one, e.InputOutcome) and one.key == key]
    return [(one.outcome, one.reason) for one in found]


def notices(sim: Sim) -> list[str]:
    return [one.text for one in sim.log if isinstance(one, e.Notice)]


def test_an_interrupt_that_stopped_its_turn_is_done() -> None:
    sim, key = interrupting()
    sim.fact(f.Wrote(key=key), f.TurnOver(reason="interrupted"), f.InputConfirmed(key=key))
    assert ends(sim, key) == [("done", "")]
    sim, key = interrupting()  # the end of the turn overtakes the keeper's report
    sim.fact(f.TurnOver(reason="interrupted"), f.Wrote(key=key), f.InputConfirmed(key=key))
    assert ends(sim, key) == [("done", "")]


def test_c05_an_interrupt_whose_turn_ended_by_itself_did_not_stop_it() -> None:
    sim, key = interrupting()
    sim.fact(f.TurnOver(), f.Wrote(key=key), f.InputConfirmed(key=key))
    assert ends(sim, key) == [("cancelled", "turn_ended")]
    assert notices(sim) == []
    sim, key = interrupting()
    sim.fact(f.Wrote(key=key), f.TurnOver(), f.InputUnanswered(key=key, reason="late"))
    assert ends(sim, key) == [("cancelled", "turn_ended")]


def test_c05_the_turn_that_was_stopped_instead_is_marked() -> None:
    sim, key = interrupting()
    first = sim.state.turn
    sim.fact(f.TurnOver(), f.Wrote(key=key), f.TurnBegan())
    second = sim.state.turn
    sim.fact(f.TurnOver(reason="interrupted"), f.InputConfirmed(key=key))
    assert ends(sim, key) == [("cancelled", "turn_ended")]
    assert notices(sim) == [f"turn {second} was stopped by an interrupt that named turn {first}"]


def test_c05_the_turn_that_may_be_stopped_instead_is_marked_too() -> None:
    sim, key = interrupting()
    first = sim.state.turn
    sim.fact(f.TurnOver(), f.Wrote(key=key), f.TurnBegan())
    second = sim.state.turn
    sim.fact(f.InputConfirmed(key=key), f.TurnOver(reason="interrupted"))
    assert ends(sim, key) == [("cancelled", "turn_ended")]
    assert notices(sim) == [
        f"an interrupt of turn {first} came after its end; it may stop {second}"
    ]


def test_c06_the_log_tells_what_took_a_message_back() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    message = sim.do(say())
    sim.fact(f.Wrote(key=message))
    stop = sim.do(c.Interrupt())
    sim.fact(f.Wrote(key=stop), f.InputRejected(key=message, reason="cancelled"))
    assert ends(sim, message) == [("cancelled", "interrupted")]
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    message = sim.do(say())
    sim.fact(f.Wrote(key=message), f.InputRejected(key=message, reason="cancelled"))
    assert ends(sim, message) == [("cancelled", "")]
