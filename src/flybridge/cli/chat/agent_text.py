"""What an agent answers when it is asked about itself, as lines: servers, context, cost.

The answers are whatever the agent sends: nothing here trusts their shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flybridge.cli.rendering.columns import cut, table
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.tool_text import compact, joined

BAR = 30
MAX_ROWS = 100
NOTE = 60
MOST = 10**15
USED = {
    "input_tokens": "new",
    "cache_read_input_tokens": "from cache",
    "cache_creation_input_tokens": "to cache",
    "output_tokens": "out",
}


def server_lines(answer: Mapping[str, Any], width: int | None) -> list[str]:
    """MCP servers, what became of them, and how many tools they have."""
    servers = answer.get("mcpServers")
    if not isinstance(servers, list):
        return [one_line(compact(answer))]
    if not servers:
        return ["no MCP servers"]
    rows = [_server(one) for one in servers[:MAX_ROWS] if isinstance(one, dict)]
    return table([("SERVER", "STATUS", "TOOLS", ""), *rows], width)


def _server(one: Mapping[str, Any]) -> tuple[str, str, str, str]:
    tools = one.get("tools")
    info = one.get("serverInfo")
    version = info.get("version") if isinstance(info, dict) else None
    note = one.get("error") or (f"version {version}" if version else "")
    return (
        one_line(str(one.get("name", "?"))),
        one_line(str(one.get("status", "?"))),
        str(len(tools)) if isinstance(tools, list) else "",
        cut(one_line(str(note)), NOTE),
    )


def context_lines(answer: Mapping[str, Any], width: int | None) -> list[str]:
    """How full the context is, and what fills it."""
    used, window = _count(answer.get("totalTokens")), _count(answer.get("maxTokens"))
    categories = answer.get("categories")
    found = (
        [one for one in categories if isinstance(one, dict)] if isinstance(categories, list) else []
    )
    rows = [
        (
            one_line(str(one.get("name", "?"))),
            f"{_count(one.get('tokens')):,}",
            _share(_count(one.get("tokens")), window),
        )
        for one in found[:MAX_ROWS]
        if _count(one.get("tokens"))
    ]
    return [gauge_line(used, window), *(table(_right(rows), width) if rows else [])]


def gauge_line(used: int, window: int) -> str:
    """A bar, and the numbers behind it."""
    if window <= 0:
        return f"{used:,} tokens; the agent has not said how many fit"
    full = min(round(BAR * used / window), BAR)
    bar = "█" * full + "░" * (BAR - full)
    return f"{bar} {used / window:.0%} · {used:,} of {window:,} tokens"


def cost_lines(view: Mapping[str, Any]) -> list[str]:
    """What the session has cost so far, as far as the agent says."""
    cost = view.get("cost_usd")
    turns = _count(view.get("turns"))
    spent = f"${cost:.4f}" if isinstance(cost, int | float) and cost else "no cost was told"
    said = joined([spent, f"{turns} turn{'s' if turns != 1 else ''}"])
    gauges = view.get("gauges")
    usage = gauges.get("usage") if isinstance(gauges, dict) else None
    if not isinstance(usage, dict):
        return [said]
    told = ", ".join(f"{_count(usage.get(name)):,} {said}" for name, said in USED.items())
    return [said, f"last request, in tokens: {told}"]


def _share(tokens: int, window: int) -> str:
    return f"{tokens / window:.1%}" if window > 0 else ""


def _right(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Numbers end where the others end."""
    widths = [max(len(row[at]) for row in rows) for at in (1, 2)]
    return [(name, a.rjust(widths[0]), b.rjust(widths[1])) for name, a, b in rows]


def _count(value: Any) -> int:
    """A number of tokens; nothing else is one."""
    known = isinstance(value, int) and not isinstance(value, bool)
    return value if known and 0 <= value <= MOST else 0
