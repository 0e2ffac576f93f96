from __future__ import annotations

import pytest

from flybridge.cli.chat.slash import OURS, Do, Say, Usage, help_lines, parse, settled
from flybridge.model.commands import (
    Close,
    Command,
    Mcp,
    Rename,
    SetEffort,
    SetFast,
    SetMode,
    SetModel,
    SetThinking,
)

MCP = Usage("/mcp, or /mcp reconnect|enable|disable NAME")


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("/quit", Do("quit")),
        ("/exit", Do("quit")),
        ("/help", Do("help")),
        ("/interrupt", Do("interrupt")),
        ("/sessions", Do("sessions")),
        ("/close", Close()),
        ("/model opus", SetModel(model="opus")),
        ("/model", Do("models")),
        ("/mode plan", SetMode(mode="plan")),
        ("/mode ", Do("modes")),
        ("/effort high", SetEffort(effort="high")),
        ("/effort", Usage("/effort LEVEL")),
        ("/fast on", SetFast(on=True)),
        ("/fast off", SetFast(on=False)),
        ("/fast please", Usage("/fast on|off")),
        ("/thinking 8000", SetThinking(tokens=8000)),
        ("/thinking off", SetThinking(tokens=0)),
        ("/thinking auto", SetThinking(tokens=-1)),
        ("/thinking ²", Usage("/thinking N|off|auto")),
        ("/thinking -5", Usage("/thinking N|off|auto")),
        ("/thinking 9999999999999", Usage("/thinking N|off|auto")),
        ("/mcp", Do("mcp")),
        ("/mcp reconnect my server", Mcp(server="my server", action="reconnect")),
        ("/mcp disable x", Mcp(server="x", action="disable")),
        ("/mcp reconnect", MCP),
        ("/mcp what", MCP),
        ("/context", Do("context")),
        ("/cost", Do("cost")),
        ("/tasks", Do("tasks")),
        ("/attach a b.png", Do("attach", "a b.png")),
        ("/attach", Usage("/attach FILE")),
        ("/queue and then this", Do("queue", "and then this")),
        ("/export out.json", Do("export", "out.json")),
        ("/edit", Do("edit")),
        ("/title a few words", Rename(title="a few words")),
        ("/rename a few words", Rename(title="a few words")),
        ("/rename", Usage("/rename TITLE")),
        ("//context now", Say("/context now")),
        ("/compact", None),
        ("/modeling", None),
        ("/models", None),
        ("hello", None),
        ("", None),
    ],
)
def test_some_lines_are_ours_and_all_others_the_agents(line: str, meaning: object) -> None:
    assert parse(line) == meaning


def test_every_line_of_the_help_is_one_of_ours() -> None:
    for usage, _ in OURS:
        assert parse(usage.split(" ")[0]) is not None
        assert any(line.startswith(usage) for line in help_lines())


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (SetEffort(effort="high"), "effort: high"),
        (SetFast(on=True), "fast: on"),
        (SetThinking(tokens=0), "thinking: off"),
        (SetThinking(tokens=-1), "thinking: as the agent likes"),
        (SetThinking(tokens=10), "thinking: 10 tokens"),
        (Mcp(server="s", action="reconnect"), "s: connected again"),
        (SetModel(model="m"), ""),  # an event says it
    ],
)
def test_a_setting_that_no_event_tells_is_told_when_it_is_confirmed(
    command: Command, text: str
) -> None:
    assert settled(command) == text
