from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.agents.demo.blocks import Call
from flybridge.agents.demo.files import SCRATCH
from flybridge.agents.demo.options import Options
from flybridge.agents.demo.permissions import (
    Permissions,
    Prompt,
    allowed_input,
    request_of,
    suggestions,
)
from flybridge.agents.demo.stream import Helper, Json, Session

BASH = Call("Bash", {"command": "ls"}, "look")
EDIT = Call("Edit", {"file_path": "a"})
QUESTION = Call("AskUserQuestion", {"questions": []})


def permissions(mode: str = "default", *, cwd: str = "/nowhere", asks: bool = True) -> Permissions:
    session = Session(id="s", cwd=cwd, model="m", mode=mode)
    return Permissions(session, Options(session_id="s", asks=asks))


@pytest.mark.parametrize(
    ("mode", "bash", "edit", "question"),
    [
        ("default", "ask", "ask", "ask"),
        ("plan", "ask", "ask", "ask"),
        ("acceptEdits", "ask", "allow", "ask"),
        ("bypassPermissions", "allow", "allow", "ask"),
        ("dontAsk", "deny", "deny", "deny"),
    ],
)
def test_the_mode_decides_what_is_asked(mode: str, bash: str, edit: str, question: str) -> None:
    of_mode = permissions(mode)
    assert [of_mode.standing(one) for one in (BASH, EDIT, QUESTION)] == [bash, edit, question]


@pytest.mark.parametrize("name", ["Agent", "TaskCreate", "TaskUpdate", "TodoWrite"])
def test_what_touches_nothing_needs_nobody(name: str) -> None:
    assert permissions("dontAsk").standing(Call(name, {})) == "allow"


def test_without_anybody_to_ask_nothing_is_allowed() -> None:
    assert permissions(asks=False).standing(BASH) == "deny"
    left = permissions()
    left.hang_up()
    assert left.standing(BASH) == "deny"


def test_only_the_demos_own_files_are_read_without_asking(tmp_path: Path) -> None:
    mine = permissions(cwd=str(tmp_path))
    own, other = tmp_path / SCRATCH / "a", tmp_path / "b"
    assert mine.standing(Call("Read", {"file_path": str(own)})) == "allow"
    assert mine.standing(Call("Read", {"file_path": str(other)})) == "ask"
    assert mine.standing(Call("Read", {"file_path": f"{own}/../../b"})) == "ask"


def test_a_scratch_folder_that_leads_elsewhere_is_not_the_demos_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / SCRATCH).symlink_to(tmp_path)
    read = Call("Read", {"file_path": str(home / SCRATCH / "secret")})
    assert permissions(cwd=str(home)).standing(read) == "ask"


async def test_the_first_answer_is_the_answer() -> None:
    mine = permissions()
    prompt = mine.ask(BASH)
    assert isinstance(prompt, Prompt)
    assert mine.answered(prompt.id, {"behavior": "deny"})
    assert not mine.answered(prompt.id, {"behavior": "allow"})
    assert not mine.refused(prompt.id)
    assert prompt.answer.result() == {"behavior": "deny"}


async def test_what_is_open_at_the_end_is_refused() -> None:
    mine = permissions()
    prompt = mine.ask(BASH)
    assert isinstance(prompt, Prompt)
    assert mine.refused(prompt.id)
    assert mine.denials == [
        {"tool_name": "Bash", "tool_use_id": BASH.id, "tool_input": {"command": "ls"}}
    ]


def test_only_exact_commands_and_one_mode_are_remembered() -> None:
    mine = permissions()
    (rule,) = suggestions(BASH)
    assert not mine.remember([rule, "odd", {"type": "setMode", "mode": "bypassPermissions"}])
    assert mine.standing(BASH) == "allow"
    assert mine.standing(Call("Bash", {"command": "ls -a"})) == "ask"
    (mode,) = suggestions(EDIT)
    assert mine.remember([mode])
    assert mine.standing(EDIT) == "allow"
    assert not mine.remember(None)


def test_a_request_has_the_shape_of_the_cli() -> None:
    assert request_of(BASH) == {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "display_name": "Bash",
        "input": {"command": "ls"},
        "tool_use_id": BASH.id,
        "description": "look",
        "permission_suggestions": suggestions(BASH),
    }
    question = request_of(QUESTION)
    assert question["requires_user_interaction"] is True
    assert "permission_suggestions" not in question
    helper = Helper("toolu_1", "a1", "Explore", "look")
    nested = request_of(Call("Bash", {"command": "ls"}, by=helper))
    assert nested["agent_id"] == "a1"


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        ({"behavior": "allow", "updatedInput": {"b": 2}}, {"b": 2}),
        ({"behavior": "allow", "updatedInput": {}}, {"a": 1}),
        ({"behavior": "allow"}, {"a": 1}),
        ({"behavior": "allow", "updatedInput": None}, None),
        ({"behavior": "deny"}, None),
        ({}, None),
    ],
)
def test_only_a_clear_allow_allows(answer: Json, allowed: Json | None) -> None:
    assert allowed_input(answer, {"a": 1}) == allowed
