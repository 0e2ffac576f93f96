"""All slots: which are in use, what they are called, and which one a device means."""

from __future__ import annotations

from collections.abc import Iterable

from flybridge.frontends.companion.slot import Slot
from flybridge.frontends.companion.wire.budget import slot_name
from flybridge.model.ids import SessionId

SLOTS = 4


class Board:
    """The slots of one gateway. Numbers run from 0 to ``count`` - 1."""

    def __init__(self, count: int = SLOTS) -> None:
        self.count = count
        self.slots: dict[int, Slot] = {}  # those in use, and those that were until they ended

    def make(self, number: int, agent: str, session: SessionId, cwd: str) -> Slot:
        """A slot for a session; it is in use once it is ``put``."""
        return Slot(number, slot_name(agent, self._taken(number)), session, cwd)

    def put(self, slot: Slot) -> None:
        slot.name = slot_name(slot.name, self._taken(slot.number))  # another may have come
        self.slots[slot.number] = slot

    def _taken(self, number: int) -> set[str]:
        return {one.name for n, one in self.slots.items() if n != number and not one.ended}

    @property
    def used(self) -> dict[int, Slot]:
        return {number: one for number, one in self.slots.items() if not one.ended}

    def free(self, among: Iterable[int]) -> list[int]:
        """Slots that nobody uses, the lowest first."""
        used = self.used
        return [n for n in sorted(among) if 0 <= n < self.count and n not in used]

    def meant(self, agent: str, slot: int | None) -> int | None:
        """The slot that a device means; None: there is no such slot.

        Older devices always say slot 0 and name the agent they show; newer ones say the slot.
        """
        if slot is not None and slot != 0:
            return slot if 0 < slot < self.count else None
        found = (number for number, one in self.used.items() if agent and one.name == agent)
        return next(found, 0)
