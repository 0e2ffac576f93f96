from __future__ import annotations

import typing

import msgspec
import pytest

from flybridge.agents.claude.options import SCHEMA
from flybridge.errors import NotAllowedError
from flybridge.model import commands as c
from flybridge.model.capabilities import Mode
from flybridge.model.content import Text
from flybridge.model.ids import PromptId, SessionId
from flybridge.model.offers import Offer, OfferRule
from flybridge.model.options import Option, OptionSchema
from flybridge.session.authorisation import (
    _NEEDS,
    OPENER,
    Caller,
    authorise,
    grants,
    outlives_the_prompt,
    scope_of,
    stops_the_turn,
)
from flybridge.session.state import OpenPrompt, State

MINE = {OPENER: "7:1:b"}


def caller(*scopes: str, process: str = "7:1:b", of_agent: bool = False) -> Caller:
    return Caller(
        principal="p",
        scopes=frozenset(scopes),  # type: ignore[arg-type]
        process=process,
        of_agent=of_agent,
    )


def test_every_command_needs_a_scope() -> None:
    assert set(_NEEDS) == set(typing.get_args(c.Command))
    assert scope_of(c.SendInput(content=(Text("x"),))) == "input"


def test_nothing_but_approve_answers_a_prompt() -> None:
    assert scope_of(c.AnswerPermission(prompt=PromptId("p"), digest="", decision="deny")) == (
        "approve"
    )
    with pytest.raises(NotAllowedError):
        authorise(caller("view", "input", "interrupt", "spawn", process=""), "approve", MINE)


def test_who_opened_a_session_decides_in_it() -> None:
    authorise(caller("view"), "approve", MINE)
    with pytest.raises(NotAllowedError):
        authorise(caller("view", process="8:1:b"), "approve", MINE)
    with pytest.raises(NotAllowedError):
        authorise(caller("view", process=""), "approve", {OPENER: ""})


def test_opening_a_session_gives_no_right_to_other_things() -> None:
    with pytest.raises(NotAllowedError):
        authorise(caller("view"), "spawn", MINE)


def test_an_agent_cannot_approve_even_where_it_opened() -> None:
    with pytest.raises(NotAllowedError, match="agent"):
        authorise(caller("view", of_agent=True), "approve", MINE)


RULE = Offer(scope="session", durable=False, widens=False)


def test_an_answer_that_outlives_its_prompt_is_known_as_one() -> None:
    state = State(session=SessionId("s"))
    offers = (RULE, Offer(scope="session", durable=False, mode="edit"))
    state.prompts[PromptId("p")] = OpenPrompt(kind="permission", digest="d", offers=offers)

    def outlives(*remember: int, place: c.Place = "session", prompt: str = "p") -> bool:
        command = c.AnswerPermission(
            prompt=PromptId(prompt), digest="d", decision="allow", remember=remember, place=place
        )
        return outlives_the_prompt(command, state)

    assert not outlives()
    assert not outlives(place="user")
    assert not outlives(0)
    assert not outlives(9)
    assert outlives(0, place="local")
    assert outlives(0, 1)
    assert outlives(0, place="user", prompt="gone")
    assert not outlives_the_prompt(c.Interrupt(), state)


@pytest.mark.parametrize(
    ("offer", "outlives"),
    [
        (RULE, False),
        (Offer(scope="once", durable=False, widens=False), False),
        (Offer(scope="session", durable=True, widens=False), True),
        (Offer(scope="session", durable=False, widens=True), True),
        (Offer(label="Always allow", rules=(OfferRule("Bash"),)), True),
        (Offer(), True),
    ],
)
def test_c01_an_offer_of_unknown_effect_needs_an_administrator(
    offer: Offer, outlives: bool
) -> None:
    state = State(session=SessionId("s"))
    state.prompts[PromptId("p")] = OpenPrompt(kind="permission", digest="d", offers=(RULE, offer))
    assert outlives_the_prompt(_accepts(1), state) is outlives


def test_c01_an_offer_that_an_older_log_does_not_describe_needs_an_administrator() -> None:
    snapshot = b'{"kind":"permission","digest":"d","suggestions":1,"offers":[{"type":"addRules"}]}'
    state = State(session=SessionId("s"))
    state.prompts[PromptId("p")] = msgspec.json.decode(snapshot, type=OpenPrompt)
    assert outlives_the_prompt(_accepts(0), state)
    assert not outlives_the_prompt(_accepts(), state)


def _accepts(*remember: int) -> c.AnswerPermission:
    return c.AnswerPermission(
        prompt=PromptId("p"), digest="d", decision="allow", remember=remember, place="session"
    )


def test_a_mode_grants_by_what_its_agent_publishes_and_not_by_its_name() -> None:
    modes = (Mode("bypassPermissions", 0), Mode("default", 1), Mode("read-only", -1))
    assert grants("bypassPermissions", modes, SCHEMA, {}) == ""
    assert grants("read-only", modes, SCHEMA, {}) == ""
    assert grants("default", modes, SCHEMA, {}) == "permission_mode"
    assert grants("unpublished", modes, SCHEMA, {}) == "permission_mode"
    assert grants("default", (), SCHEMA, {}) == "permission_mode"
    assert grants("", (), SCHEMA, {}) == ""
    assert grants("", modes, SCHEMA, {"fast": True, "add_dirs": ("/x",)}) == "add_dirs"


def test_an_option_grants_by_what_its_agent_publishes_and_not_by_its_name() -> None:
    other = OptionSchema(
        (
            Option(name="add_dirs", type="flag", label="x", grants=False),
            Option(name="fast", type="flag", label="x"),
        )
    )
    assert grants("", (), other, {"add_dirs": True}) == ""
    assert grants("", (), other, {"fast": True}) == "fast"
    assert grants("", (), other, {"fast": False}) == ""
    assert grants("", (), other, {"recorded_by_another_version": 1}) != ""


def test_c02_a_denial_that_stops_the_turn_is_known_as_an_interrupt() -> None:
    def denies(*, stop: bool) -> c.AnswerPermission:
        return c.AnswerPermission(prompt=PromptId("p"), digest="d", decision="deny", stop=stop)

    assert stops_the_turn(denies(stop=True))
    assert not stops_the_turn(denies(stop=False))
    assert not stops_the_turn(c.Interrupt())
