"""Questions in a text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from flybridge.frontends.runs.markers import MAX_QUESTIONS, split


def marker(*questions: object) -> str:
    return f"<!--QUESTION:{json.dumps({'questions': questions})}-->"


def test_a_marker_is_taken_out_of_the_text() -> None:
    asked = {"question": "Which?", "header": "H", "options": [{"label": "A", "description": "a"}]}
    text, found = split(f"before\n{marker(asked)}\nafter{marker({'question': 'Why?'})}")
    assert text == "before\n\nafter"
    assert [one.question for one in found] == ["Which?", "Why?"]
    assert found[0].options[0].label == "A"


def test_what_is_no_marker_stays() -> None:
    for text in ("<!--QUESTION:{}-->", "<!--QUESTION:nonsense", "<!-- a comment -->", "", marker()):
        assert split(text) == (text, [])


def test_a_bad_marker_does_not_hide_a_good_one() -> None:
    text, found = split(f"<!--QUESTION:bad-->{marker({'question': 'Q'})}")
    assert text == "<!--QUESTION:bad-->"
    assert [one.question for one in found] == ["Q"]


def test_there_are_only_so_many_questions() -> None:
    many = marker(*[{"question": str(n)} for n in range(20)]) * 3
    assert len(split(many)[1]) == MAX_QUESTIONS


def test_a_text_full_of_beginnings_takes_no_time() -> None:
    text = "<!--QUESTION:" * 50_000
    assert split(text) == (text, [])


@given(st.text(alphabet='<!-QUESTION:>{}"ab \n'))
def test_any_text_can_be_split(text: str) -> None:
    assert split(text) == (text, [])
