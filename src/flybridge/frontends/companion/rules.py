"""Which rules *always* may keep when it is pressed on a device.

A device shows the tool and its input, but not the rule that would be kept. So a rule must follow
from what the screen shows: it never covers everything that a tool could run or write.
"""

from __future__ import annotations

from flybridge.model.offers import Offer, OfferRule
from flybridge.model.tools import ToolKind

READING: frozenset[ToolKind] = frozenset({"read", "search", "fetch"})
# Kinds of tools that a rule without a pattern may be about. A tool of an MCP server is one of
# few that the server has, and its name is on the screen.
WHOLE: frozenset[ToolKind] = READING | {"mcp", "task", "think"}
_ANYTHING = " \t\n*:/.~"  # rule contents of these characters alone match whatever there is


def covers_tool(kind: ToolKind) -> bool:
    """Return whether a rule for a whole tool of this kind may be kept although none was offered.

    Only kinds that change nothing and run nothing qualify: what other tools can do is not known.
    """
    return kind in READING


def is_usable(offer: Offer, tool: str) -> bool:
    """Return whether a device may accept an offer of a prompt for ``tool``.

    It must only add rules that allow, for this session, and each rule must be about this tool or
    about reading. A rule for everything that a tool does must be about this very tool, and not
    about one that may run or write. Modes and folders are never accepted.
    """
    if (
        offer.decision != "allow"
        or offer.outlives_session
        or not offer.allows
        or not offer.text
        or offer.folders
    ):
        return False
    return bool(offer.rules) and all(_fits(rule, tool) for rule in offer.rules)


def _fits(rule: OfferRule, tool: str) -> bool:
    if rule.pattern is not None and rule.pattern.strip(_ANYTHING):
        return rule.tool == tool or rule.kind in READING
    return rule.tool == tool and rule.kind in WHOLE
