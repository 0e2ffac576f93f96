from __future__ import annotations

from typing import Any

import pytest

from flybridge.errors import InvalidOptionError
from flybridge.model.options import (
    MAX_ITEMS,
    MAX_TEXT_BYTES,
    Option,
    OptionSchema,
    OptionType,
    Value,
    near_names,
)

SCHEMA = OptionSchema(
    (
        Option(name="loud", type="flag", label="Loud", grants=False),
        Option(name="quiet", type="flag", label="Quiet", default=True, grants=False),
        Option(name="voice", type="text", label="Voice", grants=False),
        Option(
            name="speed",
            type="number",
            label="Speed",
            integer=True,
            minimum=0,
            maximum=9,
            default=0,
            grants=False,
        ),
        Option(name="weight", type="number", label="Weight", grants=False),
        Option(name="tone", type="choice", label="Tone", choices=("low", "high"), grants=False),
        Option(name="words", type="list", label="Words", default=(), grants=False),
        Option(name="only", type="list", label="Only", grants=False),
        Option(name="shape", type="json", label="Shape", grants=False),
        Option(name="rules", type="path", label="Rules", path="file_or_json"),
        Option(name="doors", type="flag", label="Doors", modes=("open",)),
    )
)


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ({}, {}),
        ({"loud": True}, {"loud": True}),
        ({"loud": False, "quiet": True, "voice": "", "speed": 0, "words": []}, {}),
        ({"quiet": False}, {"quiet": False}),
        ({"speed": 3.0}, {"speed": 3}),
        ({"weight": 3}, {"weight": 3.0}),
        ({"tone": "low"}, {"tone": "low"}),
        ({"words": ["a", "b"]}, {"words": ("a", "b")}),
        ({"only": []}, {"only": ()}),
        ({"shape": '{"a":1}'}, {"shape": '{"a":1}'}),
        ({"shape": {"a": [1, None]}}, {"shape": '{"a":[1,null]}'}),
        ({"rules": "/a/file"}, {"rules": "/a/file"}),
        ({"rules": "{}"}, {"rules": "{}"}),
    ],
)
def test_values_are_typed_and_defaults_left_out(
    given: dict[str, Any], typed: dict[str, Any]
) -> None:
    assert SCHEMA.validate(given, "a") == typed
    assert [type(value) for value in SCHEMA.validate(given, "a").values()] == [
        type(value) for value in typed.values()
    ]


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"lout": True}, "unknown_option", "did you mean 'loud'?"),
        ({"to-ne": "low"}, "unknown_option", "did you mean 'tone'?"),
        ({"zzz": 1}, "unknown_option", "its options are: loud, quiet, voice, speed"),
        ({"loud": "yes"}, "wrong_type", "loud: expected true or false"),
        ({"loud": 1}, "wrong_type", "loud"),
        ({"voice": 3}, "wrong_type", "voice: expected text"),
        ({"voice": None}, "wrong_type", "voice: expected text"),
        ({"voice": "\ud83d"}, "wrong_type", "valid Unicode"),
        ({"voice": "a\0b"}, "wrong_type", "null character"),
        ({"voice": "x" * (MAX_TEXT_BYTES + 1)}, "too_long", f"at most {MAX_TEXT_BYTES} bytes"),
        ({"speed": True}, "wrong_type", "a whole number"),
        ({"speed": 1.5}, "wrong_type", "a whole number"),
        ({"speed": "3"}, "wrong_type", "a whole number"),
        ({"speed": 10}, "out_of_range", "must be at least 0 and at most 9"),
        ({"speed": -1}, "out_of_range", "must be at least 0 and at most 9"),
        ({"weight": float("nan")}, "wrong_type", "a number"),
        ({"weight": float("inf")}, "wrong_type", "a number"),
        ({"tone": "middle"}, "not_a_choice", "'middle' is not one of low, high"),
        ({"tone": 1}, "wrong_type", "one of low, high"),
        ({"words": "a"}, "wrong_type", "a list of texts"),
        ({"words": [1]}, "wrong_type", "a list of texts"),
        ({"words": [" "]}, "wrong_type", "no empty value"),
        ({"words": ["a"] * (MAX_ITEMS + 1)}, "too_long", f"at most {MAX_ITEMS} values"),
        ({"shape": "[]"}, "not_json", "a JSON object"),
        ({"shape": "{"}, "not_json", "a JSON object"),
        ({"shape": 3}, "wrong_type", "a JSON object"),
        ({"rules": "{not json"}, "not_json", "neither a file nor a JSON object"),
    ],
)
def test_each_problem_has_a_code_and_names_the_option(
    given: dict[str, Any], code: str, words: str
) -> None:
    typed, (problem,) = SCHEMA.check(given)
    assert (typed, problem.code) == ({}, code)
    assert words in problem.message
    with pytest.raises(InvalidOptionError, match=r"^robot: ") as refused:
        SCHEMA.validate(given, "robot")
    assert (refused.value.code, refused.value.reason) == ("invalid_option", code)
    assert refused.value.option == next(iter(given))


