"""Interrupts that have not left when the turn they name ends: they would stop the next turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flybridge.model.facts import InputRejected
from flybridge.model.ids import InputKey
from flybridge.session.inputs import TURN_ENDED
from flybridge.session.ports import OutLine
from flybridge.session.state import State

if TYPE_CHECKING:
    from flybridge.runtime.live_session import LiveSession


def withdraw_late(session: LiveSession, outbox: Mapping[int, OutLine]) -> None:
    """Keep back and close the interrupts in ``outbox`` whose turn is over.

    A line that was handed to the keeper cannot be taken back any more.
    """
    late = [
        out.line.key
        for number, out in sorted(outbox.items())
        if out.line.key is not None
        and _names_another_turn(session.memory.state, out.line.key)
        and session.link is not None
        and session.link.withdraw(number)
    ]
    if late and session.down is None:
        step = session.step()
        for key in late:
            step.fact(InputRejected(key=key, reason=TURN_ENDED))
        session.save_if_durable(step)


def _names_another_turn(state: State, key: InputKey) -> bool:
    waiting = state.inputs.get(key)
    return waiting is not None and waiting.target not in ("", state.turn)
