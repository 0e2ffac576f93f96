"""Offers and modes of an agent that is not Claude decide who may accept them, and what alarms.

The courier calls nothing as Claude does: where its names happen to be Claude's they mean
something else.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.model.offers import Offer, OfferRule
from flybridge.runtime.live_session import LiveSession
from flybridge.session.alarms import MODE_ELSEWHERE
from flybridge.session.authorisation import Caller, Scope
from tests.harness.other_agent import script
from tests.harness.runtime_harness import House, ListClient
from tests.harness.waiting import until

FOR_NOW = {"id": "now", "label": "Allow for this session", "keep": "session"}
RULE = {"id": "ls", "label": "Always allow", "keep": "session", "command": "ls *"}
FOREVER = {"id": "ever", "label": "Always allow", "keep": "forever", "command": "ls *"}
NEVER = {**FOREVER, "id": "never", "label": "Always deny", "decision": "deny"}
MODE = {"id": "free", "label": "Ask no more", "keep": "session", "mode": "free"}
# looks like a suggestion of Claude's that needs no admin, and this agent does not know it
UNKNOWN = {"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "session"}


def client(*scopes: Scope) -> ListClient:
    return ListClient(
        Caller(principal="other", scopes=frozenset({"view", *scopes}), process="2:2:boot")
    )


async def asked(house: House, *offers: dict[str, Any]) -> tuple[LiveSession, e.PermissionRequested]:
    live = await house.open("courier")
    step = {"tool": "shell", "input": {"command": "ls"}, "ask": True, "offers": list(offers)}
    await house.say(live, script(step), "r1", Stage.WRITTEN)
    return live, await house.saw(e.PermissionRequested)


def accepting(asked: e.PermissionRequested, *offers: int, **more: Any) -> c.AnswerPermission:
    return c.AnswerPermission(
        prompt=asked.prompt,
        digest=asked.digest,
        decision=more.pop("decision", "allow"),
        remember=offers,
        **more,
    )


@pytest.mark.parametrize("offer", [FOREVER, MODE, UNKNOWN, {}])
async def test_s1_an_offer_that_is_durable_widens_or_is_unknown_needs_admin(
    house: House, offer: dict[str, Any]
) -> None:
    live, prompt = await asked(house, RULE, offer)
    answer = accepting(prompt, 0, 1)
    refused = await house.submit(live.session, answer, "a1", client=client("approve"))
    assert refused.error == "not_allowed"
    assert prompt.prompt in live.memory.state.prompts
    allowed = await house.submit(live.session, answer, "a2", client=client("approve", "admin"))
    assert not allowed.error


@pytest.mark.parametrize("offer", [FOR_NOW, RULE, {**RULE, "keep": "once"}])
async def test_s1_an_offer_for_the_session_that_widens_nothing_needs_approve_only(
    house: House, offer: dict[str, Any]
) -> None:
    live, prompt = await asked(house, offer)
    denied = await house.submit(live.session, accepting(prompt, 0), "a0", client=client("input"))
    assert denied.error == "not_allowed"
    elsewhere = accepting(prompt, 0, place="user")
    refused = await house.submit(live.session, elsewhere, "a1", client=client("approve"))
    assert refused.error == "not_allowed"
    answer = accepting(prompt, 0)
    assert not (await house.submit(live.session, answer, "a2", client=client("approve"))).error
    closed = await house.saw(e.PermissionClosed)
    assert closed.offers == prompt.offers
    assert closed.place == "session"


async def test_s1_an_offer_that_does_not_exist_is_refused(house: House) -> None:
    live, prompt = await asked(house, RULE)
    for at in (1, -1):
        reply = await house.submit(live.session, accepting(prompt, at), f"a{at}")
        assert reply.error == "invalid_request"


async def test_s9_offers_reach_clients_as_the_driver_describes_them(house: House) -> None:
    _, prompt = await asked(house, RULE, UNKNOWN)
    assert prompt.offers == (
        Offer(
            id="ls",
            label="Always allow",
            scope="session",
            durable=False,
            widens=False,
            allows=True,
            rules=(OfferRule("shell", "ls *"),),
        ),
        Offer(id=""),
    )
    assert [msgspec.json.decode(own) for own in prompt.suggestions] == [RULE, UNKNOWN]


async def test_s1_a_prompt_whose_offers_are_not_described_needs_admin(house: House) -> None:
    """Prompts that an earlier version wrote to the journal have suggestions and no offers."""
    live = await house.open("courier")
    line = {"ask": "p1", "tool": "shell", "input": {}, "offers": [RULE], "describe": False}
    await house.say(live, script({"raw": line}, {"wait_file": "/never"}), "r1", Stage.WRITTEN)
    prompt = await house.saw(e.PermissionRequested)
    assert (len(prompt.suggestions), prompt.offers) == (1, ())
    refused = await house.submit(live.session, accepting(prompt, 0), "a1", client=client("approve"))
    assert refused.error == "not_allowed"
    once = accepting(prompt)
    assert not (await house.submit(live.session, once, "a2", client=client("approve"))).error


async def reports(house: House, live: LiveSession, mode: str, request: str) -> list[str]:
    """Let the agent report a mode that nobody chose; return the codes of the alarms."""
    await house.say(live, script({"raw": {"setting": "mode", "value": mode}}), request)
    await until(lambda: live.memory.state.mode == mode)
    return [alarm.code for alarm in house.client.of(e.AlarmRaised)]


async def test_s9_the_alarm_about_modes_follows_the_order_that_the_agent_publishes(
    house: House,
) -> None:
    live = await house.open("courier", mode="ask")
    assert await reports(house, live, "bypassPermissions", "r1") == []  # it asks more there
    assert await reports(house, live, "ask", "r2") == [MODE_ELSEWHERE]
    assert await reports(house, live, "free", "r3") == [MODE_ELSEWHERE] * 2
    assert await reports(house, live, "default", "r4") == [MODE_ELSEWHERE] * 3  # not published
    assert await reports(house, live, "ask", "r5") == [MODE_ELSEWHERE] * 3


async def test_s9_an_accepted_mode_is_no_alarm(house: House) -> None:
    live, prompt = await asked(house, MODE)
    await house.submit(live.session, accepting(prompt, 0), "a1", Stage.DONE)
    await house.saw(e.TurnEnded)
    assert await reports(house, live, "free", "r2") == []


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("", ""),
        ("ask", ""),
        ("bypassPermissions", ""),
        ("free", "not_allowed"),
        ("default", "not_allowed"),  # a name of Claude's, which this agent does not publish
    ],
)
async def test_s9_whoever_may_open_a_session_may_choose_the_modes_that_grant_nothing(
    house: House, mode: str, error: str
) -> None:
    wanted = {"agent": "courier", "cwd": str(house.folder), "request": "r", "mode": mode}
    reply = await house.ask("open", client("spawn"), **wanted)
    assert reply.error == error


async def test_a_denial_that_is_kept_for_ever_needs_approve_only(house: House) -> None:
    live, prompt = await asked(house, FOREVER, NEVER)
    answer = accepting(prompt, 1, decision="deny")
    reply = await house.submit(live.session, answer, "a1", Stage.DONE, client=client("approve"))
    assert not reply.error
    closed = await house.saw(e.PermissionClosed)
    assert (closed.how, closed.offers) == ("denied", (prompt.offers[1],))
    assert live.memory.state.granted == []
    assert (await house.saw(e.ToolResult)).status == "denied"


@pytest.mark.parametrize(
    "offer", [{**NEVER, "mode": "free"}, {**NEVER, "keep": "?", "decision": "deny"}]
)
async def test_a_denial_that_may_do_more_than_deny_needs_admin_or_is_refused(
    house: House, offer: dict[str, Any]
) -> None:
    live, prompt = await asked(house, offer)
    answer = accepting(prompt, 0, decision="deny")
    refused = await house.submit(live.session, answer, "a1", client=client("approve"))
    assert refused.error == "not_allowed"
    elsewhere = accepting(prompt, 0, decision="deny", place="user")
    refused = await house.submit(live.session, elsewhere, "a2", client=client("approve"))
    assert refused.error == "not_allowed"


async def test_an_offer_is_accepted_only_with_the_decision_it_belongs_to(house: House) -> None:
    live, prompt = await asked(house, RULE, NEVER)
    for at, decision in ((0, "deny"), (1, "allow")):
        reply = await house.submit(
            live.session,
            accepting(prompt, at, decision=decision),
            f"a{at}",
            client=client("approve"),
        )
        assert reply.error == "invalid_request"
    assert prompt.prompt in live.memory.state.prompts
