from __future__ import annotations

import pytest

from flybridge.agents.demo.scenes.asking import COLOUR, CREW, NAME, PLAN
from tests.harness.agent_host import DEMO, Host, Reply, allow, asked, deny, results, spoken
from tests.harness.line_process import Json


def answering(**answers: object) -> Reply:
    questions = {"colour": COLOUR, "crew": CREW, "name": NAME}
    given = {questions[key]["question"]: answer for key, answer in answers.items()}
    return lambda request: {
        "behavior": "allow",
        "updatedInput": {**request["input"], "answers": given},
    }


def test_a_question_has_the_shape_of_the_cli() -> None:
    with Host() as host:
        messages = host.play("question", allow)
    (request,) = asked(messages)
    assert request["tool_name"] == "AskUserQuestion"
    assert request["requires_user_interaction"] is True
    assert request["input"]["questions"] == [COLOUR]
    detail = results(messages)[0]["tool_use_result"]
    assert detail == {"questions": [COLOUR], "answers": {COLOUR["question"]: "White"}}
    assert "Colour: **White**" in spoken(messages)


@pytest.mark.parametrize("chosen", ["Cook, Cat", ["Cook", "Cat"]])
def test_several_answers_come_as_text_or_as_a_list(chosen: object) -> None:
    with Host() as host:
        assert "Crew: **Cook, Cat**" in spoken(host.play("choices", answering(crew=chosen)))


def test_own_words_are_an_answer() -> None:
    with Host() as host:
        assert "Name: **Wet Wheel**" in spoken(host.play("words", answering(name="Wet Wheel")))


def test_several_questions_come_in_one_prompt() -> None:
    with Host() as host:
        messages = host.play("questions", answering(colour="Red", name="X"))
    (request,) = asked(messages)
    assert [one["header"] for one in request["input"]["questions"]] == ["Colour", "Crew", "Name"]
    said = spoken(messages)
    assert all(one in said for one in ("Colour: **Red**", "Crew: **open**", "Name: **X**"))


def test_nobody_has_to_answer() -> None:
    with Host() as host:
        assert "an answer too" in spoken(host.play("question", deny))
        nothing = host.play("question", lambda request: {"behavior": "allow"})
        odd = host.play("question", lambda r: {"behavior": "allow", "updatedInput": {"x": 1}})
    assert "Colour: **open**" in spoken(nothing)
    assert "Colour: **open**" in spoken(odd)


def test_even_a_mode_that_allows_everything_asks_people() -> None:
    with Host(DEMO, "--permission-mode", "bypassPermissions") as host:
        assert len(asked(host.play("question", allow))) == 1
        assert len(asked(host.play("plan", allow))) == 1


def modes(messages: list[Json]) -> list[str]:
    return [
        m["permissionMode"]
        for m in messages
        if m.get("subtype") == "status" and "permissionMode" in m
    ]


def test_an_approved_plan_leaves_plan_mode() -> None:
    with Host(DEMO, "--permission-mode", "acceptEdits") as host:
        messages = host.play("plan", allow)
        assert host.turn("hello")[0]["permissionMode"] == "acceptEdits"
    (request,) = asked(messages)
    assert request["input"] == {"plan": PLAN}
    assert modes(messages) == ["plan", "acceptEdits"]
    assert results(messages)[0]["tool_use_result"]["plan"] == PLAN


def test_a_plan_that_is_not_approved_stays_a_plan() -> None:
    with Host() as host:
        messages = host.play("plan", deny)
        assert host.turn("hello")[0]["permissionMode"] == "plan"
        again = host.play("plan", allow)
    assert modes(messages) == ["plan"]
    assert "rather not" in spoken(messages)
    assert modes(again) == ["default"]