def test_every_problem_is_reported() -> None:
    with pytest.raises(InvalidOptionError) as refused:
        SCHEMA.validate({"speed": 10, "lout": 1, "loud": True, "tone": "x"}, "robot")
    assert len(refused.value.problems.splitlines()) == 3


def test_an_agent_without_options_says_so() -> None:
    _, (problem,) = OptionSchema().check({"loud": True})
    assert problem.message == "this agent has no option 'loud'; it has no options"


def test_an_option_grants_unless_it_says_otherwise() -> None:
    assert Option(name="x", type="flag", label="X").grants
    assert SCHEMA.granting({"loud": True, "rules": "{}"}) == "rules"
    assert SCHEMA.granting({"loud": True, "rules": ""}) == ""
    assert SCHEMA.granting({"of_an_older_version": True}) == "of_an_older_version"


@pytest.mark.parametrize(
    ("type_", "default", "off"),
    [("flag", True, False), ("number", 3.0, 0), ("list", ("a",), []), ("text", "strict", "")],
)
def test_c03_switching_off_what_is_on_by_default_grants(
    type_: OptionType, default: Value, off: object
) -> None:
    sandbox = Option(name="sandbox", type=type_, label="Sandbox", default=default)
    schema = OptionSchema((sandbox,))
    typed, _ = schema.check({"sandbox": off})
    assert schema.granting(typed) == "sandbox"
    typed, _ = schema.check({"sandbox": default})
    assert schema.granting(typed) == schema.granting({"sandbox": default}) == ""


def test_a_mode_keeps_a_flag_set() -> None:
    assert SCHEMA.kept_in("open") == {"doors": True}
    assert SCHEMA.kept_in("shut") == SCHEMA.kept_in("") == {}


def test_a_common_option_is_refused_by_an_agent_without_it() -> None:
    able = OptionSchema(common=frozenset({"effort", "budget_usd"}))
    able.check_common("a", effort="high", budget_usd=1.0)
    SCHEMA.check_common("a", effort="", budget_usd=0.0)
    with pytest.raises(InvalidOptionError, match="no option 'effort'"):
        SCHEMA.check_common("a", effort="high", budget_usd=0.0)
    with pytest.raises(InvalidOptionError, match="no option 'budget_usd'"):
        SCHEMA.check_common("a", effort="", budget_usd=1.0)
    with pytest.raises(InvalidOptionError, match="must be at least 0"):
        able.check_common("a", effort="", budget_usd=-1.0)


def test_flags_are_made_from_names() -> None:
    assert SCHEMA.options[0].command_line_flag == "--loud"
    named = Option(name="add_dirs", type="list", label="x", flag="--add-dir")
    assert named.command_line_flag == "--add-dir"
    assert Option(name="max_turns", type="number", label="x").command_line_flag == "--max-turns"


def test_near_names_are_few_and_near() -> None:
    assert near_names("max-turn", ["max_turns", "tools"]) == ["max_turns"]
    assert near_names("x" * 10_000, ["tools"]) == []
