"""Which permission modes ask less than others. The one table of their order."""

from __future__ import annotations

import msgspec
from msgspec import Raw

# From the mode in which an agent may do least without asking to the one in which it may do all.
# A mode that is not listed may do anything, as far as anybody here knows.
_ORDER: dict[str, int] = {
    "plan": 0,  # changes nothing
    "dontAsk": 1,  # asks nobody, and does without what it would have to ask for
    "default": 2,
    "manual": 2,  # another name of it
    "delegate": 2,
    "acceptEdits": 3,
    "auto": 4,  # a model decides instead of a person
    "bypassPermissions": 5,
}
_UNKNOWN = 6
PLAN = "plan"
PLAN_TOOLS = frozenset({"ExitPlanMode"})  # whoever allows such a call approves a plan


class _Suggestion(msgspec.Struct):
    type: str = ""
    mode: str = ""


_suggestion = msgspec.json.Decoder(_Suggestion)


def asks_less(mode: str, than: str) -> bool:
    """Return whether an agent asks less in ``mode`` than in the other one."""
    return _ORDER.get(mode, _UNKNOWN) > _ORDER.get(than, _UNKNOWN)


def mode_in(rule: Raw) -> str:
    """Return the mode that a suggestion of the agent's sets, or the empty string."""
    try:
        known = _suggestion.decode(rule)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return known.mode if known.type == "setMode" else ""
