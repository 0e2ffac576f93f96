from __future__ import annotations

from typing import get_args

from flybridge.model.kinds import Outcome
from flybridge.session.ledger import TERMINAL


def test_every_outcome_is_an_end_in_the_ledger() -> None:
    """``observed`` is one too: there it is called ``ended``, because an input may go on from it."""
    assert set(get_args(Outcome)) - {"observed"} | {"ended"} == set(TERMINAL)
