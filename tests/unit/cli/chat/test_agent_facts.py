from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from flybridge.cli.chat.agent_facts import MAX_NAMES, AgentFacts
from flybridge.model.events import AgentReady


def facts(*details: object, commands: dict[str, str] | None = None) -> AgentFacts:
    found = AgentFacts()
    for detail in details:
        raw = Raw(msgspec.json.encode(detail))
        found.apply(AgentReady(detail=raw, commands=commands or {}))
    return found


def is_ours(name: str) -> bool:
    return name == "cost"


def test_commands_come_with_what_they_take_and_what_they_do() -> None:
    told = {"commands": [{"name": "review", "argumentHint": "<pr>", "description": "Look at it"}]}
    known = facts(told, {"slash_commands": ["review", "cost"]})
    assert known.command_lines(is_ours, 80) == ["/review <pr>  Look at it", "//cost"]


def test_what_works_only_in_the_agents_own_terminal_is_not_listed() -> None:
    known = facts({}, commands={"compact": "local", "login": "ui"})
    assert known.command_lines(is_ours, 80) == ["/compact"]


def test_models_come_with_their_names() -> None:
    told = {"models": [{"value": "opus", "displayName": "Opus", "description": "big"}, {"x": 1}]}
    known = facts(told, {"models": []})
    assert known.model_lines(80) == ["opus  Opus: big"]


def test_a_line_fits() -> None:
    told = {"commands": [{"name": "x", "description": "long " * 50}]}
    (line,) = facts(told).command_lines(is_ours, 40)
    assert len(line) == 40


@pytest.mark.parametrize(
    "told",
    [None, 3, "x", [], {"commands": 3}, {"commands": [3, {}, {"name": 3}]}, {"models": {"a": 1}}],
)
def test_nonsense_says_nothing(told: object) -> None:
    known = facts(told)
    assert known.command_lines(is_ours, 80) == known.model_lines(80) == []


def test_names_are_harmless_and_bounded() -> None:
    many = {"slash_commands": ["\x1b[2J", *(f"c{n}" for n in range(2 * MAX_NAMES))]}
    lines = facts(many).command_lines(is_ours, 80)
    assert lines[0] == "/^[[2J"
    assert len(lines) == MAX_NAMES


def test_d04_a_new_list_of_commands_replaces_the_old_one() -> None:
    first = {"commands": [{"name": "stays"}, {"name": "goes"}], "models": [{"value": "opus"}]}
    known = facts(first, {"commands": [{"name": "stays"}, {"name": "comes"}]})
    assert known.command_lines(is_ours, 80) == ["/stays", "/comes"]
    assert known.model_lines(80) == ["opus"]
