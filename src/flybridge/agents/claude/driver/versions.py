"""What each range of versions of Claude Code takes and does. Nowhere else is a version compared.

Three versions are measured: 2.1.38, 2.1.200 and 2.1.325. Whatever is not newer than the last
that took ``--sdk-url`` is treated as the old one, because a request an old one does not know is
never answered. Everything newer says so itself when it does not know a request. Up to 2.1.205 it
is treated as the middle one; what follows, or cannot be read, as the new one.

The middle one does not announce inputs by their uuid (``command_lifecycle``), the new one does.
No version is compared for that: the driver goes by what the running agent does (see
``turns.py``), so a program that hides its version is understood all the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from flybridge.model.capabilities import Mode


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """One range of versions."""

    commands: frozenset[str]  # tags of our commands, beyond send_input
    at_start: frozenset[str]  # of those, the ones it takes only when it starts
    queries: frozenset[str]  # see queries.py
    modes: frozenset[str]
    efforts: frozenset[str]
    env: Mapping[str, str]  # what it is started with
    separator: str  # between several chosen labels; the new one takes "a,b" for free text
    begins_turns: bool  # begins turns by itself, for example when a background task has ended
    cancels_queue: bool  # an interrupt can take back what waits
    main_agents: bool  # --agent works; the old one reads no input with it, and ends
    fast: bool  # has a fast mode; the old one has it in its own terminal only
    logs_in: bool  # tells where a person logs in to an MCP server; the old one never answers
    transports: frozenset[
        str
    ]  # ways to reach it; the new one refuses hosts that are not its maker's


_BOTH_COMMANDS = frozenset(
    {
        "answer_permission",
        "answer_question",
        "interrupt",
        "set_model",
        "set_mode",
        "set_effort",
        "set_thinking",
        "mcp",
    }
)
_BOTH_QUERIES = frozenset({"mcp", "rewind"})
MODES = (  # of all versions, from the one in which it may do least without asking
    Mode(
        "plan",
        -2,
        plans=True,
        name="Plan only",
        description="It looks around and plans, and changes nothing",
    ),
    Mode("dontAsk", -1, name="Never ask, deny", description="What no rule allows is denied"),
    Mode("default", 0, name="Ask first", description="It asks before it changes anything"),
    # another id of the mode before
    Mode("manual", 0, name="Manual", description="It asks before it changes anything"),
    Mode("delegate", 1, name="Delegate", description="It only hands out work to others"),
    Mode(
        "acceptEdits",
        2,
        name="Accept edits",
        description="It edits files, and asks for the rest",
    ),
    Mode("auto", 3, name="Auto", description="A second model decides what must be asked"),
    Mode("bypassPermissions", 4, name="Allow everything", description="It never asks anybody"),
)
_BOTH_MODES = frozenset({"default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"})

OLD = Traits(
    commands=_BOTH_COMMANDS,
    at_start=frozenset({"set_effort"}),
    queries=_BOTH_QUERIES,
    modes=_BOTH_MODES | {"delegate"},
    efforts=frozenset({"low", "medium", "high", "max"}),
    # In its own terminal it has the tools TaskCreate, TaskUpdate, TaskGet and TaskList, and
    # over pipes only TodoWrite, unless this is set; it never has both. A task has an id, an
    # owner and what it waits for, a todo has none of them, and newer versions have no
    # TodoWrite: whoever moves up keeps the same list. With "0" the old tool is back.
    env={"CLAUDE_CODE_ENABLE_TASKS": "1"},
    separator=",",
    begins_turns=False,
    cancels_queue=False,
    main_agents=False,
    fast=False,
    logs_in=False,
    transports=frozenset({"stdio", "socket", "by_hand"}),
)
NEW = Traits(
    commands=_BOTH_COMMANDS | {"stop_task", "set_fast", "cancel_queued"},
    at_start=frozenset(),
    queries=_BOTH_QUERIES
    | {
        "context",
        "usage",
        "cost",
        "models",
        "settings",
        "plan",
        "status",
        "permission_rules",
        "hooks",
        "memory",
        "workspace_diff",
        "files",
        "task_output",
    },
    modes=_BOTH_MODES | {"auto", "manual"},
    efforts=frozenset({"low", "medium", "high", "xhigh", "max"}),
    env={"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"},  # it says when it is idle
    separator=", ",
    begins_turns=True,
    cancels_queue=True,
    main_agents=True,
    fast=True,
    logs_in=True,
    transports=frozenset({"stdio"}),
)
MIDDLE = msgspec.structs.replace(
    NEW,
    queries=NEW.queries - {"status", "permission_rules", "hooks", "memory", "task_output"},
    cancels_queue=False,
)
LAST_OLD = (2, 1, 120)
LAST_MIDDLE = (2, 1, 205)


def traits_of(version: str) -> Traits:
    """What is known of a version; one that cannot be read is taken for new."""
    numbers = tuple(int(one) for one in version.split(".")[:4] if one.isdecimal())
    if not numbers or numbers > LAST_MIDDLE:
        return NEW
    return OLD if numbers <= LAST_OLD else MIDDLE
