"""What clients are shown of a live session besides its log: open texts, gauges, the view.

What is shown is what was committed. While a session is down its memory may hold things that
never became durable, so the last view stands and open texts wait.
"""

from __future__ import annotations

import msgspec

from flybridge.model.deliveries import Gauge, Shown, View
from flybridge.model.events import TurnEnded
from flybridge.runtime.unit_of_work import Memory, Step
from flybridge.session.views import SessionView, view

_encode = msgspec.json.Encoder().encode


class Showing:
    """The source of one session's feed."""

    def __init__(self, memory: Memory, now_ms: int) -> None:
        self._gauges: dict[str, Gauge] = {}
        self._memory: Memory | None = memory
        self._heard_ms = 0
        self.refresh(memory, now_ms)

    def refresh(self, memory: Memory, now_ms: int) -> None:
        """The memory is committed as it is: show that."""
        self._memory = memory
        self.session = memory.session
        self.last = self._compute(memory, now_ms)
        self.seq = memory.state.seq

    def freeze(self) -> None:
        """The memory can no longer be trusted: keep showing the last that could."""
        self._memory = None

    def heard(self, now_ms: int) -> None:
        """The agent gave a sign of life."""
        self._heard_ms = now_ms

    def of_step(self, step: Step) -> list[Shown]:
        """What a step adds to be shown, behind its events."""
        self._gauges.update(step.gauges)
        for entry in step.entries:
            if isinstance(entry.event, TurnEnded):  # it has the last word on each of its gauges
                for name in entry.event.gauges:
                    self._gauges.pop(name, None)
        texts = [Shown(self.session, one) for group in step.previews.values() for one in group]
        return texts + [Shown(self.session, one) for one in step.gauges.values()]

    def texts(self) -> list[Shown]:
        if self._memory is None:
            return []
        texts = [Shown(self.session, one) for one in self._memory.drafts.previews()]
        return texts + [Shown(self.session, one) for one in self._gauges.values()]

    def view(self) -> View:
        return View(self.session, self.seq, msgspec.Raw(_encode(self.last)))

    def summary(self, now_ms: int) -> SessionView:
        """What a list shows, as of now."""
        return self.last if self._memory is None else self._compute(self._memory, now_ms)

    def _compute(self, memory: Memory, now_ms: int) -> SessionView:
        shown = view(memory.state, now_ms, self._heard_ms)
        gauges = {name: gauge.value for name, gauge in self._gauges.items()}
        gauges = {**shown.gauges, **gauges}
        return msgspec.structs.replace(shown, gauges=gauges, agent_io=memory.agent_io)
