from __future__ import annotations

from typing import Any

import pytest

from flybridge.cli.chat.agent_text import context_lines, cost_lines, gauge_line, server_lines


def test_servers_are_a_table() -> None:
    answer = {
        "mcpServers": [
            {"name": "broken", "status": "failed", "error": "spawn x\nENOENT"},
            {
                "name": "sums",
                "status": "connected",
                "serverInfo": {"name": "sums", "version": "1.0"},
                "tools": [{"name": "add"}, {"name": "sub"}],
            },
        ]
    }
    assert server_lines(answer, 80) == [
        "SERVER  STATUS     TOOLS",
        "broken  failed            spawn x ↵ ENOENT",
        "sums    connected  2      version 1.0",
    ]
    assert server_lines({"mcpServers": []}, 80) == ["no MCP servers"]


def test_the_context_is_a_bar_and_what_fills_it() -> None:
    answer = {
        "totalTokens": 500,
        "maxTokens": 2000,
        "categories": [
            {"name": "Messages", "tokens": 500, "kind": "used"},
            {"name": "Nothing", "tokens": 0},
            {"name": "Free space", "tokens": 1500, "kind": "free"},
        ],
    }
    bar, *rows = context_lines(answer, 80)
    assert bar.endswith(" 25% · 500 of 2,000 tokens")
    assert bar.count("█") == 8
    assert rows == ["Messages      500  25.0%", "Free space  1,500  75.0%"]


def test_a_context_without_a_window_is_just_a_number() -> None:
    assert gauge_line(5000, 0) == "5,000 tokens; the agent has not said how many fit"
    assert gauge_line(3000, 2000).startswith("█" * 30)


def test_the_cost_is_told_as_far_as_it_is_known() -> None:
    assert cost_lines({"cost_usd": 0.5, "turns": 1}) == ["$0.5000 · 1 turn"]
    assert cost_lines({}) == ["no cost was told · 0 turns"]
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4000, "output_tokens": 7}
    view = {"cost_usd": 1, "turns": 2, "gauges": {"usage": usage}}
    assert cost_lines(view)[1] == (
        "last request, in tokens: 3 new, 4,000 from cache, 0 to cache, 7 out"
    )


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"mcpServers": 3, "categories": 3, "totalTokens": "x", "gauges": 3, "cost_usd": "x"},
        {"mcpServers": [3, {}], "categories": [3, {}, {"tokens": -1}], "gauges": {"usage": 3}},
    ],
)
def test_nonsense_is_no_error(answer: dict[str, Any]) -> None:
    assert server_lines(answer, 80)
    assert context_lines(answer, 80)
    assert cost_lines(answer)
