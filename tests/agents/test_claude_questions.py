"""Questions and plans: what the agent asks people besides permission."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flybridge.model import events as ev
from flybridge.model.commands import AnswerQuestion, SetMode
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, results

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §5b", "PN-5", "rule 18")
async def test_a_question_is_answered(bridge: Bridge) -> None:
    questions = [
        {
            "question": "Which colour?",
            "header": "Colour",
            "multiSelect": False,
            "options": [{"label": x, "description": x} for x in ("Red", "Blue")],
        },
        {
            "question": "Which fruits?",
            "header": "Fruits",
            "multiSelect": True,
            "options": [{"label": x, "description": x} for x in ("Apple", "Pear", "Plum")],
        },
    ]
    ask = {"tool": "AskUserQuestion", "input": {"questions": questions}}
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-question", ask, {"say": "Thanks."})
        asked = await talk.get(ev.QuestionRequested)
        assert [one["question"] for one in json.loads(bytes(asked.questions))] == [
            "Which colour?",
            "Which fruits?",
        ]
        await talk.answer(asked, {"Which colour?": ("Blue",), "Which fruits?": ("Apple", "Plum")})
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.QuestionClosed)[0].how == "answered"
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    told = str(results(bridge, "tool-question")[0]["content"])
    assert '"Which colour?"="Blue"' in told
    separator = "," if bridge.claude.version == "2.1.38" else ", "
    assert f'"Which fruits?"="Apple{separator}Plum"' in told


async def test_a_plan_is_shown_and_approved(bridge: Bridge) -> None:
    plan = {"tool": "ExitPlanMode", "input": {"plan": "# Sail\n1. Hoist"}}
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="plan")) == "done"
        request = await talk.say("plan", plan, {"say": "Going."})
        asked = await talk.get(ev.PermissionRequested)
        assert asked.tool == "ExitPlanMode"
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        assert [one.text for one in talk.all(ev.Plan)] == ["# Sail\n1. Hoist"]
        await talk.turn("plan-after", {"say": "Gone."})
        assert [one.mode for one in talk.all(ev.ModeChanged)] == ["plan", "default"]
        assert talk.unknown() == []


def question(name: str, *labels: str, several: bool = False) -> dict[str, object]:
    return {
        "question": f"{name}?",
        "header": name[:12],
        "multiSelect": several,
        "options": [{"label": one, "description": one} for one in labels],
    }


def asking(*questions: dict[str, object]) -> dict[str, object]:
    return {"tool": "AskUserQuestion", "input": {"questions": questions}}


@pytest.mark.conforms("stream-json §5b", "rule 15")
async def test_one_of_several_options_is_chosen(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        ask = asking(question("Which colour", "Red", "Blue"))
        request = await talk.say("question-one", ask, {"say": "Thanks."})
        asked = await talk.get(ev.QuestionRequested)
        assert talk.all(ev.PermissionRequested) == []
        shown = json.loads(bytes(asked.questions))[0]
        assert [one["label"] for one in shown["options"]] == ["Red", "Blue"]
        assert shown["multiSelect"] is False
        await talk.answer(asked, {"Which colour?": ("Red",)})
        assert await talk.outcome(request) == "done"
        assert talk.unknown() == []
    assert '"Which colour?"="Red"' in str(results(bridge, "question-one")[0]["content"])


@pytest.mark.conforms("stream-json §5b", "rule 18")
async def test_a_question_is_answered_in_ones_own_words(bridge: Bridge) -> None:
    words = 'Teal, "like the sea", \\ and ü'
    async with await Talk.open(bridge) as talk:
        ask = asking(question("Which colour", "Red", "Blue"))
        request = await talk.say("question-words", ask, {"say": "Thanks."})
        asked = await talk.get(ev.QuestionRequested)
        await talk.answer(asked, {"Which colour?": (words,)})
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "ok"
        assert talk.unknown() == []
    assert words in str(results(bridge, "question-words")[0]["content"])


@pytest.mark.conforms("PN-5", "rule 18")
async def test_labels_with_commas_stay_apart(bridge: Bridge) -> None:
    labels = ("Red, dark", "Blue")
    async with await Talk.open(bridge) as talk:
        ask = asking(question("Which", *labels, several=True))
        request = await talk.say("question-commas", ask, {"say": "Thanks."})
        asked = await talk.get(ev.QuestionRequested)
        await talk.answer(asked, {"Which?": labels})
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "ok"
        told = str(results(bridge, "question-commas")[0]["content"])
        assert "Red, dark" in told
        assert "Blue" in told


@pytest.mark.conforms("stream-json §5b")
async def test_a_question_nobody_wants_to_answer_is_declined(bridge: Bridge) -> None:
    async with await Talk.open(bridge) as talk:
        ask = asking(question("Which colour", "Red", "Blue"))
        request = await talk.say("question-declined", ask, {"say": "Well then."})
        asked = await talk.get(ev.QuestionRequested)
        await talk.submit(AnswerQuestion(prompt=asked.prompt, digest=asked.digest, declined=True))
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.QuestionClosed)[0].how == "declined"
        assert talk.all(ev.ToolResult)[0].status == "denied"
        assert talk.transcript.text == "Well then."
        assert talk.unknown() == []


# ---- plans -----------------------------------------------------------------------------------


@pytest.mark.conforms("audit: permission modes")
async def test_a_plan_that_is_denied_is_planned_again(bridge: Bridge) -> None:
    plans = [{"tool": "ExitPlanMode", "input": {"plan": f"# Plan {n}"}} for n in (1, 2)]
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="plan")) == "done"
        request = await talk.say("plan-denied", *plans, {"say": "Going."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "deny", message="mind the reef")
        again = await talk.get(ev.PermissionRequested, 2)
        assert again.tool == "ExitPlanMode"
        assert [one.mode for one in talk.all(ev.ModeChanged)] == ["plan"]
        await talk.decide(again, "allow")
        assert await talk.outcome(request) == "done"
        assert [one.text for one in talk.all(ev.Plan)] == ["# Plan 1", "# Plan 2"]
        assert talk.unknown() == []
    assert "mind the reef" in str(results(bridge, "plan-denied")[0]["content"])


def write_plan(path: str, text: str) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.conforms("rule 15")
async def test_the_text_of_a_plan_is_that_of_the_request(bridge: Bridge) -> None:
    """A model writes its plan into a file, and then says nothing but that it is done."""
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="plan")) == "done"
        await talk.turn("plan-file", {"say": "Planning."})
        given = "\n".join([*bridge.api.turns[-1].given(), str(bridge.api.turns[-1].body["system"])])
        write_plan(re.findall(r"(/\S+/plans/[\w-]+\.md)", given)[-1], "# From the file\n")
        leave = {"tool": "ExitPlanMode", "input": {}}
        request = await talk.say("plan-file-done", leave, {"say": "Going."})
        asked = await talk.get(ev.PermissionRequested)
        assert json.loads(bytes(asked.input))["plan"].strip() == "# From the file"
        assert [one.text.strip() for one in talk.all(ev.Plan)] == ["# From the file"]
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        assert talk.unknown() == []
