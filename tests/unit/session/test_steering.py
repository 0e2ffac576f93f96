"""Steering from outside, decided from the state alone."""

from __future__ import annotations

from typing import Any

import pytest

from flybridge.errors import BusyError, NotLiveError, SessionClosedError, StaleTurnError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import Capabilities
from flybridge.model.content import Text
from flybridge.model.ids import IncarnationId, InputKey, SessionId, TurnId
from flybridge.session.decide import Context
from flybridge.session.effects import Decision, Send
from flybridge.session.state import OpenInput, State
from flybridge.session.steering import IN_DOUBT_MS, steer, steer_now

NOW_MS = 10_000
HI = c.SendInput(content=(Text("hi"),))
LATER = c.SendInput(content=(Text("hi"),), mode="queue")


def state(**more: Any) -> State:
    made = State(session=SessionId("ses_1"), phase="live", incarnation=IncarnationId("inc_1"))
    for name, value in more.items():
        setattr(made, name, value)
    return made


def context(**more: Any) -> Context:
    return Context(now_ms=NOW_MS, principal="p", request="control/r", fingerprint="f", **more)


def how(decision: Decision) -> str:
    accepted = decision.events[0]
    assert isinstance(accepted, e.InputAccepted)
    assert (accepted.key, accepted.fingerprint) == ("p:control/r", "f")
    return accepted.choice


def sent(decision: Decision) -> bool:
    return any(isinstance(one, Send) for one in decision.effects)


def test_an_idle_agent_starts_and_a_busy_one_is_steered() -> None:
    idle, busy = steer(state(), HI, context()), steer(state(turn=TurnId("trn_1")), HI, context())
    assert (how(idle), sent(idle)) == ("started", True)
    assert (how(busy), sent(busy)) == ("steered", True)


@pytest.mark.parametrize("command", [HI, c.Interrupt()])
def test_nothing_is_started_for_it(command: c.Command) -> None:
    with pytest.raises(NotLiveError):
        steer(state(phase="none"), command, context())
    with pytest.raises(SessionClosedError):
        steer(state(closed=True), command, context())


@pytest.mark.parametrize(
    ("changed", "capabilities"),
    [
        ({"phase": "starting"}, None),
        ({"accepts_input": False}, None),
        ({"turn": TurnId("trn_1")}, Capabilities(agent="a", steers=False)),
        (
            {
                "turn": TurnId("trn_1"),
                "inputs": {
                    InputKey("i"): OpenInput(
                        kind="interrupt", by="", fingerprint="", stage="written"
                    )
                },
            },
            None,
        ),
    ],
    ids=["starting", "not ready", "takes nothing in a turn", "being interrupted"],
)
def test_what_cannot_leave_waits_or_is_refused(
    changed: dict[str, Any], capabilities: Capabilities | None
) -> None:
    decision = steer(state(**changed), HI, context(capabilities=capabilities))
    assert (how(decision), sent(decision)) == ("queued", False)
    accepted = decision.events[0]
    assert isinstance(accepted, e.InputAccepted)
    assert accepted.mode == "queue", "a restart would drop it"
    with pytest.raises(BusyError):
        steer_now(state(**changed), HI, context(capabilities=capabilities))


def test_what_wants_to_wait_waits_only_if_something_runs() -> None:
    assert how(steer(state(turn=TurnId("trn_1")), LATER, context())) == "queued"
    assert how(steer(state(), LATER, context())) == "started"


@pytest.mark.parametrize("age_ms", [IN_DOUBT_MS, IN_DOUBT_MS + 1])
def test_a_line_that_is_not_taken_blocks_those_behind_it(age_ms: int) -> None:
    stuck = OpenInput(
        kind="message", by="", fingerprint="", stage="dispatching", since_ms=NOW_MS - age_ms
    )
    now = state(inputs={InputKey("k"): stuck})
    if age_ms > IN_DOUBT_MS:
        with pytest.raises(BusyError):
            steer(now, HI, context())
    else:
        assert how(steer(now, HI, context())) == "steered"


def test_an_interrupt_with_nothing_to_stop_claims_its_key_and_is_done() -> None:
    decision = steer(state(), c.Interrupt(), context())
    assert (how(decision), decision.effects) == ("idle", [])
    assert decision.events[-1] == e.InputOutcome(key=InputKey("p:control/r"), outcome="done")


def test_an_interrupt_means_its_turn() -> None:
    running = state(turn=TurnId("trn_2"))
    assert sent(steer(running, c.Interrupt(turn=TurnId("trn_2")), context()))
    assert sent(steer(running, c.Interrupt(), context()))
    for now in (running, state()):
        with pytest.raises(StaleTurnError):
            steer(now, c.Interrupt(turn=TurnId("trn_1")), context())
