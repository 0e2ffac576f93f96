from __future__ import annotations

from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import InputKey
from flybridge.session.effects import Send
from flybridge.session.waiting import deadline_ms, withdraw
from tests.harness.session_sim import Sim, say


def sent(sim: Sim) -> list[InputKey]:
    return [one.key for one in sim.effects if isinstance(one, Send)]


def test_a_held_input_expires_at_its_deadline() -> None:
    sim = Sim().opened()
    sim.do(say(deadline_ms=5000))
    sim.do(say())
    assert deadline_ms(sim.state) == 5000
    sim.expire(4999)
    assert len(sim.state.held()) == 2
    sim.expire(5000)
    assert len(sim.state.held()) == 1
    assert deadline_ms(sim.state) is None


def test_what_leaves_together_keeps_its_order_and_queued_ones_stay_behind() -> None:
    sim = Sim().opened()
    first, queued, last = sim.do(say("1")), sim.do(say("2", mode="queue")), sim.do(say("3"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation))
    assert sent(sim) == [first]
    assert sim.state.held() == [queued, last]


def test_a_queued_one_alone_leaves_when_the_agent_is_up() -> None:
    sim = Sim().opened()
    key, _ = sim.do(say("1", mode="queue")), sim.do(say("2", mode="queue"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation))
    assert sent(sim) == [key]


def test_what_somebody_said_who_may_not_any_more_stays_here() -> None:
    sim = Sim().opened()
    theirs = sim.do(say(), by="them")
    sim.do(say(), by="me")
    gone = withdraw(sim.state, "them")
    assert gone.effects == []
    assert gone.events == [
        e.InputOutcome(key=theirs, outcome="cancelled", reason="not allowed any more")
    ]
    assert withdraw(sim.state, "nobody").events == []
