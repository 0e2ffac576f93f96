from __future__ import annotations

import subprocess
import sys

from flybridge.agents.kinds import AgentSettings
from flybridge.agents.option_schemas import BUILT_IN_SCHEMAS
from flybridge.agents.registry import BUILT_IN


def test_every_built_in_kind_has_its_options_listed() -> None:
    listed = list(BUILT_IN_SCHEMAS.values())
    for kind in BUILT_IN:
        agent = kind.build(AgentSettings(name=kind.name, program=("x",)))
        assert agent.options == BUILT_IN_SCHEMAS.get(kind.name, agent.options)
        assert agent.options in listed
    assert BUILT_IN_SCHEMAS.keys() <= {kind.name for kind in BUILT_IN}


def test_listing_the_options_imports_nothing_slow() -> None:
    code = (
        "import sys, flybridge.agents.option_schemas\n"
        "slow = {'msgspec', 'asyncio', 'flybridge.agents.registry', 'flybridge.model.events'}\n"
        "print(sorted(slow & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
