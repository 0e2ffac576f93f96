from __future__ import annotations

import pytest
from msgspec import Raw

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.ids import ItemId
from flybridge.model.offers import Offer, OfferRule
from flybridge.session.effects import Stop
from flybridge.session.idling import may_go, put_away
from tests.harness.session_sim import Sim, ask, say

RULE = Raw(b'{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"}]}')


def test_an_agent_with_nothing_to_do_may_go() -> None:
    sim = Sim().up()
    assert may_go(sim.state)
    sim.fact(f.TurnBegan(), f.TurnOver())
    assert may_go(sim.state)


@pytest.mark.parametrize(
    "begin",
    [
        lambda sim: sim.fact(f.TurnBegan()),
        lambda sim: sim.do(say()),
        ask,
        lambda sim: sim.fact(f.ItemOpened(item=ItemId("i"), kind="tool")),
        lambda sim: sim.fact(e.ContextCompacted(phase="started")),
        lambda sim: sim.fact(e.BackgroundChanged(tasks=(RULE,))),
        lambda sim: sim.do(c.Close()),
        lambda sim: sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit")),
        lambda sim: sim.fact(f.LinkUp(incarnation=sim.state.incarnation, ready=False)),
    ],
)
def test_an_agent_with_anything_open_stays(begin) -> None:  # type: ignore[no-untyped-def]
    sim = Sim().up()
    begin(sim)
    assert not may_go(sim.state)


def test_whoever_granted_something_hears_that_it_is_gone() -> None:
    sim = Sim().up()
    asked = ask(sim, suggestions=(RULE,))
    assert put_away(sim.state, "x").effects == [Stop()]
    sim.do(
        c.AnswerPermission(
            prompt=asked.prompt, digest=asked.digest, decision="allow", remember=(0,)
        )
    )
    (notice,) = put_away(sim.state, "idle for 30 minutes").events
    assert isinstance(notice, e.Notice)
    assert "idle for 30 minutes" in notice.text
    assert "ruleContent" in notice.text
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    (notice,) = put_away(sim.state, "x").events
    assert isinstance(notice, e.Notice)
    assert "ask again" not in notice.text


def test_an_offer_that_ends_with_the_agent_is_named_in_words() -> None:
    sim = Sim().up()
    kept = {"scope": "session", "widens": False, "rules": (OfferRule("Bash", "ls *"),)}
    offers = (
        Offer(label="Always allow", durable=False, **kept),  # type: ignore[arg-type]
        Offer(label="Allow for ever", durable=True, **kept),  # type: ignore[arg-type]
    )
    asked = ask(sim, offers=offers)
    answer = c.AnswerPermission(
        prompt=asked.prompt, digest=asked.digest, decision="allow", remember=(0, 1)
    )
    sim.do(answer)
    (notice,) = put_away(sim.state, "x").events
    assert isinstance(notice, e.Notice)
    assert notice.text.endswith("for this session:\n- Always allow Bash(ls *)")


def test_a_rule_that_is_kept_elsewhere_is_not_lost() -> None:
    sim = Sim().up()
    asked = ask(sim, suggestions=(RULE,))
    answer = c.AnswerPermission(
        prompt=asked.prompt, digest=asked.digest, decision="allow", remember=(0,), place="user"
    )
    sim.do(answer)
    closed = [one for one in sim.log if isinstance(one, e.PermissionClosed)]
    assert (closed[0].rules, closed[0].place) == ((RULE,), "user")
    assert sim.state.rules == []
