"""Scenes in which a person decides: questions, and a plan to review."""

from __future__ import annotations

from flybridge.agents.demo.blocks import Call, Outcome, Say
from flybridge.agents.demo.stream import Json
from flybridge.agents.demo.turn import Turn

COLOUR: Json = {
    "question": "Which colour should the boat have?",
    "header": "Colour",
    "multiSelect": False,
    "options": [
        {"label": "White", "description": "Like all the others"},
        {"label": "Blue", "description": "Hard to see from above"},
        {"label": "Red", "description": "Easy to see from everywhere"},
    ],
}
CREW: Json = {
    "question": "Who comes along? Choose as many as you like.",
    "header": "Crew",
    "multiSelect": True,
    "options": [
        {"label": "Cook", "description": "Everybody is fed"},
        {"label": "Navigator", "description": "Everybody arrives"},
        {"label": "Cat", "description": "Nobody knows why"},
    ],
}
NAME: Json = {
    "question": "What is the boat's name? Type your own words.",
    "header": "Name",
    "multiSelect": False,
    "options": [
        {"label": "Second Helm", "description": "If you have no idea"},
        {"label": "No Name", "description": "If you do not want one"},
    ],
}
PLAN = """\
# Give the boat a second helm

1. **Look** at what the first helm can do: `ls`, then read.
2. **Build** the second one above it, so that both turn the same rudder.
3. **Try** it: each helm alone, then both at once.

Nothing is changed before you approve this. If you do not, say what should be different.
"""


async def ask_one(turn: Turn, _rest: str) -> None:
    await _ask(turn, "One question, one answer: a number, or your own words.", COLOUR)


async def ask_many(turn: Turn, _rest: str) -> None:
    await _ask(turn, "One question, several answers: numbers, like `1 3`.", CREW)


async def ask_words(turn: Turn, _rest: str) -> None:
    await _ask(turn, "A question whose answer I cannot guess.", NAME)


async def ask_all(turn: Turn, _rest: str) -> None:
    await _ask(turn, "Three questions in one prompt, one after the other.", COLOUR, CREW, NAME)


async def _ask(turn: Turn, said: str, *questions: Json) -> None:
    call = Call("AskUserQuestion", {"questions": list(questions)}, work=_take_answers)
    (outcome,) = await turn.respond(Say(said), call)
    if outcome.failed:
        await turn.respond(Say("You did not want to answer, which is an answer too."))
        return
    answers = _answers(outcome.detail)
    rows = [f"- {one['header']}: **{answers.get(one['question'], 'open')}**" for one in questions]
    await turn.respond(Say("You said:\n\n" + "\n".join(rows)))


async def _take_answers(given: Json) -> Outcome:
    answers = _answers(given)
    said = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    detail: Json = {"questions": given.get("questions", []), "answers": answers}
    return Outcome(text=f"Answered: {said}" if said else "No question was answered.", detail=detail)


def _answers(given: object) -> dict[str, str]:
    """Question and answer; several labels may come as a list."""
    said = given.get("answers") if isinstance(given, dict) else None
    if not isinstance(said, dict):
        return {}
    return {
        str(key): ", ".join(map(str, one)) if isinstance(one, list) else str(one)
        for key, one in said.items()
    }


async def plan(turn: Turn, _rest: str) -> None:
    session = turn.session
    before = session.mode if session.mode != "plan" else "default"
    if session.mode != "plan":
        session.mode = "plan"
        turn.speaker.mode_changed()

    async def approved(given: Json) -> Outcome:
        session.mode = before
        turn.speaker.mode_changed()
        text = str(given.get("plan", ""))
        detail: Json = {"plan": text, "isAgent": False, "filePath": None}
        return Outcome(text="The plan is approved.", detail=detail)

    call = Call("ExitPlanMode", {"plan": PLAN}, work=approved)
    (outcome,) = await turn.respond(Say("I am in plan mode: I look, and change nothing."), call)
    if outcome.failed:
        said = f"I stay in plan mode, with this in mind:\n\n> {outcome.text}\n\n"
        await turn.respond(Say(said + "`/mode default` leaves it, `plan` asks again."))
    else:
        said = f"Approved: the mode is `{session.mode}` again. A real agent would begin now."
        await turn.respond(Say(said))
