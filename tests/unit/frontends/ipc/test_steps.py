"""Steps are values: what they hold is all there is to know of them."""

from __future__ import annotations

from flybridge.frontends.ipc.steps import Act, Switch
from flybridge.model.commands import Interrupt


def test_a_step_waits_for_nothing_unless_it_says_so() -> None:
    act = Act(command=Interrupt(), request="r")
    assert (act.setting, act.patience_ms, act.quiet) == (False, 0, False)
    assert Switch("fork") == Switch("fork")
