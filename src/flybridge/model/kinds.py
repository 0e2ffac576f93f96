"""Words that events and states share: kinds of items and inputs, and how they ended."""

from __future__ import annotations

from typing import Literal, TypeAlias

ItemKind: TypeAlias = Literal["text", "thinking", "tool"]
ItemStatus: TypeAlias = Literal["complete", "partial", "discarded"]
InputKind: TypeAlias = Literal["message", "answer", "interrupt", "setting", "session"]
Outcome: TypeAlias = Literal[
    "done",  # the turn that took it is over, or the setting was confirmed
    "observed",  # the agent had it; the turn was cut short
    "refused",  # the agent said no
    "cancelled",  # withdrawn before it left, or given back by the agent before it began
    "expired",  # its deadline passed before it left
    "not_delivered",  # proven: it never reached the agent; the same request id may try again
    "lost",  # written, and proven unread when the agent died
    "unknown",  # no evidence either way
]
