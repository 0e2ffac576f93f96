from __future__ import annotations

from collections.abc import Sequence

from flybridge.cli.opening.origin import Origin
from flybridge.model import events as ev
from flybridge.model.capabilities import Options, StartOptions
from flybridge.model.ids import TurnId

TURN = TurnId("trn_1")
OPENED = ev.SessionOpened(
    agent="demo", cwd="/x", title="t", model="m", effort="low", options=Options(effort="low")
)


def told(*events: ev.Event | None) -> Origin:
    origin = Origin()
    for event in events:
        origin.apply(event)
    return origin


def conversation(events: Sequence[ev.Event]) -> str:
    return told(OPENED, *events).conversation


def test_it_is_what_the_session_was_opened_with_and_changed_to() -> None:
    assert told(OPENED).options == StartOptions(effort="low")
    changed = told(
        OPENED,
        None,
        ev.SessionChanged(title="new"),
        ev.SessionChanged(effort="high", agent_options={"fast": True}),
        ev.ModelChanged(model="n"),
    )
    assert (changed.agent, changed.cwd, changed.title) == ("demo", "/x", "new")
    assert (changed.model, changed.options) == (
        "n",
        StartOptions(effort="high", agent_options={"fast": True}),
    )


def test_there_is_a_conversation_once_something_was_said() -> None:
    ready = ev.AgentReady(agent_session="a")
    assert conversation([ready]) == ""
    assert conversation([ready, ev.TurnStarted(turn=TURN)]) == "a"
    assert conversation([ev.TurnStarted(turn=TURN), ready, ev.TurnEnded(turn=TURN)]) == "a"
    assert conversation([ready, ev.AgentReady(), ev.TurnStarted(turn=TURN)]) == "a"


def test_a_conversation_may_be_older_than_the_session() -> None:
    resumed = ev.SessionOpened(agent="demo", cwd="/x", resumed="old")
    assert told(resumed).conversation == "old"
    assert told(resumed, ev.AgentReady(agent_session="b")).conversation == "old"
    began = (ev.AgentReady(agent_session="b"), ev.TurnStarted(turn=TURN))
    assert told(resumed, *began).conversation == "b"


def test_a_lost_conversation_is_none() -> None:
    ready = ev.AgentReady(agent_session="a")
    assert conversation([ready, ev.TurnStarted(turn=TURN), ev.ConversationLost()]) == ""
