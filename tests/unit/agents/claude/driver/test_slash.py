from __future__ import annotations

import pytest

from flybridge.agents.claude.driver import slash
from flybridge.agents.claude.wire.decode import fields
from tests.harness.claude_cli import line


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("cost", "local"),
        ("compact", "local"),
        ("release-notes", "local"),
        ("init", "prompt"),
        ("review", "prompt"),
        ("tug:plan", "prompt"),
        ("help", "ui"),
        ("__remote-workflow", "ui"),
    ],
)
def test_who_does_a_command(name: str, who: str) -> None:
    assert slash.category(name) == who


def test_both_lists_of_commands_are_read() -> None:
    init = fields(line(slash_commands=["cost", "color", 7, ""], terminal_slash_commands=["color"]))
    assert slash.categories(init) == {"cost": "local", "color": "ui"}
    answer = fields(line(commands=[{"name": "init", "description": "d"}, {}, "x"]))
    assert slash.categories(answer) == {"init": "prompt"}
    assert slash.categories(fields(line(slash_commands={"a": 1}))) == {}


def test_the_table_is_bounded() -> None:
    many = fields(line(slash_commands=[f"c{n}" for n in range(slash.MAX_COMMANDS + 9)]))
    assert len(slash.categories(many)) == slash.MAX_COMMANDS


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("**Model:** m  \n**Tokens:** 10 / 200k (0%)\n", (10, 200_000)),
        ("**Tokens:** 23.9k / 200k (12%)", (23_900, 200_000)),
        ("**Tokens:** 1,234 / 1M (1%)", (1234, 1_000_000)),
        ("**Tokens:** 10.4k / 1m (1%)", (10_400, 1_000_000)),
        ("**Tokens:** some / 200k", None),
        ("**Tokens:** 1.2.3k / 200k", None),
        ("**Tokens:** 10 / 0", None),
        ("**Tokens:** 99999999999m / 1m", None),
        ("Context is fine", None),
    ],
)
def test_context_is_read_out_of_words(said: str, found: tuple[int, int] | None) -> None:
    assert slash.context_in(said) == found


def test_what_was_printed_is_taken_out_of_its_tags() -> None:
    assert slash.untagged("<local-command-stdout>Cost: $1 </local-command-stdout>") == "Cost: $1"
    assert slash.failed("<local-command-stderr>Error</local-command-stderr>")
    assert not slash.failed("<local-command-stdout>ok</local-command-stdout>")
