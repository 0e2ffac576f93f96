"""What must not be written down: values given in confidence, and how they are hidden.

They live in memory only, here and in the keeper of the agent that was told them: what could be
searched for, were it on a disk, could be guessed from there as well. Whatever is committed or
published passes here first, and what an agent repeats of a secret is replaced. A value shorter
than ``SHORTEST`` cannot be told from ordinary words and is not looked for.
"""

from __future__ import annotations

import hashlib
import json

import msgspec

from flybridge.model.events import Event, Notice

SHORTEST = 4
HIDDEN = "[secret]"
MAX_SECRETS = 64
_KEPT = frozenset({"type", "kind", "status", "phase", "how", "why", "outcome", "level"})
_events = msgspec.json.Decoder(Event)


class Secrets:
    """The secrets of one session."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}  # what is looked for → what stands there instead
        self._bytes: list[bytes] = []

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
        if not any(one in raw for one in (*self._bytes, *map(str.encode, self._words))):
            return event
        try:
            hidden = msgspec.json.encode(self._walk(msgspec.json.decode(raw)))
            cleaned: Event = _events.decode(hidden)
        except (msgspec.MsgspecError, RecursionError):
            return Notice(text="what held a secret was left out", level="warning")
        return cleaned

    def _walk(self, value: object) -> object:
        match value:
            case str():
                for word, instead in self._words.items():
                    value = value.replace(word, instead)
                return self.hide(value.encode()).decode() if self.holds(value.encode()) else value
            case list():
                return [self._walk(one) for one in value]
            case dict():
                return {
                    self._walk(key): one if key in _KEPT else self._walk(one)
                    for key, one in value.items()
                }
            case _:
                return value


def _spellings(word: str) -> set[bytes]:
    """As it is, and as it stands in JSON, and in JSON inside JSON."""
    found = {word}
    for ascii_only in (True, False):
        once = json.dumps(word, ensure_ascii=ascii_only)[1:-1]
        found |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    return {one.encode("utf-8", "surrogatepass") for one in found}
