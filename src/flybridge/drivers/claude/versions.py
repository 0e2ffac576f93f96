"""What each range of versions of Claude Code takes and does. Nowhere else is a version compared.

Two versions were measured: 2.1.38 and 2.1.325. What lies between is taken for the old one up
to the last that took ``--sdk-url``, because a request an old one does not know is never
answered; what is newer, or cannot be read, for the new one.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from flybridge.wire.claude import host_requests as h


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """One range of versions."""

    commands: frozenset[str]  # tags of our commands, beyond send_input
    queries: Mapping[str, h.HostRequest]  # our name of it → what is asked
    modes: frozenset[str]
    efforts: frozenset[str]
    separator: str  # between several chosen labels; the new one takes "a,b" for free text
    names_inputs: bool  # says by its uuid when an input begins and ends (command_lifecycle)
    cancels_queue: bool  # an interrupt can take back what waits
    main_agents: bool  # --agent works; the old one reads no input with it, and ends


_BOTH_COMMANDS = frozenset(
    {
        "answer_permission",
        "answer_question",
        "interrupt",
        "set_model",
        "set_mode",
        "set_thinking",
        "mcp",
    }
)
_BOTH_MODES = frozenset({"default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"})

OLD = Traits(
    commands=_BOTH_COMMANDS,
    queries={"mcp": h.McpStatus()},
    modes=_BOTH_MODES | {"delegate"},
    efforts=frozenset({"low", "medium", "high", "max"}),
    separator=",",
    names_inputs=False,
    cancels_queue=False,
    main_agents=False,
)
NEW = Traits(
    commands=_BOTH_COMMANDS | {"stop_task", "set_effort"},
    queries={
        "mcp": h.McpStatus(),
        "context": h.GetContextUsage(),
        "usage": h.GetUsage(),
        "models": h.ListModels(),
        "settings": h.GetSettings(),
        "plan": h.GetPlan(),
    },
    modes=_BOTH_MODES | {"auto", "manual"},
    efforts=frozenset({"low", "medium", "high", "xhigh", "max"}),
    separator=", ",
    names_inputs=True,
    cancels_queue=True,
    main_agents=True,
)
LAST_OLD = (2, 1, 120)


def traits_of(version: str) -> Traits:
    """What is known of a version; one that cannot be read is taken for new."""
    numbers = tuple(int(one) for one in version.split(".")[:4] if one.isdecimal())
    return OLD if numbers and numbers <= LAST_OLD else NEW
