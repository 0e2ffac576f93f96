"""Who waits for which input to get how far. Every wait ends: reached, over, or given up."""

from __future__ import annotations

import asyncio

import msgspec

from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.model.ids import InputKey
from flybridge.session.ledger import TERMINAL, stage_after, stage_of


class Submitted(msgspec.Struct):
    """Where an input stands: its key, how far it is, and whether it was known before."""

    key: InputKey
    stage: str
    duplicate: bool = False


class Waiters:
    """Futures by input key, resolved with the ledger's word for the stage."""

    def __init__(self) -> None:
        self._waiting: dict[InputKey, list[tuple[Stage, asyncio.Future[str]]]] = {}

    def wait(self, key: InputKey, until: Stage) -> asyncio.Future[str]:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append((until, future))
        future.add_done_callback(lambda _: self._forget(key, future))
        return future

    def moved(self, key: InputKey, stage: str) -> None:
        """An input has got that far, and the journal has it."""
        for until, future in list(self._waiting.get(key, ())):
            if not future.done() and is_reached(stage, until):
                future.set_result(stage)

    def heard(self, event: e.Event) -> None:
        """Something was committed; perhaps somebody waits for it."""
        match event:
            case e.InputWritten(key=key):
                self.moved(key, "written")
            case e.InputConsumed(key=key):
                self.moved(key, "observed")
            case e.InputOutcome(key=key, outcome=outcome):
                self.moved(key, stage_after(outcome))
            case _:
                pass

    def _forget(self, key: InputKey, future: asyncio.Future[str]) -> None:
        left = [one for one in self._waiting.get(key, ()) if one[1] is not future]
        if left:
            self._waiting[key] = left
        else:
            self._waiting.pop(key, None)


def is_reached(stage: str, until: Stage) -> bool:
    """Whether that is far enough, or as far as it will ever get."""
    if stage in TERMINAL:
        return True
    reached = stage_of(stage)
    return reached is not None and reached >= until
