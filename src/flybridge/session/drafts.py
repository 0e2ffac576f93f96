"""The text so far of open items, gathered from previews.

Streaming text is not in the log. It lives here until the item closes, and goes to the
journal whenever the place in the agent's output does, so that a restarted gateway has it
to the letter.
"""

from __future__ import annotations

from flybridge.model.deliveries import Preview
from flybridge.model.ids import ItemId
from flybridge.session.ports import Draft


class Drafts:
    """Open texts of one session. ``changed`` and ``gone`` say what the journal lacks."""

    def __init__(self, stored: dict[ItemId, Draft] | None = None) -> None:
        stored = stored or {}
        self._parts: dict[ItemId, list[str]] = {item: [one.text] for item, one in stored.items()}
        self._counts: dict[ItemId, int] = {item: one.count for item, one in stored.items()}
        self._stored: set[ItemId] = set(stored)
        self._dirty: set[ItemId] = set()
        self._gone: set[ItemId] = set()
        self._size = sum(len(one.text) for one in stored.values())

    def apply(self, preview: Preview) -> None:
        """Take in one preview. What is older than what is known changes nothing."""
        item = preview.item
        have = self._counts.get(item, 0)
        if preview.since == have:
            self._parts.setdefault(item, []).append(preview.text)
        elif preview.since == 0 and preview.upto >= have:
            self._size -= sum(map(len, self._parts[item]))
            self._parts[item] = [preview.text]
        else:
            return
        self._counts[item] = preview.upto
        self._size += len(preview.text)
        self._dirty.add(item)

    @property
    def size(self) -> int:
        """How many characters are open, roughly what saving all of them writes."""
        return self._size

    def text(self, item: ItemId) -> str:
        parts = self._parts.get(item)
        if parts is None:
            return ""
        if len(parts) > 1:
            parts[:] = ["".join(parts)]
        return parts[0]

    def close(self, item: ItemId) -> None:
        """The item is over; its text is in the log now."""
        parts = self._parts.pop(item, None)
        if parts is not None:
            self._size -= sum(map(len, parts))
            del self._counts[item]
            self._dirty.discard(item)
        if item in self._stored:
            self._gone.add(item)

    def previews(self) -> list[Preview]:
        """Every open text from its start, for a client that comes in the middle."""
        return [
            Preview(item=item, since=0, upto=count, text=self.text(item))
            for item, count in self._counts.items()
        ]

    def unsaved(self) -> tuple[dict[ItemId, Draft], tuple[ItemId, ...]]:
        """What the journal must learn with the next place: changed texts, closed items."""
        changed = {
            item: Draft(count=self._counts[item], text=self.text(item)) for item in self._dirty
        }
        return changed, tuple(sorted(self._gone))

    def saved(self) -> None:
        """The journal has everything as of now."""
        self._stored |= self._dirty
        self._stored -= self._gone
        self._dirty.clear()
        self._gone.clear()
