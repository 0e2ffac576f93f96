"""Describe the conversations that an agent keeps on this machine, for every kind of agent.

A kind publishes a :class:`History` to be listed and searched. One whose conversations can be read
word for word is also a :class:`HistoryReader`, and one that can tell whether they would resume is
also a :class:`HistoryDoctor`. Everything here blocks: it belongs into a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import UNSET, Raw, UnsetType

PieceKind: TypeAlias = Literal[
    "prompt",  # a person
    "steering",  # a person, while a turn ran
    "text",
    "thinking",
    "call",
    "result",
    "output",  # of a command of the agent's own
    "summary",  # what a compaction left
    "compacted",
    "interrupted",
    "error",  # the model API's
    "note",  # somebody else than a person began a turn
]
Effect: TypeAlias = Literal[
    "stops",  # does not resume
    "forgets",  # resumes without a part of the conversation, and does not say so
    "harmless",
    "not known",
]
EFFECTS: tuple[Effect, ...] = ("stops", "forgets", "not known", "harmless")  # the worst first
IN_USE = "in_use"  # the code of a finding: another program has the conversation open


class KeptConversation(msgspec.Struct, kw_only=True):
    """One conversation that an agent keeps on this machine."""

    conversation: str  # the agent's own id of it
    title: str
    prompt: str
    cwd: str
    model: str
    branch: str
    started_ms: int
    modified_ms: int
    size: int
    ended_ms: int = 0
    version: str = ""  # of the agent
    folder: str = ""  # where the agent keeps it, in its own words
    problem: str = ""  # why its beginning could not be read


class FoundPlace(msgspec.Struct, kw_only=True):
    """Where something was said."""

    conversation: str
    uuid: str
    at: str
    who: str
    excerpt: str
    cwd: str = ""
    subagent: str = ""  # which one said it; "": none


class FoundPlaces(msgspec.Struct, kw_only=True):
    """The result of a search."""

    places: list[FoundPlace]
    files: int  # how many were read
    stopped: str  # why the search ended early; "": it did not
    skipped: int = 0  # lines too long to look into, files that cannot be read


class Piece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was said or done. ``tool`` is the id that joins a call and its result."""

    kind: PieceKind
    text: str = ""
    at_ms: int = 0
    uuid: str = ""
    tool: str = ""
    name: str = ""
    input: Raw | UnsetType = UNSET
    failed: bool = False
    cut: bool = False  # longer in the file


class Summary(msgspec.Struct, kw_only=True):
    """What the records of a conversation tell about it."""

    session: str = ""
    title: str = ""
    prompt: str = ""  # the first
    cwd: str = ""
    model: str = ""
    version: str = ""
    branch: str = ""
    started_ms: int = 0
    ended_ms: int = 0


class ConversationText(msgspec.Struct, kw_only=True):
    """A conversation as people read it."""

    about: Summary
    pieces: list[Piece]
    leaf: str = ""
    prompts: int = 0
    calls: int = 0
    branches: int = 0  # other ends, not shown here


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: a stable code, a sentence, what each version does, and what repair would do."""

    code: str
    text: str
    effect: dict[str, Effect]
    line: int = 0
    repair: str = ""  # empty: there is none that would be safe


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a repair. Nothing is changed where ``done`` is empty."""

    done: tuple[str, ...] = ()
    backup: str = ""  # where the records as they were are kept
    error: str = ""  # why nothing was done, although there was something to do


def worst(findings: Sequence[Finding], version: str = "") -> Effect:
    """Return the effect of all findings on a resume, in one version or in the worst."""
    effects = [
        effect
        for finding in findings
        for known, effect in finding.effect.items()
        if version in ("", known)
    ]
    return min(effects, key=EFFECTS.index, default="harmless")


class History(Protocol):
    """The conversations of one kind of agent on this machine. All of it blocks."""

    def newest(self, *, limit: int, before_ms: int = 0, cwd: str = "") -> list[KeptConversation]:
        """Return conversations, the newest first; ``cwd``: only those of that folder."""

    def search(self, words: str, *, limit: int, max_bytes: int) -> FoundPlaces:
        """Look for words in everything that was said and done."""


class KindHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The conversations of one kind, and the configured agent that can go on with them."""

    history: History
    agent: str


@runtime_checkable
class HistoryReader(Protocol):
    """A history whose conversations can be found by id and read word for word."""

    def find(self, start: str) -> KeptConversation:
        """Return the conversation whose id begins with ``start``.

        Raises:
            SessionNotFoundError: there is none.
            InvalidRequestError: there are several.
        """

    def read(self, kept: KeptConversation) -> ConversationText:
        """Return everything that was said and done in a conversation."""


@runtime_checkable
class HistoryDoctor(Protocol):
    """A history that can tell whether its conversations would resume."""

    def examine(self, kept: KeptConversation, *, resuming: bool = False) -> list[Finding]:
        """Return what is wrong with a conversation, and ``IN_USE`` if a program has it open.

        ``resuming``: leave out what nobody needs to know who resumes it now.
        """

    def repair(self, kept: KeptConversation) -> Repair:
        """Put right what can be, after a backup, unless a program has the conversation open."""
