"""What must not be written down: values given in confidence, and how they are hidden.

They live in memory only, here and in the keeper of the agent that was told them: what could be
searched for, were it on a disk, could be guessed from there as well. Whatever is committed or
published passes here first, and what an agent repeats of a secret is replaced. A value shorter
than ``SHORTEST`` cannot be told from ordinary words and is not looked for.

A text that was cut may end inside a secret. A driver marks such a text with ``CUT``, or it is the
head of a blob; in both cases the beginning of a secret before the cut is removed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import get_args

import msgspec

from flybridge.model.commands import Place
from flybridge.model.events import Event, Notice
from flybridge.model.offers import Reach
from flybridge.model.tools import CUT

SHORTEST = 4
HIDDEN = "[secret]"
MAX_SECRETS = 64
_KEPT = frozenset({"type", "kind", "status", "phase", "how", "why", "outcome", "level"})
_WORDS = {"scope": get_args(Reach), "place": get_args(Place)}
_MAY_BE_CUT = (CUT.encode(), b'"blob":"')
_events = msgspec.json.Decoder(Event)


class Secrets:
    """The secrets of one session."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}  # what is looked for → what stands there instead
        self._bytes: list[bytes] = []
        self._spelled: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._words)

    def add(self, value: str) -> None:
        """Look for it from here on; also for each of its lines."""
        for one in {value, *value.splitlines()}:
            word = one.strip()
            if len(word) >= SHORTEST and len(self._words) < MAX_SECRETS:
                self._words[word] = HIDDEN
        self._spell()

    def kept(self) -> bytes:
        """All of it, for whoever has to know it after us."""
        return msgspec.json.encode(self._words)

    def recall(self, kept: str) -> None:
        """Know again what was kept; what is none of that is nothing."""
        try:
            known = msgspec.json.decode(kept, type=dict[str, str]) if kept else {}
        except (msgspec.MsgspecError, ValueError):
            return
        self._words |= known
        self._spell()

    def _spell(self) -> None:
        words = [word for word, instead in self._words.items() if instead == HIDDEN]
        spelled = {one for word in words for one in _spellings(word)}
        self._bytes = sorted(spelled, key=len, reverse=True)
        self._spelled = [one.decode("utf-8", "surrogatepass") for one in self._bytes]

    def holds(self, data: bytes) -> bool:
        return any(one in data for one in self._bytes)

    def hide(self, data: bytes) -> bytes:
        for one in self._bytes:
            data = data.replace(one, HIDDEN.encode())
        return data

    def renamed(self, data: bytes, digest: str) -> tuple[bytes, str]:
        """A blob without its secrets, and what it is called then."""
        if not self.holds(data):
            return data, digest
        clean = self.hide(data)
        name = hashlib.sha256(clean).hexdigest()
        self._words[digest] = name
        return clean, name

    def clean(self, event: Event) -> Event:
        """The event as it may be written down."""
        raw = msgspec.json.encode(event)
        looked_for = (*self._bytes, *map(str.encode, self._words), *_MAY_BE_CUT)
        if not any(one in raw for one in looked_for):
            return event
        try:
            written = msgspec.json.decode(raw)
            hidden = self._walk(self._without_cut_head(written))
            if hidden == written:
                return event
            cleaned: Event = _events.decode(msgspec.json.encode(hidden))
        except (msgspec.MsgspecError, RecursionError):
            return Notice(text="what held a secret was left out", level="warning")
        return cleaned

    def _without_cut_head(self, event: dict[str, object]) -> dict[str, object]:
        """Return the event; where a blob has the whole text, without a secret cut at its end."""
        text = event.get("text")
        if not event.get("blob") or not isinstance(text, str):
            return event
        return event | {"text": self._without_beginning(text)}

    def _without_cut(self, text: str) -> str:
        """Return a text without the beginnings of secrets that stand before a mark of a cut."""
        for word in self._spelled:
            if CUT in word:
                text = text.replace(word, HIDDEN)
        *cut, rest = text.split(CUT)
        return CUT.join((*map(self._without_beginning, cut), rest))

    def _without_beginning(self, text: str) -> str:
        """Return a cut text without the beginning of a secret (or all of it) at its end."""
        longest = max((_overlap(text, word) for word in self._spelled), default=0)
        if not longest:
            return text
        return text[:-longest] + (HIDDEN if longest >= SHORTEST else "")

    def _walk(self, value: object) -> object:
        match value:
            case str():
                value = self._without_cut(value) if CUT in value else value
                for word, instead in self._words.items():
                    value = value.replace(word, instead)
                return self.hide(value.encode()).decode() if self.holds(value.encode()) else value
            case list():
                return [self._walk(one) for one in value]
            case dict():
                return {
                    self._walk(key): one if _is_word_of_ours(key, one) else self._walk(one)
                    for key, one in value.items()
                }
            case _:
                return value


def _is_word_of_ours(key: str, value: object) -> bool:
    """Return whether a value is one of few that the vocabulary allows, and cannot be replaced."""
    return key in _KEPT or (isinstance(value, str) and value in _WORDS.get(key, ()))


def _overlap(text: str, word: str) -> int:
    """Return how many characters at the end of a text are the beginning of a word."""
    at = text.find(word[0], max(len(text) - len(word), 0))
    while at >= 0 and not word.startswith(text[at:]):
        at = text.find(word[0], at + 1)
    return len(text) - at if at >= 0 else 0


def _spellings(word: str) -> set[bytes]:
    """As it is, on one line, and each as it stands in JSON, and in JSON inside JSON."""
    found = {word, " ".join(word.split())}
    for plain, ascii_only in itertools.product(tuple(found), (True, False)):
        once = json.dumps(plain, ensure_ascii=ascii_only)[1:-1]
        found |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    return {one.encode("utf-8", "surrogatepass") for one in found if len(one) >= SHORTEST}
