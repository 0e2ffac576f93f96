from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET, Raw

from flybridge.client.prompts import (
    Allow,
    Answers,
    Decision,
    Decline,
    Deny,
    Option,
    PermissionPrompt,
    Question,
    QuestionPrompt,
    to_command,
    to_prompt,
)
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.events import PermissionRequested, QuestionRequested
from flybridge.model.ids import PromptId
from flybridge.model.offers import Offer, OfferRule

ASKED = PermissionRequested(
    prompt=PromptId("prm_1"),
    tool="Bash",
    input=Raw(b'{"command":"ls"}'),
    digest="d1",
    reason="why not",
    suggestions=(Raw(b'{"type":"addRules"}'),),
    offers=(Offer(label="Always allow", rules=(OfferRule("Bash", "ls"),)),),
    can_edit=False,
    agent="explorer",
)
QUESTION = QuestionRequested(
    prompt=PromptId("prm_2"),
    questions=Raw(
        b'[{"question":"Which?","header":"H","multiSelect":true,"options":[{"label":"A"}],"x":1}]'
    ),
    digest="d2",
)
PERMISSION_PROMPT = PermissionPrompt(id="prm_1", tool="Bash", input={}, digest="d1")
QUESTION_PROMPT = QuestionPrompt(id="prm_2", questions=(), digest="d2")


def test_a_prompt_is_typed() -> None:
    assert to_prompt(ASKED) == PermissionPrompt(
        id="prm_1",
        tool="Bash",
        input={"command": "ls"},
        reason="why not",
        digest="d1",
        can_edit=False,
        agent="explorer",
        suggestions=({"type": "addRules"},),
        offers=(Offer(label="Always allow", rules=(OfferRule("Bash", "ls"),)),),
        kind="execute",
    )
    asked = Question(question="Which?", header="H", multi_select=True, options=(Option("A"),))
    assert to_prompt(QUESTION) == QuestionPrompt(id="prm_2", questions=(asked,), digest="d2")


@pytest.mark.parametrize("raw", [b"7", b"[1]", b"[" * 5000, b'{"a":1e999}', b'"\xff"'])
def test_what_cannot_be_read_can_still_be_refused(raw: bytes) -> None:
    asked = to_prompt(msgspec.structs.replace(ASKED, input=Raw(raw), suggestions=(Raw(raw),)))
    assert to_command(asked, Deny()).digest == "d1"
    question = to_prompt(msgspec.structs.replace(QUESTION, questions=Raw(raw)))
    assert to_command(question, Decline()).digest == "d2"


def test_every_decision_is_bound_to_what_was_asked() -> None:
    allowed = to_command(PERMISSION_PROMPT, Allow())
    assert allowed == AnswerPermission(prompt=PromptId("prm_1"), digest="d1", decision="allow")
    assert isinstance(allowed, AnswerPermission)
    assert allowed.updated_input is UNSET
    edited = to_command(PERMISSION_PROMPT, Allow(input={"command": "pwd"}, remember=(0,)))
    assert isinstance(edited, AnswerPermission)
    assert edited.updated_input == Raw(b'{"command":"pwd"}')
    assert (edited.remember, edited.place) == ((0,), "session")
    kept = to_command(PERMISSION_PROMPT, Deny(remember=(1,)))
    assert isinstance(kept, AnswerPermission)
    assert (kept.decision, kept.remember) == ("deny", (1,))
    denied = to_command(PERMISSION_PROMPT, Deny("no", stop=True))
    assert isinstance(denied, AnswerPermission)
    assert (denied.decision, denied.message, denied.stop) == ("deny", "no", True)
    answered = to_command(QUESTION_PROMPT, Answers({"Which?": "A", "Who?": ["B", "C"]}))
    assert isinstance(answered, AnswerQuestion)
    assert answered.answers == {"Which?": ("A",), "Who?": ("B", "C")}
    declined = to_command(QUESTION_PROMPT, Decline())
    assert isinstance(declined, AnswerQuestion)
    assert declined.declined


@pytest.mark.parametrize(
    ("prompt", "decision"),
    [
        (PERMISSION_PROMPT, Answers({})),
        (PERMISSION_PROMPT, Decline()),
        (QUESTION_PROMPT, Allow()),
        (QUESTION_PROMPT, Deny()),
        (PERMISSION_PROMPT, True),
        (PERMISSION_PROMPT, "allow"),
    ],
)
def test_nothing_else_is_an_answer(
    prompt: PermissionPrompt | QuestionPrompt, decision: Decision
) -> None:
    with pytest.raises(TypeError, match="is no answer to"):
        to_command(prompt, decision)
