from __future__ import annotations

import pytest

from flybridge.cli.slash import HELP, Do, Usage, parse
from flybridge.model.commands import Close, Rename, SetMode, SetModel


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("/quit", Do("quit")),
        ("/help", Do("help")),
        ("/interrupt", Do("interrupt")),
        ("/sessions", Do("sessions")),
        ("/close", Close()),
        ("/model opus", SetModel(model="opus")),
        ("/mode plan", SetMode(mode="plan")),
        ("/title a few words", Rename(title="a few words")),
        ("/model", Usage("/model NAME")),
        ("/mode ", Usage("/mode NAME")),
        ("/title", Usage("/title TEXT")),
        ("/compact", None),
        ("/modeling", None),
        ("hello", None),
        ("", None),
    ],
)
def test_a_few_lines_are_ours_and_all_others_the_agents(line: str, meaning: object) -> None:
    assert parse(line) == meaning


def test_the_help_names_every_command_of_ours() -> None:
    for name in ("quit", "help", "interrupt", "sessions", "close", "model", "mode", "title"):
        assert f"/{name}" in HELP
