from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.agents.claude.driver.convert.offers import offers_of
from flybridge.cli.chat.prompts import PermissionBox, QuestionBox
from flybridge.cli.rendering.columns import cells
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.events import PermissionRequested, QuestionRequested
from flybridge.model.ids import ItemId, PromptId
from flybridge.model.offers import Offer

PROMPT = PromptId("prm_1")
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
    "behavior": "allow",
    "destination": "session",
}


def permission(
    command: str = "ls",
    *,
    height: int = 20,
    suggestions: tuple[object, ...] = (),
    tool: str = "Bash",
    described: bool = True,
) -> PermissionBox:
    own = tuple(Raw(msgspec.json.encode(suggestion)) for suggestion in suggestions)
    event = PermissionRequested(
        prompt=PROMPT,
        tool=tool,
        input=Raw(msgspec.json.encode({"command": command})),
        digest="d1",
        reason="because",
        suggestions=own,
        offers=offers_of(own) if described else (),
    )
    return PermissionBox(event, width=40, height=height)


def answer(decision: str, **more: object) -> AnswerPermission:
    given = {"prompt": "prm_1", "digest": "d1", "decision": decision, **more}
    return msgspec.convert(given, AnswerPermission, strict=False)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("y", answer("allow")),
        ("Y", answer("allow")),
        ("n", answer("deny")),
        ("s", answer("deny", stop=True)),
        ("q", None),
        ("\n", None),
        ("a", None),
    ],
)
def test_one_key_decides(key: str, expected: AnswerPermission | None) -> None:
    box = permission()
    box.page()
    assert box.press(key) == expected
    assert bool(box.hint) == (expected is None)


def test_the_box_shows_the_input_the_reason_and_the_rules() -> None:
    rows = permission("rm -rf build", suggestions=(RULE,)).page()
    assert rows == [
        ("box_top", "permission: Bash"),
        ("box", "  command: rm -rf build"),
        ("box_note", "why it asks: because"),
        ("box_note", "rule 1: Always allow Bash(ls) — in this "),
        ("box_note", "session"),
    ]


def test_nothing_can_be_allowed_before_its_end_was_shown() -> None:
    box = permission("\n".join(str(n) for n in range(10)), height=4, suggestions=(RULE,))
    shown = box.page()
    while "more rows" in shown[-1][1]:
        for key in "ya":
            assert box.press(key) is None
            assert box.hint
        assert "y allow" not in box.label
        more = box.press(" ")
        assert isinstance(more, list)
        shown = more
    assert box.press("y") == answer("allow")


def test_a_long_input_can_be_denied_at_once() -> None:
    box = permission("x\n" * 100, height=4)
    box.page()
    assert box.press("n") == answer("deny")


def test_always_stores_the_rule_that_was_chosen() -> None:
    never = {"type": "setMode", "mode": "bypassPermissions"}
    box = permission(suggestions=(never, RULE))
    assert ("box_note", "not offered here: 1 of the agent's sugge") in box.page()
    assert box.press("a") is None
    assert "which of the rules" in box.label
    assert box.press("2") is None  # only one is offered
    box.press("a")
    assert box.press("1") == answer("allow", remember=(1,))


def test_a_denial_that_is_kept_is_given_as_a_denial() -> None:
    never = Offer(label="Always deny", decision="deny", widens=False)
    always = Offer(label="Always allow", widens=False, allows=True)
    for offers, word in (((always, never), "allow or deny"), ((never,), "deny")):
        event = PermissionRequested(
            prompt=PROMPT, tool="shell", input=Raw(b"{}"), digest="d1", offers=offers
        )
        box = PermissionBox(event, width=40, height=20)
        box.page()
        assert f"a {word} always" in box.label
        box.press("a")
        last = len(offers)
        assert box.press(str(last)) == answer("deny", remember=(last - 1,))


def test_a_prompt_of_an_older_version_is_shown_without_its_suggestions() -> None:
    box = permission(suggestions=(RULE, RULE), described=False)
    assert ("box_note", "not offered here: 2 of the agent's sugge") in box.page()
    assert box.press("a") is None
    assert box.hint
    assert box.press("y") == answer("allow")


def test_a_denial_can_say_why() -> None:
    box = permission()
    box.page()
    box.press("d")
    assert box.wants == "line"
    assert box.enter(" too risky ") == answer("deny", message="too risky")


def test_escape_goes_back_to_the_choices() -> None:
    box = permission(suggestions=(RULE,))
    box.page()
    assert not box.back()
    box.press("d")
    assert box.back()
    assert box.wants == "key"
    box.press("a")
    assert box.back()
    assert box.press("1") is None


def asked(tool: str, given: object, *, parent: str = "", height: int = 20) -> PermissionBox:
    event = PermissionRequested(
        prompt=PROMPT,
        tool=tool,
        input=Raw(msgspec.json.encode(given)),
        digest="d1",
        parent=ItemId(parent),
    )
    return PermissionBox(event, width=40, height=height)


def test_an_edit_is_shown_as_a_difference_and_kept_as_its_size() -> None:
    box = asked("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"})
    assert box.page() == [
        ("box_top", "permission: Edit"),
        ("box", "  file_path: /a"),
        ("box_removed", "  - x"),
        ("box_added", "  + y"),
    ]
    assert box.record()[-1] == ("box_note", "+1 -1 lines")


