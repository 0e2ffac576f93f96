"""A command on terms of its own, in the one ledger."""

from __future__ import annotations

import pytest

from flybridge.errors import BusyError, RequestReusedError
from flybridge.model import commands as c
from flybridge.model.content import Text
from flybridge.runtime.submit_policy import USUAL, Terms
from flybridge.session.decide import Context, decide
from flybridge.session.effects import Decision
from flybridge.session.state import State
from tests.harness.runtime_harness import House

HI, HO = (c.SendInput(content=(Text(one),)) for one in ("hi", "ho"))


def refuse(state: State, command: c.Command, context: Context) -> Decision:
    raise BusyError("never")


def test_the_usual_terms_are_the_commands_own() -> None:
    assert (USUAL.fingerprint, USUAL.decide, USUAL.starts) == ("", decide, True)


async def test_a_fingerprint_of_its_own_says_what_is_the_same(house: House) -> None:
    live = await house.open()
    one = Terms(fingerprint="one")
    first = live.submit(HI, principal="p", request="r", terms=one)
    again = live.submit(HO, principal="p", request="r", terms=one)
    assert (first.duplicate, again.duplicate) == (False, True)
    with pytest.raises(RequestReusedError):
        live.submit(HI, principal="p", request="r", terms=Terms(fingerprint="two"))


async def test_a_decision_of_its_own_is_asked_only_for_a_free_key(house: House) -> None:
    live = await house.open()
    live.submit(HI, principal="p", request="r")
    no = Terms(decide=refuse)
    assert live.submit(HI, principal="p", request="r", terms=no).duplicate
    with pytest.raises(BusyError):
        live.submit(HI, principal="p", request="other", terms=no)
