from __future__ import annotations

from flybridge.agents.registry import BUILT_IN
from flybridge.model.agent_kinds import DEFAULT_KIND, FIRST_KIND, KINDS_OF_0_1


def test_the_kinds_that_stored_data_names_are_still_built_in() -> None:
    built_in = {kind.name for kind in BUILT_IN}
    assert {DEFAULT_KIND, FIRST_KIND, *KINDS_OF_0_1} <= built_in
    assert KINDS_OF_0_1 == ("claude", "demo")  # what is stored does not change
