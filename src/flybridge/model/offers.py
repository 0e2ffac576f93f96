"""Offers: what a person can accept along with a decision about a permission, beyond this call.

A driver translates what its agent suggests into offers. Authorisation, alarms and front ends read
the fields of an ``Offer`` and nothing else; they never interpret the agent's own JSON. The
defaults are the safe ones: ``Offer()`` has an unknown effect, so it counts as lasting and as
widening, and accepting it needs the right to administer.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.model.commands import Place
from flybridge.model.tools import ToolKind

Reach: TypeAlias = Literal["once", "session", "project", "user"]


class OfferRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule about one tool."""

    tool: str
    pattern: str | None = None  # what the tool may be asked to do; None: anything
    kind: ToolKind | Literal[""] = ""  # of the tool; "": the driver does not know

    @property
    def text(self) -> str:
        """Return the rule in the notation ``tool(pattern)``."""
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


class Offer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One offer of a permission prompt, as it takes effect when ``place`` is the session.

    ``decision``: the answer that it belongs to; it can be accepted with no other.
    ``durable``: it holds after this agent process has ended.
    ``widens``: it changes how the agent decides what to ask about (a permission mode, a sandbox),
    or it removes rules that deny or ask. Adding rules about tools, commands or folders, and
    removing those that allow, does not widen.
    ``mode``: the permission mode that it sets, if it sets one.
    ``label``: what accepting it does, in words, for example "Always allow". A front end shows the
    label together with ``rules`` and ``folders``; these three tell everything that is kept. An
    offer without a label cannot be described, and front ends do not let people choose it.
    """

    id: str = ""  # the agent's own id of it, or its index
    label: str = ""
    scope: Reach = "user"
    widens: bool = True
    durable: bool = True
    mode: str = ""
    allows: bool = False  # it only adds permissions: ``rules`` and ``folders`` are allowed from now
    rules: tuple[OfferRule, ...] = ()
    folders: tuple[str, ...] = ()
    decision: Literal["allow", "deny"] = "allow"
    placed: bool = False  # the answer may choose a place other than the session
    place: Place = "session"  # the place that the agent suggests

    @property
    def subject(self) -> str:
        """Return what the label is about: rules and folders, or the empty string."""
        return ", ".join((*(rule.text for rule in self.rules), *self.folders))

    @property
    def text(self) -> str:
        """Return label and subject; the empty string if the offer cannot be described."""
        return f"{self.label} {self.subject}".rstrip() if self.label else ""

    @property
    def narrows(self) -> bool:
        """Return whether accepting it can only make the agent do less: a denial that is kept."""
        grants = self.widens or self.allows or bool(self.mode) or bool(self.folders)
        return self.decision == "deny" and not grants

    @property
    def outlives_session(self) -> bool:
        """Return whether accepting it does more than add rules to this agent process.

        The fields overlap on purpose: an offer that contradicts itself counts as the stronger.
        """
        lasting = self.durable or self.scope in ("project", "user")
        return lasting or self.widens or bool(self.mode)


UNKNOWN = Offer()
