from __future__ import annotations

from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import InputKey
from flybridge.session.effects import Send
from flybridge.session.waiting import NOT_ACCEPTING, deadline_ms, withdraw
from tests.harness.session_sim import ACCEPT_MS, Sim, say


def sent(sim: Sim) -> list[InputKey]:
    return [one.key for one in sim.effects if isinstance(one, Send)]


def test_a_held_input_expires_at_its_deadline() -> None:
    sim = Sim().opened()
    sim.do(say(deadline_ms=5000))
    sim.do(say())
    assert deadline_ms(sim.state, ACCEPT_MS) == 5000
    sim.expire(4999)
    assert len(sim.state.held()) == 2
    sim.expire(5000)
    assert len(sim.state.held()) == 1
    assert deadline_ms(sim.state, ACCEPT_MS) is None


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


# ---- an agent that never says that it takes messages ---------------------------------------------


def silent() -> Sim:
    """Return a session whose agent was connected at 1000, and has not said that it takes input."""
    sim = Sim().opened()
    sim.do(say("first"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation, ready=False))
    return sim


def notices(sim: Sim) -> list[e.Notice]:
    return [event for event in sim.log if isinstance(event, e.Notice)]


def test_people_are_told_once_what_a_message_waits_for() -> None:
    sim = silent()
    assert deadline_ms(sim.state, ACCEPT_MS) == 1000 + ACCEPT_MS // 8
    sim.expire(1000 + ACCEPT_MS // 8 - 1)
    assert notices(sim) == []
    sim.expire(1000 + ACCEPT_MS // 8)
    sim.expire(2000 + ACCEPT_MS // 8)
    (notice,) = notices(sim)
    assert notice.text == f"{NOT_ACCEPTING}; a message waits at most 80 s for it"
    assert notice.level == "warning"
    assert len(sim.state.held()) == 1
    assert deadline_ms(sim.state, ACCEPT_MS) == 1000 + ACCEPT_MS


def test_a_message_waits_a_bounded_time_for_a_silent_agent() -> None:
    sim = silent()
    first = sim.state.held()[0]
    sim.now = 30_000
    second = sim.do(say("second"))
    sim.expire(1000 + ACCEPT_MS)
    outcomes = [event for event in sim.log if isinstance(event, e.InputOutcome)]
    assert outcomes == [
        e.InputOutcome(key=first, outcome="not_delivered", reason=NOT_ACCEPTING),
    ]
    assert sim.state.held() == [second]
    sim.fact(f.AcceptsInput())
    assert sent(sim) == [second]
    assert deadline_ms(sim.state, ACCEPT_MS) is None


def test_an_agent_that_is_still_starting_is_not_called_silent() -> None:
    sim = Sim().opened()
    sim.do(say())
    sim.expire(10 * ACCEPT_MS)
    assert (notices(sim), len(sim.state.held())) == ([], 1)
    assert deadline_ms(sim.state, ACCEPT_MS) is None


def test_the_next_agent_is_waited_for_anew() -> None:
    sim = silent()
    sim.expire(1000 + ACCEPT_MS)
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    assert (sim.state.silent_since_ms, sim.state.silence_noted) == (0, False)


def test_nobody_is_told_while_nothing_waits() -> None:
    sim = Sim().opened()
    sim.do(say("first", deadline_ms=2000))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation, ready=False))
    sim.expire(2000)
    sim.expire(2 * ACCEPT_MS)
    assert notices(sim) == []
    assert deadline_ms(sim.state, ACCEPT_MS) is None
