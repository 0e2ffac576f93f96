from __future__ import annotations

import msgspec
import pytest

from flybridge.errors import BusyError, NotSupportedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import OpenSpec, StartOptions
from flybridge.model.legacy_options import start_fields, start_options
from flybridge.model.options import Value
from flybridge.session.decide import open_session
from flybridge.session.effects import Start, Stop
from flybridge.session.incarnations import options_after, start_spec, transport_of
from tests.harness.session_sim import Sim, ask, say


def opened(**more: object) -> Sim:
    return Sim().up(OpenSpec(agent="demo", cwd="/tmp", **more))  # type: ignore[arg-type]


def goes(spec: OpenSpec) -> tuple[str, bool, bool]:
    return spec.agent_session, spec.resume, spec.fork


def test_the_start_of_an_agent_says_what_the_session_is() -> None:
    spec = start_spec(Sim().up().state)
    assert (spec.agent, spec.cwd, spec.labels, spec.resume) == ("demo", "/tmp", {"a": "b"}, False)


def test_a_session_that_goes_on_with_a_conversation_resumes_it_in_every_life() -> None:
    sim = opened(agent_session="old", resume=True)
    assert goes(start_spec(sim.state)) == ("old", True, False)


def test_a_copy_is_made_once_something_was_said_in_it() -> None:
    sim = opened(agent_session="old", resume=True, fork=True)
    assert goes(start_spec(sim.state)) == ("old", True, True)
    sim.fact(e.AgentReady(agent_session="new"), f.TurnBegan(), f.TurnOver())
    assert goes(start_spec(sim.state)) == ("new", True, False)
    sim.fact(e.ConversationLost())
    assert goes(start_spec(sim.state)) == ("", False, False)


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("way", [{"continue_latest": True}, {"from_pr": "12"}])
def test_what_goes_on_with_a_conversation_of_no_known_name_does_so_until_it_has_one(
    way: dict[str, object], fork: bool
) -> None:
    sim = opened(**way, fork=fork)
    spec = start_spec(sim.state)
    assert (spec.continue_latest, spec.from_pr, spec.fork, spec.resume) == (
        bool(way.get("continue_latest")),
        way.get("from_pr", ""),
        fork,
        False,
    )
    sim.fact(e.AgentReady(agent_session="found"), f.TurnBegan(), f.TurnOver())
    spec = start_spec(sim.state)
    assert (spec.continue_latest, spec.from_pr) == (False, "")
    assert goes(spec) == ("found", True, False)


def test_options_hold_in_every_life() -> None:
    values: dict[str, Value] = {
        "max_turns": 3,
        "allowed_tools": ("Read",),
        "system_prompt": "be brief",
    }
    options = StartOptions(effort="low", budget_usd=1.5, agent_options=values)
    sim = opened(**start_fields(options))
    assert start_options(start_spec(sim.state)) == options
    assert start_options(start_spec(sim.fold())) == options


def test_who_may_open_a_session_that_asks_nobody_may_come_back_to_that() -> None:
    sim = Sim()
    spec = OpenSpec(agent="demo", cwd="/tmp", mode="bypassPermissions")
    context = msgspec.structs.replace(sim.context("r0"), kept={"allow_bypass": True})
    opening = open_session(spec, context)
    assert opening.effects == [Start(context.incarnation, spec)]  # the first life needs no more
    sim._take(opening)
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation), e.ModeChanged(mode="default"))
    later = start_spec(sim.state)
    assert (later.mode, later.agent_options) == ("default", {"allow_bypass": True})


def test_a_setting_for_the_start_ends_the_agent_and_is_there_in_its_next_life() -> None:
    sim = Sim().up()
    sim.fact(e.AgentReady(agent_session="a"), f.TurnBegan(), f.TurnOver())
    sim.do(c.SetEffort(effort="high"))
    assert sim.tags()[-3:] == ["input.accepted", "session.changed", "input.outcome"]
    assert sim.effects == [Stop()]
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit", asked=True))
    sim.do(say())
    start = sim.effects[-1]
    assert isinstance(start, Start)
    assert start.spec.effort == "high"
    assert goes(start.spec) == ("a", True, False)


def test_a_setting_for_the_start_needs_no_agent() -> None:
    sim = Sim().up()
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    sim.do(c.SetFast(on=True))
    assert sim.effects == []
    assert sim.state.start.agent_options == {"fast": True}


def test_no_work_is_cut_short_for_a_setting() -> None:
    for begin in (lambda sim: sim.fact(f.TurnBegan()), ask, lambda sim: sim.do(say())):
        sim = Sim().up()
        begin(sim)
        with pytest.raises(BusyError):
            sim.do(c.SetEffort(effort="high"))
    with pytest.raises(BusyError):
        Sim().opened().do(c.SetEffort(effort="high"))


def test_what_the_agent_cannot_be_started_with_is_refused() -> None:
    sim = Sim().up()
    with pytest.raises(NotSupportedError, match="enormous"):
        sim.do(c.SetEffort(effort="enormous"))
    with pytest.raises(NotSupportedError):
        options_after(StartOptions(), c.SetThinking(tokens=1), frozenset())
    assert sim.effects == []


def test_a_person_starts_only_what_is_all_new() -> None:
    sim = opened(transport="by_hand")
    assert transport_of(sim.state) == "by_hand"
    sim.state.spoke = True
    assert transport_of(sim.state) == "socket"
    forked = opened(transport="by_hand", agent_session="old", resume=True, fork=True)
    assert transport_of(forked.state) == "socket"
    assert transport_of(opened(transport="by_hand", continue_latest=True).state) == "socket"
    assert transport_of(opened().state) == "stdio"
    assert transport_of(opened(transport="socket").state) == "socket"