def test_an_edit_cannot_be_allowed_before_its_end_was_shown() -> None:
    box = asked("Write", {"file_path": "/a", "content": "x\n" * 20}, height=4)
    box.page()
    assert box.press("y") is None
    while isinstance(box.press(" "), list):
        pass
    assert box.press("y") == answer("allow")


def test_a_plan_is_reviewed_in_its_own_words() -> None:
    box = asked("ExitPlanMode", {"plan": "# Do it\nthen rest"})
    assert box.page() == [
        ("box_top", "plan to review: ExitPlanMode"),
        ("box", "  # Do it"),
        ("box", "  then rest"),
    ]
    assert box.label.startswith("y approve the plan · n keep planning")
    box.press("d")
    assert box.label == "what to change > "
    assert box.enter("a test first") == answer("deny", message="a test first")


def test_a_subagent_is_named_and_its_name_is_harmless() -> None:
    event = PermissionRequested(
        prompt=PROMPT, tool="Bash", input=Raw(b"{}"), digest="d", parent=ItemId("t")
    )
    box = PermissionBox(event, width=60, height=20, helper="Look\x1b[2J\u2800")
    assert ("box_note", "asked by the subagent: Look^[[2J<U+2800>") in box.page()
    asked = QuestionRequested(
        prompt=PROMPT, questions=Raw(b'[{"question":"q"}]'), digest="d", parent=ItemId("t")
    )
    question = QuestionBox(asked, width=60, helper="Look")
    assert question.page()[-1] == ("box_note", "asked by the subagent: Look")


def test_a_prompt_of_a_subagent_says_so() -> None:
    box = asked("Bash", {"command": "ls"}, parent="toolu_1")
    assert ("box_note", "asked by a subagent") in box.page()
    assert ("box_note", "asked by a subagent") in box.record()


@given(st.text(max_size=200), st.integers(3, 30))
def test_every_page_fits_and_nothing_in_it_is_hidden(command: str, height: int) -> None:
    box = permission(command, height=height)
    rows = box.page()
    pages = [rows]
    while isinstance(more := box.press(" "), list):
        pages.append(more)
    for page in pages:
        assert len(page) <= height + 2
        assert all(cells(text) <= 40 for _, text in page)
        assert all(text.isprintable() for _, text in page)
    assert len(box.record()) <= 14


def test_letters_of_several_scripts_are_pointed_out() -> None:
    rows = permission("cat p\u0430sswd").page()
    assert any("look twice" in text for _, text in rows)


def test_a_tool_cannot_break_out_of_its_title() -> None:
    (_, title), *_ = permission(tool="Bash\n\x1b[2J" + "x" * 100).page()
    assert title.isprintable()
    assert cells(title) <= 40


# ---- questions -----------------------------------------------------------------------------------


def question(*questions: object) -> QuestionBox:
    raw = Raw(msgspec.json.encode(questions))
    return QuestionBox(QuestionRequested(prompt=PROMPT, questions=raw, digest="d1"), width=60)


COLOUR = {
    "question": "Which colour?",
    "options": [{"label": "red", "description": "warm"}, {"label": "blue"}],
}
SIZES = {**COLOUR, "question": "Which ones?", "multiSelect": True}


def answered(**answers: tuple[str, ...]) -> AnswerQuestion:
    keyed = {{"colour": "Which colour?", "ones": "Which ones?"}[k]: v for k, v in answers.items()}
    return AnswerQuestion(prompt=PROMPT, digest="d1", answers=keyed)


def test_a_number_is_the_option_behind_it() -> None:
    box = question(COLOUR)
    assert box.page()[1:4] == [
        ("box", "  Which colour?"),
        ("box", "1. red — warm"),
        ("box", "2. blue"),
    ]
    assert box.enter("2") == answered(colour=("blue",))


def test_words_are_an_answer_too() -> None:
    assert question(COLOUR).enter("a dark green") == answered(colour=("a dark green",))


@pytest.mark.parametrize("text", ["", "3", "0", "1 2"])
def test_an_answer_that_makes_no_sense_is_asked_again(text: str) -> None:
    box = question(COLOUR)
    assert box.enter(text) is None
    assert box.hint


def test_several_can_be_chosen_where_that_is_offered() -> None:
    assert question(SIZES).enter("2, 1 2") == answered(ones=("blue", "red"))


def test_questions_come_one_after_the_other() -> None:
    box = question(COLOUR, SIZES)
    assert "1 of 2" in box.title
    more = box.enter("1")
    assert isinstance(more, list)
    assert more[0] == ("box_top", "question 2 of 2")
    assert box.enter("2") == answered(colour=("red",), ones=("blue",))


def test_a_dash_declines() -> None:
    declined = AnswerQuestion(prompt=PROMPT, digest="d1", declined=True)
    assert question(COLOUR).enter("-") == declined


@pytest.mark.parametrize("odd", [[], [3], ["why?"], [{"question": "q", "options": [1, "a"]}]])
def test_odd_questions_can_be_shown_and_answered(odd: list[object]) -> None:
    box = question(*odd)
    assert box.page()
    assert box.record()
    assert box.press("y") is None
    assert not box.back()
    assert isinstance(box.enter("words"), AnswerQuestion)
